"""The workloads that hold quota of one queue, kept in the order in which they would make way.

For each flavor's resource there are two sorted lists: workloads on their way out, and the others. A workload stands in the list
of everything it uses. Insertion and removal keep the order, so that a decision reads a few heads instead of sorting all.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator
from heapq import merge
from typing import TYPE_CHECKING

from reprieve.quota.tree import FlavorResource

if TYPE_CHECKING:
    from reprieve.quota.claims import Claim

Ranked = tuple[int, float, str, str, "Claim"]
"""A claim behind its rank; the rank is unique, so claims are never compared."""


class Roster:
    __slots__ = ("claims", "evicted", "running")

    def __init__(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.evicted: dict[FlavorResource, list[Ranked]] = {}
        self.running: dict[FlavorResource, list[Ranked]] = {}

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims.values())

    def add(self, claim: Claim) -> None:
        self.claims[claim.key] = claim
        lists = self.evicted if claim.evicted else self.running
        item: Ranked = (*claim.rank, claim)
        for key in claim.held:
            insort(lists.setdefault(key, []), item)

    def remove(self, claim: Claim) -> None:
        del self.claims[claim.key]
        lists = self.evicted if claim.evicted else self.running
        for key in claim.held:
            ranked = lists[key]
            del ranked[bisect_left(ranked, claim.rank)]
            if not ranked:
                del lists[key]

    def using(self, keys: Collection[FlavorResource], evicted: bool) -> Iterable[Ranked]:
        """Workloads that use at least one of the keys, in order."""
        lists = self.evicted if evicted else self.running
        found = [lists[key] for key in keys if key in lists]
        if len(found) < 2:
            return found[0] if found else ()
        return _unique(merge(*found))


def _unique(items: Iterable[Ranked]) -> Iterator[Ranked]:
    last = None
    for item in items:
        if item[-1] is not last:
            last = item[-1]
            yield item
