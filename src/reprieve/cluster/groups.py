"""Groups: their members, and what membership says about a pod's importance.

Pods can name a group before its object arrives: it has a number from then on and does not exist until then.
Composite groups have numbers of the same kind, and no members: those of the pod groups below count as theirs.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from reprieve.cluster.columns import Ints, Mask, Rows, grown
from reprieve.cluster.hierarchy import Group, Hierarchy
from reprieve.cluster.pods import checkpointed_at
from reprieve.objects import CompositePodGroup, Pod, PodGroup, Reference, find_condition, well_known


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
        self.checkpoint: Ints = np.zeros(0, dtype=np.int64)
        """When the group last saved its work, for all of its pods; 0 for most groups."""
        self.exists: Mask = np.zeros(0, dtype=np.bool_)
        self.whole: Mask = np.zeros(0, dtype=np.bool_)
        """Disruption mode *all*: its pods go together."""
        self.trees = Hierarchy(self.object)
        self.unit: Rows = np.full(0, -1, dtype=np.int32)
        """With trees: the topmost group in mode *all* on the way up from a pod group, -1 for none."""
        self.root: Rows = np.full(0, -1, dtype=np.int32)
        """With trees: the last group that exists on the way up from a pod group."""
        self._free: list[int] = []

    def number(self, key: str) -> int:
        """The number of a group, assigned when it is first named."""
        found = self.number_of.get(key)
        if found is None:
            found = self.number_of[key] = self._new_number(key)
        return found

    def _new_number(self, key: str) -> int:
        if self._free:
            found = self._free.pop()
            self.keys[found] = key
            return found
        found = len(self.keys)
        self.keys.append(key)
        self.objects.append(None)
        self.members.append({})
        self.priority = grown(self.priority, found + 1)
        self.preemption_class = grown(self.preemption_class, found + 1, -1)
        self.checkpoint = grown(self.checkpoint, found + 1)
        self.exists = grown(self.exists, found + 1)
        self.whole = grown(self.whole, found + 1)
        self.unit = grown(self.unit, found + 1, -1)
        self.root = grown(self.root, found + 1, -1)
        return found

    def object(self, number: int) -> Group | None:
        """The object of a number, a pod group or a composite one."""
        return self.objects[number] or self.trees.objects.get(number)

    def number_of_unit(self, unit: Reference) -> int:
        """The number of a group that exists, by its name."""
        return (self.trees.number_of if unit.kind == "CompositePodGroup" else self.number_of)[unit.key]

    def set(self, group: PodGroup, priority: int, preemption_class: int) -> int:
        number = self.number(group.key)
        self.objects[number] = group
        self.exists[number] = True
        self._describe(number, group, priority, preemption_class)
        self._climb(number)
        return number

    def _describe(self, number: int, group: Group, priority: int, preemption_class: int) -> None:
        self.priority[number] = priority
        self.preemption_class[number] = preemption_class
        self.checkpoint[number] = checkpointed_at(group.metadata.annotations)
        self.whole[number] = group.disrupted_as_a_whole
        self.trees.link(number, group.parent_key)

    def remove(self, key: str) -> None:
        """Forget the object of a group that has a number."""
        number = self.number_of[key]
        self.objects[number] = None
        self.checkpoint[number] = 0
        self.exists[number] = False
        self.whole[number] = False
        self.trees.unlink(number)
        self._climb(number)
        self._forget(number)

    # --- composite groups -----------------------------------------------------------------------------------

    def set_composite(self, group: CompositePodGroup, priority: int, preemption_class: int) -> list[int]:
        """Add or change a composite group. Returns the pod groups below it, before and after."""
        number = self.trees.number_of.get(group.key)
        if number is None:
            number = self.trees.number_of[group.key] = self._new_number(group.key)
        self.trees.objects[number] = group
        self._describe(number, group, priority, preemption_class)
        return self._climb_again(number)

    def remove_composite(self, key: str) -> list[int]:
        """Forget a composite group. Returns the pod groups that were below it."""
        number = self.trees.number_of.pop(key, None)
        if number is None:
            return []
        below = list(self.trees.leaves(number))
        del self.trees.objects[number]
        self.trees.unlink(number)
        self.whole[number] = False
        self.keys[number] = ""
        self._free.append(number)
        for each in below:
            self._climb(each)
        return below

    def _climb_again(self, number: int) -> list[int]:
        below = list(self.trees.leaves(number))
        for each in below:
            self._climb(each)
        return below

    def _climb(self, number: int) -> None:
        """What the groups above a pod group make of it."""
        chain = self.trees.chain(number)
        self.root[number] = chain[-1] if chain else -1
        self.unit[number] = next((each for each in reversed(chain) if self.whole[each]), -1)

    def ruling_priority(self, number: int) -> int:
        """The priority of a group that exists: in a tree, that of the root."""
        return int(self.priority[self.root[number]])

    def members_below(self, number: int) -> list[int]:
        """Pods of a pod group, or of all pod groups below a composite one."""
        if number not in self.trees.objects:
            return list(self.members[number])
        return [row for leaf in self.trees.leaves(number) for row in self.members[leaf]]

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

    def forget_all_ended(self, pods: Iterable[str]) -> None:
        """The same for many pods; most have no namesake that ended."""
        if self._ended:
            for pod in pods:
                self.forget_ended(pod)

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
