"""Gangs of many different pods: one class after the other, each as cheaply as the earlier ones allow.

An exact search would have to keep track of how many pods of every class are placed. Where that takes too many
states, the largest pods choose first, and what they free is there for the others. The answer is valid; how
far it is from the optimum is not known here.
"""

from dataclasses import replace
from math import prod

import numpy as np

from reprieve.preemption.minimal.branch import STATES, BranchAndBound, Found
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.problem import Answer, Flags, Problem
from reprieve.preemption.minimal.whole_groups import with_groups
from reprieve.preemption.minimal.work_limit import WorkLimit

SMALL = 64


def too_many_combinations(problem: Problem) -> bool:
    """Whether the numbers of placed pods by class take too many states."""
    shared = (problem.most > 0).sum(axis=1) > 1
    sizes = np.minimum(problem.counts[shared], problem.need) + 1
    return bool(prod(sizes.tolist()) > STATES)


def class_by_class(problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> Found:
    """An answer below the limit, or none; no bound."""
    nothing = Found(None, limit)
    everyone = problem.need == int(problem.counts.sum())
    size = (problem.requests / np.maximum(problem.requests.max(axis=0), 1)).sum(axis=1)
    order = np.argsort(-size if everyone else size, kind="stable").tolist()
    units: frozenset[int] = frozenset()
    placed = np.zeros((problem.classes, problem.nodes), np.int64)
    for cls in order:
        need = min(int(problem.counts[cls]), problem.need - int(placed.sum()))
        if need <= 0:
            break
        found = _one_class(_reduced(problem, cls, need, units, placed), evictable, work)
        if found.answer is None and everyone:
            return nothing
        if found.answer is not None:
            units |= found.answer.units
            placed[cls] = found.answer.placed[0]
    answer = Answer(problem.whole(units), placed)
    if answer.fault(problem):
        return nothing
    cost = problem.cost(units)
    return Found(answer, cost) if cost < limit else nothing


def _one_class(problem: Problem, evictable: Flags, work: WorkLimit) -> Found:
    nodes = np.flatnonzero(problem.most.any(axis=0)).tolist()
    if len(nodes) <= SMALL or problem.absorbs:
        return BranchAndBound(problem, evictable, nodes, INFINITE, work).solve()
    answer = with_groups(problem, evictable, work)
    return Found(answer, INFINITE if answer is None else problem.cost(answer.units))


def _reduced(
    problem: Problem,
    cls: int,
    need: int,
    units: frozenset[int],
    placed: np.ndarray[tuple[int, int], np.dtype[np.int64]],
) -> Problem:
    """The problem of one class after others were placed and their victims were evicted."""
    free, _ = problem.without(units)
    gone = np.zeros(problem.units, np.bool_)
    gone[list(problem.closed(units))] = True
    stays = ~gone[problem.pod_unit]
    most = problem.most[cls].copy()
    for one, other in problem.apart:
        if cls in (one, other):
            most[placed[other if cls == one else one] > 0] = 0
    return replace(
        problem,
        free=free - placed.T @ problem.requests,
        requests=problem.requests[[cls]],
        counts=problem.counts[[cls]],
        most=most[None, :],
        need=need,
        allowed=np.maximum(problem.allowed - problem.uses[sorted(problem.whole(units))].sum(axis=0), 0),
        pod_unit=problem.pod_unit[stays],
        pod_node=problem.pod_node[stays],
        pod_requests=problem.pod_requests[stays],
        pod_bars=problem.pod_bars[stays][:, [cls]],
        apart=(),
    )
