"""The quota tree as JSON: what each queue owns, uses, borrows and lends, as `reprieve.quota` counts it."""

from collections import defaultdict
from datetime import datetime
from itertools import chain
from typing import Any

from reprieve.dashboard.inventory import Inventory, has_quota
from reprieve.objects import Object
from reprieve.quota import UNLIMITED, Rules, load, quota_lines, waiters

SHOWN_WAITERS = 5


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
        if workload.status.admission is not None and has_quota(workload):
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
