"""Victim units: what makes way together. A pod, or all pods of a group in disruption mode *all*.

Potential victims are kept as columns; a `Unit` is made only of those a decision has to look at one by one.
"""

from typing import NamedTuple

import numpy as np

from reprieve.cluster.columns import Ints, Mask, Rows
from reprieve.cluster.pods import NOT_STARTED
from reprieve.preemption.view import View

POD, GROUP = 1, 2
"""Rank of a unit: at equal priority a group, or a pod of one, is more important than a pod on its own."""


class Unit(NamedTuple):
    rows: tuple[int, ...]
    priority: int
    rank: int
    start: int
    group: int
    """Number of the group that goes as a whole, -1 for a single pod."""

    @property
    def size(self) -> int:
        return len(self.rows)


class Candidates:
    """All units below a priority: single pods first, then whole groups.

    Not among them: units that have not run as long as they were promised (`reprieve.dev/min-runtime`).
    """

    def __init__(self, view: View, below: int) -> None:
        self.view = view
        pods = view.cluster.pods
        eligible = view.placed & (view.priority < below)
        whole = eligible & view.whole
        single = eligible & ~whole & ~view.shielded & (pods.node[: pods.rows] >= 0)
        self.groups: list[int] = [
            int(g) for g in np.unique(pods.group[: pods.rows][whole]) if not self._group_shielded(int(g))
        ]
        self.singles: Rows = np.flatnonzero(single).astype(np.int32)
        self.members: list[Rows] = [self._members(g) for g in self.groups]

    def __len__(self) -> int:
        return len(self.singles) + len(self.groups)

    @property
    def rows(self) -> Rows:
        """Every pod of every unit."""
        return np.concatenate([self.singles, *self.members])

    @property
    def priorities(self) -> Ints:
        """The priority of each unit."""
        first = [members[0] for members in self.members]
        priorities: Ints = self.view.priority[np.concatenate([self.singles, np.array(first, dtype=np.int32)])]
        return priorities

    def units(self, chosen: Mask | None = None) -> list[Unit]:
        """The units, or those of the given ones, in the order in which the scheduler meets their first pods."""
        count = len(self.singles)
        singles = self.singles if chosen is None else self.singles[chosen[:count]]
        found = [(row, single_unit(self.view, row)) for row in singles.tolist()]
        for number, (group, members) in enumerate(zip(self.groups, self.members, strict=True)):
            if chosen is None or chosen[count + number]:
                unit = whole_unit(self.view, group, members)
                found.append((unit.rows[0], unit))
        position = self.view.position
        found.sort(key=lambda pair: position[pair[0]])
        return [unit for _, unit in found]

    def _members(self, group: int) -> Rows:
        return placed_members(self.view, group)

    def _group_shielded(self, group: int) -> bool:
        return bool(self.view.shielded[placed_members(self.view, group)].any())


def placed_members(view: View, group: int) -> Rows:
    """Pods of a group that run, in the scheduler's order."""
    rows = np.array([row for row in view.cluster.groups.members[group] if view.placed[row]], dtype=np.int32)
    return rows[np.argsort(view.position[rows], kind="stable")]


def single_unit(view: View, row: int) -> Unit:
    pods = view.cluster.pods
    rank = GROUP if view.group_victims and pods.group[row] >= 0 else POD
    return Unit((row,), int(view.priority[row]), rank, _start(view, row), -1)


def whole_unit(view: View, group: int, members: Rows) -> Unit:
    rows = tuple(members.tolist())
    return Unit(rows, int(view.priority[rows[0]]), GROUP, min(_start(view, row) for row in rows), group)


def _start(view: View, row: int) -> int:
    """A pod that states no start counts as started now, each a little later than the one met before it."""
    start = int(view.cluster.pods.start[row])
    return start if start < NOT_STARTED else NOT_STARTED + int(view.position[row])
