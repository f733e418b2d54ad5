"""The quota tree as JSON: what each queue owns, uses, borrows and lends, as `reprieve.quota` counts it."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from reprieve.dashboard.inventory import Inventory, QuotaTables, has_quota
from reprieve.objects import Object, decode
from reprieve.quota import UNLIMITED, Rules, load, quota_lines, waiters

SHOWN_WAITERS = 5
CLASSES = {"WorkloadPriorityClass": "kueue.x-k8s.io/v1beta2", "PriorityClass": "scheduling.k8s.io/v1"}


Tables = Inventory | QuotaTables


def quota_view(inventory: Tables, rules: Rules, now: datetime) -> dict[str, Any]:
    """Cohorts with their parents, queues with their quota and the first workloads that wait in them."""
    if not inventory.cluster_queues:
        return {"cohorts": [], "queues": []}
    objects: chain[Object] = chain(
        inventory.flavors.values(),
        inventory.checks.values(),
        inventory.cohorts.values(),
        inventory.cluster_queues.values(),
        inventory.local_queues.values(),
        _classes(inventory),
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
        queue = waiter.queue or _queue_of(inventory, waiter.workload)
        waiting[queue].append({"workload": waiter.workload, "why": waiter.message})
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


def _classes(inventory: Tables) -> Iterator[Object]:
    """Those that workloads name. The page reads no classes: of one that is missing the workload's own
    condition tells.
    """
    refs = (workload.spec.priority_class_ref for workload in inventory.workloads.values())
    for kind, name in {(ref.kind, ref.name) for ref in refs if ref is not None}:
        if version := CLASSES.get(kind):
            yield decode({"apiVersion": version, "kind": kind, "metadata": {"name": name}})


def _queue_of(inventory: Tables, key: str) -> str:
    """The ClusterQueue behind a queue that takes nobody now: whoever names it waits there all the same."""
    workload = inventory.workloads[key]
    local = inventory.local_queues.get(f"{workload.namespace}/{workload.spec.queue_name}")
    return local.spec.cluster_queue if local is not None else ""


def _cohorts(inventory: Tables) -> list[dict[str, str]]:
    """Declared ones and those that only a queue or a child names."""
    parents = {name: cohort.spec.parent_name for name, cohort in inventory.cohorts.items()}
    named = {queue.spec.cohort_name for queue in inventory.cluster_queues.values()} | set(parents.values())
    for name in named - {""}:
        parents.setdefault(name, "")
    return [{"name": name, "parent": parent} for name, parent in sorted(parents.items())]
