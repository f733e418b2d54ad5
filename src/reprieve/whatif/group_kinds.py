"""Pod groups of other schedulers, read as gangs.

Volcano and the coscheduling plugin have PodGroups of their own. What they mean by them (so many pods start
together) is what a PodGroup of Kubernetes means, so a plan takes them as such. What only their own scheduler
knows of (queues, minimal resources, time-outs) is named in the plan.
"""

from collections.abc import Iterable
from typing import Any

from reprieve.objects import Document, Source, document_of, kind_key, well_known
from reprieve.whatif import sentences

COSCHEDULING, VOLCANO = "scheduling.x-k8s.io", "scheduling.volcano.sh"
_KINDS = ((COSCHEDULING, "PodGroup"), (VOLCANO, "PodGroup"))
_NAME_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""Volcano's links from a pod to its group, the first one first; coscheduling's label is read everywhere."""
_READ = ("minMember", "priorityClassName")
DEEPEST = 20
"""No kind of job keeps its pods further down. What people write may be nested deeper than Python calls."""


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
            for field in _fields(document_of(each), "spec")
            if field not in _READ
        }
    )
    notes = [sentences.foreign_fields_not_read(lost)] if lost else []
    return [_with(each, _understood(document_of(each))) for each in documents], notes


def _is_foreign(document: Document) -> bool:
    return kind_key(document) in _KINDS


def _understood(document: Document) -> Document:
    if _is_foreign(document):
        spec = _fields(document, "spec")
        made: Document = {"schedulingPolicy": {"gang": {"minCount": spec.get("minMember", 1)}}}
        if "priorityClassName" in spec:
            made["priorityClassName"] = spec["priorityClassName"]
        return {**document, "apiVersion": f"{well_known.SCHEDULING_API}/v1beta1", "spec": made}
    if document.get("kind") == "Pod":
        return _joined(document)
    joined = _templates(document.get("spec"), DEEPEST)
    return document if joined is document.get("spec") else {**document, "spec": joined}


def _templates(value: Any, levels: int) -> Any:
    """What pods will be made from, wherever a kind of job keeps it: their links are those of pods."""
    if not levels:
        return value
    if isinstance(value, dict):
        found = {key: _templates(each, levels - 1) for key, each in value.items()}
        changed = value if all(found[key] is each for key, each in value.items()) else found
        spec = changed.get("spec")
        return _joined(changed) if isinstance(spec, dict) and "containers" in spec else changed
    if isinstance(value, list):
        items = [_templates(each, levels - 1) for each in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _joined(pod: Document) -> Document:
    """A pod, or the template of one, with the field that says which group it is in."""
    annotations, spec = _fields(_fields(pod, "metadata"), "annotations"), _fields(pod, "spec")
    name = next((annotations[each] for each in _NAME_ANNOTATIONS if annotations.get(each)), "")
    if name and "schedulingGroup" not in spec:
        return {**pod, "spec": {**spec, "schedulingGroup": {"podGroupName": name}}}
    return pod


def _fields(value: Document, name: str) -> Document:
    """None where there are none: whoever decodes the object says what is wrong with it."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _with(found: Document | Source, document: Document) -> Document | Source:
    if document is document_of(found):
        return found
    return found._replace(document=document) if isinstance(found, Source) else document
