"""A PodGroup that names the template it was made from (`spec.workloadRef`): what it leaves out comes from
there, and what it says must not contradict it.

The size of a gang is the one thing that may differ: it may change later, on either side.
"""

from collections.abc import Callable
from copy import deepcopy

from reprieve.objects.meta import Document
from reprieve.objects.normalise import respell
from reprieve.objects.structure import Problem
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import At

_FIELDS = (
    "schedulingPolicy",
    "schedulingConstraints",
    "disruptionMode",
    "priorityClassName",
    "priority",
    "preemptionPolicy",
    "preemptionPriorityClassName",
)
FindWorkload = Callable[[str, str], Document | None]
"""(namespace, name) to the raw Workload, if it is there."""


def workload_of(group: Document) -> tuple[str, str] | None:
    """(namespace, name) of the Workload that a group names; None for none."""
    place = At(group)
    name = place.field("spec", "workloadRef", "workloadName").text
    return (place.field("metadata", "namespace").text or "default", name) if name else None


def from_template(group: Document, find: FindWorkload) -> tuple[Document, list[Problem]]:
    """The group with what its template gives, and what contradicts it. A Workload that is not known, and may
    come later, gives nothing."""
    current = respell(group)
    key = workload_of(current)
    workload = find(*key) if key is not None else None
    spec = current.get("spec")
    if key is None or workload is None or not isinstance(spec, dict):
        return group, []
    reference = At(spec, "spec").field("workloadRef", "templateName")
    templates = At(respell(workload)).field("spec", "podGroupTemplates").items()
    named = {each.field("name").text: each for each in templates}
    template = named.get(reference.text)
    if template is None:
        known = ", ".join(sorted(named)) or "none"
        message = f"the Workload {key[1]!r} has no template {reference.text!r}; it has: {known}"
        return group, [reference.problem(message)]
    problems = []
    for field in _FIELDS:
        given, own = template.field(field).value, spec.get(field)
        if given is None:
            continue
        if own is None:
            spec[field] = deepcopy(given)
        elif _comparable(field, own) != _comparable(field, given):
            message = f"is {shown(own)}, but its template {reference.text!r} says {shown(given)}"
            problems.append(At(own, f"spec.{field}").problem(message))
    return current, problems


def _comparable(field: str, value: object) -> object:
    if field == "schedulingPolicy" and isinstance(value, dict):
        return sorted(name for name, part in value.items() if part is not None)
    return value
