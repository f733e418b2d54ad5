"""Pod groups: their members, and what membership says about a pod's importance.

Pods can name a group before its object arrives: it has a number from then on and does not exist until then.
"""

import numpy as np

from reprieve.cluster.columns import Ints, Mask, Rows, grown
from reprieve.objects import PodGroup


class GroupTable:
    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}
        self.keys: list[str] = []
        self.objects: list[PodGroup | None] = []
        self.members: list[dict[int, None]] = []
        """Pod rows that name the group, in order of arrival."""
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

    def _forget(self, number: int) -> None:
        """Free the number of a group that has neither an object nor members."""
        if self.objects[number] is None and not self.members[number]:
            del self.number_of[self.keys[number]]
            self.keys[number] = ""
            self._free.append(number)

    def get(self, key: str) -> PodGroup | None:
        number = self.number_of.get(key)
        return None if number is None else self.objects[number]
