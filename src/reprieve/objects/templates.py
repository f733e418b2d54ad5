"""A PodGroup that names the template it was made from (`spec.workloadRef`): what it leaves out comes from
there, and what it says must not contradict it.

The size of a gang is the one thing that may differ: it may change later, on either side.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy

import msgspec

from reprieve.objects.meta import Document
from reprieve.objects.normalise import respell
from reprieve.objects.scheduling import (
    CompositePodGroupTemplate,
    PodGroup,
    PodGroupTemplate,
    SchedulingPolicy,
    Workload,
    WorkloadSpec,
)
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
_OWN_COUNTS = "what the group says counts"
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
    named = {each.field("name").text: each for each in _templates(At(respell(workload)).field("spec"))}
    template = named.get(reference.text)
    if template is None:
        known = ", ".join(sorted(named)) or "none"
        message = f"the Workload {key[1]!r} has no template {reference.text!r}; it has: {known}"
        return group, [reference.problem(message)]
    if (
        _was_stored(current)
        and not spec.get("priorityClassName")
        and template.field("priorityClassName").text
    ):
        spec.pop("priority", None)  # the server filled it in, where no class was named
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


def _was_stored(group: Document) -> bool:
    return At(group).field("metadata", "uid").is_set


def _templates(place: At) -> Iterator[At]:
    """All templates of pod groups, those inside templates of composite groups included."""
    yield from place.field("podGroupTemplates").items()
    for each in place.field("compositePodGroupTemplates").items():
        yield from _templates(each)


def complete(group: PodGroup, workload: Workload | None) -> tuple[PodGroup, str]:
    """The same for a group that an API server has stored, and as a sentence what contradicts its template: by
    then nothing can be refused, and the group's own values count.

    A server fills in a priority where no class is named, so a group without a class has left it out.
    """
    reference = group.spec.workload_ref
    if reference is None or workload is None:
        return group, ""
    named = {each.name: each for each in _typed_templates(workload.spec)}
    template = named.get(reference.template_name)
    if template is None:
        known = ", ".join(sorted(named)) or "none"
        text = f"the Workload {workload.name!r} has no template {reference.template_name!r}; it has: {known}"
        return group, text
    taken: dict[str, object] = {}
    contrary = []
    for field, left_out in _TYPED.items():
        given, own = getattr(template, field), getattr(group.spec, field)
        if given == left_out:
            continue
        if own == left_out:
            taken[field] = given
        elif _policy(own) != _policy(given):
            contrary.append(_WIRE[field])
    if "priority_class_name" in taken:
        taken["priority"] = template.priority
    text = f"{' and '.join(contrary)} of its template {template.name!r} differ: {_OWN_COUNTS}"
    spec = msgspec.structs.replace(group.spec, **taken) if taken else group.spec
    return msgspec.structs.replace(group, spec=spec), text if contrary else ""


_TYPED: dict[str, object] = {
    "scheduling_policy": SchedulingPolicy(),
    "scheduling_constraints": None,
    "disruption_mode": None,
    "priority_class_name": "",
    "preemption_policy": "",
    "preemption_priority_class_name": "",
}
"""Fields of typed groups, with what they are where they are left out."""
_WIRE = {
    "scheduling_policy": "spec.schedulingPolicy",
    "scheduling_constraints": "spec.schedulingConstraints",
    "disruption_mode": "spec.disruptionMode",
    "priority_class_name": "spec.priorityClassName",
    "preemption_policy": "spec.preemptionPolicy",
    "preemption_priority_class_name": "spec.preemptionPriorityClassName",
}


def _typed_templates(
    place: WorkloadSpec | CompositePodGroupTemplate,
) -> Iterator[PodGroupTemplate]:
    yield from place.pod_group_templates
    for each in place.composite_pod_group_templates:
        yield from _typed_templates(each)


def _policy(value: object) -> object:
    """Of policies only the kind is compared: the size of a gang may differ."""
    return (value.basic is None, value.gang is None) if isinstance(value, SchedulingPolicy) else value


def _comparable(field: str, value: object) -> object:
    if field == "schedulingPolicy" and isinstance(value, dict):
        return sorted(name for name, part in value.items() if part is not None)
    return value
