"""The units that may make way, as columns: what leaves together, on which nodes, at what weight and under which budgets.

A group in mode *single* may mark leaders (`reprieve.dev/disruption-role: leader`): its workers go one by one, a leader only with the
whole group.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reprieve.cluster.columns import Rows
from reprieve.preemption.cost import Ledger
from reprieve.preemption.minimal.model import Flags, Ints
from reprieve.preemption.units import Candidates, Unit, placed_members, single_unit, whole_unit
from reprieve.preemption.view import View

ROLE = "reprieve.dev/disruption-role"
LEADER = "leader"


def leads(view: View, row: int) -> bool:
    """Whether the pod is the leader of a group whose pods go one by one."""
    pods = view.cluster.pods
    return bool(
        pods.group[row] >= 0 and pods.about[row].annotations.get(ROLE) == LEADER and not view.whole[row]
    )


def with_leaders(view: View, victims: Sequence[Unit]) -> list[Unit] | None:
    """The victims, where a leader goes with its whole group; None when a member of that group may not go."""
    led = {int(view.cluster.pods.group[row]) for unit in victims for row in unit.rows if leads(view, row)}
    if not led:
        return list(victims)
    units = [
        unit for unit in victims if unit.group >= 0 or int(view.cluster.pods.group[unit.rows[0]]) not in led
    ]
    for group in sorted(led):
        members = placed_members(view, group)
        if view.shielded[members].any():
            return None
        units.append(whole_unit(view, group, members))
    return units


class Roster:
    """Units below a priority, not above the ceiling, that hold room on one of the nodes: single pods, then groups."""

    def __init__(self, view: View, below: int, ceiling: int | None, slots: Rows) -> None:
        self.view = view
        cluster = view.cluster
        candidates = Candidates(view, below)
        singles = candidates.singles
        members = list(zip(candidates.groups, candidates.members, strict=True))
        if ceiling is not None:
            singles = singles[view.priority[singles] <= ceiling]
            members = [(g, rows) for g, rows in members if view.priority[rows[0]] <= ceiling]
        singles, led = self._leaders(singles)
        members += led
        node_of = np.full(cluster.nodes.slots + 2, -1, np.int64)
        node_of[slots] = np.arange(len(slots))
        where = cluster.pods.node
        singles = singles[node_of[where[singles]] >= 0]
        members = [(g, rows) for g, rows in members if (node_of[where[rows]] >= 0).any()]
        self.singles, self.groups = singles, members
        self._index(node_of, {g for g, _ in led})

    def _leaders(self, singles: Rows) -> tuple[Rows, list[tuple[int, Rows]]]:
        """The singles without leaders, and the groups that leave with their leaders."""
        pods = self.view.cluster.pods
        groups: dict[int, None] = {}
        for row in singles.tolist():
            if leads(self.view, row):
                groups[int(pods.group[row])] = None
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
        count = len(self.singles)
        rows, units, self.absorbs = [self.singles], [np.arange(count)], {}
        number_of = {row: number for number, row in enumerate(self.singles.tolist())} if led else {}
        for number, (group, members) in enumerate(self.groups, start=count):
            own = members
            if group in led:
                self.absorbs[number] = tuple(number_of[r] for r in members.tolist() if r in number_of)
                own = np.array([r for r in members.tolist() if r not in number_of], np.int32)
            rows.append(own)
            units.append(np.full(len(own), number))
        pod_row, pod_unit = np.concatenate(rows), np.concatenate(units).astype(np.int64)
        node = node_of[cluster.pods.node[pod_row]]
        here = node >= 0
        self.pod_row, self.pod_unit, self.pod_node = pod_row[here], pod_unit[here], node[here]
        first = [members[0] for _, members in self.groups]
        self.priority: Ints = self.view.priority[np.concatenate([self.singles, np.array(first, np.int32)])]
        self.evictable: Flags = np.zeros(cluster.pods.rows, np.bool_)
        self.evictable[self.pod_row] = True

    def __len__(self) -> int:
        return len(self.priority)

    @cached_property
    def numbers(self) -> dict[tuple[str, int], int]:
        """The number of each unit: of a pod by its row, of a whole group by its own number."""
        singles = {("pod", row): number for number, row in enumerate(self.singles.tolist())}
        first = len(self.singles)
        return singles | {("group", group): n for n, (group, _) in enumerate(self.groups, start=first)}

    def unit(self, number: int) -> Unit:
        if number < len(self.singles):
            return single_unit(self.view, int(self.singles[number]))
        group, members = self.groups[number - len(self.singles)]
        return whole_unit(self.view, group, members)

    def weights(self, ledger: Ledger) -> NDArray[np.float64]:
        """The weighted sum of each unit, never negative."""
        rows, units = [self.singles], [np.arange(len(self.singles))]
        groups = {}
        for number, (group, members) in enumerate(self.groups, start=len(self.singles)):
            rows.append(members)
            units.append(np.full(len(members), number))
            groups[number] = group
        return ledger.weights(np.concatenate(rows), np.concatenate(units).astype(np.int64), groups)

    def budgets(self) -> tuple[Ints, Ints, Ints]:
        """Pods of each unit under spent budgets, and under each of the others; and what those allow."""
        budgets, cluster = self.view.cluster.budgets, self.view.cluster
        spent = np.zeros(len(self), np.int64)
        if not budgets.all:
            return spent, np.zeros((len(self), 0), np.int64), np.zeros(0, np.int64)
        drawn: dict[int, Ints] = defaultdict(lambda: np.zeros(len(self), np.int64))
        for number, row in self._everyone():
            covering = budgets.covering(cluster.class_of(row))
            if not covering or cluster.pods.terminating[row]:
                continue
            name = cluster.pods.keys[row].rpartition("/")[2]
            counting = [b for b in covering if name not in budgets.all[b].status.disrupted_pods]
            if any(budgets.all[b].status.disruptions_allowed <= 0 for b in counting):
                spent[number] += 1
                continue
            for budget in counting:
                drawn[budget][number] += 1
        tight = [b for b in sorted(drawn) if drawn[b].sum() > budgets.all[b].status.disruptions_allowed]
        uses = np.array([drawn[b] for b in tight], np.int64).reshape(len(tight), len(self)).T
        return spent, uses, np.array([budgets.all[b].status.disruptions_allowed for b in tight], np.int64)

    def _everyone(self) -> list[tuple[int, int]]:
        """(unit, pod) for every pod that leaves with a unit, on whatever node."""
        pairs = list(enumerate(self.singles.tolist()))
        for number, (_, members) in enumerate(self.groups, start=len(self.singles)):
            pairs += [(number, row) for row in members.tolist()]
        return pairs
