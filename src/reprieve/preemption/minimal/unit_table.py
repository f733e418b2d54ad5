"""The units that may be evicted, as columns: their pods, nodes, weights and budgets.

A group in mode *single* may mark leaders (`reprieve.dev/disruption-role: leader`): its workers are evicted
one by one, a leader only with the whole group. The unit of a whole such group *absorbs* the units of its
workers.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprieve.cluster import Mask, Rows
from reprieve.preemption.cost import Ledger
from reprieve.preemption.minimal.problem import Flags, Ints
from reprieve.preemption.units import Candidates, VictimUnit, placed_members, single_unit, whole_unit
from reprieve.preemption.view import View


def leads(view: View, row: int) -> bool:
    """Whether the pod is the leader of a group whose pods are evicted one by one."""
    return bool(view.leader[row])


def with_leaders(view: View, victims: Sequence[VictimUnit]) -> list[VictimUnit] | None:
    """The victims, a leader with its whole group; None when a member is within its minimum run time."""
    led = {int(view.cluster.pods.group[row]) for unit in victims for row in unit.rows if leads(view, row)}
    if not led:
        return list(victims)
    units = [
        unit for unit in victims if unit.group >= 0 or int(view.cluster.pods.group[unit.rows[0]]) not in led
    ]
    for group in sorted(led):
        members = placed_members(view, group)
        if view.within_min_runtime[members].any():
            return None
        units.append(whole_unit(view, group, members))
    return units


def _flat(groups: Sequence[tuple[int, Rows]]) -> tuple[Rows, Ints]:
    """The pods of all these groups, and the place of the group of each in the list."""
    sizes = [len(rows) for _, rows in groups]
    none: Rows = np.zeros(0, np.int32)
    return np.concatenate([none, *(rows for _, rows in groups)]), np.repeat(np.arange(len(groups)), sizes)


class BudgetDraws(NamedTuple):
    """What evicting each unit draws from the budgets."""

    spent: Ints  # [unit] pods under a budget that allows nothing
    uses: Ints  # [unit, budget] pods under each of the others that could be overdrawn
    allowed: Ints  # [budget] what those allow
    overlapping: bool  # a pod under two of them breaks a budget at most once, but draws on both


class UnitTable:
    """Candidates not above the ceiling, with pods on the nodes: single pods, then groups."""

    def __init__(self, candidates: Candidates, ceiling: int | None, slots: Rows) -> None:
        self.view = view = candidates.view
        cluster = view.cluster
        singles = candidates.singles
        members = list(zip(candidates.groups, candidates.members, strict=True))
        if ceiling is not None:
            singles = singles[view.priority[singles] <= ceiling]
            low = view.priority[np.array([rows[0] for _, rows in members], np.int32)] <= ceiling
            members = list(compress(members, low.tolist()))
        singles, led = self._leaders(singles)
        members += led
        node_of = np.full(cluster.nodes.slots + 2, -1, np.int64)
        node_of[slots] = np.arange(len(slots))
        where = cluster.pods.node
        singles = singles[node_of[where[singles]] >= 0]
        if members:
            rows, number = _flat(members)
            here = np.bincount(number[node_of[where[rows]] >= 0], minlength=len(members)) > 0
            members = list(compress(members, here.tolist()))
        self.singles, self.groups = singles, members
        self._index(node_of, {g for g, _ in led})

    def _leaders(self, singles: Rows) -> tuple[Rows, list[tuple[int, Rows]]]:
        """The single pods without leaders, and the groups that are evicted with their leaders."""
        pods = self.view.cluster.pods
        members = singles[pods.group[singles] >= 0].tolist()
        groups = dict.fromkeys(int(pods.group[row]) for row in members if leads(self.view, row))
        if not groups:
            return singles, []
        evictable, led, leaders = set(singles.tolist()), [], set()
        for group in groups:
            rows = placed_members(self.view, group)
            leaders |= {row for row in rows.tolist() if leads(self.view, row)}
            if evictable.issuperset(rows.tolist()):
                led.append((group, rows))
        kept = np.array([row for row in singles.tolist() if row not in leaders], np.int32)
        return kept, led

    def _index(self, node_of: Ints, led: set[int]) -> None:
        cluster = self.view.cluster
        self.absorbs: dict[int, tuple[int, ...]] = {}
        number_of = {row: number for number, row in enumerate(self.singles.tolist())} if led else {}
        own = list(self.groups)
        for at, (group, members) in enumerate(self.groups if led else ()):
            if group in led:
                number = len(self.singles) + at
                self.absorbs[number] = tuple(number_of[r] for r in members.tolist() if r in number_of)
                own[at] = group, np.array([r for r in members.tolist() if r not in number_of], np.int32)
        pod_row, pod_unit = self._with_singles(own)
        node = node_of[cluster.pods.node[pod_row]]
        here = node >= 0
        self.pod_row, self.pod_unit, self.pod_node = pod_row[here], pod_unit[here], node[here]
        first = [members[0] for _, members in self.groups]
        self.priority: Ints = self.view.priority[np.concatenate([self.singles, np.array(first, np.int32)])]
        self.evictable: Flags = np.zeros(cluster.pods.rows, np.bool_)
        self.evictable[self.pod_row] = True

    def _with_singles(self, groups: "list[tuple[int, Rows]]") -> tuple[Rows, Ints]:
        """The pods of all units, and the number of the unit of each."""
        rows, number = _flat(groups)
        singles = self.singles
        return (
            np.concatenate([singles, rows]),
            np.concatenate([np.arange(len(singles)), len(singles) + number]),
        )

    def __len__(self) -> int:
        return len(self.priority)

    def number(self, unit: VictimUnit) -> int | None:
        """The number of a unit; None when it is not among these."""
        if unit.group >= 0:
            return self._group_numbers.get(unit.group)
        at = int(np.searchsorted(self.singles, unit.rows[0]))  # singles are in order of their rows
        return at if at < len(self.singles) and self.singles[at] == unit.rows[0] else None

    @cached_property
    def _group_numbers(self) -> dict[int, int]:
        return {group: number for number, (group, _) in enumerate(self.groups, start=len(self.singles))}

    def unit(self, number: int) -> VictimUnit:
        if number < len(self.singles):
            return single_unit(self.view, int(self.singles[number]))
        group, members = self.groups[number - len(self.singles)]
        return whole_unit(self.view, group, members)

    @cached_property
    def everyone(self) -> tuple[Rows, Ints]:
        """Every pod that is evicted with a unit, on any node, and the number of that unit."""
        return self._with_singles(self.groups)

    def weights(self, ledger: Ledger) -> NDArray[np.float64]:
        """The weighted sum of each unit, never negative."""
        groups = {number: group for number, (group, _) in enumerate(self.groups, start=len(self.singles))}
        return ledger.weights(*self.everyone, groups)

    def budgets(self) -> BudgetDraws:
        """What evicting each unit draws from the budgets."""
        budgets, (rows, units) = self.view.cluster.budgets.all, self.everyone
        allowed = [budget.status.disruptions_allowed for budget in budgets]
        covered = [self._covered(number, rows) for number in range(len(budgets))]
        broken = np.zeros(len(rows), np.bool_)
        for number, pods in enumerate(covered):
            if allowed[number] <= 0:
                broken |= pods
        drawn = {number: pods & ~broken for number, pods in enumerate(covered) if allowed[number] > 0}
        tight = [number for number, pods in drawn.items() if pods.sum() > allowed[number]]
        uses = [np.bincount(units[drawn[number]], minlength=len(self)) for number in tight]
        return BudgetDraws(
            np.bincount(units[broken], minlength=len(self)),
            np.array(uses, np.int64).reshape(len(tight), len(self)).T,
            np.array([allowed[number] for number in tight], np.int64),
            bool((sum((drawn[number].astype(np.int64) for number in tight), np.zeros(1)) > 1).any()),
        )

    def _covered(self, number: int, rows: Rows) -> Mask:
        """Which of the pods the budget is charged for: those it covers that are not terminating."""
        cluster = self.view.cluster
        budget = cluster.budgets.all[number]
        covers = [number in cluster.budgets.covering(cls) for cls in cluster.classes.all]
        pods: Mask = np.array(covers, np.bool_)[cluster.pods.cls[rows]] & ~cluster.pods.terminating[rows]
        known = [
            cluster.pods.row_of.get(f"{budget.namespace}/{name}") for name in budget.status.disrupted_pods
        ]
        return pods & ~np.isin(rows, [row for row in known if row is not None]) if known else pods
