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
from reprieve.objects import (
    Document,
    InvalidObject,
    LabelSelector,
    controller_of,
    must_name_queue,
    well_known,
)

_LONGEST_LABEL = 63
_INHERITED = (
    well_known.QUEUE_LABEL,
    well_known.WORKLOAD_PRIORITY_CLASS_LABEL,
    well_known.MAX_EXEC_TIME_LABEL,
)
"""Labels of a job that its pods ask with."""


def group_label(document: Document, kind: JobKind) -> str:
    """The name by which the pods of such a job know that they belong together.

    Their template has it, so it fits into a label, and has no UID, which a new job does not have yet. Where
    it changed, all pods that run would be replaced: it is not the name of their Workload.
    """
    name = document["metadata"].get("name", "")
    digest = hashlib.sha256(f"{kind.kind}/{name}/".encode()).hexdigest()[:5]
    return f"{kind.kind.lower()}-{name}"[: _LONGEST_LABEL - 6] + f"-{digest}"


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
        labels[well_known.POD_GROUP_NAME_LABEL] = group_label(document, kind)
    added: dict[str, Additions] = {}
    sets = [*sets]
    for each, asked in zip(sets, replica_sets(kind, sets), strict=True):
        if kind.asks == "replica" and not asked.count:
            continue  # no replica has such pods, and their template stays as it is
        there = (each.template.get("metadata") or {}).get("labels") or {}
        # With another label than before all pods that run would be replaced.
        name = next((old for old in each.former if there.get(well_known.POD_SET_LABEL) == old), each.name)
        named = {well_known.POD_SET_LABEL: name} if labels and kind.asks != "pod" else {}
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
    owner = controller_of(document) or {}
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
