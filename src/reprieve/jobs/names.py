"""The names of Workloads: those that Kueue gives them. What one of the two has made, the other finds."""

import hashlib
from collections.abc import Iterable

from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.rows import JobKind
from reprieve.objects import Document, ObjectMeta, PodGroup, well_known

_LONGEST_NAME, _DIGITS = 253, 5
_POD, _GROUP = ("", "Pod"), (well_known.SCHEDULING_API, "PodGroup")


def workload_name(group: str, kind: str, name: str, uid: str = "") -> str:
    """The Workload of an owner; of one that no cluster has seen, without a UID, as if it was empty.

    The name that Kueue gives it (pkg/controller/jobframework/workload_names.go,
    GetWorkloadNameForOwnerWithGVK). Kueue adds the generation for slices of elastic jobs, and cuts at 63
    with its gate ShortWorkloadNames; neither is here.
    """
    told = "\n".join((kind, group, name, uid)).encode()
    digest = hashlib.sha1(told, usedforsecurity=False).hexdigest()[:_DIGITS]
    return f"{kind.lower()}-{name}"[: _LONGEST_NAME - 1 - _DIGITS] + f"-{digest}"


def prebuilt_workload(metadata: Document | ObjectMeta) -> str:
    """The Workload that an owner names as its own; empty if it is to get one. Only an annotation has room for
    a name that is longer than a label."""
    if isinstance(metadata, ObjectMeta):
        labels, annotations = metadata.labels, metadata.annotations
    else:
        labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    key = well_known.PREBUILT_WORKLOAD_LABEL
    return str(labels.get(key) or annotations.get(key) or "")


def job_name(job: Document, kind: JobKind) -> str:
    """The Workload of a job that asks as a whole, or as one group."""
    meta = job["metadata"]
    named = prebuilt_workload(meta)
    return named or workload_name(kind.group, kind.kind, meta.get("name", ""), meta.get("uid", ""))


def replica_names(job: Document, kind: JobKind, sets: Iterable[PodSet]) -> list[str]:
    """The Workloads of a job of which each replica asks.

    As Kueue's pkg/controller/jobs/leaderworkerset names them (GetWorkloadName): the index is part of
    the name.
    """
    meta, replicas = job["metadata"], max((each.factors[0] for each in sets), default=0)
    return [
        workload_name(kind.group, kind.kind, f"{meta.get('name', '')}-{number}", meta.get("uid", ""))
        for number in range(replicas)
    ]


def group_name(group: PodGroup) -> str:
    """The Workload of a PodGroup that names a queue."""
    meta = group.metadata
    return prebuilt_workload(meta) or workload_name(*_GROUP, meta.name, meta.uid)


def pods_name(pod: ObjectMeta) -> str:
    """The Workload of a pod that asks for itself, or with others: a group's has the name of the group.

    As Kueue's pkg/controller/jobs/pod names them (Pod.workloadName).
    """
    named = prebuilt_workload(pod) or pod.labels.get(well_known.POD_GROUP_NAME_LABEL)
    return named or workload_name(*_POD, pod.name, pod.uid)
