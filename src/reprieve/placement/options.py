"""The ways in which a tree of groups can get the least that it needs: which groups, and in which domains.

One way after the other, made when it is asked for; there may be a great many. `visit` may refuse a pod group
in a domain: every way that contains it is then skipped. What `visit` supposes in the cluster holds while the
way is looked at and is undone afterwards.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask
from reprieve.placement.domains import Domain, domains_within
from reprieve.placement.trees import TreeGroup

Places = tuple[tuple[int, Mask | None], ...]
"""Pods, each with the nodes that it may go to."""
Visit = Callable[[Sequence[int], int, Mask | None], Sequence[int] | None]
"""Places so many of these pods inside some nodes, and returns which; None when that is not possible."""


class Way(NamedTuple):
    """Pods that are enough for a group, and what could be added to them."""

    needed: Places
    extra: Places
    """More pods of the same pod groups."""
    left_out: tuple[tuple[TreeGroup, Mask | None], ...]
    """Groups that are not needed, and where they may go."""
    exact: bool
    """Whether other pods of the same groups are needed in no way: they are all alike, or all needed."""

    def __add__(self, other: tuple[object, ...]) -> "Way":
        assert isinstance(other, Way)
        return Way(
            (*self.needed, *other.needed),
            (*self.extra, *other.extra),
            (*self.left_out, *other.left_out),
            self.exact and other.exact,
        )


NOTHING = Way((), (), (), True)


class Ways:
    """`most` limits how often a pod group is looked at; `complete` says whether that was enough.

    `largest_first`: groups with the largest pods come first; otherwise those that need least.
    """

    def __init__(
        self, cluster: Cluster, most: int, visit: Visit | None = None, *, largest_first: bool = False
    ) -> None:
        self._key = self._smallness if largest_first else self._size
        self._cluster = cluster
        self._left = most
        self._visit = visit
        self.complete = True
        self._weights: dict[int, float] = {}

    def of(self, group: TreeGroup, within: Mask | None = None) -> Iterator[Way]:
        """Ways for a group inside some nodes, the likely cheap domains first."""
        for domain in self._domains(group, within):
            if group.children is None:
                yield from self._leaf(group, domain.nodes)
            else:
                children = sorted(group.children, key=self._key)
                yield from self._choose(children, group.minimum, domain.nodes)

    def _choose(self, children: Sequence[TreeGroup], needed: int, within: Mask | None) -> Iterator[Way]:
        """So many of the children."""
        if needed <= 0:
            yield NOTHING._replace(left_out=tuple((child, within) for child in children))
            return
        if len(children) < needed:
            return
        first, others = children[0], children[1:]
        for way in self.of(first, within):
            for more in self._choose(others, needed - 1, within):
                yield way + more
        for more in self._choose(others, needed, within):
            yield more._replace(left_out=((first, within), *more.left_out))

    def _leaf(self, group: TreeGroup, within: Mask | None) -> Iterator[Way]:
        need = max(0, group.minimum - group.counted)
        if need > len(group.rows):
            return
        if self._left <= 0:
            self.complete = False
            return
        self._left -= 1
        classes = self._cluster.pods.cls
        rows: Sequence[int] = sorted(group.rows, key=self._weight)
        mark = self._cluster.checkpoint()
        chosen = rows[:need] if self._visit is None else self._visit(rows, need, within)
        if chosen is not None:
            taken = set(chosen)
            exact = need in (0, len(rows)) or len({int(classes[row]) for row in rows}) == 1
            yield Way(
                tuple((row, within) for row in chosen),
                tuple((row, within) for row in group.rows if row not in taken),
                (),
                exact,
            )
        self._cluster.rollback(mark)

    def _domains(self, group: TreeGroup, within: Mask | None) -> list[Domain]:
        if not group.topology:
            return [Domain("", within)]
        slots = [int(self._cluster.pods.node[row]) for row in group.placed]
        found = domains_within(self._cluster, group.topology, slots, within)
        wanted = self._demand([row for leaf in group.leaves() for row in leaf.rows])
        return sorted(found, key=lambda domain: (self._shortage(wanted, domain), domain.name))

    def _shortage(self, wanted: Ints, domain: Domain) -> float:
        """How much of what the group wants is not free there."""
        nodes = self._cluster.nodes
        slots = nodes.order if domain.nodes is None else np.flatnonzero(domain.nodes).astype(np.int32)
        free = nodes.free(slots).clip(min=0).sum(axis=1)
        asked = wanted > 0
        return float((1 - np.minimum(free[asked] / wanted[asked], 1.0)).max(initial=0.0))

    def _demand(self, rows: Sequence[int]) -> Ints:
        total: Ints = self._cluster.demand(np.array(rows, np.int32)).sum(axis=1)
        return total

    def _size(self, group: TreeGroup) -> float:
        """What the group needs at least, as a share of the cluster."""
        total = 0.0
        for leaf in group.leaves():
            need = max(0, leaf.minimum - leaf.counted)
            total += sum(sorted(map(self._weight, leaf.rows))[:need])
        return total

    def _smallness(self, group: TreeGroup) -> float:
        return -max((self._weight(row) for leaf in group.leaves() for row in leaf.rows), default=0.0)

    def _weight(self, row: int) -> float:
        """What the pod requests, as a share of the cluster."""
        cls = int(self._cluster.pods.cls[row])
        if cls not in self._weights:
            offered, wanted = self._offered, self._demand([row])
            there = offered > 0
            self._weights[cls] = float((wanted[there] / offered[there]).sum())
        return self._weights[cls]

    @cached_property
    def _offered(self) -> Ints:
        nodes = self._cluster.nodes
        offered: Ints = nodes.allocatable[:, nodes.order].sum(axis=1)
        return offered
