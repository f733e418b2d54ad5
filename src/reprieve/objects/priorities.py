"""Priority classes: which one applies, what it gives, and what must not contradict it.

Which class applies to a pod or pod group (`PriorityClasses.applying`):

1. The one it names; the two system classes always exist.
2. If it names none, the class marked `globalDefault`; of several the smallest value, then the first name.
3. None at all: priority 0, PreemptLowerPriority.

Admission fills in what the class gives (`resolve`); for objects that never met an API server,
`effective_priority` says what it would have filled in. Admission also demands:

4. A class that is named must exist.
5. A priority that is stated already must be the class's.
6. So must a preemption policy (of a group only with the gate PodGroupPreemptionPolicy).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from reprieve.objects import well_known
from reprieve.objects.core import PodSpec
from reprieve.objects.meta import Document, ObjectMeta
from reprieve.objects.scheduling import CompositeFields, GroupFields, PriorityClass
from reprieve.objects.structure import REFUSED, Problem
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import At

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
_SYSTEM_CLASSES = {
    name: PriorityClass(metadata=ObjectMeta(name=name), value=value)
    for name, value in well_known.SYSTEM_CLASSES.items()
}


class PriorityClasses:
    """The priority classes of a cluster by name. The system classes are always among them."""

    def __init__(self, known: Iterable[PriorityClass] = (), *, complete: bool = True) -> None:
        self.complete = complete
        """Whether all classes are known. A folder of manifests seldom holds every class of its cluster."""
        self.default: PriorityClass | None = None
        """The class of objects that name none."""
        self._known = _SYSTEM_CLASSES | {each.name: each for each in known}
        self._choose_default()

    def put(self, known: PriorityClass) -> None:
        self._known[known.name] = known
        self._choose_default()

    def remove(self, name: str) -> None:
        self._known.pop(name, None)
        self._known |= {name: _SYSTEM_CLASSES[name]} if name in _SYSTEM_CLASSES else {}
        self._choose_default()

    def find(self, name: str) -> PriorityClass | None:
        return self._known.get(name)

    def applying(self, name: str) -> PriorityClass | None:
        """The class of an object that names this one, or none where the name is empty."""
        return self._known.get(name) if name else self.default

    def _choose_default(self) -> None:
        marked = [each for each in self._known.values() if each.global_default]
        self.default = min(marked, key=lambda each: (each.value, each.name), default=None)


class EffectivePriority(NamedTuple):
    priority: int
    never_preempts: bool
    missing: str
    """Name of a priority class that was named and does not exist, otherwise empty."""


def effective_priority(
    spec: PodSpec | GroupFields | CompositeFields, classes: PriorityClasses
) -> EffectivePriority:
    """The priority and preemption policy of a pod or group.

    `spec.priority`, where it is set, is what admission gave.
    """
    name = spec.priority_class_name
    found = classes.applying(name) if name or spec.priority is None else None
    never = (spec.preemption_policy or (found.preemption_policy if found is not None else "")) == "Never"
    if spec.priority is not None:
        return EffectivePriority(spec.priority, never, "")
    if found is None:
        return EffectivePriority(0, never, name)
    return EffectivePriority(found.value, never, "")


def priority_class_of(document: Document) -> PriorityClass:
    """A raw class as far as it can be read. What is wrong with it is found when it is validated itself."""
    place = At(document)
    return PriorityClass(
        metadata=ObjectMeta(name=place.field("metadata", "name").text),
        value=place.field("value").number or 0,
        global_default=document.get("globalDefault") is True,
        preemption_policy=place.field("preemptionPolicy").text,
    )


def resolve(place: At, classes: PriorityClasses, *, with_policy: bool) -> list[Problem]:
    """Fills `priorityClassName`, `priority` and `preemptionPolicy` of a spec or template in place."""
    name = place.field("priorityClassName")
    if not name.text and not classes.complete:
        return []
    found = classes.applying(name.text)
    if name.text and found is None:
        message = f"no PriorityClass with name {name.text} was found"
        return [name.problem(message, REFUSED)] if classes.complete else []
    given: dict[str, Any] = {"priority": found.value if found else 0}
    if with_policy:
        given["preemptionPolicy"] = (found.preemption_policy if found else "") or PREEMPT_LOWER_PRIORITY
    return _fill(place, given, found)


def _fill(place: At, given: dict[str, Any], found: PriorityClass | None) -> list[Problem]:
    source = f"PriorityClass {found.name}" if found else "the default without any PriorityClass"
    problems = []
    for field, value in given.items():
        stated = place.field(field)
        if stated.is_set and stated.value != value:
            problems.append(stated.problem(f"is {shown(stated.value)}, but {source} says {value!r}", REFUSED))
    if not problems:
        place.value.update(given)
        if found:
            place.value["priorityClassName"] = found.name
    return problems


def preemption_priority_problems(document: Document, classes: PriorityClasses) -> list[Problem]:
    """The priority that protects a unit is never lower than the one it is scheduled with."""
    place = At(document)
    annotation = place.field("metadata", "annotations").field(well_known.PREEMPTION_CLASS_ANNOTATION)
    spec = place.field("spec")
    problems = _protection(spec, spec.field("preemptionPriorityClassName"), classes)
    for each in spec.field("podGroupTemplates").items():
        problems += _protection(each, each.field("preemptionPriorityClassName"), classes)
    return problems + _protection(spec, annotation, classes)


def _protection(spec: At, name: At, classes: PriorityClasses) -> list[Problem]:
    """What is wrong with the class that protects a unit of this spec."""
    priority = spec.field("priority").number
    if priority is None and not spec.field("podGroupTemplates").is_set:
        known = classes.applying(spec.field("priorityClassName").text)
        priority = known.value if known is not None else None
    problems = []
    if name.text:
        found = classes.find(name.text)
        if found is None:
            if classes.complete:
                problems.append(name.problem(f"no PriorityClass with name {name.text} was found", REFUSED))
        elif priority is not None and found.value < priority:
            message = f"{name.text} has value {found.value}, lower than the scheduling priority {priority}"
            problems.append(name.problem(message))
    return problems
