"""The search: the lowest priority level that suffices, and on it the cheapest answer.

1. Levels from low to high: units above the level stay. The first level on which the pods find room fixes the
   highest victim priority, unless a higher one saves budget violations.
2. On each level look for the cheapest answer that beats the best one known; the answer to start from is the first.
"""

from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.branch import Core, Found
from reprieve.preemption.minimal.curves import capacity
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


def search(problem: Problem, meter: Meter, start: Answer | None = None) -> Result:
    price = problem.violation_price()
    best, score = start, None if start is None else problem.score(start.units)
    bound: int | None = None
    proven = True
    for level in [NOBODY, *np.unique(problem.priority).tolist()]:
        if score is not None and level > score.priority and not score.violations:
            break
        evictable = problem.priority <= level
        if not _roomy(problem, evictable):
            continue
        limit = _limit(score, level, price)
        found, complete = _on_level(problem, evictable, limit, meter)
        proven &= complete and found.bound >= found.cost
        if found.answer is not None:
            best, score = found.answer, problem.score(found.answer.units)
        if score is not None and score.priority <= level:
            bound = max(0, found.bound - score.violations * price) if found.answer or limit < INFINITE else 0
        if meter.spent:
            proven = False
            break
    return Result(best, score, proven, bound)


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


def _on_level(problem: Problem, evictable: Flags, limit: int, meter: Meter) -> tuple[Found, bool]:
    """The best answer below the limit, and whether every node and set of victims was considered."""
    if crowded(problem):
        return stepwise(problem, evictable, limit, meter), False
    nodes = np.flatnonzero(problem.most.any(axis=0)).tolist()
    if len(nodes) <= (SMALL_UNIFORM if problem.classes == 1 else SMALL) or problem.absorbs:
        core = Core(problem, evictable, nodes, limit, meter)
        return core.solve(), core.offer.complete
    if problem.classes == 1:
        focus = Focus(problem, evictable, limit, meter)
        return focus.solve(), focus.offer.complete
    found = Core(problem, evictable, choose_nodes(problem, evictable, CHOSEN), limit, meter).solve()
    return found._replace(bound=0), False
