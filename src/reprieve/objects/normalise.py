"""One spelling inside: what proposals and older API versions write differently becomes the current form.

Every function takes a raw document and changes it in place; `normalise` gives them a copy. Nothing is
validated: values in neither spelling stay for validation to report.
"""

from collections.abc import Mapping
from typing import Any

from reprieve.objects import well_known
from reprieve.objects.kinds import KINDS, TABLE, group_version, kind_key
from reprieve.objects.meta import Document
from reprieve.objects.proposals import PREEMPTION_CLASS_FIELD, modernise
from reprieve.objects.selecting import SELECTING

_PRIORITY_SOURCES = {
    source: (group, well_known.PRIORITY_CLASS_KINDS[group])
    for group, source in well_known.PRIORITY_CLASS_SOURCES.items()
}


def normalise(document: Document) -> Document:
    """A copy for reading: current spelling, and what labels and annotations say as fields."""
    result = respell(document)
    key = kind_key(result)
    kind = TABLE[key] if key in KINDS or key in SELECTING else None
    metadata = result.get("metadata")
    if kind is not None and kind.namespaced and isinstance(metadata, dict) and not metadata.get("namespace"):
        metadata["namespace"] = "default"
    if key == ("", "Pod"):
        _join_group_by_label(result)
    elif key == ("scheduling.k8s.io", "PodGroup"):
        _preemption_class_by_annotation(result)
    return result


def is_current(document: Document) -> bool:
    """Whether there is nothing to rewrite but nulls: a quick answer for common kinds. No is always safe."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return False
    kind = document.get("kind")
    if kind == "Node":
        return True
    if not metadata.get("namespace"):
        return False
    if kind == "Pod":
        return well_known.POD_GROUP_LABEL not in _section(metadata, "labels")
    return kind == "PodDisruptionBudget"


def respell(document: Document) -> Document:
    """A copy for storing: current spelling, without nulls, nothing added."""
    result: Document = without_nulls(document)
    modernise(result, kind_key(result))
    rewrite = _REWRITES.get(kind_key(result))
    if rewrite is not None:
        rewrite(result)
    return result


def group_name(stated: str | None, labels: Mapping[str, str]) -> str:
    """The PodGroup of a pod: what `spec.schedulingGroup` states, or else the label of older clusters."""
    return labels.get(well_known.POD_GROUP_LABEL, "") if stated is None else stated


def group_key(pod: Document) -> str:
    """`namespace/name` of a raw pod's PodGroup, empty for a pod on its own. Like `Pod.group_key`."""
    link = _section(pod, "spec").get("schedulingGroup")
    stated = link.get("podGroupName", "") if isinstance(link, dict) else None
    name = group_name(stated, _section(pod, "metadata", "labels"))
    return f"{_section(pod, 'metadata').get('namespace') or 'default'}/{name}" if name else ""


def without_nulls(value: Any) -> Any:
    """A copy in which absent and null are the same, as for Kubernetes: absent."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) if isinstance(each, dict | list) else each for each in value]
    return value


def _section(document: Document, *path: str) -> Document:
    """A nested object, or a new empty one that is not part of the document."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _move(section: Document, old: str, new: str) -> None:
    if old in section:
        moved = section.pop(old)
        section.setdefault(new, moved)


def _join_group_by_label(document: Document) -> None:
    spec = document.get("spec")
    name = group_name(None, _section(document, "metadata", "labels"))
    if isinstance(spec, dict) and isinstance(name, str) and name:
        spec.setdefault("schedulingGroup", {"podGroupName": name})


def _preemption_class_by_annotation(document: Document) -> None:
    spec = document.get("spec")
    name = _section(document, "metadata", "annotations").get(well_known.PREEMPTION_CLASS_ANNOTATION)
    if isinstance(spec, dict) and name is not None:
        spec.setdefault(PREEMPTION_CLASS_FIELD, name)


def _cluster_queue(document: Document) -> None:
    spec = _section(document, "spec")
    if group_version(document)[1] != "v1beta1":
        return
    _move(spec, "cohort", "cohortName")
    checks = spec.pop("admissionChecks", None)
    if isinstance(checks, list) and checks:
        spec.setdefault("admissionChecksStrategy", {"admissionChecks": [{"name": name} for name in checks]})
    _section(document, "status").pop("pendingWorkloadsStatus", None)
    _current(document)


def _local_queue(document: Document) -> None:
    if group_version(document)[1] == "v1beta1":
        status = _section(document, "status")
        _move(status, "flavorUsage", "flavorsUsage")
        status.pop("flavors", None)
        _current(document)


def _kueue_workload(document: Document) -> None:
    if group_version(document)[1] != "v1beta1":
        return
    spec = _section(document, "spec")
    name, source = spec.pop("priorityClassName", ""), spec.pop("priorityClassSource", "")
    if name and source in _PRIORITY_SOURCES:
        group, kind = _PRIORITY_SOURCES[source]
        spec.setdefault("priorityClassRef", {"group": group, "kind": kind, "name": name})
    _move(
        _section(document, "status"),
        "accumulatedPastExexcutionTimeSeconds",
        "accumulatedPastExecutionTimeSeconds",
    )
    assignments = _section(document, "status", "admission").get("podSetAssignments")
    for each in assignments if isinstance(assignments, list) else ():
        _compress(_section(each, "topologyAssignment"))
    _current(document)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _compress(assignment: Document) -> None:
    """v1beta1 lists every domain; a slice for each says the same."""
    if isinstance(assignment.get("domains"), list):
        domains = [each for each in assignment.pop("domains") if isinstance(each, dict)]
        slices = [
            {
                "domainCount": 1,
                "valuesPerLevel": [{"universal": value} for value in _list(each.get("values"))],
                "podCounts": {"universal": each.get("count", 0)},
            }
            for each in domains
        ]
        assignment.setdefault("slices", slices)


def _admission_check(document: Document) -> None:
    if group_version(document)[1] == "v1beta1":
        _section(document, "spec").pop("retryDelayMinutes", None)
        _current(document)


def _multikueue_cluster(document: Document) -> None:
    if group_version(document)[1] != "v1beta1":
        return
    spec = _section(document, "spec")
    source = {name: spec.pop(name) for name in ("kubeConfig", "clusterProfileRef") if name in spec}
    if source:
        spec.setdefault("clusterSource", source)
    _current(document)


def _same_shape(document: Document) -> None:
    if group_version(document)[1] == "v1beta1":
        _current(document)


def _current(document: Document) -> None:
    document["apiVersion"] = "kueue.x-k8s.io/v1beta2"


_REWRITES = {
    ("kueue.x-k8s.io", "ClusterQueue"): _cluster_queue,
    ("kueue.x-k8s.io", "Cohort"): _same_shape,
    ("kueue.x-k8s.io", "LocalQueue"): _local_queue,
    ("kueue.x-k8s.io", "ResourceFlavor"): _same_shape,
    ("kueue.x-k8s.io", "Topology"): _same_shape,
    ("kueue.x-k8s.io", "WorkloadPriorityClass"): _same_shape,
    ("kueue.x-k8s.io", "MultiKueueConfig"): _same_shape,
    ("kueue.x-k8s.io", "Workload"): _kueue_workload,
    ("kueue.x-k8s.io", "AdmissionCheck"): _admission_check,
    ("kueue.x-k8s.io", "MultiKueueCluster"): _multikueue_cluster,
}
