"""What a job asks its queue for: a Kueue Workload."""

from collections.abc import Iterable

from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place, at, mapping
from reprieve.jobs.reading import pod_sets
from reprieve.objects import Document, Reference, topology_request, well_known

_WORKLOAD_API = f"{well_known.KUEUE_API}/v1beta2"
_ENDED = frozenset({"Complete", "Completed", "Succeeded", "Failed", "Finished"})
"""Conditions with which kinds of jobs say that they are over."""


def queue_of(document: Document) -> str:
    """The LocalQueue that a job names; empty if it asks for no quota."""
    return str(mapping(Place("", document), "metadata.labels").get(well_known.QUEUE_LABEL) or "")


def ending(document: Document) -> Document | None:
    """The condition with which a job says that it is over; None while it is not."""
    conditions = mapping(Place("", document), "status").get("conditions") or ()
    ended = (each for each in conditions if each.get("type") in _ENDED and each.get("status") == "True")
    return next(ended, None)


def suspended_by(document: Document, kinds: JobKinds) -> str:
    """The field that keeps a job from starting; empty if none does."""
    kind = kinds.find(document)
    if kind is None or not kind.suspend or not at(Place("", document), kind.suspend).value:
        return ""
    return kind.suspend


def workload_of(document: Document, kinds: JobKinds, others: Iterable[Document] = ()) -> Document:
    """The workload of a job that is in a queue, as the quota controller would make it."""
    job = Reference.read(document)
    sets = pod_sets(document, kinds, others)
    labels = mapping(Place("", document), "metadata.labels")
    spec: Document = {
        "queueName": queue_of(document),
        "podSets": [
            {"name": each.name, "count": each.count, "template": each.template, **_topology(each.template)}
            for each in sets
            if each.count
        ],
    }
    named = labels.get(well_known.WORKLOAD_PRIORITY_CLASS_LABEL)
    of_pods = next((each.template["spec"].get("priorityClassName") for each in sets), None)
    if named:
        spec["priorityClassRef"] = _class(well_known.KUEUE_API, str(named))
    elif of_pods:
        spec["priorityClassRef"] = _class(well_known.SCHEDULING_API, str(of_pods))
    meta = {"name": f"{job.kind.lower()}-{job.name}", "namespace": job.namespace}
    return {"apiVersion": _WORKLOAD_API, "kind": "Workload", "metadata": meta, "spec": spec}


def _topology(template: Document) -> Document:
    asked = topology_request(mapping(Place("", template), "metadata.annotations"))
    return {} if asked is None else {"topologyRequest": asked}


def _class(group: str, name: str) -> Document:
    return {"group": group, "kind": well_known.PRIORITY_CLASS_KINDS[group], "name": name}
