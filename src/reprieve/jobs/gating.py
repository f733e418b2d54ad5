"""Kinds that cannot be suspended: their pods carry a gate and ask for quota by labels, as Kueue's users do.

A Deployment's pods ask one by one. The pods of a StatefulSet are a group, and so are those of each replica of
a LeaderWorkerSet: the template has a label with the group's name, and the pod one with its replica's number.
"""

import hashlib
from collections.abc import Iterable, Mapping

import msgspec

from reprieve.jobs.editing import Additions, gated, suspended
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.reading import pod_sets
from reprieve.jobs.rows import JobKind
from reprieve.jobs.workloads import queue_of
from reprieve.objects import Document, InvalidObject, LabelSelector, must_name_queue, well_known

_LONGEST_NAME = 63
_INHERITED = (
    well_known.QUEUE_LABEL,
    well_known.WORKLOAD_PRIORITY_CLASS_LABEL,
    well_known.MAX_EXEC_TIME_LABEL,
)
"""Labels of a job that its pods ask with."""


def workload_name(kind: str, document: Document) -> str:
    """The workload of an owner: named by the user, or after the owner and its UID."""
    metadata = document["metadata"]
    named = (metadata.get("labels") or {}).get(well_known.PREBUILT_WORKLOAD_LABEL)
    return str(named) if named else _name(kind, metadata["name"], metadata.get("uid", ""))


def group_names(document: Document, kind: JobKind, sets: Iterable[PodSet]) -> list[str]:
    """The names of the workloads that a job of gated pods has; none where each pod asks for itself."""
    name = _group_name(document, kind)
    if kind.asks == "group":
        return [name]
    if kind.asks == "replica":
        replicas = max((each.factors[0] for each in sets), default=0)
        return [f"{name}-{index}" for index in range(replicas)]
    return []


def replica_sets(kind: JobKind, sets: Iterable[PodSet]) -> list[PodSet]:
    """The pod sets of one workload of the job."""
    if kind.asks != "replica":
        return list(sets)
    return [msgspec.structs.replace(each, factors=each.factors[1:] or (1,)) for each in sets]


def gate_additions(document: Document, kind: JobKind, sets: Iterable[PodSet]) -> dict[str, Additions]:
    """What holds the pods of a job and names their queue; without a queue, only the gate."""
    own = document["metadata"].get("labels") or {}
    labels = {name: str(own[name]) for name in _INHERITED if own.get(name)} if queue_of(document) else {}
    if labels and kind.asks != "pod":
        labels[well_known.POD_GROUP_NAME_LABEL] = _group_name(document, kind)
    added: dict[str, Additions] = {}
    for each in sets:
        named = {well_known.POD_SET_LABEL: each.name} if labels and kind.asks != "pod" else {}
        added[each.name] = Additions(labels={**labels, **named}, gates=(well_known.ADMISSION_GATE,))
    return added


def needs_hold(
    document: Document,
    kinds: JobKinds,
    all_jobs: bool = False,
    selector: LabelSelector | None = None,
    namespace_labels: Mapping[str, str] | None = None,
) -> bool:
    """Whether a new job or pod must wait for quota: it names a queue, or has to name one here.

    What another job makes is not held at creation: that one may have its quota. A kind that cannot be
    suspended, mostly a service, has to name a queue only where `selector` says which namespaces are meant.
    """
    meta = document.get("metadata") or {}
    owners = meta.get("ownerReferences") or ()
    owner: Document = next((each for each in owners if each.get("controller")), {})
    above = kinds.of(str(owner.get("apiVersion", "")), str(owner.get("kind", "")))
    kind = kinds.find(document)
    if well_known.QUEUE_LABEL in (meta.get("labels") or {}):
        if kind is None:
            return above is None or above.asks != "job"
        return kind.asks != "none" and (above is None or above.asks == "none")
    if not all_jobs or kind is None or kind.asks == "none" or (kind.asks != "job" and selector is None):
        return False
    namespace = str(meta.get("namespace") or "")
    return must_name_queue(namespace, str(owner.get("kind", "")), selector, namespace_labels)


def held(document: Document, kinds: JobKinds, others: Iterable[Document] = ()) -> Document:
    """A new job that needs quota, as it is to be created: suspended, or its pods gated.

    What cannot be read is left alone: whoever checks it says what is wrong.
    """
    kind = kinds.find(document)
    if kind is None or kind.asks == "none":
        return document
    if kind.asks == "job":
        return suspended(document, kind)
    try:
        sets = pod_sets(document, kinds, others)
    except InvalidObject:
        return document
    return gated(document, sets, gate_additions(document, kind, sets))


def held_pod(document: Document) -> Document:
    """A new pod that needs quota, with its gate."""
    spec = document.get("spec") or {}
    gates, gate = spec.get("schedulingGates") or [], {"name": well_known.ADMISSION_GATE}
    if spec.get("nodeName") or not isinstance(gates, list) or gate in gates:
        return document
    return {**document, "spec": {**spec, "schedulingGates": [*gates, gate]}}


def _group_name(document: Document, kind: JobKind) -> str:
    """Without a UID: the label must be known before the object exists."""
    return _name(kind.kind, document["metadata"].get("name", ""), "")


def _name(kind: str, name: str, uid: str) -> str:
    digest = hashlib.sha256(f"{kind}/{name}/{uid}".encode()).hexdigest()[:5]
    return f"{kind.lower()}-{name}"[: _LONGEST_NAME - 6] + f"-{digest}"
