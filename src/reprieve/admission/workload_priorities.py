"""Which priority a workload gets from the classes that its owner names.

As Kueue's reconciler of jobs resolves it (pkg/util/priority/priority.go).
"""

from collections.abc import Iterable, Mapping

from reprieve.objects import Document, PriorityClass, PriorityClasses, decode, kind_key, raw, well_known

_WORKLOAD_CLASS = (well_known.KUEUE_API, "WorkloadPriorityClass")
_POD_CLASS = (well_known.SCHEDULING_API, "PriorityClass")
_KINDS = (_WORKLOAD_CLASS[1], _POD_CLASS[1])


class WorkloadPriorities:
    """WorkloadPriorityClasses and PriorityClasses by name; a controller keeps them up to date."""

    def __init__(self) -> None:
        self.workload_classes: dict[str, int] = {}
        self.pod_classes = PriorityClasses()

    @classmethod
    def read(cls, documents: Iterable[Document]) -> "WorkloadPriorities":
        """The classes among the documents."""
        found = cls()
        for each in documents:
            if each.get("kind") not in _KINDS:
                continue
            if kind_key(each) == _WORKLOAD_CLASS:
                found.workload_classes[str(raw.at(each, "metadata", "name"))] = int(each.get("value") or 0)
            elif kind_key(each) == _POD_CLASS:
                view = decode(each)
                assert isinstance(view, PriorityClass)
                found.pod_classes.put(view)
        return found

    def fill_in(self, workload: Document) -> None:
        """Give a workload that was just made for its owner the priority of the class that it refers to, or
        of the class for all that name none; in place."""
        spec = workload["spec"]
        if spec.get("priority") is not None:
            return
        ref = spec.get("priorityClassRef") or {}
        name, is_own = str(ref.get("name") or ""), ref.get("kind") == _WORKLOAD_CLASS[1]
        labels = {well_known.WORKLOAD_PRIORITY_CLASS_LABEL: name} if is_own else {}
        spec |= self.resolve(labels, "" if is_own else name)

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
