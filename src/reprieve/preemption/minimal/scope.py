"""What a search looks for at a time: which pods it places, how many of them, and on which nodes.

A gang has a scope for each domain. A tree has one for each way to give its groups what they need: each pod
group in a domain, and only as many groups as the ones above them ask for.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reprieve.cluster import Cluster, Mask
from reprieve.placement import TreeGroup, Way, Ways
from reprieve.preemption.gangs import Gang

MOST_WAYS = 512
"""How many pod groups in domains the ways of a tree are made of, before the rest is left out."""


class Scope(NamedTuple):
    rows: tuple[int, ...]
    need: int
    masks: tuple[Mask | None, ...]
    """Sets of nodes; every pod may go to one of these sets."""
    mask_of: dict[int, int]
    """Which of them, for each pod; the first for pods that are not listed."""
    way: Way | None = None
    """What of a tree may be added, once the needed pods have their places."""
    exact: bool = True
    """Whether there is no better plan of this kind outside the scope."""

    def number(self, row: int) -> int:
        return self.mask_of.get(row, 0)

    def within(self, row: int) -> Mask | None:
        return self.masks[self.number(row)]


def scopes_of_gang(gang: Gang, need: int, domains: Sequence[Mask | None]) -> list[Scope]:
    return [Scope(gang.rows, need, (within,), {}) for within in domains]


class TreeScopes:
    """The scopes of a tree, one by one; `complete` says whether those were all."""

    def __init__(self, cluster: Cluster, tree: TreeGroup) -> None:
        self._tree = tree
        self._ways = Ways(cluster, MOST_WAYS)

    @property
    def complete(self) -> bool:
        return self._ways.complete

    def __iter__(self) -> Iterator[Scope]:
        for way in self._ways.of(self._tree):
            if way.needed:
                yield _scope(way, way.needed, len(way.needed))
            elif way.extra:
                yield _scope(way, way.extra, 1)  # all run that must: one more pod is what is asked for


def _scope(way: Way, places: Sequence[tuple[int, Mask | None]], need: int) -> Scope:
    masks: dict[int, Mask | None] = {}
    numbers: dict[int, int] = {}
    mask_of = {}
    for row, within in places:
        numbers.setdefault(id(within), len(numbers))
        masks[numbers[id(within)]] = within
        mask_of[row] = numbers[id(within)]
    rows = tuple(row for row, _ in places)
    return Scope(rows, need, tuple(masks.values()), mask_of, way, way.exact)
