"""The dry run of a pod on every node at once, where only amounts count: resources, and what is in `rules`.

A dry run over every node is a loop over the turns of a `Layout`, each a few array operations. Nodes that need
a closer look (a group that is not simple, pods under two budgets, pods nominated there) are left to the dry
run of one node; the best of both is chosen.
"""

import numpy as np

from reprieve.cluster import Ints, Mask, Rows
from reprieve.placement import Assignment, PodFilters
from reprieve.preemption.choices import Choices, Table
from reprieve.preemption.layout import SINGLE, Layout, layout_of
from reprieve.preemption.rules import Rules
from reprieve.preemption.ties import in_gos_order, sorted_unstably
from reprieve.preemption.units import (
    LazyUnits,
    Selection,
    VictimUnit,
    placed_members,
    single_units,
    whole_unit,
)
from reprieve.preemption.view import View
from reprieve.preemption.violations import breaks_by_node, counted_already

FEW = 8
"""Below this share of the nodes (one in so many) a turn picks them one by one."""


class Sweep:
    """Victims on every swept node."""

    def __init__(self, view: View, filters: PodFilters, candidates: Mask) -> None:
        self._view = view
        self.filters = filters
        self.candidates = candidates
        self._layout: Layout = layout_of(view)
        self._lower = lower = self._lower_entries()
        """The potential victims, by turn and node."""
        self._everybody = lower is self._layout.present
        """Whether nobody on any node is more important."""
        self._broken, unclear = breaks_by_node(view, self._layout.covered(view), lower, self._everybody)
        """How many pods of each entry would break a budget."""
        self._breaks: Mask = self._broken > 0
        """Entries that would break a budget: they are tried first."""
        self._tied = self._settle_ties()
        """Nodes with entries whose order is not known."""
        self._rules = Rules(view, filters, self._layout)
        self.closer: Mask = candidates & (unclear | self._need_a_closer_look())
        """Nodes that must be tried one by one."""
        swept = candidates & ~self.closer & lower.any(axis=0)
        self._victims, possible = self._sweep(lower, swept)
        self.slots: Rows = np.flatnonzero(swept & possible & self._victims.any(axis=0)).astype(np.int32)
        """Nodes on which evicting pods helps."""

    def _lower_entries(self) -> Mask:
        view, layout = self._view, self._layout
        lower = layout.below(int(view.cluster.pods.priority[self.filters.row]))
        if view.within_min_runtime.any():
            lower = lower & ~layout.of(view, view.within_min_runtime)
        return lower

    def _settle_ties(self) -> Mask:
        """Put equally important entries in kube-scheduler's order. Returns the nodes where that is not known.

        Where a budget breaks, victims are sorted once more, and that order depends on who they are.
        """
        view, layout = self._view, self._layout
        if not view.faithful or not layout.tied.any():
            return layout.tied
        tied = sorted_unstably(layout, self._lower)
        breaks = np.asarray(self._breaks.any(axis=0))
        if (tied & ~breaks).any():
            self._layout = in_gos_order(view, layout, self._lower, tied & ~breaks)
        return tied & breaks

    def _need_a_closer_look(self) -> Mask:
        view, layout = self._view, self._layout
        closer = layout.special | self._rules.unclear | self._tied
        counted = counted_already(view)
        if counted.any():
            closer |= layout.of(view, counted).any(axis=0)
        return closer

    def _sweep(self, lower: Mask, swept: Mask) -> tuple[Mask, Mask]:
        """(victims, by turn and node; nodes where the pod fits at all)."""
        view, layout, nodes = self._view, self._layout, self._view.cluster.nodes
        possible = swept.copy()
        demands: list[Ints] = []
        sums: list[Ints] = []
        slacks: list[Ints] = []
        for index, number in self.filters.cls.requested:
            left = nodes.allocatable[index, : nodes.slots] - nodes.used[index, : nodes.slots] - number
            if (left[swept] >= 0).all():
                continue  # enough of it next to everybody: it decides nothing
            wanted = layout.requested(view, index)
            if self._everybody:
                sums.append(layout.running(view, index))
                slack = left + sums[-1][-1]
            else:
                wanted = np.where(lower, wanted, 0)
                slack = left + wanted.sum(axis=0)
            possible &= slack >= 0
            demands.append(wanted)
            slacks.append(slack)
        possible &= self._rules.met_without(lower)
        for wanted, slack in self._rules.amounts(lower):
            possible &= slack >= 0
            demands.append(wanted)
            slacks.append(slack)
        victims = lower & possible
        tried = victims
        if self._breaks.any():
            _try_all(victims, victims & self._breaks, demands, slacks)
            tried = victims & ~self._breaks
        if sums and len(sums) == len(demands):
            tried = self._try_the_first(victims, tried, demands, sums, slacks)
        _try_all(victims, tried, demands, slacks)
        return victims, possible

    def _try_the_first(
        self, victims: Mask, tried: Mask, demands: list[Ints], sums: list[Ints], slacks: list[Ints]
    ) -> Mask:
        """Entries stay next to which all before them on their node can stay, too. Returns those still to try.

        `sums`: what entries request together with those before them. Entries that would break a budget were
        tried before, and count twice: then a few are left to try that could stay.
        """
        stay: Mask = np.asarray(tried.any(axis=0))
        safe = _turns_for_all(stay, sums, slacks)
        turns = np.where(stay, safe, 0)
        left = tried.copy()
        left[:safe] = False
        victims[:safe] &= ~tried[:safe]
        for turn in range(safe, len(tried)):
            for total, slack in zip(sums, slacks, strict=True):
                stay &= total[turn] <= slack
            if not stay.any():
                break
            turns += stay
            left[turn] &= ~stay
            victims[turn] &= ~(tried[turn] & stay)
        nodes = np.flatnonzero(turns)
        places = turns[nodes] - 1, nodes
        at, node = np.divmod(np.flatnonzero(self._breaks), len(turns))
        twice = turns[node] > at
        at, node = at[twice], node[twice]
        for wanted, total, slack in zip(demands, sums, slacks, strict=True):
            slack[nodes] -= total[places]
            np.add.at(slack, node, wanted[at, node])
        return left

    def best(self, most: int) -> list[Selection]:
        """The `most` best nodes by the criteria of `pods.best_choice`, best first."""
        if not len(self.slots):
            return []
        table = Table(self._view, self._layout, self._victims, self._broken)
        return [self._selection(slot) for slot in Choices.of(table, self.slots).best(most).tolist()]

    def _selection(self, slot: int) -> Selection:
        victims = self._victims[:, slot]
        breaks = self._breaks[:, slot]
        kept = self._lower[:, slot] & ~victims
        spared = np.concatenate([np.flatnonzero(kept & breaks), np.flatnonzero(kept & ~breaks)])
        column = self._layout.rows[:, slot]
        alone = (self._layout.group[spared, slot] == SINGLE).all()
        return Selection(
            [Assignment(self.filters.row, slot, self.filters)],
            self._units(slot, np.flatnonzero(victims)),
            LazyUnits(self._view, column[spared]) if alone else self._units(slot, spared),
            self._violations(slot, np.flatnonzero(breaks)),
        )

    def _violations(self, slot: int, turns: Ints) -> dict[int, int]:
        """How many pods of the entries at these turns break a budget, by the first pod of each."""
        firsts = (unit.rows[0] for unit in self._units(slot, turns))
        return dict(zip(firsts, self._broken[turns, slot].tolist(), strict=True))

    def _units(self, slot: int, turns: Ints) -> list[VictimUnit]:
        """The units at these turns of a node."""
        view, groups = self._view, self._layout.group[turns, slot].tolist()
        units = single_units(view, self._layout.rows[turns, slot])
        for index, group in enumerate(groups):
            if group != SINGLE:
                units[index] = whole_unit(view, group, placed_members(view, group))
        return units


def _turns_for_all(nodes: Mask, sums: list[Ints], slacks: list[Ints]) -> int:
    """After how many turns there is still enough for everybody so far on each of the nodes."""
    low, high = 0, len(sums[0])
    while low < high:
        middle = (low + high + 1) // 2
        pairs = zip(sums, slacks, strict=True)
        if all((nodes <= (total[middle - 1] <= slack)).all() for total, slack in pairs):
            low = middle
        else:
            high = middle - 1
    return low


def _try_all(victims: Mask, tried: Mask, demands: list[Ints], slacks: list[Ints]) -> None:
    """Turn by turn, the entries that are marked in `tried`; all at once where nodes have one each at most."""
    width = victims.shape[1]
    if np.count_nonzero(tried) <= width:
        places = np.flatnonzero(tried)
        nodes = places % width
        if np.bincount(nodes, minlength=1).max() <= 1:
            for demand, slack in zip(demands, slacks, strict=True):
                enough = demand.take(places) <= slack[nodes]
                places, nodes = places[enough], nodes[enough]
            for demand, slack in zip(demands, slacks, strict=True):
                slack[nodes] -= demand.take(places)
            victims.put(places, False)
            return
    for turn in np.flatnonzero(tried.any(axis=1)).tolist():
        _try(victims[turn], tried[turn], [wanted[turn] for wanted in demands], slacks)


def _try(victims: Mask, tried: Mask, wanted: list[Ints], slacks: list[Ints]) -> None:
    """One pod of every node that is marked in `tried` stays if there is enough left for it."""
    columns = np.flatnonzero(tried)
    if len(columns) * FEW > len(tried):  # most nodes: whole columns are faster than indexes
        stays = tried.copy()
        for demand, slack in zip(wanted, slacks, strict=True):
            stays &= demand <= slack
        for demand, slack in zip(wanted, slacks, strict=True):
            slack -= demand * stays
        victims &= ~stays
        return
    for demand, slack in zip(wanted, slacks, strict=True):
        columns = columns[demand[columns] <= slack[columns]]
    for demand, slack in zip(wanted, slacks, strict=True):
        slack[columns] -= demand[columns]
    victims[columns] = False
