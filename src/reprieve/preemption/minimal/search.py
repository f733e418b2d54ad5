"""The search: the lowest priority level that suffices, and on it the cheapest answer.

1. Levels from low to high: units above the level stay. The first level on which the pods find room fixes the
   highest victim priority, unless a higher one saves budget violations.
2. On each level look for the cheapest answer that beats the best one known; the answer to start from is the first. Large problems
   get quick answers on all levels before any of them is searched thoroughly.
"""

from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.branch import Core, Found
from reprieve.preemption.minimal.curves import capacity
from reprieve.preemption.minimal.draft import draft
from reprieve.preemption.minimal.focus import Focus, choose_nodes
from reprieve.preemption.minimal.meter import Meter
from reprieve.preemption.minimal.model import NOBODY, Answer, Flags, Problem, Score
from reprieve.preemption.minimal.stepwise import crowded, stepwise
from reprieve.preemption.minimal.table import INFINITE

#: Up to this many nodes everything goes to the exact core; with one class of pods a close look pays earlier.
SMALL = 64
SMALL_UNIFORM = 16
#: Nodes that a problem with several classes of pods sends there when it is larger.
CHOSEN = 96


class Result(NamedTuple):
    """The best answer found, and how far from the optimum it can be."""

    answer: Answer | None
    score: Score | None
    proven: bool  # no answer is better
    bound: int | None  # weight that no answer of equal violations and priority undercuts; None: not known


class Level(NamedTuple):
    """What was found on one level of priority."""

    found: Found
    complete: bool  # every node and every set of victims was considered
    slack: int  # by how much the bound may be too high

    @property
    def closed(self) -> bool:
        """Nothing better than what was found is left on this level."""
        return self.complete and self.found.bound >= self.found.cost


def search(problem: Problem, meter: Meter, start: Answer | None = None) -> Result:
    price = problem.violation_price()
    best, score = start, None if start is None else problem.score(start.units)
    levels = [NOBODY, *np.unique(problem.priority).tolist()]
    if int(problem.most.any(axis=0).sum()) > SMALL:
        best, score = _drafted(problem, levels, best, score, meter)
    seen: dict[int, Level] = {}
    for level in levels:
        if meter.spent or (score is not None and level > score.priority and not score.violations):
            break
        evictable = problem.priority <= level
        if _roomy(problem, evictable):
            seen[level] = _on_level(problem, evictable, _limit(score, level, price), meter)
            if (answer := seen[level].found.answer) is not None:
                best, score = answer, problem.score(answer.units)
    if score is None:
        return Result(best, score, not meter.spent, None)
    own = seen.get(score.priority)
    others = [each for level, each in seen.items() if level != score.priority]
    if meter.spent or own is None or not own.complete or not all(each.closed for each in others):
        return Result(best, score, False, None)
    bound = max(0, own.found.bound - own.slack - score.violations * price)
    return Result(best, score, bound >= score.weight, bound)


def _drafted(
    problem: Problem, levels: list[int], best: Answer | None, score: Score | None, meter: Meter
) -> tuple[Answer | None, Score | None]:
    """The best of quick answers on all levels and the one there is."""
    for level in levels:
        if meter.spent or (score is not None and level > score.priority and not score.violations):
            break
        evictable = problem.priority <= level
        if _roomy(problem, evictable):
            found = draft(problem, evictable, _limit(score, level, problem.violation_price()), meter)
            if found.answer is not None:
                best, score = found.answer, problem.score(found.answer.units)
    return best, score


def _limit(best: Score | None, level: int, price: int) -> int:
    """What an answer on this level must cost less than to be better than the best one."""
    if best is None:
        return INFINITE
    if level < best.priority:
        return (best.violations + 1) * price
    return best.violations * price + (best.weight if level == best.priority else 0)


def _roomy(problem: Problem, evictable: Flags) -> bool:
    """Whether enough pods could fit if they did not compete: a quick way to pass over hopeless levels."""
    fits = capacity(problem, evictable).sum(axis=1)
    return int(np.minimum(fits, problem.counts).sum()) >= problem.need


def _on_level(problem: Problem, evictable: Flags, limit: int, meter: Meter) -> Level:
    """The best answer below the limit."""
    if crowded(problem):
        return Level(stepwise(problem, evictable, limit, meter), False, 0)
    nodes = np.flatnonzero(problem.most.any(axis=0)).tolist()
    if len(nodes) <= (SMALL_UNIFORM if problem.classes == 1 else SMALL) or problem.absorbs:
        core = Core(problem, evictable, nodes, limit, meter)
        return Level(core.solve(), core.offer.complete, core.offer.slack)
    if problem.classes == 1:
        focus = Focus(problem, evictable, limit, meter)
        return Level(focus.solve(), focus.offer.complete, focus.offer.slack)
    chosen = choose_nodes(problem, evictable, CHOSEN)
    return Level(Core(problem, evictable, chosen, limit, meter).solve(), False, 0)
