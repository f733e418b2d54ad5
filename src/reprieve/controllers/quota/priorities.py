"""Which priority a workload gets from the classes its owner names."""

from collections.abc import Mapping

from reprieve.objects import Document, PriorityClasses, well_known


class Priorities:
    """WorkloadPriorityClasses and PriorityClasses by name, kept up to date by the controller."""

    def __init__(self) -> None:
        self.workload_classes: dict[str, int] = {}
        self.pod_classes = PriorityClasses()

    def resolve(self, labels: Mapping[str, str], pod_class: str) -> Document:
        """`priority` and `priorityClassRef` of a new workload:

        1. the WorkloadPriorityClass that the label of its owner names,
        2. the PriorityClass that applies to its pods,
        3. zero.
        """
        named = labels.get(well_known.WORKLOAD_PRIORITY_CLASS_LABEL, "")
        if named:
            value = self.workload_classes.get(named, 0)
            return _reference(well_known.KUEUE_API, "WorkloadPriorityClass", named, value)
        found = self.pod_classes.applying(pod_class)
        if found is None and not pod_class:
            return {"priority": 0}
        name, value = (pod_class, 0) if found is None else (found.name, found.value)
        return _reference(well_known.SCHEDULING_API, "PriorityClass", name, value)


def _reference(group: str, kind: str, name: str, value: int) -> Document:
    """A class that does not exist is named all the same: the queue says so, and waits for it."""
    return {"priorityClassRef": {"group": group, "kind": kind, "name": name}, "priority": value}
