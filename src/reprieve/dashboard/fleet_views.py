"""The fleet as JSON: worker clusters, and for each workload sent to them where it runs, whose turn it is and
which turns there were."""

from collections import Counter
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from reprieve.dashboard.compact import workload_team
from reprieve.dashboard.inventory import Inventory, QuotaTables
from reprieve.fleet import read_ledger
from reprieve.objects import find_condition, format_time, kueue, well_known

View = dict[str, Any]

SHOWN_WORKLOADS = 500
PAGE_ANNOTATION = "reprieve.dev/page"
"""On a MultiKueueCluster: where its own page is served."""


def fleet_view(inventory: Inventory | QuotaTables, turn_lasts: timedelta) -> View:
    """`turn_lasts`: how long one cluster alone may preempt."""
    workloads = [
        {
            "workload": key,
            "team": workload_team(workload),
            "cluster": workload.status.cluster_name,
            "nominated": list(workload.status.nominated_cluster_names),
            **_turns(workload, turn_lasts),
        }
        for key, workload in sorted(inventory.workloads.items())
        if workload.status.cluster_name or workload.status.nominated_cluster_names
    ]
    undecided_first = sorted(workloads, key=lambda each: bool(each["cluster"]))
    running = Counter(each["cluster"] for each in workloads)
    tried = Counter(name for each in workloads if not each["cluster"] for name in each["nominated"])
    return {
        "clusters": [
            {**_cluster(name, cluster), "running": running[name], "tried": tried[name]}
            for name, cluster in sorted(inventory.clusters.items())
        ],
        "total": len(workloads),
        "workloads": undecided_first[:SHOWN_WORKLOADS],
    }


def _cluster(name: str, cluster: kueue.MultiKueueCluster) -> View:
    active = find_condition(cluster.status.conditions, well_known.ACTIVE)
    return {
        "name": name,
        "page": _address(cluster.metadata.annotations.get(PAGE_ANNOTATION, "")),
        "connected": active is not None and active.status == "True",
        "reason": active.reason if active else "",
        "message": active.message if active else "",
    }


def _address(text: str) -> str:
    """Only what a browser may safely follow."""
    try:
        return text if urlsplit(text).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _turns(workload: kueue.Workload, turn_lasts: timedelta) -> View:
    """While it is undecided, one gate a cluster: open for the one whose turn it is by the manager's own
    ledger. `past`: when each began its last turn, the oldest first. Once it is decided there are no turns.
    """
    ledger = read_ledger({"metadata": {"annotations": workload.metadata.annotations}})
    past = sorted((format_time(begun), name) for name, begun in ledger.past.items())
    turns = [{"cluster": name, "time": time} for time, name in past]
    if workload.status.cluster_name:
        return {"gates": [], "past": turns}
    turn = ledger.turn
    names = dict.fromkeys(workload.status.nominated_cluster_names)
    if turn is not None:
        names[turn.cluster] = None

    def gate(name: str) -> View:
        if turn is not None and name == turn.cluster:
            until = format_time(turn.since + turn_lasts)
            return {"cluster": name, "position": "Open", "since": format_time(turn.since), "until": until}
        began = ledger.past.get(name)
        last = format_time(began) if began else None
        return {
            "cluster": name,
            "position": well_known.GATE_CLOSED,
            "since": None,
            "until": None,
            "lastTurn": last,
        }

    return {"gates": [gate(name) for name in names], "past": turns}
