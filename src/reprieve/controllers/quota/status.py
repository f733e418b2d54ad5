"""What the controller writes into a status: of a workload as a merge patch, of a queue as a document. Pure.

Typed views know only the fields we use; what we do not know must survive. So a patch names only what
changed, and entries of lists that carry more than we know are changed in the raw document's own list.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from msgspec import to_builtins

from reprieve.objects import (
    Admission,
    Conditions,
    Document,
    Workload,
    format_amount,
    set_condition,
    well_known,
)
from reprieve.quota import FlavorResource, Quota, WorkloadInfo, inactive_message, is_true

_PLAIN: Final = (
    "requeue_state",
    "nominated_cluster_names",
    "cluster_name",
    "reclaimable_pods",
    "unhealthy_nodes",
    "accumulated_past_execution_time_seconds",
)
_CAMEL: Final = {
    "requeue_state": "requeueState",
    "nominated_cluster_names": "nominatedClusterNames",
    "cluster_name": "clusterName",
    "reclaimable_pods": "reclaimablePods",
    "unhealthy_nodes": "unhealthyNodes",
    "accumulated_past_execution_time_seconds": "accumulatedPastExecutionTimeSeconds",
}


def status_patch(raw: Document, old: Workload, new: Workload) -> dict[str, Any]:
    """What to change in `status`; empty when nothing is to be written."""
    before, after = old.status, new.status
    patch: dict[str, Any] = {}
    if before.conditions != after.conditions:
        patch["conditions"] = conditions_of(after.conditions)
    if before.admission != after.admission:
        patch["admission"] = admission_of(after.admission) if after.admission is not None else None
    if before.admission_checks != after.admission_checks:
        patch["admissionChecks"] = _merged(raw, "admissionChecks", after.admission_checks)
    if before.preemption_gates != after.preemption_gates:
        patch["preemptionGates"] = _merged(raw, "preemptionGates", after.preemption_gates)
    for field in _PLAIN:
        value = getattr(after, field)
        if getattr(before, field) != value:
            patch[_CAMEL[field]] = to_builtins(value) if value else None
    return patch


def changed_fields(before: Document, after: Document) -> dict[str, Any]:
    """The fields of the status that differ: others may have been written since this document was read."""
    old = before.get("status") or {}
    return {field: value for field, value in after["status"].items() if old.get(field) != value}


def admission_of(admission: Admission) -> dict[str, Any]:
    """Written out in full: defaults that a view leaves out are required on the wire."""
    return {
        "clusterQueue": admission.cluster_queue,
        "podSetAssignments": [
            {"name": each.name, **to_builtins(each)} for each in admission.pod_set_assignments
        ],
    }


def conditions_of(conditions: Conditions) -> list[dict[str, Any]]:
    """With every field the API demands, also those that are empty."""
    return [{"reason": each.type, "message": "", **to_builtins(each)} for each in conditions]


def _merged(raw: Document, field: str, entries: tuple[Any, ...]) -> list[dict[str, Any]]:
    known = {entry.get("name"): entry for entry in (raw.get("status") or {}).get(field) or ()}
    defaults = (
        {"message": "", "state": "Pending"}
        if field == "admissionChecks"
        else {"position": well_known.GATE_CLOSED}
    )
    return [{**known.get(entry.name, {}), **defaults, **_own_fields(entry)} for entry in entries]


def _own_fields(entry: Any) -> dict[str, Any]:
    """What a check adds to pods is the check's: it is read here and never written."""
    found: dict[str, Any] = to_builtins(entry)
    found.pop("podSetUpdates", None)
    return found


_COUNTS = ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")


def cluster_queue_status(quota: Quota, name: str, document: Document, now: datetime) -> bool:
    """Write the status of a ClusterQueue into its document; false when nothing changes."""
    node = quota.cache.queues.get(name)
    if node is None:
        return False
    holders = list(node.workloads)
    pending = quota.pending[name]
    waiting = len(pending.active) + len(pending.inadmissible) + (pending.in_flight is not None)
    nominal = {key: limits.nominal for key, limits in node.limits.items()}
    changed = _write_counts(document, waiting, holders)
    changed |= _write_usage(document, "flavorsReservation", holders, nominal)
    changed |= _write_usage(document, "flavorsUsage", [c for c in holders if _runs(c)], nominal)
    reasons = quota.cache.inactive.get(name, [])
    if reasons:
        reason = reasons[0].reason
        message = inactive_message(reasons)
        return set_condition(document, well_known.ACTIVE, False, reason, message, now) or changed
    return (
        set_condition(document, well_known.ACTIVE, True, "Ready", "Can admit new workloads", now) or changed
    )


def local_queue_status(quota: Quota, document: Document, now: datetime) -> bool:
    """The same for a LocalQueue, counting only its own workloads."""
    metadata = document["metadata"]
    queue = (document.get("spec") or {}).get("clusterQueue", "")
    node, pending = quota.cache.queues.get(queue), quota.pending.get(queue)
    if node is None or pending is None:
        message = "Can't submit new workloads to clusterQueue"
        return set_condition(document, well_known.ACTIVE, False, "ClusterQueueDoesNotExist", message, now)

    def ours(info: WorkloadInfo) -> bool:
        workload = info.workload
        return (workload.namespace, workload.spec.queue_name) == (metadata["namespace"], metadata["name"])

    holders = [info for info in node.workloads if ours(info)]
    waiting = sum(
        ours(info) for workloads in (pending.active, pending.inadmissible) for info in workloads.values()
    )
    waiting += pending.in_flight is not None and ours(pending.in_flight)
    nominal: dict[FlavorResource, int] = dict.fromkeys(node.limits, 0)
    changed = _write_counts(document, waiting, holders)
    changed |= _write_usage(document, "flavorsReservation", holders, nominal, borrowed=False)
    changed |= _write_usage(
        document, "flavorsUsage", [c for c in holders if _runs(c)], nominal, borrowed=False
    )
    if node.active:
        return (
            set_condition(
                document, well_known.ACTIVE, True, "Ready", "Can submit new workloads to localQueue", now
            )
            or changed
        )
    message = "Can't submit new workloads to clusterQueue"
    return (
        set_condition(document, well_known.ACTIVE, False, "ClusterQueueIsInactive", message, now) or changed
    )


def _runs(info: WorkloadInfo) -> bool:
    return is_true(info.workload, well_known.ADMITTED)


def _write_counts(document: Document, waiting: int, holders: list[WorkloadInfo]) -> bool:
    counts = dict(zip(_COUNTS, (waiting, len(holders), sum(map(_runs, holders))), strict=True))
    status = document.setdefault("status", {})
    changed = any(status.get(field) != count for field, count in counts.items())
    status.update(counts)
    return changed


def _write_usage(
    document: Document,
    field: str,
    holders: Iterable[WorkloadInfo],
    nominal: dict[FlavorResource, int],
    borrowed: bool = True,
) -> bool:
    totals = dict.fromkeys(nominal, 0)
    for info in holders:
        for key, amount in info.usage.items():
            totals[key] = totals.get(key, 0) + amount
    flavors: dict[str, list[Document]] = {}
    for key, total in sorted(totals.items()):
        entry = {"name": key.resource, "total": format_amount(key.resource, total)}
        if borrowed:
            entry["borrowed"] = format_amount(key.resource, max(0, total - nominal.get(key, 0)))
        flavors.setdefault(key.flavor, []).append(entry)
    shown = [{"name": flavor, "resources": resources} for flavor, resources in flavors.items()]
    status = document.setdefault("status", {})
    changed = bool(status.get(field) != shown)
    status[field] = shown
    return changed
