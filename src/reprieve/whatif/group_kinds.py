"""Pod groups of other schedulers, read as gangs.

Volcano and the coscheduling plugin have PodGroups of their own. What they mean by them (so many pods start
together) is what a PodGroup of Kubernetes means, so a plan takes them as such. What only their own scheduler
knows of (queues, minimal resources, time-outs) is named in the plan.
"""

from collections.abc import Iterable

from reprieve.objects import Document, Source, document_of, kind_key, some, well_known

COSCHEDULING, VOLCANO = "scheduling.x-k8s.io", "scheduling.volcano.sh"
_KINDS = ((COSCHEDULING, "PodGroup"), (VOLCANO, "PodGroup"))
_NAME_ANNOTATION = "scheduling.k8s.io/group-name"
"""Volcano's link from a pod to its group; coscheduling's label is read everywhere."""
_READ = ("minMember", "priorityClassName")
_MOST_NAMED = 3


def with_group_kinds(objects: Iterable[Document | Source]) -> tuple[list[Document | Source], list[str]]:
    """The objects with such groups as PodGroups of Kubernetes, and sentences about what is lost thereby."""
    documents = list(objects)
    foreign = [each for each in documents if _is_foreign(document_of(each))]
    if not foreign:
        return documents, []
    lost = sorted(
        {
            f"spec.{field}"
            for each in foreign
            for field in document_of(each).get("spec") or {}
            if field not in _READ
        }
    )
    notes = [f"Note: of pod groups of other schedulers not read: {some(lost, _MOST_NAMED)}."] if lost else []
    return [_with(each, _understood(document_of(each))) for each in documents], notes


def _is_foreign(document: Document) -> bool:
    return kind_key(document) in _KINDS


def _understood(document: Document) -> Document:
    if _is_foreign(document):
        spec = document.get("spec") or {}
        made: Document = {"schedulingPolicy": {"gang": {"minCount": spec.get("minMember", 1)}}}
        if "priorityClassName" in spec:
            made["priorityClassName"] = spec["priorityClassName"]
        return {**document, "apiVersion": f"{well_known.SCHEDULING_API}/v1beta1", "spec": made}
    if document.get("kind") == "Pod":
        annotations = (document.get("metadata") or {}).get("annotations") or {}
        name, spec = annotations.get(_NAME_ANNOTATION), document.get("spec") or {}
        if name and "schedulingGroup" not in spec:
            return {**document, "spec": {**spec, "schedulingGroup": {"podGroupName": name}}}
    return document


def _with(found: Document | Source, document: Document) -> Document | Source:
    if document is document_of(found):
        return found
    return found._replace(document=document) if isinstance(found, Source) else document
