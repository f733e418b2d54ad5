"""The search: the lowest priority level that suffices, and on it the cheapest answer.

1. Levels from low to high: units above the level stay. The first level on which the pods fit fixes the
   highest victim priority, unless a higher one saves budget violations.
2. On each level find the cheapest answer that beats the best one known, beginning with the one to start from.
   Large problems get a quick first answer on all levels before any level is searched thoroughly.
3. Finally give a lower bound for every answer. A level that was not searched to the end has a weaker bound,
   not none.
"""

from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.branch import BranchAndBound, Found
from reprieve.preemption.minimal.class_by_class import class_by_class, too_many_combinations
from reprieve.preemption.minimal.components import component_bound
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.first_answer import easy, first_answer
from reprieve.preemption.minimal.optimality import enough_capacity, relaxed_bound
from reprieve.preemption.minimal.problem import NO_PRIORITY, Answer, Flags, Problem, Score
from reprieve.preemption.minimal.prune import promising, restricted, widened
from reprieve.preemption.minimal.rationing import without_budgets
from reprieve.preemption.minimal.uniform import UniformSearch, choose_nodes
from reprieve.preemption.minimal.work_limit import WorkLimit

#: Up to this many nodes branch and bound gets all of them; with one class of pods, bounds pay off earlier.
SMALL = 64
SMALL_UNIFORM = 16
#: Of a large problem, what an answer may cost beyond the bound before it is searched thoroughly: a 200th.
NEGLIGIBLE = 200
#: How many nodes it gets of a larger problem with several classes of pods.
CHOSEN = 96


class Result(NamedTuple):
    """The best answer found, and a lower bound for every answer."""

    answer: Answer | None
    score: Score | None
    floor: Score | None  # None: there is no answer at all

    @property
    def proven(self) -> bool:
        """No answer is better than this one."""
        return self.floor is None or (self.score is not None and self.floor >= self.score)


def search(
    problem: Problem, work: WorkLimit, start: Answer | None = None, to_beat: Score | None = None
) -> Result:
    """The best answer: `start` or a better one, or only one that is better than `to_beat`."""
    search = _Search(problem, work, start, to_beat)
    if _large(problem):
        search.first_answers()
    return search.finish()


def search_part(problem: Problem, work: WorkLimit) -> Result | None:
    """The same for a problem without units of high priorities; None where they may have to be evicted.

    An answer that breaks no budget is better than all that evict a unit of a higher priority.
    """
    search = _Search(problem, work, None, None)
    if _large(problem):
        search.first_answers()
        if search.best is None or search.broken:
            return None
    found = search.finish()
    return None if search.best is None or search.broken else found


def _large(problem: Problem) -> bool:
    return int(problem.most.any(axis=0).sum()) > SMALL and not easy(problem)


class _Search:
    def __init__(
        self, problem: Problem, work: WorkLimit, start: Answer | None, to_beat: Score | None
    ) -> None:
        self.problem, self.work = problem, work
        self.price = problem.violation_price()
        self.best, self.score = start, to_beat if start is None else problem.score(start.units)
        self.levels = [NO_PRIORITY, *np.unique(problem.priority).tolist()]
        self.bounds: dict[int, int] = {}  # a lower bound for the answers of each level

    def first_answers(self) -> None:
        """Quick answers on all levels."""
        for level in self.levels:
            if self.work.spent or not self._matters(level):
                break
            evictable = self._evictable(level)
            if enough_capacity(self.problem, evictable):
                self._consider(first_answer(self.problem, evictable, self._limit(level), self.work).answer)

    @property
    def broken(self) -> bool:
        return self.score is not None and self.score.violations > 0

    def finish(self) -> Result:
        """What is found with the first answers, if any, as the ones to beat."""
        large = _large(self.problem)
        if large:
            self.quick_bounds()
        if not (large and too_many_combinations(self.problem)):  # nothing is better than the first answers
            self.thoroughly()
        return Result(self.best, self.score, self.floor())

    def quick_bounds(self) -> None:
        """Bounds of all levels that need no search; most say that the first answer is good enough."""
        for level in self.levels:
            if not self._matters(level):
                break
            self.bounds[level] = self._quick_bound(level)

    def _quick_bound(self, level: int) -> int:
        evictable, limit = self._evictable(level), self._limit(level)
        self.work.take(2 * self.problem.nodes)
        bound = relaxed_bound(self.problem, evictable, limit)
        if bound < limit and self.problem.classes == 1:
            bound = max(bound, component_bound(self.problem, evictable, limit, self.work))
        return bound

    def _close(self, level: int) -> bool:
        """Whether an answer on this level could not be much better than the best one."""
        limit = self._limit(level)
        return level in self.bounds and self.bounds[level] >= limit - limit % self.price // NEGLIGIBLE

    def thoroughly(self) -> None:
        for level in self.levels:
            if self.work.spent or not self._matters(level):
                break
            if self._close(level):
                continue
            evictable = self._evictable(level)
            if not enough_capacity(self.problem, evictable):
                self.bounds[level] = INFINITE
                continue
            found = _on_level(self.problem, evictable, self._limit(level), self.work)
            self._consider(found.answer)
            if found.bound is not None:
                self.bounds[level] = max(found.bound, self.bounds.get(level, 0))

    def floor(self) -> Score | None:
        """A lower bound: fewest violations, the lowest level that needs no more, the weight there."""
        for level in self.levels:
            if level not in self.bounds and self._matters(level):
                self.bounds[level] = relaxed_bound(self.problem, self._evictable(level), self._limit(level))
        possible = {level: bound for level, bound in self.bounds.items() if bound < INFINITE}
        if not possible:
            return self.score
        violations = min(possible.values()) // self.price
        lowest = min(level for level, bound in possible.items() if bound // self.price == violations)
        own = self.problem.weight[self.problem.priority == lowest]  # one of these must be evicted
        weight = max(
            possible[lowest] - violations * self.price, int(own.min(initial=INFINITE)) if len(own) else 0
        )
        floor = Score(violations, lowest, weight)
        return floor if self.score is None else min(floor, self.score)

    def _matters(self, level: int) -> bool:
        """Whether an answer that evicts up to this level could be better than the best one."""
        return self.score is None or level <= self.score.priority or self.score.violations > 0

    def _evictable(self, level: int) -> Flags:
        return np.asarray(self.problem.priority <= level)

    def _consider(self, answer: Answer | None) -> None:
        if answer is not None:
            self.best, self.score = answer, self.problem.score(answer.units)

    def _limit(self, level: int) -> int:
        """What an answer on this level must cost less than to be better than the best one."""
        best = self.score
        if best is None:
            return INFINITE
        if level < best.priority:
            return (best.violations + 1) * self.price
        return best.violations * self.price + (best.weight if level == best.priority else 0)


def _on_level(problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> Found:
    """The best answer below the limit."""
    if problem.need == problem.classes == 1 and limit < INFINITE and not problem.absorbs:
        nodes = promising(problem, evictable, limit)
        if len(nodes) < problem.nodes:
            near = restricted(problem, nodes)
            return widened(_among(near, evictable, limit, work), problem, nodes)
    return _among(problem, evictable, limit, work)


def _among(problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> Found:
    if too_many_combinations(problem):
        return class_by_class(problem, evictable, limit, work)
    nodes = np.flatnonzero(problem.most.any(axis=0)).tolist()
    if len(nodes) <= (SMALL_UNIFORM if problem.classes == 1 else SMALL) or problem.absorbs:
        return BranchAndBound(problem, evictable, nodes, limit, work).solve()
    if problem.classes == 1:
        return _uniform(problem, evictable, limit, work)
    chosen = choose_nodes(problem, evictable, CHOSEN)
    return BranchAndBound(problem, evictable, chosen, limit, work).solve()._replace(bound=None)


def _uniform(problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> Found:
    """First as if budgets that allow some disruption allowed any: an answer that breaks none is optimal."""
    if component_bound(problem, evictable, limit, work) >= limit:
        return Found(None, limit, limit)
    if not problem.uses.size:
        return UniformSearch(problem, evictable, limit, work).solve()
    unbudgeted = UniformSearch(without_budgets(problem), evictable, limit, work).solve()
    if unbudgeted.answer is None:
        return unbudgeted
    cost = problem.cost(unbudgeted.answer.units)
    if cost == unbudgeted.cost:
        return unbudgeted
    known = unbudgeted._replace(cost=cost) if cost < limit else Found(None, limit)
    budgeted = UniformSearch(problem, evictable, known.cost, work).solve()
    bounds = [each.bound for each in (unbudgeted, budgeted) if each.bound is not None]
    found = known if budgeted.answer is None else budgeted
    return found._replace(bound=max(bounds, default=None))
