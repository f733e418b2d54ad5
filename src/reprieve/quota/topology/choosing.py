"""Phase 2: which domains, and how many pods each of them gets.

Orders of domains (BestFit; LeastFree is for requests that only care about capacity):

with leader: 1. has room for the leader; 2. affinity score; 3. more slices [LeastFree: fewer], a leader
             counted; 4. fewer pods; 5. path
workers:     1. affinity score; 2. more slices [LeastFree: fewer]; 3. fewer pods; 4. path

BestFit takes as few domains as possible and, for the last one, the tightest that holds the rest. LeastFree
starts with the fullest domains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reprieve.quota.topology.counting import Counts
from reprieve.quota.topology.parameters import Parameters
from reprieve.quota.topology.tree import Ints, Tree

_MOST = np.int64(2**62)


class NotFound(NamedTuple):
    """No domains: at the level that was searched last, this many pods or slices would fit."""

    level: int
    fit: int
    empty: bool = False
    """There are no domains at all."""


class Found(NamedTuple):
    level: int
    domains: list[int]


class Choice:
    """One request against the counts of one tree. `count`: pods; `lead`: 1 with a leader, else 0."""

    __slots__ = ("_least_free", "_wanted", "count", "counts", "lead", "needed", "tree")

    def __init__(
        self, tree: Tree, counts: list[Counts], wanted: Parameters, count: int, lead: int, mixed: bool
    ) -> None:
        self.tree = tree
        self.counts = counts
        self._wanted = wanted
        self.count = count
        self.lead = lead
        self.needed = count // wanted.size
        """Slices."""
        self._least_free = wanted.unconstrained and mixed

    # --- orders -------------------------------------------------------------------------------------

    def workers_order(self, level: int, domains: Ints) -> Ints:
        """`domains` in order of number."""
        counts = self.counts[level]
        return self._sorted(domains, counts.slices, counts.pods, None, counts.affinity)

    def leader_order(self, level: int, domains: Ints) -> Ints:
        counts = self.counts[level]
        return self._sorted(
            domains, counts.slices_with_leader, counts.pods_with_leader, counts.leaders, counts.affinity
        )

    def _sorted(
        self, domains: Ints, slices: Ints, pods: Ints, leaders: Ints | None, affinity: Ints | None
    ) -> Ints:
        if len(domains) < 2:
            return domains
        by_slices = slices[domains] if self._least_free else -slices[domains]
        keys = [pods[domains], by_slices]
        if affinity is not None:
            keys.append(-affinity[domains])
        if leaders is not None and self.lead:
            keys.append(-leaders[domains])
        return domains[np.lexsort(keys)]

    def best_fit(self, level: int, order: Ints, needed: int, lead: int, by_slice: bool) -> int:
        """The tightest that holds `needed`; the first one if none does."""
        counts = self.counts[level]
        affinity = counts.affinity
        if affinity is not None:
            other = np.flatnonzero(affinity[order] != affinity[order[0]])
            order = order[: other[0]] if len(other) else order
        room = _room(counts, lead > 0, by_slice)[order]
        fits = (room >= needed) & (counts.leaders[order] >= lead)
        if not fits.any():
            return int(order[0])
        return int(order[np.argmin(np.where(fits, room, _MOST))])

    def leader_first(self, level: int, order: Ints, count: int, lead: int, size: int, by_slice: bool) -> Ints:
        """The first domain that can take the leader and leaves room for all workers goes to the front."""
        if not lead or len(order) < 2:
            return order
        counts = self.counts[level]
        needed = count // size if by_slice else count
        room, led = _room(counts, False, by_slice)[order], _room(counts, True, by_slice)[order]
        fits = (counts.leaders[order] >= lead) & (int(room.sum()) - (room - led) >= needed)
        place = int(np.argmax(fits))
        if not place or not fits[place]:
            return order
        return np.concatenate((order[place : place + 1], order[:place], order[place + 1 :]))

    # --- which domains ------------------------------------------------------------------------------

    def find(self) -> Found | NotFound:
        """The domains that together hold the request, at the requested level or above it."""
        level = self._wanted.level
        while True:
            found = self._find_at(level)
            if found is not None:
                return found
            level -= 1

    def _find_at(self, level: int) -> Found | NotFound | None:
        """None: look one level higher."""
        size = self.tree.size(level)
        if not size:
            return NotFound(level, 0, empty=True)
        counts, wanted = self.counts[level], self._wanted
        everything = np.arange(size, dtype=np.int64)
        single = self._single(level, everything)
        if single is not None:
            return Found(level, [single])
        if self._least_free and wanted.required:
            return NotFound(level, int(counts.pods[self.leader_order(level, everything)[-1]]))
        order = self.leader_order(level, everything)
        if wanted.required:
            if counts.affinity is not None:
                fits = self._holds_all(level, order)
                if fits.any():
                    tail = order[int(np.argmax(fits)) :]
                    return Found(level, [self.best_fit(level, tail, self.needed, self.lead, by_slice=True)])
            return NotFound(level, int(counts.slices[order[0]]))
        if level > 0 and not wanted.unconstrained:
            return None
        return self._several(level, order)

    def _holds_all(self, level: int, domains: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        counts = self.counts[level]
        return (counts.slices_with_leader[domains] >= self.needed) & (counts.leaders[domains] >= self.lead)

    def _single(self, level: int, everything: Ints) -> int | None:
        """One domain that holds everything: the tightest, or the fullest. Found without sorting."""
        counts = self.counts[level]
        able = everything[self._holds_all(level, everything)]
        if not len(able):
            return None
        if counts.affinity is not None and not self._least_free:
            order = self.leader_order(level, everything)
            if not self._holds_all(level, order[:1])[0]:
                return None  # the best score counts more than room
            return self.best_fit(level, order, self.needed, self.lead, by_slice=True)
        keys = [counts.slices_with_leader, counts.pods_with_leader]
        if counts.affinity is not None:
            keys.insert(0, -counts.affinity)
        if self.lead:
            keys.insert(0, -counts.leaders)
        for key in keys:
            values = key[able]
            able = able[values == values.min()]
        return int(able[0])

    def _several(self, level: int, order: Ints) -> Found | NotFound:
        counts, best = self.counts[level], not self._least_free
        order = self.leader_first(level, order, self.count, self.lead, self._wanted.size, by_slice=True)
        chosen: list[int] = []
        left, missing, position = self.needed, self.lead, 0
        while missing > 0 and position < len(order) and counts.leaders[order[position]] > 0:
            domain = int(order[position])
            if best and counts.slices_with_leader[domain] >= left:
                domain = self.best_fit(level, order[position:], left, missing, by_slice=True)
            chosen.append(domain)
            missing -= int(counts.leaders[domain])
            left -= int(counts.slices_with_leader[domain])
            position += 1
        if missing > 0:
            return NotFound(level, self.lead - missing)
        rest = self.workers_order(level, np.sort(order[position:]))
        if left > 0 and not best:
            rest = rest[counts.slices[rest] > 0]
        for place, number in enumerate(rest):
            if left <= 0:
                break
            domain = int(number)
            if best and counts.slices[domain] >= left:
                domain = self.best_fit(level, rest[place:], left, 0, by_slice=True)
            chosen.append(domain)
            left -= int(counts.slices[domain])
        return NotFound(level, self.needed - left) if left > 0 else Found(level, chosen)

    # --- how many each ------------------------------------------------------------------------------

    def take(
        self, level: int, order: Ints, count: int, lead: int, size: int, by_slice: bool
    ) -> list[int] | None:
        """Give the pods to domains in order; their counts become what they get. None: they do not fit."""
        counts, best = self.counts[level], not self._least_free
        order = self.leader_first(level, order, count, lead, size, by_slice)
        left, missing = count // size if by_slice else count, lead
        factor = size if by_slice else 1
        if not missing and left > 0:
            order = order[_room(counts, False, by_slice)[order] > 0]
        result: list[int] = []
        for place, number in enumerate(order):
            domain = int(number)
            room = _room(counts, missing > 0, by_slice)
            if best and room[domain] >= left and counts.leaders[domain] >= missing:
                domain = self.best_fit(level, order[place:], left, missing, by_slice)
            has = int(room[domain])
            leaders = min(int(counts.leaders[domain]), missing)
            enough = has >= left and leaders >= missing
            gets = min(has, left)
            counts.leaders[domain] = leaders
            counts.pods[domain] = gets * factor
            if by_slice:
                counts.slices[domain] = gets
            result.append(domain)
            if enough:
                return result
            left -= gets
            missing -= leaders
        return None

    def descend(
        self, level: int, domains: Sequence[int], balanced: bool = False
    ) -> list[tuple[int, int, int]]:
        """(leaf, pods, leaders) below the domains; empty if the counts do not add up."""
        tree, wanted = self.tree, self._wanted
        chosen = self.take(
            level, np.array(domains, dtype=np.int64), self.count, self.lead, wanted.size, by_slice=True
        )
        bottom = tree.depth - 1
        while chosen is not None and level < min(bottom, wanted.slice_level) and not balanced:
            below = self.workers_order(level + 1, tree.children(level, chosen))
            chosen = self.take(level + 1, below, self.count, self.lead, wanted.size, by_slice=True)
            level += 1
        while chosen is not None and level < bottom:
            chosen = self._down_one(level, chosen)
            level += 1
        counts = self.counts[bottom]
        return [(leaf, int(counts.pods[leaf]), int(counts.leaders[leaf])) for leaf in chosen or ()]

    def _down_one(self, level: int, chosen: list[int]) -> list[int]:
        """The pods of each domain go to its own children."""
        wanted, here, below = self._wanted, self.counts[level], self.counts[level + 1]
        size = wanted.size if level < wanted.slice_level else wanted.inner.get(level + 1, 1)
        found: list[int] = []
        for domain in chosen:
            order = self.workers_order(level + 1, self.tree.children(level, [domain]))
            if size > 1:
                below.slices[order] = below.pods[order] // size
                below.slices_with_leader[order] = below.pods_with_leader[order] // size
            pods, leaders = int(here.pods[domain]), int(here.leaders[domain])
            found += self.take(level + 1, order, pods, leaders, size, by_slice=size > 1) or ()
        return found


def _room(counts: Counts, led: bool, by_slice: bool) -> Ints:
    if by_slice:
        return counts.slices_with_leader if led else counts.slices
    return counts.pods_with_leader if led else counts.pods
