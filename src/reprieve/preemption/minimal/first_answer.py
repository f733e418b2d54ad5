"""A quick first answer for large problems: leave alone what makes them hard.

Spanning units (units with pods on several nodes) stay or leave before the rest is looked at
(`whole_groups`), and what budgets allow is shared out (`rationing`). What remains falls apart into nodes, so
the bounds of all nodes at once are mostly exact. The answer is valid in the whole problem; the search starts
from it.
"""

from dataclasses import replace

from reprieve.preemption.minimal.branch import Found
from reprieve.preemption.minimal.class_by_class import class_by_class
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Flags, Problem
from reprieve.preemption.minimal.whole_groups import with_groups
from reprieve.preemption.minimal.work_limit import WorkLimit


def easy(problem: Problem) -> bool:
    """Whether there is nothing to leave alone: a first answer would be the search itself."""
    return (
        problem.classes == 1 and not problem.uses.size and not problem.absorbs and not spanning(problem).any()
    )


def first_answer(problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> Found:
    """An answer below the limit, or none; no bound."""
    plain, able = problem, evictable
    if problem.absorbs:  # leaders stay with their groups
        plain, able = replace(problem, absorbs={}), evictable & ~spanning(problem)
    if plain.classes > 1:
        answer = class_by_class(plain, able, INFINITE, work).answer
    else:
        answer = with_groups(plain, able, work)
    if answer is None or answer.fault(problem):
        return Found(None, limit)
    cost = problem.cost(answer.units)
    return Found(answer, cost) if cost < limit else Found(None, limit)
