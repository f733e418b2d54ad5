"""Priority classes: which one applies, what it gives, and what must not contradict it.

Resolution, for pods and pod groups alike:

1. No name: the class marked `globalDefault`; of several the one with the smallest value. None marked: priority 0, PreemptLowerPriority.
2. A name: that class must exist.
3. A priority that is stated already must be the class's.
4. So must a preemption policy (of a group only with the gate PodGroupPreemptionPolicy).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from reprieve.objects import well_known
from reprieve.objects.meta import Document
from reprieve.objects.show import shown
from reprieve.objects.structure import REFUSED, Problem
from reprieve.objects.validation.checks import At

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


class PriorityClasses(NamedTuple):
    """The classes there are, by name, as raw documents."""

    classes: Mapping[str, Document] = {}
    complete: bool = True
    """Whether a class not listed does not exist. A folder of manifests seldom holds every class of its cluster."""

    def find(self, name: str) -> Document | None:
        if name in well_known.SYSTEM_CLASSES:
            return {"metadata": {"name": name}, "value": well_known.SYSTEM_CLASSES[name]}
        return self.classes.get(name)

    def default(self) -> Document | None:
        """Smallest value first, then the name, so that equal inputs give equal answers."""
        marked = [each for each in self.classes.values() if each.get("globalDefault") is True]
        return min(marked, key=lambda each: (value_of(each), name_of(each)), default=None)


def value_of(priority_class: Document) -> int:
    value = priority_class.get("value")
    return value if isinstance(value, int) else 0


def name_of(priority_class: Document) -> str:
    return At(priority_class).field("metadata", "name").text


def resolve(spec: Document, classes: PriorityClasses, *, with_policy: bool) -> list[Problem]:
    """Fills `priorityClassName`, `priority` and `preemptionPolicy` of a pod's or group's spec in place."""
    place = At(spec, "spec")
    name = place.field("priorityClassName")
    if not name.text and not classes.complete:
        return []
    found = classes.find(name.text) if name.text else classes.default()
    if name.text and found is None:
        message = f"no PriorityClass with name {name.text} was found"
        return [name.problem(message, REFUSED)] if classes.complete else []
    given = {"priority": value_of(found) if found else 0}
    if with_policy:
        given_policy = (found or {}).get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY
        return _fill(place, {**given, "preemptionPolicy": given_policy}, found)
    return _fill(place, given, found)


def _fill(place: At, given: dict[str, Any], found: Document | None) -> list[Problem]:
    source = f"PriorityClass {name_of(found)}" if found else "the default without any PriorityClass"
    problems = []
    for field, value in given.items():
        stated = place.field(field)
        if stated.is_set and stated.value != value:
            problems.append(stated.problem(f"is {shown(stated.value)}, but {source} says {value!r}", REFUSED))
    if not problems:
        place.value.update(given)
        if found:
            place.value["priorityClassName"] = name_of(found)
    return problems


def preemption_priority_problems(document: Document, classes: PriorityClasses) -> list[Problem]:
    """The priority that protects a unit is never lower than the one it is scheduled with."""
    place = At(document)
    annotation = place.field("metadata", "annotations").field(well_known.PREEMPTION_CLASS_ANNOTATION)
    field = place.field("spec", "preemptionPriorityClassName")
    priority = place.field("spec", "priority").number
    problems = []
    for name in (field, annotation):
        if not name.text:
            continue
        found = classes.find(name.text)
        if found is None:
            if classes.complete:
                problems.append(name.problem(f"no PriorityClass with name {name.text} was found", REFUSED))
        elif priority is not None and value_of(found) < priority:
            message = (
                f"{name.text} has value {value_of(found)}, lower than the scheduling priority {priority}"
            )
            problems.append(name.problem(message))
    return problems
