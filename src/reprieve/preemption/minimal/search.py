"""The search: the lowest priority level that suffices, the exact core on the nodes that matter, and the gap.

1. Levels from low to high: units above the level stay. The first level on which the pods find room fixes the
   highest victim priority, unless a higher one saves budget violations.
2. On each level the core looks for the cheapest answer that beats the best one known.
"""

from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.branch import Core
from reprieve.preemption.minimal.curves import capacity
from reprieve.preemption.minimal.meter import Meter
from reprieve.preemption.minimal.model import NOBODY, Answer, Flags, Problem
from reprieve.preemption.minimal.table import INFINITE


class Result(NamedTuple):
    answer: Answer | None
    proven: bool  # no answer is better
    bound: int  # weight below which no answer with the same violations and priority can be
    level: int


def roomy(problem: Problem, evictable: Flags) -> bool:
    """Whether enough pods could fit if they did not compete: a quick way to pass over hopeless levels."""
    return int(np.minimum(capacity(problem, evictable).sum(axis=1), problem.counts).sum()) >= problem.need


def search(problem: Problem, meter: Meter) -> Result:
    levels = [NOBODY, *np.unique(problem.priority).tolist()]
    price = problem.violation_price()
    best: Result = Result(None, False, 0, 0)
    limit = INFINITE
    for level in levels:
        if not roomy(problem, problem.priority <= level):
            continue
        core = Core(problem, problem.priority <= level, list(range(problem.nodes)), limit, meter)
        found = core.solve()
        if found.answer is not None:
            best = Result(found.answer, found.bound >= found.cost and core.offer.complete, found.bound, level)
            limit = found.cost // price * price
            if limit == 0:
                break
    return best
