"""Phase 1: how many pods, slices and leaders each domain has room for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reprieve.quota.topology.columns import Columns, Match
from reprieve.quota.topology.held import Amounts
from reprieve.quota.topology.parameters import Parameters
from reprieve.quota.topology.tree import Ints, Tree

_FAR = np.int64(2**62)


class Counts:
    """Of one level. Phase 2 writes into them what each domain gets."""

    __slots__ = ("affinity", "leaders", "pods", "pods_with_leader", "slices", "slices_with_leader")

    def __init__(
        self,
        pods: Ints,
        slices: Ints,
        pods_with_leader: Ints,
        slices_with_leader: Ints,
        leaders: Ints,
        affinity: Ints | None,
    ) -> None:
        self.pods = pods
        self.slices = slices
        self.pods_with_leader = pods_with_leader
        """If one leader goes there, too."""
        self.slices_with_leader = slices_with_leader
        self.leaders = leaders
        self.affinity = affinity

    def arrays(self) -> tuple[Ints, ...]:
        """All but the affinity, which no choice changes."""
        return self.pods, self.slices, self.pods_with_leader, self.slices_with_leader, self.leaders


class LeafCounts:
    """Pods (and a leader) that fit in each leaf of a flavor at present.

    Made once for a pod set. `pods` and the rest are brought up to date by what changed since they were
    looked at last, which makes the many what-ifs of a search for victims cheap.
    """

    __slots__ = ("_columns", "_epoch", "_leader", "_match", "_seen", "_worker", "free", "leaders", "pods",
                 "with_leader")  # fmt: skip

    def __init__(
        self, columns: Columns, match: Match, worker: Amounts, leader: Amounts | None, empty: bool
    ) -> None:
        """`empty`: as if no workload held anything."""
        self._columns = columns
        self._match = match
        self._worker = worker
        self._leader = leader
        self.free = columns.free if empty else columns.left
        self._compute_all()

    def _compute_all(self) -> None:
        columns, mask = self._columns, self._match.mask
        self._epoch, self._seen = columns.epoch, len(columns.journal)
        self.pods = columns.count(self._worker, self.free)
        self.leaders, self.with_leader = self._led(self.pods, None, self.free)
        if mask is not None:
            self.pods = np.where(mask, self.pods, 0)
            self.leaders = np.where(mask, self.leaders, 0)
            self.with_leader = np.where(mask, self.with_leader, 0) if self._leader is not None else self.pods

    def _led(self, pods: Ints, leaves: Ints | None, free: Mapping[str, Ints]) -> tuple[Ints, Ints]:
        if self._leader is None:
            return np.zeros(len(pods), dtype=np.int64), pods
        leaders = np.minimum(self._columns.count(self._leader, free, leaves), 1)
        rest = {}
        for resource in self._worker:
            column = free.get(resource)
            if column is not None:
                has = column if leaves is None else column[leaves]
                rest[resource] = has - leaders * self._leader.get(resource, 0)
        every = None if leaves is None else np.arange(len(leaves), dtype=np.int64)
        return leaders, self._columns.count(self._worker, rest, every)

    def refresh(self) -> None:
        columns = self._columns
        if columns.epoch != self._epoch:
            self._compute_all()
            return
        changes = columns.journal[self._seen :]
        if not changes:
            return
        self._seen = len(columns.journal)
        if self.free is columns.free and self.free is not columns.left:
            self._compute_all()  # what workloads hold does not matter, and pods outside change rarely
            return
        self._compute(changes[0] if len(changes) == 1 else np.unique(np.concatenate(changes)), self.free)

    def _compute(self, leaves: Ints, free: Mapping[str, Ints]) -> None:
        mask = self._match.mask
        if mask is not None:
            leaves = leaves[mask[leaves]]
        pods = self._columns.count(self._worker, free, leaves)
        leaders, led = self._led(pods, leaves, free)
        self.pods[leaves] = pods
        if self._leader is not None:
            self.leaders[leaves] = leaders
            self.with_leader[leaves] = led

    def less(self, assumed: Mapping[str, Amounts]) -> tuple[Ints, Ints, Ints]:
        """(pods, leaders, pods with leader) once other pods of the workload have what they were given."""
        pods, leaders, led = self.pods.copy(), self.leaders.copy(), self.with_leader.copy()
        columns, mask = self._columns, self._match.mask
        for key, amounts in assumed.items():
            leaf = columns.tree.leaf_of.get(key)
            if leaf is None or (mask is not None and not mask[leaf]):
                continue
            here = {
                resource: column[leaf : leaf + 1] - amounts.get(resource, 0)
                for resource, column in self.free.items()
            }
            only = np.zeros(1, dtype=np.int64)
            pods[leaf : leaf + 1] = columns.count(self._worker, here, only)
            leaders[leaf : leaf + 1], led[leaf : leaf + 1] = self._led(pods[leaf : leaf + 1], only, here)
        return pods, leaders, led


def roll_up(
    tree: Tree, leaf: tuple[Ints, Ints, Ints], wanted: Parameters, led: bool, scores: Ints | None
) -> list[Counts]:
    """Counts of all levels that are looked at, from those of the leaves: (pods, leaders, pods with leader).

    Only a preferred request ever looks above the level it names.
    """
    pods, leaders, with_leader = leaf
    at_leaves = wanted.slice_level == tree.depth - 1
    slices = pods // wanted.size if at_leaves else np.zeros(len(pods), dtype=np.int64)
    led_slices = with_leader // wanted.size if at_leaves else slices.copy()
    bottom = Counts(pods, slices, with_leader, led_slices, leaders, scores)
    found = [bottom] * tree.depth
    top = wanted.level if wanted.required or wanted.unconstrained else 0
    for level in range(tree.depth - 2, top - 1, -1):
        size = tree.size(level)
        arrays = [np.zeros(size, dtype=np.int64) for _ in range(5)]
        found[level] = Counts(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], None)
        roll_level(tree, found, level, (0, size), wanted, led, wanted.inner)
        below = found[level + 1].affinity
        if below is not None:
            found[level].affinity = np.add.reduceat(below, tree.first[level][:-1])
    return found


def roll_level(
    tree: Tree,
    counts: list[Counts],
    level: int,
    part: tuple[int, int],
    wanted: Parameters,
    led: bool,
    inner: Mapping[int, int],
) -> None:
    """Domains `part` of a level from their children."""
    start, end = part
    if start == end:
        return
    first = tree.first[level]
    low, high = int(first[start]), int(first[end])
    starts = first[start:end] - low
    child, own = counts[level + 1], counts[level]
    pods, with_leader = child.pods[low:high], child.pods_with_leader[low:high]
    size = inner.get(level + 1)
    if size is not None:
        pods, with_leader = pods // size * size, with_leader // size * size
    slices, led_slices = child.slices[low:high], child.slices_with_leader[low:high]
    own.pods[start:end] = np.add.reduceat(pods, starts)
    own.slices[start:end] = np.add.reduceat(slices, starts)
    if led:
        leaders = child.leaders[low:high]
        own.leaders[start:end] = np.maximum.reduceat(leaders, starts)
        able = own.leaders[start:end] > 0
        fewer = np.minimum.reduceat(np.where(leaders > 0, pods - with_leader, _FAR), starts)
        own.pods_with_leader[start:end] = np.where(able, own.pods[start:end] - fewer, 0)
        fewer = np.minimum.reduceat(np.where(leaders > 0, slices - led_slices, _FAR), starts)
        own.slices_with_leader[start:end] = np.where(able, own.slices[start:end] - fewer, 0)
    else:
        fewer = np.minimum.reduceat(pods - with_leader, starts)
        own.pods_with_leader[start:end] = own.pods[start:end] - fewer
        fewer = np.minimum.reduceat(slices - led_slices, starts)
        own.slices_with_leader[start:end] = own.slices[start:end] - fewer
    if level == wanted.slice_level:
        own.slices[start:end] = own.pods[start:end] // wanted.size
        own.slices_with_leader[start:end] = own.pods_with_leader[start:end] // wanted.size
