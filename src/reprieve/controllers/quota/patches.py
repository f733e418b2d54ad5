"""From two states of a workload to the smallest merge patch of its status.

Typed views know only the fields we use; what we do not know must survive. So a patch names only what changed, and
entries of lists that carry more than we know are changed in the raw document's own list.
"""

from typing import Any, Final

from msgspec import to_builtins

from reprieve.objects import Admission, Document, Workload
from reprieve.quota import Conditions

_PLAIN: Final = ("requeue_state", "nominated_cluster_names", "cluster_name", "reclaimable_pods")
_CAMEL: Final = {
    "requeue_state": "requeueState",
    "nominated_cluster_names": "nominatedClusterNames",
    "cluster_name": "clusterName",
    "reclaimable_pods": "reclaimablePods",
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
    defaults = {"message": "", "state": "Pending"} if field == "admissionChecks" else {"position": "Closed"}
    return [{**known.get(entry.name, {}), **defaults, **to_builtins(entry)} for entry in entries]
