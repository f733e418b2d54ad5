"""Victim units: what is evicted together. A pod, or all pods of a group or tree in disruption mode *all*.

`Candidates` holds all potential victims as columns; a `VictimUnit` is made only for those that a decision
handles one by one. `Selection` is the result of an algorithm: places for the preemptor and the victims, as
rows and slots.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np

from reprieve.cluster import NOT_STARTED, Ints, Mask, Rows
from reprieve.placement import Assignment
from reprieve.preemption.view import View

POD, GROUP, LEADER, COMPOSITE = 1, 2, 3, 4
"""Rank of a unit: at equal priority a tree is more important than the leader of a group, that than a group or
another pod of one, and each than a pod on its own."""


class VictimUnit(NamedTuple):
    rows: tuple[int, ...]
    priority: int
    rank: int
    start: int
    group: int
    """Number of the group that is evicted as a whole, -1 for a single pod."""


FEW = 64
"""Units made at a time: a reader seldom needs all."""


class LazyUnits(Sequence[VictimUnit]):
    """Units of single pods, made when they are read."""

    def __init__(self, view: View, rows: Rows) -> None:
        self._view = view
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[VictimUnit]:
        for start in range(0, len(self.rows), FEW):
            yield from single_units(self._view, self.rows[start : start + FEW])

    @overload
    def __getitem__(self, index: int) -> VictimUnit: ...
    @overload
    def __getitem__(self, index: slice) -> "LazyUnits": ...
    def __getitem__(self, index: int | slice) -> "VictimUnit | LazyUnits":
        if isinstance(index, slice):
            return LazyUnits(self._view, self.rows[index])
        return single_unit(self._view, int(self.rows[index]))

    @property
    def in_groups(self) -> int:
        """How many of them are pods of a group."""
        pods = self._view.cluster.pods
        return int((pods.group[self.rows] >= 0).sum()) if self._view.group_victims else 0


def rows_of(units: Sequence[VictimUnit]) -> Rows:
    """The pods of all these units."""
    if isinstance(units, LazyUnits):
        return units.rows
    return np.array([row for unit in units for row in unit.rows], dtype=np.int32)


class Candidates:
    """All units below a priority, numbered: single pods first, then whole groups.

    Units within their minimum run time (`reprieve.dev/min-runtime`) are not among them.
    """

    def __init__(self, view: View, below: int) -> None:
        self.view = view
        pods = view.cluster.pods
        lower = view.placed & (view.priority < below)
        single = lower & (pods.node[: pods.rows] >= 0)
        self.groups, self.members = list[int](), list[Rows]()
        if view.whole.any():
            single &= ~view.whole
            self.groups, self.members = _whole_units(view, lower & view.whole)
        if view.within_min_runtime.any():
            single &= ~view.within_min_runtime
        self.singles: Rows = single.nonzero()[0].astype(np.int32)
        self.rows: Rows = np.concatenate([self.singles, *self.members]) if self.members else self.singles
        """Every pod of every unit."""
        self.home: Rows = pods.node.take(self.rows)
        """Where each of these pods runs."""

    def __len__(self) -> int:
        return len(self.singles) + len(self.groups)

    @cached_property
    def sizes(self) -> Ints:
        """How many pods each unit has."""
        alone = np.ones(len(self.singles), dtype=np.int64)
        return np.concatenate([alone, np.array([len(rows) for rows in self.members], dtype=np.int64)])

    @cached_property
    def unit_of(self) -> Rows:
        """The number of the unit of each pod in `rows`."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.sizes)

    @cached_property
    def begins(self) -> Ints:
        """Where the pods of each unit begin in `rows`."""
        begins: Ints = np.cumsum(self.sizes) - self.sizes
        return begins

    @cached_property
    def firsts(self) -> Rows:
        """The first pod of each unit."""
        return self.rows[self.begins] if self.groups else self.singles

    @cached_property
    def priorities(self) -> Ints:
        """The priority of each unit."""
        priorities: Ints = self.view.priority[self.firsts]
        return priorities

    def largest(self) -> Ints:
        """The most that a unit requests of each resource."""
        cluster = self.view.cluster
        classes, requests = cluster.pods.cls[self.rows], cluster.classes.requests
        if self.groups:
            amounts = np.add.reduceat(requests[:, classes], self.begins, axis=1)
        else:
            amounts = requests[:, np.flatnonzero(np.bincount(classes))]
        most: Ints = amounts.max(axis=1)
        return most

    def home_of(self, units: Mask) -> dict[int, int]:
        """Where each pod of these units runs."""
        pods = units[self.unit_of] if self.groups else units
        return dict(zip(self.rows[pods].tolist(), self.home[pods].tolist(), strict=True))

    def pods_of(self, units: Mask) -> Rows:
        """The pods of these units."""
        return self.rows[units[self.unit_of] if self.groups else units]

    def units_with(self, pods: Mask) -> Mask:
        """Units of which at least one of the given pods (a mask over `rows`) is part."""
        if not self.groups:
            return pods
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[self.unit_of[pods]] = True
        return mask

    def places_of(self, numbers: Rows) -> Ints:
        """Where the pods of these units are in `rows`, unit by unit."""
        sizes = self.sizes[numbers]
        ends = np.cumsum(sizes)
        places: Ints = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.begins[numbers] - ends + sizes, sizes
        )
        return places

    def units(self, numbers: Rows) -> list[VictimUnit]:
        singles = len(self.singles)
        found = single_units(self.view, self.firsts[numbers])
        for at in np.flatnonzero(numbers >= singles).tolist():
            index = int(numbers[at]) - singles
            found[at] = whole_unit(self.view, self.groups[index], self.members[index])
        return found

    def in_list_order(self, numbers: Rows) -> Rows:
        """The numbers of these units in the scheduler's order of their first pods."""
        return numbers[np.argsort(self.view.position[self.firsts[numbers]])]


def _whole_units(view: View, eligible: Mask) -> tuple[list[int], list[Rows]]:
    """Groups that are evicted as a whole, with their running pods in the scheduler's order."""
    numbers = np.unique(view.unit[eligible])
    rows = np.flatnonzero(view.whole).astype(np.int32)
    rows = rows[np.isin(view.unit[rows], numbers)]
    rows = rows[np.lexsort((view.position[rows], view.unit[rows]))] if len(rows) else rows
    begins = [*np.searchsorted(view.unit[rows], numbers).tolist(), len(rows)]
    parts = [rows[begin:end] for begin, end in pairwise(begins)]
    if not view.within_min_runtime.any():
        return numbers.tolist(), parts
    kept = [not view.within_min_runtime[members].any() for members in parts]
    return (
        [group for group, keep in zip(numbers.tolist(), kept, strict=True) if keep],
        [members for members, keep in zip(parts, kept, strict=True) if keep],
    )


def placed_members(view: View, group: int) -> Rows:
    """Running pods of a group, or of all groups below a composite one, in the scheduler's order."""
    rows = np.array([row for row in view.members(group) if view.placed[row]], dtype=np.int32)
    return rows[np.argsort(view.position[rows], kind="stable")]


def single_unit(view: View, row: int) -> VictimUnit:
    in_group = view.group_victims and view.cluster.pods.group[row] >= 0
    rank = LEADER if view.leader[row] else GROUP if in_group else POD
    return VictimUnit((row,), int(view.priority[row]), rank, _start(view, row), -1)


def ranks(view: View, rows: Rows) -> Ints:
    """The ranks of single pods."""
    if not view.group_victims:
        return np.full(len(rows), POD)
    ranked = np.where(view.cluster.pods.group[rows] >= 0, GROUP, POD)
    return np.where(view.leader[rows], LEADER, ranked) if view.leader.any() else ranked


def single_units(view: View, rows: Rows) -> list[VictimUnit]:
    """The same for many pods at once."""
    start = view.start[rows]
    if (start == NOT_STARTED).any():
        start = np.where(start == NOT_STARTED, start + view.position[rows], start)
    return [
        VictimUnit((row,), priority, rank, began, -1)
        for row, priority, rank, began in zip(
            rows.tolist(),
            view.priority[rows].tolist(),
            ranks(view, rows).tolist(),
            start.tolist(),
            strict=True,
        )
    ]


def whole_unit(view: View, group: int, members: Rows) -> VictimUnit:
    rows, rank = tuple(members.tolist()), whole_rank(view, group)
    start = min(view.start[members].tolist())
    if start >= NOT_STARTED:  # none of them
        start = min(_start(view, row) for row in rows)
    return VictimUnit(rows, int(view.priority[rows[0]]), rank, start, group)


def whole_rank(view: View, group: int) -> int:
    return COMPOSITE if group in view.cluster.groups.trees.objects else GROUP


def _start(view: View, row: int) -> int:
    """A pod without a start time counts as started now, each a little later than the one before it."""
    start = int(view.start[row])
    return start if start < NOT_STARTED else NOT_STARTED + int(view.position[row])


NO_PRIORITY = -(2**62)
"""The highest priority of no victims: below every priority there is."""


class Selection(NamedTuple):
    assigned: list[Assignment]
    victims: Sequence[VictimUnit]
    """Most important first."""
    reprieved: Sequence[VictimUnit]
    """Units that were tried and stay; units on other nodes than the preemptor's may be left out."""
    violations: dict[int, int]
    """The first pod of each unit that breaks a budget, with the number of its pods that do."""
    cut_short: bool = False
    """Not all victims are known: the most important one, and those that would break a budget."""

    @property
    def broken(self) -> int:
        """How many victim pods break a budget."""
        if not self.violations:
            return 0
        firsts = (
            self.victims.rows.tolist()
            if isinstance(self.victims, LazyUnits)
            else [unit.rows[0] for unit in self.victims]
        )
        return sum(self.violations.get(row, 0) for row in firsts)

    @property
    def highest(self) -> int:
        """The priority of the most important victim."""
        return self.victims[0].priority if self.victims else NO_PRIORITY

    @property
    def pods(self) -> int:
        if isinstance(self.victims, LazyUnits):
            return len(self.victims)
        return sum(len(unit.rows) for unit in self.victims)

    @property
    def groups(self) -> int:
        """How many victims are groups, or pods of one."""
        if isinstance(self.victims, LazyUnits):
            return self.victims.in_groups
        return sum(unit.rank >= GROUP for unit in self.victims)


def disruption(selection: Selection) -> tuple[int, int, int, int]:
    """The order of selections, least disruptive first: broken budgets, highest priority, units, pods."""
    return selection.broken, selection.highest, len(selection.victims), selection.pods
