"""Pod groups: their members, and what membership says about a pod's importance.

Pods can name a group before its object arrives: it has a number from then on and does not exist until then.
"""

from collections import Counter

import numpy as np

from reprieve.cluster.columns import Ints, Mask, Rows, grown
from reprieve.objects import Pod, PodGroup, find_condition, well_known


class GroupTable:
    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}
        self.keys: list[str] = []
        self.objects: list[PodGroup | None] = []
        self.members: list[dict[int, None]] = []
        """Pod rows that name the group, in order of arrival."""
        self._ended: dict[str, tuple[int, bool]] = {}
        """Pods that ran as members of a group and have ended: its number, and whether they succeeded."""
        self._succeeded: Counter[int] = Counter()
        self._failed: Counter[int] = Counter()
        self.priority: Ints = np.zeros(0, dtype=np.int64)
        self.preemption_class: Rows = np.full(0, -1, dtype=np.int32)
        self.exists: Mask = np.zeros(0, dtype=np.bool_)
        self.whole: Mask = np.zeros(0, dtype=np.bool_)
        """Disruption mode *all*: its pods go together."""
        self._free: list[int] = []

    def number(self, key: str) -> int:
        """The number of a group, assigned when it is first named."""
        found = self.number_of.get(key)
        if found is None and self._free:
            found = self.number_of[key] = self._free.pop()
            self.keys[found] = key
        elif found is None:
            found = self.number_of[key] = len(self.keys)
            self.keys.append(key)
            self.objects.append(None)
            self.members.append({})
            self.priority = grown(self.priority, found + 1)
            self.preemption_class = grown(self.preemption_class, found + 1, -1)
            self.exists = grown(self.exists, found + 1)
            self.whole = grown(self.whole, found + 1)
        return found

    def set(self, group: PodGroup, priority: int, preemption_class: int) -> int:
        number = self.number(group.key)
        self.objects[number] = group
        self.priority[number] = priority
        self.preemption_class[number] = preemption_class
        self.exists[number] = True
        self.whole[number] = group.disrupted_as_a_whole
        return number

    def remove(self, key: str) -> None:
        number = self.number_of.get(key)
        if number is not None:
            self.objects[number] = None
            self.exists[number] = False
            self.whole[number] = False
            self._forget(number)

    def leave(self, number: int, row: int) -> None:
        """A pod is no longer a member."""
        del self.members[number][row]
        self._forget(number)

    def end(self, pod: Pod) -> None:
        """A member has ended and is still in the API."""
        self.forget_ended(pod.key)
        if pod.group_key and pod.spec.node_name:
            number, succeeded = self.number(pod.group_key), pod.status.phase == "Succeeded"
            self._ended[pod.key] = number, succeeded
            (self._succeeded if succeeded else self._failed)[number] += 1

    def forget_ended(self, pod: str) -> None:
        """The pod's object is gone, or a new one has its name."""
        if pod in self._ended:
            number, succeeded = self._ended.pop(pod)
            (self._succeeded if succeeded else self._failed)[number] -= 1
            self._forget(number)

    def ended(self, number: int, on_nodes: int) -> int:
        """How many ended members count towards the group's minimum beside `on_nodes` that are on nodes.

        One that succeeded has done its part: nobody makes it anew. One that failed is made anew, and only its
        successor counts; but while a gang that was complete runs on, its minimum was met with both.
        """
        if not self._ended:
            return 0
        failed = self._failed[number] if on_nodes and self._was_complete(number) else 0
        return self._succeeded[number] + failed

    def _was_complete(self, number: int) -> bool:
        group = self.objects[number]
        found = group and find_condition(group.status.conditions, well_known.POD_GROUP_SCHEDULED)
        return found is not None and found.status == "True"

    def _forget(self, number: int) -> None:
        """Free the number of a group that has neither an object nor members, not even ended ones."""
        if self._succeeded[number] or self._failed[number]:
            return
        if self.objects[number] is None and not self.members[number]:
            del self.number_of[self.keys[number]]
            self.keys[number] = ""
            self._free.append(number)

    def get(self, key: str) -> PodGroup | None:
        number = self.number_of.get(key)
        return None if number is None else self.objects[number]
