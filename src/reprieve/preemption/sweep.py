"""The dry run of a pod on every node at once, where only free capacity counts.

`Layout` is a table of all pods by (turn on the node, node), most important first, updated as pods come and
go; only the columns of nodes whose pods changed are rebuilt. A dry run over every node is then a loop over
turns, each a few array operations. Nodes that need a closer look (whole groups, pods under two budgets,
within their minimum run time or equally important) are left to the dry run of one node; the best of both is
chosen.
"""

import numpy as np

from reprieve.cluster import Ints, Mask, Rows
from reprieve.placement import Assignment, PodFilters
from reprieve.preemption.go_sort import INSERTION
from reprieve.preemption.importance import importance_keys
from reprieve.preemption.units import LazyUnits, Selection, single_units
from reprieve.preemption.view import View
from reprieve.preemption.violations import breaks_by_node

EMPTY = -1
NEVER_BELOW = 2**62
"""The priority of an empty place in the table: no preemptor is above it."""
MANY = 200
"""Above this many changed nodes the whole table is rebuilt."""


class Layout:
    """All pods of all nodes by turn and node, with their priorities and requests."""

    def __init__(self, view: View) -> None:
        self.version = view.cluster.version
        self._read = 0
        self._build(view)

    def refresh(self, view: View) -> None:
        """Catch up with pods that came, went or changed their importance."""
        cluster = view.cluster
        changed = sorted(set(cluster.moved[self._read :]))
        if len(changed) > MANY or self.version != cluster.version:
            self.version = cluster.version
            self._build(view)
            return
        deepest = max((len(cluster.residents[slot]) for slot in changed), default=0)
        if deepest > self.rows.shape[0]:
            self._build(view)
            return
        self._widen(cluster.nodes.slots)
        for slot in changed:
            self._set_column(view, slot)
        self._read = len(cluster.moved)

    def _build(self, view: View) -> None:
        cluster = view.cluster
        slots = cluster.nodes.slots
        rows = np.flatnonzero(view.home >= 0).astype(np.int32)
        columns = view.home[rows]
        keys = importance_keys(view, rows)
        order = np.lexsort([cluster.pods.sequence[rows], *reversed(keys), columns.astype(np.int64)])
        rows, columns = rows[order], columns[order]
        counts = np.bincount(columns, minlength=slots)
        depth = int(counts.max(initial=0)) + 2
        first = np.cumsum(counts) - counts
        turn = np.arange(len(rows)) - first[columns]
        self.rows: Rows = np.full((depth, slots), EMPTY, dtype=np.int32)
        self.rows[turn, columns] = rows
        self.priority: Ints = np.full((depth, slots), NEVER_BELOW, dtype=np.int64)
        self.priority[turn, columns] = view.priority[rows]
        self.demand: dict[int, Ints] = {}
        same = columns[1:] == columns[:-1]
        for key in keys:
            same &= key[order[1:]] == key[order[:-1]]
        self.tied: Mask = np.zeros(slots, dtype=np.bool_)
        """Nodes with two equally important pods."""
        self.tied[columns[1:][same]] = True
        self.special: Mask = np.zeros(slots, dtype=np.bool_)
        """Nodes with pods of groups that are evicted as a whole, or with a minimum run time."""
        self.special[columns[view.whole[rows] | (cluster.pods.min_runtime_end[rows] > 0)]] = True
        self._read = len(cluster.moved)

    def _widen(self, slots: int) -> None:
        """Add empty columns for new nodes."""
        more = ((0, 0), (0, slots - self.rows.shape[1]))
        if not more[1][1]:
            return
        self.rows = np.pad(self.rows, more, constant_values=EMPTY)
        self.priority = np.pad(self.priority, more, constant_values=NEVER_BELOW)
        self.demand = {index: np.pad(table, more) for index, table in self.demand.items()}
        self.tied = np.pad(self.tied, more[1])
        self.special = np.pad(self.special, more[1])

    def _set_column(self, view: View, slot: int) -> None:
        pods = view.cluster.pods
        rows = np.array(list(view.cluster.residents[slot]), dtype=np.int32)
        keys = importance_keys(view, rows)
        rows = rows[np.lexsort([pods.sequence[rows], *reversed(keys)])]
        column = np.full(self.rows.shape[0], EMPTY, dtype=np.int32)
        column[: len(rows)] = rows
        self.rows[:, slot] = column
        self.priority[:, slot] = NEVER_BELOW
        self.priority[: len(rows), slot] = view.priority[rows]
        for index, table in self.demand.items():
            table[:, slot] = 0
            table[: len(rows), slot] = view.cluster.demand(rows)[index]
        distinct = {tuple(int(key[i]) for key in keys) for i in range(len(rows))}
        self.tied[slot] = len(distinct) < len(rows)
        self.special[slot] = bool((view.whole[rows] | (pods.min_runtime_end[rows] > 0)).any())

    def requested(self, view: View, index: int) -> Ints:
        """The requests of each pod in the table for one resource."""
        table = self.demand.get(index)
        if table is None:
            cluster = view.cluster
            amounts = np.append(cluster.classes.requests[index], 0)
            table = amounts[np.where(self.rows >= 0, cluster.pods.cls[self.rows], -1)]
            self.demand[index] = table
        return table


def layout_of(view: View) -> Layout:
    """The table for the observed cluster, cached."""
    key = ("layout", view.group_victims)
    found: Layout | None = view.cluster.lasting.get(key)
    if found is None:
        found = view.cluster.lasting[key] = Layout(view)
    else:
        found.refresh(view)
    return found


class Sweep:
    """Victims on every swept node."""

    def __init__(self, view: View, filters: PodFilters, candidates: Mask) -> None:
        self._view = view
        self._filters = filters
        self._layout: Layout = layout_of(view)
        below = int(view.cluster.pods.priority[filters.row])
        lower = self._layout.priority < below
        self._breaks, unclear = breaks_by_node(view, self._layout.rows, lower)
        """Pods that would break a budget, by turn and node: they are tried first."""
        self.closer: Mask = candidates & (unclear | self._need_a_closer_look(lower))
        """Nodes that must be tried one by one."""
        swept = candidates & ~self.closer & lower.any(axis=0)
        self._victims, possible = self._sweep(lower, swept)
        self.slots: Rows = np.flatnonzero(swept & possible & self._victims.any(axis=0)).astype(np.int32)
        """Nodes on which evicting pods helps."""

    def _need_a_closer_look(self, lower: Mask) -> Mask:
        view, layout = self._view, self._layout
        closer = layout.special.copy()
        deep = lower.sum(axis=0) > INSERTION if view.faithful else np.ones(len(closer), dtype=np.bool_)
        closer |= layout.tied & deep
        return closer

    def _sweep(self, lower: Mask, swept: Mask) -> tuple[Mask, Mask]:
        """(victims, by turn and node; nodes where the pod fits at all)."""
        view, layout, nodes = self._view, self._layout, self._view.cluster.nodes
        possible = swept.copy()
        everybody = np.array_equal(lower, layout.rows >= 0)
        demands: list[Ints] = []
        slacks: list[Ints] = []
        for index, number in self._filters.cls.requested:
            wanted = layout.requested(view, index)
            if not everybody:
                wanted = np.where(lower, wanted, 0)
            free = nodes.allocatable[index, : nodes.slots] - nodes.used[index, : nodes.slots]
            slack = free + wanted.sum(axis=0) - number
            possible &= slack >= 0
            demands.append(wanted)
            slacks.append(slack)
        victims = lower & possible
        for group in (victims & self._breaks, victims & ~self._breaks) if self._breaks.any() else (victims,):
            for turn in np.flatnonzero(group.any(axis=1)).tolist():
                stays = group[turn].copy()
                for wanted, slack in zip(demands, slacks, strict=True):
                    stays &= wanted[turn] <= slack
                for wanted, slack in zip(demands, slacks, strict=True):
                    slack -= np.where(stays, wanted[turn], 0)
                victims[turn] &= ~stays
        return victims, possible

    def best(self, most: int) -> list[Selection]:
        """The `most` best nodes by the criteria of `pods.best_choice`, best first."""
        if not len(self.slots):
            return []
        order = np.lexsort([self._view.node_order[self.slots], *reversed(self._keys())])
        return [self._selection(slot) for slot in self.slots[order[:most]].tolist()]

    def _keys(self) -> list[Ints]:
        """`pods.choice_key` without the position of the node."""
        pods = self._view.cluster.pods
        column, turn = np.nonzero(self._victims[:, self.slots].T)  # victims by node, in order of importance
        rows = self._layout.rows[turn, self.slots[column]]
        priority = (pods.priority if self._view.faithful else self._view.priority)[rows]
        count = np.bincount(column, minlength=len(self.slots))
        begins = np.cumsum(count) - count
        highest = np.maximum.reduceat(priority, begins)
        starts = np.where(priority == highest[column], pods.start[rows], 2**63 - 1)
        breaks = self._breaks[turn, self.slots[column]].astype(np.int64)
        return [
            np.add.reduceat(breaks, begins),
            priority[begins] if self._view.faithful else highest,
            np.add.reduceat(priority, begins) + count * 2**31,
            count,
            -np.minimum.reduceat(starts, begins),
        ]

    def _selection(self, slot: int) -> Selection:
        column, victims = self._layout.rows[:, slot], self._victims[:, slot]
        below = self._layout.priority[:, slot] < self._view.cluster.pods.priority[self._filters.row]
        breaks = self._breaks[:, slot]
        kept = below & ~victims
        spared = np.concatenate([column[kept & breaks], column[kept & ~breaks]])
        return Selection(
            [Assignment(self._filters.row, slot, self._filters)],
            single_units(self._view, column[victims]),
            LazyUnits(self._view, spared),
            dict.fromkeys(single_units(self._view, column[below & breaks]), 1),
        )
