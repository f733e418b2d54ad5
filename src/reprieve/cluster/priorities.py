"""Whose priority is it: what admission would have written into `spec.priority`, for objects that never met an API server."""

from typing import NamedTuple

from reprieve.cluster.groups import PriorityTable
from reprieve.objects import Pod, PodGroup, well_known


class Resolved(NamedTuple):
    priority: int
    never_preempts: bool
    preemption_class: int
    """Number of the priority class that protects it from preemption, -1 for none."""
    missing: str
    """Name of a priority class that does not exist, empty when there is nothing to warn about."""


def resolve(subject: Pod | PodGroup, classes: PriorityTable) -> Resolved:
    """The priority and preemption policy of a pod or group.

    1. `spec.priority` where it is set: admission has spoken.
    2. The class it names; the two system classes always exist.
    3. The global default class, else 0.
    """
    spec = subject.spec
    name = spec.priority_class_name
    cls = classes.get(name) if name else (classes.default() if spec.priority is None else None)
    if spec.priority is not None:
        priority, missing = spec.priority, ""
    elif cls is not None:
        priority, missing = cls.value, ""
    else:
        priority, missing = (
            well_known.SYSTEM_CLASSES.get(name, 0),
            "" if not name or name in well_known.SYSTEM_CLASSES else name,
        )
    policy = spec.preemption_policy or (cls.preemption_policy if cls is not None else "")
    return Resolved(priority, policy == "Never", _preemption_class(subject, classes), missing)


def _preemption_class(subject: Pod | PodGroup, classes: PriorityTable) -> int:
    name = subject.metadata.annotations.get(well_known.PREEMPTION_CLASS_ANNOTATION, "")
    if not name and isinstance(subject, PodGroup):
        name = subject.spec.preemption_priority_class_name
    return classes.number(name) if name else -1
