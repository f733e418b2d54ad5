"""All potential victims of all nodes as a table: by turn, most important first, and by node.

An entry is a pod, or a group that is evicted as a whole with all its pods on that node. The table is kept
from one decision to the next; only the columns of nodes whose pods changed are rebuilt, and those of their
groups' other nodes.
"""

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve.cluster import NOT_STARTED, Ints, Mask, Rows
from reprieve.preemption.importance import importance_keys
from reprieve.preemption.units import COMPOSITE, GROUP
from reprieve.preemption.view import View
from reprieve.preemption.violations import Covered, covered

EMPTY = -1
SINGLE = -1
"""The group of a pod that is evicted alone."""
NEVER_BELOW = 2**62
"""The priority of an empty place in the table: no preemptor is above it."""
MANY = 200
"""Above this many changed nodes the whole table is rebuilt."""


class _Entries:
    """Pods on nodes, those of a whole group on one node as one entry, in the order of the table."""

    def __init__(self, view: View, rows: Rows) -> None:
        pods = view.cluster.pods
        columns = view.home[rows]
        whole = view.whole[rows]
        self.merged: Rows = np.zeros(0, dtype=np.int32)
        """Pods that another one of their group stands for, and that one."""
        self.leader: Rows = np.zeros(0, dtype=np.int32)
        awkward: Mask = np.zeros(len(rows), dtype=np.bool_)
        size, start = np.ones(len(rows), dtype=np.int64), view.start[rows]
        group = np.full(len(rows), SINGLE, dtype=np.int32)
        if whole.any():
            group[whole] = view.unit[rows[whole]]
            table = _GroupTable(view, np.unique(group[whole]))
            size[whole], start[whole] = table.size[group[whole]], table.start[group[whole]]
            awkward |= whole & table.awkward[group]
            keep = self._merge(view, rows, columns, group, whole)
            rows, columns, group = rows[keep], columns[keep], group[keep]
            size, start, awkward = size[keep], start[keep], awkward[keep]
        keys: list[Ints] = importance_keys(view, rows)
        if whole.any():
            grouped = group != SINGLE
            rank = np.where(_composites(view)[group], COMPOSITE, GROUP)
            keys = [keys[0], np.where(grouped, -rank, keys[1]), -size, np.where(grouped, start, keys[2])]
        order = np.lexsort([pods.sequence[rows], *reversed(keys), columns.astype(np.int64)])
        ties = [columns.astype(np.int64), *keys]
        same = _same(ties, order)
        if not view.faithful and same.any():
            names = _by_name(view, rows, order, same)
            order = np.lexsort([names, *reversed(keys), columns.astype(np.int64)])
            same = _same(ties, order)
            same &= (group[order[1:]] != SINGLE) | (group[order[:-1]] != SINGLE)
        self.rows: Rows = rows[order]
        self.columns: Rows = columns[order]
        self.group: Rows = group[order]
        self.size: Ints = size[order]
        self.start: Ints = start[order]
        """When a pod, or the first pod of a group, started."""
        self.equal: Mask = np.append(np.zeros(min(len(order), 1), dtype=np.bool_), same)
        """Which are as important as the entry before, on the same node."""
        self.awkward: Rows = self.columns[awkward[order]]
        """Nodes with an entry that the table cannot judge."""

    def _merge(self, view: View, rows: Rows, columns: Rows, group: Rows, whole: Mask) -> Mask:
        """Keeps, of the pods of a whole group on one node, the one that came first."""
        members = np.flatnonzero(whole)
        sequence = view.cluster.pods.sequence[rows[members]]
        members = members[
            np.lexsort([sequence, *(each[members].astype(np.int64) for each in (group, columns))])
        ]
        first = np.ones(len(members), dtype=np.bool_)
        first[1:] = (group[members[1:]] != group[members[:-1]]) | (
            columns[members[1:]] != columns[members[:-1]]
        )
        leaders = members[np.maximum.accumulate(np.where(first, np.arange(len(members)), 0))]
        self.merged, self.leader = rows[members[~first]], rows[leaders[~first]]
        keep = np.ones(len(rows), dtype=np.bool_)
        keep[members[~first]] = False
        return keep


def _same(keys: list[Ints], order: Ints) -> Mask:
    """Which entries, in this order, equal the one before in all keys; the first is left out."""
    same: Mask = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    return same


def _by_name(view: View, rows: Rows, order: Ints, same: Mask) -> Ints:
    """The place of each pod by name among those that equal another one; 0 for all others."""
    equal = np.zeros(len(order), dtype=np.bool_)
    equal[1:] |= same
    equal[:-1] |= same
    at, names = order[equal], view.cluster.pods.keys
    listed = rows[at].tolist()
    found: Ints = np.zeros(len(rows), dtype=np.int64)
    found[at[sorted(range(len(listed)), key=lambda index: names[listed[index]])]] = np.arange(len(at))
    return found


def _composites(view: View) -> Mask:
    """Which numbers of groups are those of composite ones; the last entry stands for SINGLE."""
    groups = view.cluster.groups
    found: Mask = np.zeros(len(groups.keys) + 1, dtype=np.bool_)
    found[list(groups.trees.objects)] = True
    return found


class _GroupTable:
    """Size and start of whole groups, by number. Awkward ones are left to the dry run of one node: those with
    pods that have not started, are on lost nodes or differ in priority.
    """

    def __init__(self, view: View, groups: Rows) -> None:
        cluster = view.cluster
        pods, count = cluster.pods, len(cluster.groups.keys) + 1  # one more: SINGLE is the last
        members = np.array([row for group in groups.tolist() for row in view.members(group)], np.int32)
        members = members[view.placed[members]]
        group = view.unit[members]
        self.size: Ints = np.bincount(group, minlength=count)
        self.start: Ints = np.full(count, NOT_STARTED, dtype=np.int64)
        np.minimum.at(self.start, group, view.start[members])
        lowest, highest = np.full(count, 2**62), np.full(count, -(2**62))
        np.minimum.at(lowest, group, pods.priority[members])
        np.maximum.at(highest, group, pods.priority[members])
        self.awkward: Mask = lowest < highest
        self.awkward[group[(pods.start[members] >= NOT_STARTED) | (view.home[members] < 0)]] = True


class Layout:
    """The entries of all nodes by turn and node, with their priorities and requests."""

    def __init__(self, view: View) -> None:
        self.version = view.cluster.version
        self._read = 0
        self._build(view)

    def refresh(self, view: View) -> None:
        """Catch up with pods that came, went or changed their importance."""
        cluster = view.cluster
        changed = set(cluster.moved[self._read :])
        if len(changed) > MANY or self.version != cluster.version:
            self.version = cluster.version
            self._build(view)
            return
        if self.grouped.any() or view.whole.any():
            changed |= self._sharing_groups(view, changed)
        deepest = max((len(cluster.residents[slot]) for slot in changed), default=0)
        if deepest > self.rows.shape[0]:
            self._build(view)
            return
        self._widen(cluster.nodes.slots)
        for slot in sorted(changed):
            self._set_column(view, slot)
        self._read = len(cluster.moved)

    def _sharing_groups(self, view: View, changed: set[int]) -> set[int]:
        """Nodes that share a whole group with a changed one, now or before: their entries change, too."""
        cluster = view.cluster
        groups: set[int] = set()
        for slot in changed:
            if slot < self.group.shape[1]:
                groups.update(self.group[:, slot].tolist())
            groups.update(int(view.unit[row]) for row in cluster.residents[slot])
        groups.discard(SINGLE)
        homes = {int(view.home[row]) for group in groups for row in view.members(group)}
        return {slot for slot in homes if slot >= 0}

    def _build(self, view: View) -> None:
        cluster = view.cluster
        slots = cluster.nodes.slots
        found = _Entries(view, np.flatnonzero(view.home >= 0).astype(np.int32))
        counts = np.bincount(found.columns, minlength=slots)
        first = np.cumsum(counts) - counts
        turn = np.arange(len(found.rows)) - first[found.columns]
        shape = int(counts.max(initial=0)) + 2, slots
        self.rows: Rows = np.full(shape, EMPTY, dtype=np.int32)
        """The pod, or the pod that stands for its group."""
        self.present: Mask = np.zeros(shape, dtype=np.bool_)
        """Where there is an entry."""
        self.priority: Ints = np.full(shape, NEVER_BELOW, dtype=np.int64)
        self.group: Rows = np.full(shape, SINGLE, dtype=np.int32)
        self.size: Ints = np.zeros(shape, dtype=np.int64)
        """Pods that are evicted with the entry, on all nodes."""
        self.start: Ints = np.zeros(shape, dtype=np.int64)
        self.equal: Mask = np.zeros(shape, dtype=np.bool_)
        """Whether an entry is as important as the one before, and the table does not know their order."""
        self.demand: dict[int, Ints] = {}
        self._running: dict[int, Ints] = {}
        """The same, added up from the first turn on."""
        self._covered: tuple[int, Covered] | None = None
        """Entries under a budget, and for which coverage that is so; for `covered`."""
        self.special: Mask = np.zeros(slots, dtype=np.bool_)
        """Nodes with groups that are awkward to judge."""
        place = turn, found.columns
        self._fill(view, found, place)
        self.tied: Mask = np.asarray(self.equal.any(axis=0))
        """Nodes with such entries."""
        self.special[found.awkward] = True
        self.grouped: Mask = (self.group != SINGLE).any(axis=0)
        """Nodes with a group that is evicted as a whole."""
        turn_of = np.zeros(cluster.pods.rows, dtype=np.int32)
        turn_of[found.rows] = turn
        self._merged = found.merged, turn_of[found.leader], view.home[found.leader]
        """Pods that share another one's entry, and the turn and node of that entry; for `requested`."""
        self._read = len(cluster.moved)

    def _fill(self, view: View, found: _Entries, place: tuple[Ints | slice, Rows | int]) -> None:
        self.rows[place] = found.rows
        self.present[place] = True
        self.priority[place] = view.priority[found.rows]
        self.group[place] = found.group
        self.size[place] = found.size
        self.start[place] = found.start
        self.equal[place] = found.equal

    def _widen(self, slots: int) -> None:
        """Add empty columns for new nodes."""
        more = ((0, 0), (0, slots - self.rows.shape[1]))
        if not more[1][1]:
            return
        self.rows = np.pad(self.rows, more, constant_values=EMPTY)
        self.present = np.pad(self.present, more)
        self.priority = np.pad(self.priority, more, constant_values=NEVER_BELOW)
        self.group = np.pad(self.group, more, constant_values=SINGLE)
        self.size, self.start = np.pad(self.size, more), np.pad(self.start, more)
        self.equal = np.pad(self.equal, more)
        self.demand = {index: np.pad(table, more) for index, table in self.demand.items()}
        self._running = {index: np.pad(table, more) for index, table in self._running.items()}
        self.tied = np.pad(self.tied, more[1])
        self.special = np.pad(self.special, more[1])
        self.grouped = np.pad(self.grouped, more[1])

    def _set_column(self, view: View, slot: int) -> None:
        found = _Entries(view, np.array(list(view.cluster.residents[slot]), dtype=np.int32))
        depth = len(found.rows)
        self.rows[:, slot], self.priority[:, slot], self.group[:, slot] = EMPTY, NEVER_BELOW, SINGLE
        self.present[:, slot] = self.equal[:, slot] = False
        self._fill(view, found, (slice(depth), slot))
        turn_of = {row: turn for turn, row in enumerate(found.rows.tolist())}
        shared = [turn_of[row] for row in found.leader.tolist()]
        for index, table in self.demand.items():
            table[:, slot] = 0
            table[:depth, slot] = view.cluster.demand(found.rows)[index]
            np.add.at(table[:, slot], shared, view.cluster.demand(found.merged)[index])
            if index in self._running:
                self._running[index][:, slot] = np.cumsum(table[:, slot])
        self.tied[slot] = bool(found.equal.any())
        self.special[slot] = bool(len(found.awkward))
        self.grouped[slot] = bool((found.group != SINGLE).any())
        if self._covered is not None:
            coverage, before = self._covered
            one = np.array([slot], dtype=np.int32)
            column = covered(view, self.rows[:, [slot]], self.group[:, [slot]], one)
            self._covered = coverage, _replaced(before, column, slot)
        rows, turns, columns = self._merged
        elsewhere = columns != slot
        self._merged = (
            np.concatenate([rows[elsewhere], found.merged]),
            np.concatenate([turns[elsewhere], np.array(shared, dtype=np.int32)]),
            np.concatenate([columns[elsewhere], np.full(len(shared), slot, dtype=np.int32)]),
        )

    def rearranged(self, source: Ints) -> "Layout":
        """The same entries in another order: at each turn of a node the one that was at turn `source`."""
        other = copy.copy(self)
        for name in ("rows", "present", "priority", "group", "size", "start", "equal"):
            setattr(other, name, np.take_along_axis(getattr(self, name), source, axis=0))
        rows, turns, columns = self._merged
        other._merged = rows, np.argsort(source, axis=0)[turns, columns].astype(np.int32), columns
        other.demand, other._running, other._covered = {}, {}, None
        return other

    def below(self, priority: int) -> Mask:
        """The entries below a priority, by turn and node; `present` itself where that is all of them."""
        first = self.priority[0]  # of each node the highest
        return self.present if (first[self.present[0]] < priority).all() else self.priority < priority

    def requested(self, view: View, index: int) -> Ints:
        """The requests of each entry in the table for one resource."""
        table = self.demand.get(index)
        if table is None:
            cluster = view.cluster
            amounts = np.append(cluster.classes.requests[index], 0)
            table = amounts[np.where(self.rows >= 0, cluster.pods.cls[self.rows], -1)]
            rows, turns, columns = self._merged
            np.add.at(table, (turns, columns), amounts[cluster.pods.cls[rows]])
            self.demand[index] = table
        return table

    def running(self, view: View, index: int) -> Ints:
        """What each entry and those before it on its node request together."""
        if index not in self._running:
            self._running[index] = np.cumsum(self.requested(view, index), axis=0)
        return self._running[index]

    def by_entry(self, amounts: Ints) -> Ints:
        """Amounts of pods (by row), summed for each entry in the table."""
        table: Ints = np.append(amounts, 0)[self.rows]  # an empty place reads the last one
        rows, turns, columns = self._merged
        np.add.at(table, (turns, columns), amounts[rows])
        return table

    def covered(self, view: View) -> Covered:
        """The entries under a budget."""
        coverage = view.cluster.budgets.coverage
        if self._covered is None or self._covered[0] != coverage:
            nodes = np.arange(self.rows.shape[1], dtype=np.int32)
            self._covered = coverage, covered(view, self.rows, self.group, nodes)
        return self._covered[1]

    def of(self, view: View, marked: Mask) -> Mask:
        """The entries of marked pods (by row), and of groups of which one is marked, here or elsewhere."""
        entries: Mask = np.append(marked, False)[self.rows]  # an empty place reads the last one
        return entries | self.of_groups(view, marked)

    def of_groups(self, view: View, marked: Mask) -> Mask:
        """The entries of whole groups to which a marked pod belongs, here or elsewhere."""
        entries: Mask = np.isin(self.group, np.unique(view.unit[marked & view.whole]))
        return entries


def _replaced(table: Covered, column: Covered, slot: int) -> Covered:
    """The table with other entries for one node."""
    start, end = np.searchsorted(table.node, [slot, slot + 1])
    pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(table, column, strict=True)
    return Covered(*(np.concatenate([old[:start], new, old[end:]]) for old, new in pairs))


def layout_of(view: View) -> Layout:
    """The table for the observed cluster, cached."""
    if view.limited_protection:
        return Layout(view)  # who is protected may change with time alone
    key = ("layout", view.group_victims, view.trees, view.faithful)
    found: Layout | None = view.cluster.lasting.get(key)
    if found is None:
        found = view.cluster.lasting[key] = Layout(view)
    else:
        found.refresh(view)
    return found
