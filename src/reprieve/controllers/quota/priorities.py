"""Which priority a workload gets from the classes its owner names."""

from collections.abc import Mapping

from reprieve.objects import Document, PriorityClass, well_known


class Priorities:
    """WorkloadPriorityClasses and PriorityClasses by name, kept up to date by the controller."""

    def __init__(self) -> None:
        self.workload_classes: dict[str, int] = {}
        self.pod_classes: dict[str, int] = dict(well_known.SYSTEM_CLASSES)
        self.defaults: dict[str, int] = {}
        """PriorityClasses marked `globalDefault`."""

    def put_pod_class(self, known: PriorityClass) -> None:
        self.drop_pod_class(known.name)
        self.pod_classes[known.name] = known.value
        if known.global_default:
            self.defaults[known.name] = known.value

    def drop_pod_class(self, name: str) -> None:
        self.pod_classes.pop(name, None)
        self.defaults.pop(name, None)

    def resolve(self, labels: Mapping[str, str], pod_class: str) -> Document:
        """`priority` and `priorityClassRef` of a new workload:

        1. the WorkloadPriorityClass that the label of its owner names,
        2. the PriorityClass of its pods,
        3. the default PriorityClass (several: the lowest value, then the name),
        4. zero.
        """
        named = labels.get(well_known.WORKLOAD_PRIORITY_CLASS_LABEL, "")
        if named:
            return _reference(well_known.KUEUE_API, "WorkloadPriorityClass", named, self.workload_classes)
        if pod_class:
            return _reference(well_known.SCHEDULING_API, "PriorityClass", pod_class, self.pod_classes)
        if self.defaults:
            name = min(self.defaults, key=lambda known: (self.defaults[known], known))
            return _reference(well_known.SCHEDULING_API, "PriorityClass", name, self.defaults)
        return {"priority": 0}


def _reference(group: str, kind: str, name: str, values: Mapping[str, int]) -> Document:
    """A class that does not exist is named all the same: the queue says so, and waits for it."""
    return {
        "priorityClassRef": {"group": group, "kind": kind, "name": name},
        "priority": values.get(name, 0),
    }
