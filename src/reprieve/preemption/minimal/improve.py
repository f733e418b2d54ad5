"""The cheapest plan for a preemptor: start from the plan of `kep-5710`, search, check, never be worse.

1. Search every domain with the best answer so far as the one to beat.
2. Have the real filters look at an answer when rules beyond the search's model apply. What they refuse is ruled out and the search
   runs again; if that does not help, look for better victims at the places of the starting plan; else that plan stands.
3. Put back every victim that can stay after all.
4. Pods beyond the minimum go only where they cost nobody anything.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from reprieve.cluster.columns import Mask
from reprieve.placement import Assignment, Cycle, passes, place
from reprieve.preemption.cost import Ledger
from reprieve.preemption.gangs import Gang
from reprieve.preemption.importance import by_importance
from reprieve.preemption.minimal.meter import Meter
from reprieve.preemption.minimal.model import Answer, Problem
from reprieve.preemption.minimal.problem import Question, question
from reprieve.preemption.minimal.roster import with_leaders
from reprieve.preemption.minimal.search import Result, search
from reprieve.preemption.reprieve import bench_for, reprieve
from reprieve.preemption.selection import Selection
from reprieve.preemption.units import Unit
from reprieve.preemption.view import View
from reprieve.preemption.violations import count_violations

#: How often an answer that the real filters refuse is searched for again with what they refused ruled out.
REPAIRS = 8

Price = tuple[int, int, float]
"""(violations, highest priority, weighted sum) of victims."""


class Improved(NamedTuple):
    selection: Selection
    optimality: str


def improve(
    view: View,
    gang: Gang,
    start: Selection | None,
    domains: Sequence[Mask | None] = (None,),
    expired: Callable[[], bool] | None = None,
) -> Improved | None:
    """The cheapest plan found, at least as good as the one to start from; None when there is no plan at all."""
    return _Improvement(view, gang, start, expired).run(domains)


class _Improvement:
    def __init__(
        self, view: View, gang: Gang, start: Selection | None, expired: Callable[[], bool] | None
    ) -> None:
        self.view, self.gang = view, gang
        self.meter = Meter.for_seconds(float(view.config.preemption.time_budget), expired)
        self.ledger = Ledger(view)
        whole = None if start is None else with_leaders(view, start.victims)
        self.start = None if start is None or whole is None else self._exact(start._replace(victims=whole))
        self.need = self._need()
        self.best = self.start

    def _need(self) -> int:
        """How many pods are worth evicting for: what the gang lacks, or with `placeBeyondMinCount` all that can go."""
        gang = self.gang
        if self.view.config.preemption.place_beyond_min_count:
            return len(self.start.assigned) if self.start is not None else len(gang.rows)
        return min(len(gang.rows), max(1, gang.min_count - gang.running))

    def run(self, domains: Sequence[Mask | None]) -> Improved | None:
        sentences = [self._in_domain(within) for within in domains]
        if self.best is None:
            return None
        return Improved(self.best, _weakest(sentences))

    def _in_domain(self, within: Mask | None) -> str:
        best = self.best
        ceiling = best.highest if best is not None and not best.broken else None
        asked = question(self.view, self.gang, self.need, within, ceiling)
        for _ in range(REPAIRS if asked.further else 1):
            result = search(asked.problem, self.meter, self._as_answer(asked, best))
            if result.answer is None:
                return _OPTIMAL
            selection, refused = self._check(asked, result.answer, within)
            if selection is not None:
                self._offer(selection, within)
                return _sentence(asked, result)
            asked = asked._replace(problem=_without(asked.problem, *refused))
            if self.meter.spent:
                break
        if self.start is not None:
            self._keep_places(asked, within)
        return _UNKNOWN

    def _keep_places(self, asked: Question, within: Mask | None) -> None:
        """Better victims for the places of the starting plan."""
        start = self._as_answer(asked, self.start)
        if start is None:
            return
        fixed = _with_most(asked.problem, start.placed)
        result = search(fixed, self.meter, start)
        if result.answer is not None:
            selection, _ = self._check(asked, result.answer, within)
            if selection is not None:
                self._offer(selection, within)

    # --- between selections and answers -----------------------------------------------------------------------------------

    def _as_answer(self, asked: Question, selection: Selection | None) -> Answer | None:
        """A selection in the problem's numbers; None when it does not fit them."""
        if selection is None:
            return None
        numbers = asked.roster.numbers
        chosen = [
            numbers.get(("group", u.group) if u.group >= 0 else ("pod", u.rows[0])) for u in selection.victims
        ]
        if None in chosen:
            return None
        node_of = {slot: at for at, slot in enumerate(asked.slots.tolist())}
        placed = np.zeros((asked.problem.classes, asked.problem.nodes), np.int64)
        class_of = {row: number for number, rows in enumerate(asked.classes) for row in rows}
        for each in selection.assigned:
            if each.slot not in node_of:
                return None
            placed[class_of[each.row], node_of[each.slot]] += 1
        answer = Answer(frozenset(number for number in chosen if number is not None), placed)
        return None if answer.fault(asked.problem) else answer

    def _check(
        self, asked: Question, answer: Answer, within: Mask | None
    ) -> tuple[Selection | None, tuple[int, int]]:
        """The answer as a selection, or the (class, node) that the real filters refuse."""
        view, cluster = self.view, self.view.cluster
        victims = [asked.unit(number) for number in sorted(answer.units)]
        mark = cluster.checkpoint()
        try:
            home = self._leave(victims)
            emptied = cluster.checkpoint()
            assigned: list[Assignment] = []
            for number, node, row in _seats(asked, answer):
                slot = int(asked.slots[node])
                cycle = Cycle(cluster, row, faithful=False)
                if asked.further:
                    if not passes(cycle, slot, view.scoring, within):
                        return None, (number, node)
                    cluster.attach(row, slot)
                assigned.append(Assignment(row, slot, cycle))
            cluster.rollback(emptied)
            verdict = reprieve(bench_for(view, assigned, home), by_importance(view, victims))
        finally:
            cluster.rollback(mark)
        return self._exact(Selection(assigned, verdict.victims, [], {})), (-1, -1)

    def _leave(self, victims: Sequence[Unit]) -> dict[int, int]:
        """Suppose the victims gone; where they were."""
        cluster = self.view.cluster
        rows = np.array([row for unit in victims for row in unit.rows], np.int32)
        home = dict(zip(rows.tolist(), cluster.pods.node[rows].tolist(), strict=True))
        if len(rows):
            cluster.detach_all(rows)
        return home

    # --- which is better --------------------------------------------------------------------------------------------------

    def _exact(self, selection: Selection) -> Selection:
        """The selection with budgets counted for its victims alone, not for all who might have been."""
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

    def _offer(self, selection: Selection, within: Mask | None) -> None:
        if self.best is None or self._price(selection) <= self._price(self.best):
            self.best = self._filled(selection, within)

    def _filled(self, selection: Selection, within: Mask | None) -> Selection:
        """Place the remaining pods where there is room once the victims have left, and nobody else makes way."""
        view, cluster = self.view, self.view.cluster
        seated = {each.row for each in selection.assigned}
        if seated.issuperset(self.gang.rows):
            return selection
        assigned = list(selection.assigned)
        mark = cluster.checkpoint()
        try:
            self._leave(selection.victims)
            for each in assigned:
                cluster.attach(each.row, each.slot)
            for row in self.gang.rows:
                if row not in seated:
                    cycle = Cycle(cluster, row, faithful=False)
                    slot = place(cycle, view.scoring, within)
                    if slot is not None:
                        cluster.attach(row, slot)
                        assigned.append(Assignment(row, slot, cycle))
        finally:
            cluster.rollback(mark)
        return selection._replace(assigned=assigned)


def _seats(asked: Question, answer: Answer) -> list[tuple[int, int, int]]:
    """(class, node, pod): pods in queue order on nodes in the scheduler's order."""
    seats = []
    for number, rows in enumerate(asked.classes):
        nodes = np.repeat(np.arange(asked.problem.nodes), answer.placed[number]).tolist()
        seats += [(number, node, row) for node, row in zip(nodes, rows, strict=False)]
    return sorted(seats, key=lambda seat: seat[2])


def _without(problem: Problem, cls: int, node: int) -> Problem:
    """The problem with one place less for the class on the node."""
    most = problem.most.copy()
    most[cls, node] = 0
    return _with_most(problem, most)


def _with_most(problem: Problem, most: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Problem:
    fields = {name: getattr(problem, name) for name in Problem.__slots__}
    return Problem(**fields | {"most": most})


# --- what can be said about the optimum ---------------------------------------------------------------------------------------

_OPTIMAL = "no plan is cheaper"
_UNKNOWN = "the distance from the optimum is not known"


def _sentence(asked: Question, result: Result) -> str:
    if result.answer is not None and not result.answer.units:
        return _OPTIMAL
    if asked.further or result.score is None:
        return _UNKNOWN
    if result.proven:
        return _OPTIMAL
    if not result.bound or result.bound > result.score.weight:
        return _UNKNOWN
    percent = 100 * (1 - result.bound / result.score.weight)
    return f"at most {max(percent, 0.01):.2f} % from the optimum"


def _weakest(sentences: Sequence[str]) -> str:
    """The least that holds for all domains."""
    if _UNKNOWN in sentences:
        return _UNKNOWN
    return max(sentences, key=lambda each: (each != _OPTIMAL, len(each), each))
