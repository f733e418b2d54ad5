"""Groups of one tree: queued one by one, decided on together.

Each pod group of a tree is a queued unit of its own, so that pods, quota and conditions stay where they are.
A decision about any of them is a decision about the whole tree: it binds pods of all, or has victims evicted
for all. What one of them waits for, the others wait for, too.
"""

from collections.abc import Iterator
from typing import NamedTuple

from reprieve.cluster import Cluster
from reprieve.objects import CompositePodGroup, PodGroup, Reference
from reprieve.scheduler.waiting import WaitingPods


def mates(cluster: Cluster, unit: Reference) -> Iterator[Reference]:
    """The other pod groups of the tree that a group is in; none for a group on its own."""
    groups = cluster.groups
    number = groups.number_of.get(unit.key) if unit.kind == "PodGroup" else None
    if number is None or not groups.trees.parent(number):
        return
    for leaf in groups.trees.leaves(int(groups.root[number])):
        if leaf != number:
            yield Reference.of("PodGroup", groups.keys[leaf])


def below(cluster: Cluster, group: CompositePodGroup) -> list[Reference]:
    """The pod groups below a composite group."""
    groups = cluster.groups
    number = groups.trees.number_of.get(group.key)
    leaves = () if number is None else groups.trees.leaves(number)
    return [Reference.of("PodGroup", groups.keys[leaf]) for leaf in leaves]


class Half(NamedTuple):
    """A tree, or a part of one, that holds nodes with less than it needs."""

    bound: tuple[str, ...]
    missing: int
    """How many pods it lacks at least."""
    leader: Reference
    """The pod group that has the bound pods released if they cannot be completed: one for all of them."""
    lacking: bool
    """Whether the group that was asked about lacks pods itself."""


class HalfTrees:
    """Finds trees that were bound in part: calls failed for good, or the scheduler crashed in between.

    A composite group that had all it needs once never counts: like a gang, it may lose pods and go on.
    """

    def __init__(self, cluster: Cluster, waiting: WaitingPods) -> None:
        self._cluster = cluster
        self._waiting = waiting
        self._whole: set[str] = set()
        """UIDs of composite groups that had all they need."""

    def note(self, unit: Reference) -> None:
        """Pods of this group were bound: the groups above it may have all they need now."""
        trees = self._cluster.groups.trees
        for number in self._above(unit):
            if not self._need(number):
                self._whole.add(trees.objects[number].metadata.uid)

    def half(self, unit: Reference) -> Half | None:
        """Of the outermost group above this one that has pods on nodes, and not enough."""
        groups = self._cluster.groups
        for number in reversed(self._above(unit)):
            if groups.trees.objects[number].metadata.uid in self._whole:
                continue
            missing = self._need(number)
            bound = self._bound(number) if missing else ()
            if bound:
                own = groups.number_of[unit.key]
                return Half(bound, missing, self._leader(number), self._need(own) > 0)
        return None

    def _above(self, unit: Reference) -> list[int]:
        """The composite groups above a pod group, the innermost first; none while the tree has no root."""
        groups = self._cluster.groups
        number = groups.number_of.get(unit.key) if unit.kind == "PodGroup" else None
        if number is None or not groups.trees.parent(number):
            return []
        chain = groups.trees.chain(number)
        return chain[1:] if chain and not groups.trees.parent(chain[-1]) else []

    def _need(self, number: int) -> int:
        """How many more pods it takes at least until a group has what it needs."""
        groups = self._cluster.groups
        group = groups.object(number)
        if isinstance(group, PodGroup):
            unit = Reference.of("PodGroup", group.key)
            if self._waiting.once_complete(group):
                return 0
            placed = len(self._waiting.staying(unit)) + self._waiting.ended(unit)
            return max(0, max(1, group.min_count) - placed)
        wanted = groups.trees.objects[number].min_group_count
        needs = sorted(self._need(child) for child in groups.trees.children(number))
        return sum(needs[:wanted]) + max(0, wanted - len(needs))

    def _bound(self, number: int) -> tuple[str, ...]:
        keys = self._cluster.groups.keys
        leaves = self._cluster.groups.trees.leaves(number)
        units = (Reference.of("PodGroup", keys[leaf]) for leaf in leaves)
        return tuple(sorted(pod for unit in units for pod in self._waiting.staying(unit)))

    def _leader(self, number: int) -> Reference:
        """The first group with pods that lacks some; without one, the first that has some on nodes."""
        groups = self._cluster.groups
        leaves = sorted(groups.trees.leaves(number), key=lambda leaf: groups.keys[leaf])
        lacking = [leaf for leaf in leaves if groups.members[leaf] and self._need(leaf)]
        placed = [leaf for leaf in leaves if groups.members[leaf]]
        return Reference.of("PodGroup", groups.keys[(lacking or placed)[0]])
