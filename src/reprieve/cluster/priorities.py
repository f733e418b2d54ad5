"""Priority classes, and the priority that admission would have written into `spec.priority`.

Objects from manifests never went through an API server, so their priority is resolved here.
"""

from typing import NamedTuple

import numpy as np

from reprieve.cluster.columns import Ints, grown
from reprieve.objects import Pod, PodGroup, PriorityClass, well_known

_UNKNOWN = -(2**62)
"""The value of an unknown class: below every priority, so it protects nothing."""


class PriorityTable:
    """Priority classes by name. A name is numbered when first mentioned, so that columns can refer to it."""

    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}
        self.values: Ints = np.full(0, _UNKNOWN, dtype=np.int64)
        self._objects: dict[str, PriorityClass] = {}

    def number(self, name: str) -> int:
        found = self.number_of.get(name)
        if found is None:
            found = self.number_of[name] = len(self.number_of)
            self.values = grown(self.values, found + 1, _UNKNOWN)
        return found

    def set(self, cls: PriorityClass) -> None:
        self._objects[cls.name] = cls
        number = self.number(cls.name)
        self.values[number] = cls.value

    def remove(self, name: str) -> None:
        if self._objects.pop(name, None) is not None:
            number = self.number(name)
            self.values[number] = _UNKNOWN

    def get(self, name: str) -> PriorityClass | None:
        return self._objects.get(name)

    def default(self) -> PriorityClass | None:
        """The class of objects that name none: of several global defaults, the one with the lowest value."""
        defaults = [each for each in self._objects.values() if each.global_default]
        return min(defaults, key=lambda each: (each.value, each.name), default=None)


class Resolved(NamedTuple):
    priority: int
    never_preempts: bool
    preemption_class: int
    """Number of the priority class whose value it counts for as a victim, -1 for none."""
    missing: str
    """Name of a priority class that was named and does not exist, otherwise empty."""


def resolve(obj: Pod | PodGroup, classes: PriorityTable) -> Resolved:
    """The priority and preemption policy of a pod or group.

    1. `spec.priority` where admission has set it.
    2. The class it names; the two system classes always exist.
    3. The global default class, else 0.
    """
    spec = obj.spec
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
    return Resolved(priority, policy == "Never", _preemption_class(obj, classes), missing)


def _preemption_class(obj: Pod | PodGroup, classes: PriorityTable) -> int:
    name = obj.metadata.annotations.get(well_known.PREEMPTION_CLASS_ANNOTATION, "")
    if not name and isinstance(obj, PodGroup):
        name = obj.spec.preemption_priority_class_name
    return classes.number(name) if name else -1
