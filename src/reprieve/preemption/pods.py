"""A single pod preempts: each node is tried by itself, and the best one is chosen."""

from collections.abc import Sequence

import numpy as np

from reprieve.cluster import NOWHERE, Mask
from reprieve.placement import UNSCHEDULABLE, Assignment, Diagnosis, PodFilters
from reprieve.preemption.devices import holders
from reprieve.preemption.importance import by_importance
from reprieve.preemption.reprieve import CapacityTrial, only_capacity_counts, reprieve
from reprieve.preemption.sweep import Sweep
from reprieve.preemption.units import Selection, VictimUnit, placed_members, single_unit, whole_unit
from reprieve.preemption.view import View
from reprieve.preemption.violations import count_violations

Groups = dict[int, VictimUnit | None]
"""Units of groups that are evicted as a whole, by number; None for one within its minimum run time."""

MOST_SHOWN = 4
"""How many nodes of a sweep are returned: the best one and a few to compare it with."""


def choices_for_pod(view: View, filters: PodFilters, diagnosis: Diagnosis, most: int) -> list[Selection]:
    """Nodes on which evicting lower units helps, with their victims.

    Of the nodes that were swept the best ones, `most` of them; of those that were tried one by one all.
    """
    order = view.cluster.nodes.order
    candidates: Mask = diagnosis.code == UNSCHEDULABLE
    found: list[Selection] = []
    if filters.countable:
        sweep = Sweep(view, filters, candidates)
        found = sweep.best(most)
        candidates = sweep.closer
    groups: Groups = {}
    for slot in order[candidates[order]].tolist():
        choice = dry_run(view, filters, slot, groups)
        if choice is not None and choice.victims:
            found.append(choice)
    return found


def dry_run(view: View, filters: PodFilters, slot: int, groups: Groups | None = None) -> Selection | None:
    """Take every lower unit off one node, then put back those that can stay; None if that does not help.

    `groups` caches units of whole groups from one node to the next.
    """
    cluster = view.cluster
    below, known = int(cluster.pods.priority[filters.row]), {} if groups is None else groups
    units = units_on(view, slot, below, known)
    if filters.devices is not None:
        seen = set(units)
        more = units_of(view, holders(view, filters, slot), below, known)
        units += [unit for unit in more if unit not in seen]
    if not units:
        return None
    here = [Assignment(filters.row, slot, filters)]
    home = {row: int(cluster.pods.node[row]) for unit in units for row in unit.rows}
    mark = cluster.checkpoint()
    try:
        trial = (
            CapacityTrial(view, here, home)
            if only_capacity_counts(here)
            else NodeTrial(filters.forked(), home, slot)
        )
        for unit in units:
            trial.take(unit)
        if not trial.stands:
            return None
        ordered = by_importance(view, units)
        broken = count_violations(view, ordered)
        violating = [unit for unit in ordered if unit.rows[0] in broken]
        others = [unit for unit in ordered if unit.rows[0] not in broken]
        result = reprieve(trial, [*violating, *others], again=not view.faithful)
        if filters.devices is not None:
            here = [here[0]._replace(devices=filters.devices.allocations(slot))]
    finally:
        cluster.rollback(mark)
    victims = by_importance(view, result.victims) if violating and others else result.victims
    return Selection(here, victims, result.reprieved, broken)


def units_on(view: View, slot: int, below: int, groups: Groups) -> list[VictimUnit]:
    """Units with a pod on the node and a priority below the given one, in the order of the node's pods."""
    rows = sorted(view.cluster.residents[slot], key=view.cluster.pods.sequence.__getitem__)
    return units_of(view, rows, below, groups)


def units_of(view: View, rows: Sequence[int], below: int, groups: Groups) -> list[VictimUnit]:
    """The units of these pods that have a priority below the given one."""
    units: list[VictimUnit] = []
    seen: set[int] = set()
    node = view.cluster.pods.node
    for row in rows:
        if view.priority[row] >= below or node[row] == NOWHERE:
            continue  # too important, or supposed to be gone already
        group = int(view.unit[row])
        if group < 0:
            if not view.within_min_runtime[row]:
                units.append(single_unit(view, row))
        elif group not in seen:
            seen.add(group)
            if group not in groups:
                members = placed_members(view, group)
                groups[group] = (
                    None if view.within_min_runtime[members].any() else whole_unit(view, group, members)
                )
            unit = groups[group]
            if unit is not None:
                units.append(unit)
    return units


class NodeTrial:
    """Tries units for a pod on one node, with all its filters."""

    def __init__(self, filters: PodFilters, home: dict[int, int], slot: int) -> None:
        self._filters = filters
        self._home = home
        self._slot = slot
        self._everywhere = filters.devices is not None and filters.cluster.devices.evictions_free
        """Pods on other nodes may hold devices that this one needs."""

    @property
    def stands(self) -> bool:
        return self._filters.allows(self._slot)

    def stays(self, unit: VictimUnit) -> bool:
        for row in unit.rows:
            if self._everywhere or self._home[row] == self._slot:
                self._filters.cluster.attach(row, self._home[row])
            self._filters.change(row, self._home[row], 1)
        if self.stands:
            return True
        self.take(unit)
        return False

    def take(self, unit: VictimUnit) -> None:
        """Suppose a unit gone: off this node, and out of the counts wherever it is."""
        for row in unit.rows:
            if self._everywhere or self._home[row] == self._slot:
                self._filters.cluster.detach(row)
            self._filters.change(row, self._home[row], -1)


def best_choice(view: View, choices: list[Selection]) -> Selection:
    """The node to preempt on.

    1. Fewest pods that break a budget.
    2. Lowest priority of the most important victim (under `kubernetes`: of the first victim pod itself, not
       its group).
    3. Lowest sum over victim pods of priority + 2^31, so that fewer pods win between low sums.
    4. Fewest victim pods.
    5. Latest start among the earliest starts of the most important victims.
    6. First in the scheduler's order.
    """
    return min(choices, key=lambda choice: choice_key(view, choice))


def choice_key(view: View, choice: Selection) -> tuple[int, int, int, int, int, int]:
    pods = view.cluster.pods
    rows = np.array([row for unit in choice.victims for row in unit.rows])
    priorities = (pods.priority if view.faithful else view.priority)[rows]
    highest = int(priorities.max())
    starts = view.start[rows[priorities == highest]]
    return (
        choice.broken,
        int(priorities[0]) if view.faithful else highest,
        int((priorities + 2**31).sum()),
        len(rows),
        -int(starts.min()),
        int(view.node_order[choice.assigned[0].slot]),
    )
