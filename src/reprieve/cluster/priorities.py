"""Priority classes, and the priority that admission would have written into `spec.priority`.

Objects from manifests never went through an API server, so their priority is resolved here.
"""

from typing import NamedTuple

import numpy as np

from reprieve.cluster.columns import Ints, grown
from reprieve.objects import (
    CompositePodGroup,
    Pod,
    PodGroup,
    PodSpec,
    PriorityClass,
    PriorityClasses,
    effective_priority,
    well_known,
)

_UNKNOWN = -(2**62)
"""The value of an unknown class: below every priority, so it protects nothing."""


class PriorityTable:
    """Priority classes by name. A name is numbered when first mentioned, so that columns can refer to it."""

    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}
        self.values: Ints = np.full(0, _UNKNOWN, dtype=np.int64)
        self.classes = PriorityClasses()

    def number(self, name: str) -> int:
        found = self.number_of.get(name)
        if found is None:
            found = self.number_of[name] = len(self.number_of)
            self.values = grown(self.values, found + 1, _UNKNOWN)
            self.values[found] = well_known.SYSTEM_CLASSES.get(name, _UNKNOWN)
        return found

    def set(self, cls: PriorityClass) -> None:
        self.classes.put(cls)
        number = self.number(cls.name)
        self.values[number] = cls.value

    def remove(self, name: str) -> None:
        self.classes.remove(name)
        if name in self.number_of:
            self.values[self.number_of[name]] = well_known.SYSTEM_CLASSES.get(name, _UNKNOWN)


class Resolved(NamedTuple):
    priority: int
    never_preempts: bool
    preemption_class: int
    """Number of the priority class whose value it counts for as a victim, -1 for none."""
    missing: str
    """Name of a priority class that was named and does not exist, otherwise empty."""


def resolve(obj: Pod | PodGroup | CompositePodGroup, table: PriorityTable) -> Resolved:
    spec = obj.spec
    says_all = spec.priority is not None and not spec.priority_class_name and not obj.metadata.annotations
    if says_all and isinstance(obj, Pod):
        return Resolved(spec.priority or 0, spec.preemption_policy == "Never", -1, "")
    found = effective_priority(obj.spec, table.classes)
    return Resolved(found.priority, found.never_preempts, _preemption_class(obj, table), found.missing)


def resolve_spec(spec: PodSpec, table: PriorityTable) -> Resolved:
    """The same for a pod without annotations."""
    found = effective_priority(spec, table.classes)
    return Resolved(found.priority, found.never_preempts, -1, found.missing)


def _preemption_class(obj: Pod | PodGroup | CompositePodGroup, table: PriorityTable) -> int:
    notes = obj.metadata.annotations
    name = notes.get(well_known.PREEMPTION_CLASS_ANNOTATION, "") if notes else ""
    if not name and isinstance(obj, PodGroup):
        name = obj.spec.preemption_priority_class_name
    return table.number(name) if name else -1
