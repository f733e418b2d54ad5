"""The quota tree and the fleet as JSON: what each queue owns, uses, borrows and lends, in the numbers of
`reprieve.quota`; worker clusters, and the workloads sent to them with their gates."""

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.views import View
from reprieve.fleet import read_ledger
from reprieve.objects import Object, find_condition, format_time, kueue, well_known
from reprieve.quota import UNLIMITED, Rules, load, quota_lines, waiters

SHOWN_WAITERS = 5
SHOWN_WORKLOADS = 500


def quota_view(inventory: Inventory, rules: Rules, now: datetime) -> dict[str, Any]:
    """Cohorts with their parents, queues with their quota and the first workloads that wait in them."""
    if not inventory.cluster_queues:
        return {"cohorts": [], "queues": []}
    objects: chain[Object] = chain(
        inventory.flavors.values(),
        inventory.checks.values(),
        inventory.cohorts.values(),
        inventory.cluster_queues.values(),
        inventory.local_queues.values(),
        inventory.workloads.values(),
    )
    quota = load(objects, rules, now)
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in quota_lines(quota):
        nominal = None if line.nominal >= UNLIMITED else line.nominal
        amounts = {"nominal": nominal, "used": line.used, "borrowed": line.borrowed, "lent": line.lent}
        lines[line.queue.name].append({"flavor": line.key.flavor, "resource": line.key.resource, **amounts})
    waiting: dict[str, list[dict[str, str]]] = defaultdict(list)
    for waiter in waiters(quota):
        waiting[waiter.queue].append({"workload": waiter.workload, "why": waiter.message})
    admitted: dict[str, int] = defaultdict(int)
    for workload in inventory.workloads.values():
        reserved = find_condition(workload.status.conditions, well_known.QUOTA_RESERVED)
        if workload.status.admission is not None and reserved is not None and reserved.status == "True":
            admitted[workload.status.admission.cluster_queue] += 1
    return {
        "cohorts": _cohorts(inventory),
        "queues": [
            {
                "name": name,
                "cohort": queue.spec.cohort_name,
                "weight": str(queue.spec.fair_sharing.weight) if queue.spec.fair_sharing else "",
                "pending": len(waiting[name]),
                "admitted": admitted[name],
                "resources": lines[name],
                "waiting": waiting[name][:SHOWN_WAITERS],
            }
            for name, queue in sorted(inventory.cluster_queues.items())
        ],
    }


def _cohorts(inventory: Inventory) -> list[dict[str, str]]:
    """Declared ones and those that only a queue or a child names."""
    parents = {name: cohort.spec.parent_name for name, cohort in inventory.cohorts.items()}
    named = {queue.spec.cohort_name for queue in inventory.cluster_queues.values()} | set(parents.values())
    for name in named - {""}:
        parents.setdefault(name, "")
    return [{"name": name, "parent": parent} for name, parent in sorted(parents.items())]


def fleet_view(inventory: Inventory, turn_lasts: timedelta) -> View:
    """`turn_lasts`: how long one cluster alone may preempt."""
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
        "workloads": undecided_first[:SHOWN_WORKLOADS],
    }


def _cluster(name: str, cluster: kueue.MultiKueueCluster) -> View:
    active = find_condition(cluster.status.conditions, well_known.ACTIVE)
    return {
        "name": name,
        "connected": active is not None and active.status == "True",
        "reason": active.reason if active else "",
        "message": active.message if active else "",
    }


def _gates(workload: kueue.Workload, turn_lasts: timedelta) -> list[View]:
    """The cluster whose turn it is, by the manager's own ledger; every other cluster's gate is closed."""
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
        return {
            "cluster": name,
            "position": well_known.GATE_CLOSED,
            "since": None,
            "until": None,
            "lastTurn": last,
        }

    return [gate(name) for name in names]
