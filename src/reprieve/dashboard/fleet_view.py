"""Worker clusters with their connection, and the workloads sent to them with their gates and clocks."""

from datetime import timedelta
from typing import Any

from reprieve.dashboard.inventory import Inventory
from reprieve.fleet import read_ledger
from reprieve.objects import find_condition, format_time, kueue

View = dict[str, Any]
SHOWN = 500


def fleet_view(inventory: Inventory, turn_lasts: timedelta) -> View:
    """`turn_lasts`: for how long one cluster alone may preempt."""
    workloads = [
        {
            "workload": key,
            "cluster": workload.status.cluster_name,
            "nominated": list(workload.status.nominated_cluster_names),
            "gates": _gates(workload, turn_lasts),
        }
        for key, workload in sorted(inventory.workloads.items())
        if workload.status.cluster_name or workload.status.nominated_cluster_names
    ]
    undecided_first = sorted(workloads, key=lambda each: bool(each["cluster"]))
    return {
        "clusters": [_cluster(name, cluster) for name, cluster in sorted(inventory.clusters.items())],
        "total": len(workloads),
        "workloads": undecided_first[:SHOWN],
    }


def _cluster(name: str, cluster: kueue.MultiKueueCluster) -> View:
    active = find_condition(cluster.status.conditions, "Active")
    return {
        "name": name,
        "connected": active is not None and active.status == "True",
        "reason": active.reason if active else "",
        "message": active.message if active else "",
    }


def _gates(workload: kueue.Workload, turn_lasts: timedelta) -> list[View]:
    """Whose turn it is to preempt, by the manager's own ledger; every other cluster's gate is closed."""
    ledger = read_ledger({"metadata": {"annotations": workload.metadata.annotations}})
    turn = ledger.turn
    names = dict.fromkeys(workload.status.nominated_cluster_names)
    if turn is not None:
        names[turn.cluster] = None

    def gate(name: str) -> View:
        if turn is not None and name == turn.cluster:
            until = format_time(turn.since + turn_lasts)
            return {"cluster": name, "position": "Open", "since": format_time(turn.since), "until": until}
        past = ledger.past.get(name)
        last = format_time(past) if past else None
        return {"cluster": name, "position": "Closed", "since": None, "until": None, "lastTurn": last}

    return [gate(name) for name in names]
