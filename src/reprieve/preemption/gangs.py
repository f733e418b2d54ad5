"""A gang preempts: all lower units are taken out at once, the gang is placed, and units return one by one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Ints, Mask, Rows
from reprieve.placement import (
    EVERYWHERE,
    Assignment,
    Domain,
    GangPlacement,
    TreeGroup,
    TreePlacer,
    best_domain,
    carried_over,
    first_twins,
    place_gang,
    place_with_least,
)
from reprieve.preemption import devices
from reprieve.preemption.importance import (
    by_importance,
    candidates_by_importance,
    importance_keys,
    singles_by_importance,
)
from reprieve.preemption.reprieve import (
    Trial,
    fit_together,
    only_capacity_counts,
    ranked,
    reprieve,
    slack_next_to,
    stays,
    trial_for,
)
from reprieve.preemption.units import (
    FEW,
    NO_PRIORITY,
    Candidates,
    LazyUnits,
    Selection,
    VictimUnit,
    disruption,
)
from reprieve.preemption.view import View
from reprieve.preemption.violations import NONE, breaking, budget_of_classes

MOST_IMITATED = 5_000
"""Above this many units equal ones keep the scheduler's list order: kube-scheduler's is arbitrary there."""


class Gang(NamedTuple):
    """The gang that preempts: its waiting pods in queue order, and what it needs."""

    rows: tuple[int, ...]
    priority: int
    min_count: int
    running: int
    tree: TreeGroup | None = None
    """The tree of a composite group; its groups say what must be placed together, and where."""


class GangSearch:
    """The potential victims of one gang, and where the gang goes when some of them are out."""

    def __init__(
        self,
        view: View,
        gang: Gang,
        domains: Sequence[Domain] = EVERYWHERE,
        candidates: Candidates | None = None,
    ) -> None:
        self.view = view
        self.gang = gang
        self.domains = domains
        self.candidates = Candidates(view, gang.priority) if candidates is None else candidates

    def inside(self, domain: Domain) -> "GangSearch":
        """The same search in one of the domains."""
        return GangSearch(self.view, self.gang, [domain], self.candidates)

    def select_in_each(self, out: Mask) -> list[Selection | GangPlacement]:
        """`select` for each of the domains by itself."""
        cluster = self.view.cluster
        mark = cluster.checkpoint()
        try:
            cluster.detach_all(self.candidates.pods_of(out))
            return [
                self._reprieve(each.assigned, out) if each.feasible else each
                for each in place_in_each(self.view, self.gang, self.domains)
            ]
        finally:
            cluster.rollback(mark)

    def everyone(self) -> Mask:
        return np.ones(len(self.candidates), dtype=np.bool_)

    def place_without(self, out: Mask) -> GangPlacement:
        """Where the gang would go when these units are out."""
        with self.placed_without(out) as placement:
            return placement

    def select(
        self, out: Mask, known: GangPlacement | None = None, ceiling: int | None = None
    ) -> Selection | GangPlacement:
        """Place the gang without these units, then reprieve: budget breakers first, the most important first.

        A placement that failed is returned as it is, for its message. `known`: what `place_without` said.
        `ceiling`: the selection may be cut short once a victim is above this priority.
        """
        if self.gang.tree is not None and not self.view.faithful:
            return self._select_for_tree(self.gang.tree, out)
        with self.placed_without(out, known) as placement:
            if not placement.feasible:
                return placement
            if devices.matters(self.view, placement.assigned):
                return self._reprieve_by_devices(placement.assigned, out)
            if placement.phantoms and self.view.faithful:
                return self._reprieve_next_to_phantoms(placement, out)
            return self._reprieve(placement.assigned, out, ceiling)

    @contextmanager
    def placed_without(self, out: Mask, known: GangPlacement | None = None) -> Iterator[GangPlacement]:
        """The gang's places with these units out; inside, the units are out and the gang is not attached."""
        cluster = self.view.cluster
        mark = cluster.checkpoint()
        try:
            cluster.detach_all(self.candidates.pods_of(out))
            if known is not None and only_capacity_counts(known.assigned):
                yield known
            else:
                yield place_in_domains(self.view, self.gang, self.domains)
        finally:
            cluster.rollback(mark)

    def _select_for_tree(self, tree: TreeGroup, out: Mask) -> Selection | GangPlacement:
        """The domains that kube-scheduler would take, or those with the cheapest victims if that is less."""
        with self.placed_without(out) as placement:
            if not placement.feasible:
                return placement
            first = self._reprieve(placement.assigned, out)
            if not first.victims or not any(group.topology for group in tree.groups()):
                return first
            cheap = TreePlacer(
                self.view.cluster,
                self.view.scoring,
                faithful=False,
                tolerant=True,
                price=lambda assigned: disruption(self._reprieve(list(assigned), out)),
            ).place(tree)
            found = [first, *([self._reprieve(cheap.assigned, out)] if cheap.feasible else [])]
            return min(found, key=disruption)

    def next_to(self, assigned: list[Assignment], out: Mask) -> Selection:
        """Who makes way for these places; call it while `out` is out."""
        return self._reprieve(assigned, out)

    def _reprieve_next_to_phantoms(self, placement: GangPlacement, out: Mask) -> Selection:
        """kube-scheduler 1.38 nominates pods of groups that failed, and lets them count.

        Where they do not fit next to the pods that were really placed, no unit at all passes the test.
        """
        assigned = [*placement.assigned, *placement.phantoms]
        plain = all(each.filters.plain for each in assigned)
        if plain and not fit_together(assigned):
            victims = self.ordered(np.flatnonzero(out).astype(np.int32))
            return Selection(assigned, victims, [], self.broken)
        return self._reprieve(assigned, out)

    def _reprieve_by_devices(self, assigned: list[Assignment], out: Mask) -> Selection:
        """Only units that could matter are tried: on the preemptor's nodes, or with devices it can reach."""
        candidates = self.candidates
        tried = out
        if devices.only_devices_and_capacity(assigned):
            tried = out & devices.near(self.view, candidates, assigned)
        trial = devices.DeviceTrial(self.view, assigned, candidates.home_of(tried))
        selection = self._reprieve_one_by_one(assigned, tried, trial)
        return selection._replace(assigned=trial.served())

    def _reprieve(self, assigned: list[Assignment], out: Mask, ceiling: int | None = None) -> Selection:
        if not only_capacity_counts(assigned):
            return self._reprieve_one_by_one(assigned, out)
        near = out & self.candidates.units_with(self._near(assigned))
        return (
            self._reprieve_by_capacity(assigned, near)
            or self._reprieve_in_order(assigned, near, ceiling)
            or self._reprieve_one_by_one(assigned, near)
        )

    def _reprieve_by_capacity(self, assigned: list[Assignment], tried: Mask) -> Selection | None:
        """All nodes at once; None when a whole group or equally important pods are among the units."""
        view, candidates = self.view, self.candidates
        numbers = np.flatnonzero(tried).astype(np.int32)
        if len(numbers) and numbers[-1] >= len(candidates.singles):
            return None
        slots, slack = slack_next_to(view.cluster, assigned)
        rows = candidates.singles[numbers]
        column = np.searchsorted(slots, view.home[rows]).astype(np.int32)
        keys = importance_keys(view, rows)
        if self.broken:
            keys = [(self.breaks[numbers] == 0).astype(np.int64), *keys]
        pods = ranked(rows, column, keys)
        if pods is None:
            return None
        kept = stays(view.cluster, pods, slack)
        victims = singles_by_importance(view, pods.rows[~kept])
        spared = LazyUnits(view, pods.rows[kept])
        return Selection(assigned, victims, spared, self.broken)

    def _reprieve_in_order(
        self, assigned: list[Assignment], tried: Mask, ceiling: int | None
    ) -> Selection | None:
        """One after the other by free capacity; None when only Go's sort knows the order.

        With a ceiling it is cut short at the first victim that breaks no budget, if one so far is above it.
        """
        view, candidates = self.view, self.candidates
        order = candidates_by_importance(candidates, np.flatnonzero(tried).astype(np.int32))
        if order is None:
            return None
        trial = trial_for(view, assigned, candidates.home_of(tried))
        breaks = self.breaks[order] > 0 if self.broken else np.zeros(len(order), np.bool_)
        violating = reprieve(trial, candidates.units(order[breaks]))
        victims, spared, others = violating.victims, violating.reprieved, order[~breaks]
        highest = max((unit.priority for unit in victims), default=NO_PRIORITY)
        for unit in (
            each for at in range(0, len(others), FEW) for each in candidates.units(others[at : at + FEW])
        ):
            if trial.stays(unit):
                spared.append(unit)
                continue
            victims.append(unit)
            if ceiling is not None and max(highest, unit.priority) > ceiling:
                return Selection(assigned, by_importance(view, victims), [], self.broken, cut_short=True)
        return Selection(
            assigned, by_importance(view, victims) if breaks.any() else victims, spared, self.broken
        )

    def _reprieve_one_by_one(
        self, assigned: list[Assignment], tried: Mask, trial: Trial | None = None
    ) -> Selection:
        view, candidates = self.view, self.candidates
        ordered = self.ordered(np.flatnonzero(tried).astype(np.int32))
        broken = self.broken
        violating = [unit for unit in ordered if unit.rows[0] in broken]
        others = [unit for unit in ordered if unit.rows[0] not in broken]
        if trial is None:
            trial = trial_for(view, assigned, candidates.home_of(tried))
        result = reprieve(trial, [*violating, *others], again=not view.faithful)
        victims = result.victims
        if violating and others:
            gone = set(victims)
            victims = [unit for unit in ordered if unit in gone]
        return Selection(assigned, victims, result.reprieved, broken)

    def _near(self, assigned: list[Assignment]) -> Mask:
        """Pods on nodes that get a pod of the gang: when only capacity counts, units elsewhere stay."""
        hot = np.zeros(self.view.cluster.nodes.slots + 2, dtype=np.bool_)
        hot[[each.slot for each in assigned]] = True
        near: Mask = hot[self.candidates.home]
        return near

    def ordered(self, numbers: Rows) -> list[VictimUnit]:
        """These units, most important first.

        Go's order of equal units depends on all the others, so all of them are sorted.
        """
        view, candidates = self.view, self.candidates
        order = candidates_by_importance(candidates, numbers)
        if order is not None:
            return candidates.units(order)
        chosen = candidates.units(candidates.in_list_order(numbers))
        if len(candidates) > MOST_IMITATED:
            return by_importance(view, chosen)
        everyone = candidates.units(candidates.in_list_order(np.arange(len(candidates), dtype=np.int32)))
        wanted = set(chosen)
        return [unit for unit in by_importance(view, everyone) if unit in wanted]

    @cached_property
    def breaks(self) -> Ints:
        """How many pods of each unit (by number) would break a budget."""
        candidates, cluster = self.candidates, self.view.cluster
        classes = cluster.pods.cls[candidates.rows]
        covered = budget_of_classes(cluster, classes)[classes] != NONE
        numbers = np.flatnonzero(candidates.units_with(covered)).astype(np.int32)
        order = candidates_by_importance(candidates, numbers)
        if order is None:
            number_of = dict(zip(candidates.firsts[numbers].tolist(), numbers.tolist(), strict=True))
            order = np.array([number_of[unit.rows[0]] for unit in self.ordered(numbers)], dtype=np.int32)
        places = candidates.places_of(order)
        broken = places[breaking(self.view, candidates.rows[places])]
        return np.bincount(candidates.unit_of[broken], minlength=len(candidates))

    @cached_property
    def broken(self) -> dict[int, int]:
        """The same by the first pod of each unit, without those that break none."""
        if not self.view.cluster.budgets.all:
            return {}
        numbers = np.flatnonzero(self.breaks)
        return dict(zip(self.candidates.firsts[numbers].tolist(), self.breaks[numbers].tolist(), strict=True))


def place_in_domains(view: View, gang: Gang, domains: Sequence[Domain] = EVERYWHERE) -> GangPlacement:
    """Where the gang would go in the best domain; nothing stays attached."""
    cluster = view.cluster
    if gang.tree is not None:
        return place_tree(view, gang.tree)
    firsts = first_twins(cluster, gang.rows, domains, faithful=view.faithful)
    tried = [
        (domains[number], _place_in(view, gang, domains[number])) for number in dict.fromkeys(firsts)
    ]  # of equal domains the first is taken
    return best_domain(cluster, tried, gang.running, view.scoring, len(domains))


def place_in_each(view: View, gang: Gang, domains: Sequence[Domain]) -> list[GangPlacement]:
    """Where the gang would go in each of the domains; nothing stays attached."""
    found: list[GangPlacement] = []
    for number, first in enumerate(first_twins(view.cluster, gang.rows, domains, faithful=view.faithful)):
        if first == number:
            found.append(_place_in(view, gang, domains[number]))
        else:
            found.append(carried_over(view.cluster, found[first], domains[first], domains[number]))
    return found


def _place_in(view: View, gang: Gang, domain: Domain) -> GangPlacement:
    return place_gang(
        view.cluster, gang.rows, gang.min_count, gang.running, view.scoring, domain.nodes, view.faithful
    )


def place_tree(view: View, tree: TreeGroup) -> GangPlacement:
    """Where the pods of a tree would go; nothing stays attached.

    Where kube-scheduler's order is not enough, the other algorithms look for a way to give each group its
    minimum.
    """
    placer = TreePlacer(view.cluster, view.scoring, faithful=view.faithful, tolerant=not view.faithful)
    found = placer.place(tree)
    if found.feasible or view.faithful:
        return found
    return place_with_least(view.cluster, tree, view.scoring) or found
