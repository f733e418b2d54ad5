"""A first answer for large problems, quickly: leave alone what makes them hard.

Units that live on several nodes stay, or some of them are chosen to leave first (`herds`), and every budget counts as used up. What
remains falls apart into nodes, so the bounds of all nodes at once are mostly exact. The answer holds in the whole problem and costs no
more there; the search starts from it.
"""

from dataclasses import replace

import numpy as np

from reprieve.preemption.minimal.branch import Found
from reprieve.preemption.minimal.focus import Focus
from reprieve.preemption.minimal.herds import freed_of, groups_to_go
from reprieve.preemption.minimal.meter import Meter
from reprieve.preemption.minimal.model import Answer, Flags, Problem
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.stepwise import stepwise
from reprieve.preemption.minimal.table import INFINITE


def easy(problem: Problem) -> bool:
    """Whether there is nothing to leave alone: a draft would be the search itself."""
    return (
        problem.classes == 1 and not problem.uses.size and not problem.absorbs and not spanning(problem).any()
    )


def draft(problem: Problem, evictable: Flags, limit: int, meter: Meter) -> Found:
    """An answer below the limit, or none; no bound."""
    simple, spans = _simplified(problem), evictable & spanning(problem)
    local = evictable & ~spans
    if simple.classes > 1:
        return _priced(problem, stepwise(simple, local, INFINITE, meter).answer, limit)
    best = _priced(problem, Focus(simple, local, INFINITE, meter).solve().answer, limit)
    groups = groups_to_go(simple, spans, local) if spans.any() and not problem.absorbs else []
    if not groups or meter.spent:
        return best
    rest = Focus(freed_of(simple, groups), local, INFINITE, meter).solve().answer
    whole = None if rest is None else rest._replace(units=rest.units | set(groups))
    herded = _priced(problem, whole, best.cost)
    return best if herded.answer is None else herded


def _priced(problem: Problem, answer: Answer | None, limit: int) -> Found:
    """The answer at its true cost, if that is below the limit and the answer holds."""
    if answer is None or answer.fault(problem):
        return Found(None, limit)
    score = problem.score(answer.units)
    cost = score.violations * problem.violation_price() + score.weight
    return Found(answer, cost) if cost < limit else Found(None, limit)


def _simplified(problem: Problem) -> Problem:
    spent = problem.spent + problem.uses.sum(axis=1)
    return replace(without_budgets(problem), spent=spent, absorbs={})


def without_budgets(problem: Problem) -> Problem:
    """As if every budget that allows something allowed everything."""
    return replace(problem, uses=np.zeros((problem.units, 0), np.int64), allowed=np.zeros(0, np.int64))
