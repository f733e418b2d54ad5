"""What a worker gets of a job, a gang or a pod, and which status comes back. Pure.

Everything keeps its name, its labels and its annotations. A job is suspended until the worker admits it; a
pod is held by a scheduling gate; both are tied to their copy by the label that names a prebuilt workload, or
by the annotation, where the name is too long for a label.
"""

from copy import deepcopy
from typing import Any, Final

from reprieve.jobs import GENERATED_LABELS, JobKind, ending, plain_template
from reprieve.objects import Document, has_condition, well_known

_MANAGED_BY: Final = (("spec",), ("spec", "runPolicy"))
"""Where kinds of jobs say who manages them, as `managedBy`."""
_PER_CLUSTER: Final = ("priority", "preemptionPolicy")
"""What admission computes from the priority class of its own cluster."""
_LONGEST_LABEL: Final = 63


def remote_job(job: Document, kind: JobKind, workload: str, origin: str) -> Document:
    """The job as the worker gets it: suspended until the worker admits it, tied to the copy."""
    made = {**_tied(job, workload, origin), "spec": deepcopy(job.get("spec") or {})}
    if kind.suspend:
        *path, field = kind.suspend.split(".")
        _section(made, *path)[field] = True
    for place in _MANAGED_BY:
        section = _found(made, *place)
        if section.get("managedBy") == well_known.MULTIKUEUE_CONTROLLER:
            del section["managedBy"]
    spec = made["spec"]
    if (kind.group, kind.kind) == ("batch", "Job") and not spec.get("manualSelector"):
        spec.pop("selector", None)
        spec["template"] = plain_template(spec.get("template") or {})
    return made


def remote_group(group: Document, workload: str, origin: str) -> Document:
    """A PodGroup as the worker gets it. Its template stays behind: what that gives is in the group by now."""
    spec = deepcopy(group.get("spec") or {})
    for field in ("workloadRef", "podGroupTemplateRef", "priority"):
        spec.pop(field, None)
    return {**_tied(group, workload, origin), "spec": spec}


def remote_pod(pod: Document, workload: str, origin: str) -> Document:
    """A pod as the worker gets it: held by the gate that the worker's quota lifts."""
    spec = deepcopy(pod.get("spec") or {})
    for field in _PER_CLUSTER:
        spec.pop(field, None)
    gates = [
        gate for gate in spec.get("schedulingGates") or () if gate != {"name": well_known.ADMISSION_GATE}
    ]
    spec["schedulingGates"] = [*gates, {"name": well_known.ADMISSION_GATE}]
    made = _tied(pod, workload, origin)
    annotations = made["metadata"]["annotations"]
    annotations.pop(well_known.QUOTA_GIVEN_ANNOTATION, None)
    annotations[well_known.FLEET_SOURCE_ANNOTATION] = pod["metadata"].get("uid", "")
    return {**made, "spec": spec}


def _tied(document: Document, workload: str, origin: str) -> Document:
    metadata = document["metadata"]
    kept = {
        key: value for key, value in (metadata.get("labels") or {}).items() if key not in GENERATED_LABELS
    }
    tie, is_long = {well_known.PREBUILT_WORKLOAD_LABEL: workload}, len(workload) > _LONGEST_LABEL
    return {
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {**kept, well_known.ORIGIN_LABEL: origin, **({} if is_long else tie)},
            "annotations": {**(metadata.get("annotations") or {}), **(tie if is_long else {})},
        }
    }


def tie_selector(workload: str, origin: str) -> str:
    """Labels of what runs for a workload: of one with a long name, of all that this manager sent."""
    if len(workload) > _LONGEST_LABEL:
        return f"{well_known.ORIGIN_LABEL}={origin}"
    return f"{well_known.PREBUILT_WORKLOAD_LABEL}={workload}"


def is_managed(job: Document) -> bool:
    """Whether the fleet is its only controller on the manager."""
    return any(
        _found(job, *path).get("managedBy") == well_known.MULTIKUEUE_CONTROLLER for path in _MANAGED_BY
    )


def status_for_home(job: Document, remote: Document, finished: bool) -> dict[str, Any] | None:
    """The status that the manager's job is to have; None to leave it alone.

    A job that is `managedBy` the fleet shows the worker's all the time; any other job has its own controller
    here, so its status is written once, when it is over (`finished`: its workload is).
    """
    status: dict[str, Any] = remote.get("status") or {}
    over = finished or ending(remote) is not None
    if not status or not (is_managed(job) or over) or status == job.get("status"):
        return None
    return status


def pod_status_for_home(pod: Document, remote: Document) -> dict[str, Any] | None:
    """The same for a pod. One that is being deleted was evicted: here it lives on, and goes elsewhere."""
    status: dict[str, Any] = remote.get("status") or {}
    if not status or remote["metadata"].get("deletionTimestamp") or status == pod.get("status"):
        return None
    return status


def runs_for(remote: Document, pod: Document) -> bool:
    """Whether the worker's pod was made for this pod, and not for an earlier one of the same name."""
    source = (remote["metadata"].get("annotations") or {}).get(well_known.FLEET_SOURCE_ANNOTATION)
    return bool(source == pod["metadata"].get("uid", ""))


def is_over(copy: Document | None) -> bool:
    return copy is not None and has_condition(copy, well_known.FINISHED)


def _found(document: Document, *path: str) -> Document:
    """A nested object, or a new empty one that is not part of the document."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _section(document: Document, *path: str) -> Document:
    """A nested object, made where it is missing."""
    for name in path:
        document = document.setdefault(name, {})
    return document
