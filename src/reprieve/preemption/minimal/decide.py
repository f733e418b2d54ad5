"""The cheapest plan for a preemptor: start from the plan of `kep-5710`, search, check, never be worse.

1. Search every scope (a domain of a gang, a way to place a tree) with the best answer so far as the one to
   beat. On a large cluster the search goes first: finding the plan to start from takes longer, and an answer
   that is proven to be the cheapest does not need it.
2. Check an answer with the real filters where rules beyond a node apply. What they refuse is ruled out and
   the search runs again; if that does not help, look for better victims at the places of the starting plan.
3. Put back every victim that can stay after all.
4. Place pods beyond the minimum only where that evicts no one else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from reprieve.cluster import Mask
from reprieve.objects import Reference, collector_off, outcomes
from reprieve.placement import (
    Assignment,
    PodFilters,
    fill,
    has_devices,
    nominated_slot,
    passes,
    place,
    settle,
)
from reprieve.preemption import sentences
from reprieve.preemption.cost import Ledger, billed
from reprieve.preemption.gangs import Gang
from reprieve.preemption.importance import by_importance
from reprieve.preemption.minimal.domains import by_promise
from reprieve.preemption.minimal.optimality import Price, distance, gap
from reprieve.preemption.minimal.places import places, without_place
from reprieve.preemption.minimal.problem import NO_PRIORITY, Answer, Score
from reprieve.preemption.minimal.scope import Scope, TreeScopes, scopes_of_gang
from reprieve.preemption.minimal.search import SMALL, Result, search, search_part
from reprieve.preemption.minimal.translation import Translation, has_rules_beyond_node, translate
from reprieve.preemption.minimal.unit_table import with_leaders
from reprieve.preemption.minimal.work_limit import WorkLimit
from reprieve.preemption.plan import Plan
from reprieve.preemption.rendering import claim_uses, plan_of
from reprieve.preemption.reprieve import reprieve, trial_for
from reprieve.preemption.units import Selection, VictimUnit
from reprieve.preemption.view import View
from reprieve.preemption.violations import count_violations

#: How often the search is repeated with what the real filters refused ruled out.
REPAIRS = 8

#: Up to so many domains are searched one after the other.
FEW = 3

Start = Callable[[int | None], Selection | None]
"""Finds the plan to start from, given a ceiling; None when there is none, or one with a victim above that."""


def decide(
    view: View,
    for_: Reference,
    gang: Gang,
    start: Start,
    *,
    whole: bool = True,
    domains: Sequence[Mask | None] = (None,),
    expired: Callable[[], bool] | None = None,
) -> Plan | None:
    """The cheapest plan for a preemptor, never worse than that of `start` (`kep-5710`); None without one.

    `whole`: the preemptor is a pod group, not a single pod. `domains`: masks of nodes; it must stay inside
    one of them. `expired` ends the search early; without it only the work limit that follows from
    `preemption.timeBudget` does.
    """
    ledger = Ledger(view)
    with collector_off():  # a search makes many small objects, and no cycles
        found = improve(view, gang, start, domains, expired, ledger)
    if found is None:
        return None
    plan = billed(view, plan_of(view, for_, found.selection, gang=whole), found.optimality, ledger)
    outcome = outcomes.PREEMPTS if found.selection.victims else outcomes.SCHEDULED
    reasons = (*plan.reasons, sentences.least_cost_search(found.optimality))
    uses = {} if found.selection.victims else claim_uses(view, found.selection.assigned)
    return msgspec.structs.replace(plan, outcome=outcome, reasons=reasons, volumes=uses)


class _Floor(NamedTuple):
    """A lower bound for every plan."""

    price: Price
    relaxed: bool  # it ignores rules beyond a node


_NONE = _Floor((0, NO_PRIORITY, 0.0), relaxed=False)
"""Nothing is ruled out."""


class Improved(NamedTuple):
    selection: Selection
    optimality: str
    distance: float = 0.0
    """The share of the cost that a better plan could save; 1 where not even that is known."""


def improve(
    view: View,
    gang: Gang,
    start: Start,
    domains: Sequence[Mask | None] = (None,),
    expired: Callable[[], bool] | None = None,
    ledger: Ledger | None = None,
) -> Improved | None:
    """The cheapest plan found, at least as good as the one to start from; None without any plan."""
    return _Improvement(view, gang, domains, expired, ledger or Ledger(view)).run(start)


class _Improvement:
    def __init__(
        self,
        view: View,
        gang: Gang,
        domains: Sequence[Mask | None],
        expired: Callable[[], bool] | None,
        ledger: Ledger,
    ) -> None:
        self.view, self.gang, self.domains, self.ledger = view, gang, domains, ledger
        self.work = WorkLimit.for_seconds(float(view.config.preemption.time_budget), expired)
        self.start: Selection | None = None
        self.best: Selection | None = None
        self.need = min(len(gang.rows), max(1, gang.min_count - gang.running))

    def run(self, start: Start) -> Improved | None:
        if has_devices(self.view.cluster, self.gang.rows):
            # Devices are taken in an order that no bound follows.
            self._begin_with(start(None))
            return None if self.best is None else Improved(self.best, sentences.NOT_PROVEN_FOR_DEVICES, 1.0)
        if self._better_alone():
            self.work.hold_back_half()
            alone = self._search()
            if alone is not None and not alone.distance:
                return alone  # no plan is cheaper, so neither is the one to start from
            self.work.release()
            clean = self.best is not None and not self.best.broken
            self._begin_with(start(self.best.highest if self.best is not None and clean else None))
            if self.best is not None and self.best is not self.start:
                return alone
        else:
            self._begin_with(start(None))
        return self._search()

    def _better_alone(self) -> bool:
        """Whether the search is likely to prove its answer before a plan to start from is found."""
        cluster = self.view.cluster
        waiting = {int(cluster.pods.cls[row]) for row in self.gang.rows}
        return (
            len(self.gang.rows) > 1
            and len(cluster.nodes.order) > SMALL
            and not self.view.config.preemption.place_beyond_min_count
            and not any(has_rules_beyond_node(cluster, cluster.classes.all[number]) for number in waiting)
            and not any(row in cluster.storage.pods for row in self.gang.rows)
        )

    def _begin_with(self, start: Selection | None) -> None:
        whole = None if start is None else with_leaders(self.view, start.victims)
        if start is None or whole is None:
            return
        self.start = self._exact(start._replace(victims=whole))
        if self.view.config.preemption.place_beyond_min_count and self.gang.tree is None:
            self.need = len(self.start.assigned)
        if self.best is None or self._price(self.start) < self._price(self.best):
            self.best = self.start

    def _search(self) -> Improved | None:
        floors = self._floors()
        if self.best is None:
            return None
        price = self._price(self.best)
        if not self.best.victims:
            return Improved(self.best, sentences.CHEAPEST)
        floor = min([price, *(each.price for each in floors if each is not None)])
        relaxed = any(each.relaxed for each in floors if each is not None)
        return Improved(self.best, gap(price, floor, relaxed=relaxed), distance(price, floor))

    def _floors(self) -> "list[_Floor | None]":
        """Search every scope. Returns a lower bound for the plans in each of them."""
        tree = self.gang.tree
        if tree is None:
            return self._in_domains(scopes_of_gang(self.gang, self.need, self.domains))
        floors: list[_Floor | None] = []
        scopes = TreeScopes(self.view.cluster, tree)
        for scope in scopes:
            floor = self._in_scope(scope)
            floors.append(floor if scope.exact or floor is None else _NONE)
            if self.best is not None and not self.best.victims:
                break
            if self.work.spent:
                return [*floors, _NONE]
        return floors if scopes.complete else [*floors, _NONE]

    def _in_domains(self, scopes: list[Scope]) -> "list[_Floor | None]":
        """Many domains in the order of what a plan there costs at least: most need no search."""
        promising = by_promise(self.view, self.ledger, self.gang, scopes) if len(scopes) > FEW else None
        if promising is None:
            return [self._in_scope(each) for each in scopes]
        floors: list[_Floor | None] = []
        for floor, scope in promising.scopes:
            to_beat = self._to_beat(promising.translation)
            if floor is None:
                floors.append(None)
            elif self.best is not None and to_beat is not None and floor >= to_beat:
                floors.append(_Floor(self._price(self.best), relaxed=False))
            else:
                floors.append(self._in_scope(scope))
        return floors

    def _in_scope(self, scope: Scope) -> "_Floor | None":
        """Search one scope. Returns a lower bound for the plans in it, None when there are none."""
        best = self.best
        part = self._in_part(scope) if best is None else None
        if part is not None:
            (translation, result), to_beat = part, None
        else:
            ceiling = best.highest if best is not None and not best.broken else None
            translation = translate(self.view, self.ledger, self.gang, scope, ceiling)
            start = self._as_answer(translation, best)
            to_beat = self._to_beat(translation) if start is None else None
            result = search(translation.problem, self.work, start, to_beat)
        first = result
        if best is not None and first.answer is None and to_beat is not None and first.proven:
            return _Floor(self._price(best), relaxed=False)
        for _ in range(REPAIRS if translation.needs_filters else 1):
            if result.answer is None:
                break
            selection, refused = self._check(translation, result.answer, scope)
            if selection is not None:
                self._consider(selection, scope)
                if first.proven and result is first and not (translation.overlapping and selection.broken):
                    return _Floor(self._price(selection), relaxed=False)
                break
            translation = translation._replace(problem=without_place(translation.problem, *refused))
            if self.work.spent:
                break
            start = self._as_answer(translation, best)
            result = search(translation.problem, self.work, start, to_beat)
        else:
            self._keep_places(translation, scope)
        if first.floor is None:
            return None
        violations, priority, weight = first.floor
        if translation.overlapping and violations:
            violations, priority, weight = 1, NO_PRIORITY, 0
        sure = max(0, weight - translation.problem.units) / translation.scale  # weights were rounded
        return _Floor((violations, priority, sure), relaxed=translation.needs_filters)

    def _in_part(self, scope: Scope) -> tuple[Translation, Result] | None:
        """Search among units of the lowest priorities that may be enough; None where they are not."""
        translation = translate(self.view, self.ledger, self.gang, scope, None, part=True)
        if translation.ceiling is None or translation.overlapping:
            return None
        found = search_part(translation.problem, self.work)
        return None if found is None else (translation, found)

    def _keep_places(self, translation: Translation, scope: Scope) -> None:
        """Better victims for the places of the starting plan."""
        start = self._as_answer(translation, self.start)
        if start is None:
            return
        fixed = replace(translation.problem, most=start.placed)
        result = search(fixed, self.work, start)
        if result.answer is not None:
            selection, _ = self._check(translation, result.answer, scope)
            if selection is not None:
                self._consider(selection, scope)

    # --- between selections and answers ---------------------------------------------------------------------

    def _as_answer(self, translation: Translation, selection: Selection | None) -> Answer | None:
        """A selection in the problem's numbers; None when it does not fit them."""
        if selection is None:
            return None
        chosen = [translation.unit_table.number(unit) for unit in selection.victims]
        if None in chosen:
            return None
        placed = np.zeros((translation.problem.classes, translation.problem.nodes), np.int64)
        class_of = {row: number for number, rows in enumerate(translation.classes) for row in rows}
        for each in selection.assigned:
            node = translation.node(each.slot)
            if each.row not in class_of:
                continue  # a pod of a tree that is not needed
            if node is None:
                return None
            placed[class_of[each.row], node] += 1
        answer = Answer(frozenset(number for number in chosen if number is not None), placed)
        return None if answer.fault(translation.problem) else answer

    def _check(
        self, translation: Translation, answer: Answer, scope: Scope
    ) -> tuple[Selection | None, tuple[int, int]]:
        """The answer as a selection, or the (class, node) that the real filters refuse."""
        view, cluster = self.view, self.view.cluster
        victims = [translation.unit(number) for number in sorted(answer.units)]
        mark = cluster.checkpoint()
        try:
            home = self._detach(victims)
            emptied = cluster.checkpoint()
            assigned: list[Assignment] = []
            for number, node, row in places(translation, answer, self._nominated_slots):
                slot = int(translation.slots[node])
                filters = PodFilters(cluster, row, faithful=False)
                if translation.needs_filters:
                    if not passes(filters, slot, view.scoring, scope.within(row)):
                        return None, (number, node)
                    settle(filters, slot)
                assigned.append(Assignment(row, slot, filters))
            cluster.rollback(emptied)
            result = reprieve(trial_for(view, assigned, home), by_importance(view, victims))
        finally:
            cluster.rollback(mark)
        return self._exact(Selection(assigned, result.victims, [], {})), (-1, -1)

    @cached_property
    def _nominated_slots(self) -> dict[int, int]:
        """The slots of the nominated nodes of the gang's pods."""
        slots = {row: nominated_slot(self.view.cluster, row) for row in self.gang.rows}
        return {row: slot for row, slot in slots.items() if slot is not None}

    def _detach(self, victims: Sequence[VictimUnit]) -> dict[int, int]:
        """Suppose the victims gone. Returns where they were."""
        cluster = self.view.cluster
        rows = np.array([row for unit in victims for row in unit.rows], np.int32)
        home = dict(zip(rows.tolist(), cluster.pods.node[rows].tolist(), strict=True))
        if len(rows):
            cluster.detach_all(rows)
        return home

    def _to_beat(self, translation: Translation) -> Score | None:
        """The price of the best plan so far, which lies outside this scope, in the problem's numbers.

        Weights of the problem are rounded: a plan that is better by no more than that counts as equal.
        """
        best = self.best
        if best is None or not best.victims or translation.overlapping:
            return None
        violations, priority, total = self._price(best)
        return Score(violations, priority, round(total * translation.scale) - len(best.victims))

    # --- which is better ------------------------------------------------------------------------------------

    def _exact(self, selection: Selection) -> Selection:
        """The selection with budgets counted for its victims alone, not for all candidates."""
        victims = by_importance(self.view, selection.victims)
        terminating = self.view.cluster.pods.terminating
        leaving = [unit for unit in victims if not all(terminating[row] for row in unit.rows)]
        return selection._replace(victims=victims, violations=count_violations(self.view, leaving))

    def _price(self, selection: Selection) -> Price:
        pairs = [(row, number) for number, unit in enumerate(selection.victims) for row in unit.rows]
        if not pairs:
            return 0, selection.highest, 0.0
        rows, units = np.array(pairs, np.int64).T
        groups = {number: unit.group for number, unit in enumerate(selection.victims) if unit.group >= 0}
        total = float(self.ledger.weights(rows.astype(np.int32), units, groups).sum())
        return selection.broken, selection.highest, total

    def _consider(self, selection: Selection, scope: Scope) -> None:
        if self.best is None or self._price(selection) <= self._price(self.best):
            self.best = self._filled(selection, scope)

    def _filled(self, selection: Selection, scope: Scope) -> Selection:
        """Place the remaining pods where they fit once the victims are gone, without any more victims."""
        view, cluster = self.view, self.view.cluster
        placed = {each.row for each in selection.assigned}
        if placed.issuperset(self.gang.rows):
            return selection
        assigned = list(selection.assigned)
        mark = cluster.checkpoint()
        try:
            self._detach(selection.victims)
            for each in assigned:
                settle(each.filters, each.slot)
            if scope.way is not None:
                left = tuple(each for each in scope.way.extra if each[0] not in placed)
                assigned += fill(cluster, scope.way._replace(extra=left), view.scoring)
            for row in self.gang.rows if scope.way is None else ():
                if row not in placed:
                    filters = PodFilters(cluster, row, faithful=False)
                    slot = place(filters, view.scoring, scope.within(row))
                    if slot is not None:
                        settle(filters, slot)
                        assigned.append(Assignment(row, slot, filters))
        finally:
            cluster.rollback(mark)
        return selection._replace(assigned=assigned)
