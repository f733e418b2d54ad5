"""A quick first answer for large problems: leave alone what makes them hard.

Spanning units (units with pods on several nodes) stay, and every budget counts as used up. What remains falls
apart into nodes, so the bounds of all nodes at once are mostly exact. The answer is valid in the whole
problem and costs no more there; the search starts from it.

A spanning group can also be the cheapest way to free many nodes at once. Which groups to evict is a knapsack:
each makes room for some pods at some cost, and the bounds of all nodes give the cost of placing the rest with
local units. Gains are added up as if groups did not share nodes; once groups are chosen, the rest is solved
again without them.
"""

from dataclasses import replace

import numpy as np

from reprieve.preemption.minimal.branch import Found
from reprieve.preemption.minimal.class_by_class import class_by_class
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.node_bounds import capacity, holdings, node_bounds
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Answer, Flags, Ints, Problem
from reprieve.preemption.minimal.uniform import UniformSearch
from reprieve.preemption.minimal.work_limit import WorkLimit


def easy(problem: Problem) -> bool:
    """Whether there is nothing to leave alone: a first answer would be the search itself."""
    return (
        problem.classes == 1 and not problem.uses.size and not problem.absorbs and not spanning(problem).any()
    )


def first_answer(problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> Found:
    """An answer below the limit, or none; no bound."""
    simple, spans = _simplified(problem), evictable & spanning(problem)
    local = evictable & ~spans
    if simple.classes > 1:
        return _priced(problem, class_by_class(simple, local, INFINITE, work).answer, limit)
    best = _priced(problem, UniformSearch(simple, local, INFINITE, work).solve().answer, limit)
    groups = groups_to_go(simple, spans, local) if spans.any() and not problem.absorbs else []
    if not groups or work.spent:
        return best
    rest = UniformSearch(without_units(simple, groups), local, INFINITE, work).solve().answer
    whole = None if rest is None else rest._replace(units=rest.units | set(groups))
    with_groups = _priced(problem, whole, best.cost)
    return best if with_groups.answer is None else with_groups


def _priced(problem: Problem, answer: Answer | None, limit: int) -> Found:
    """The answer at its true cost, if it is valid and below the limit."""
    if answer is None or answer.fault(problem):
        return Found(None, limit)
    cost = problem.cost(answer.units)
    return Found(answer, cost) if cost < limit else Found(None, limit)


def _simplified(problem: Problem) -> Problem:
    spent = problem.spent + problem.uses.sum(axis=1)
    return replace(without_budgets(problem), spent=spent, absorbs={})


def without_budgets(problem: Problem) -> Problem:
    """The problem as if every budget that allows some disruption allowed any."""
    return replace(problem, uses=np.zeros((problem.units, 0), np.int64), allowed=np.zeros(0, np.int64))


def groups_to_go(problem: Problem, spans: Flags, local: Flags) -> list[int]:
    """Spanning units whose eviction pays, for a problem of one class."""
    units, gain = _gains(problem, spans)
    price = problem.weight + problem.violation_price() * problem.spent
    best = _without_groups(problem, local)
    taken: list[tuple[int, Flags]] = []
    for unit, pods in sorted(zip(units.tolist(), gain.tolist(), strict=True), key=lambda each: -each[1]):
        moved = np.concatenate([np.full(min(pods, len(best)), best[0]), best[:-pods]])[: len(best)]
        cheaper = moved + int(price[unit]) < best
        best = np.where(cheaper, moved + int(price[unit]), best)
        taken.append((unit, cheaper))
    chosen, left = [], problem.need
    for (unit, cheaper), pods in zip(reversed(taken), sorted(gain.tolist()), strict=True):
        if cheaper[left]:
            chosen.append(unit)
            left = max(0, left - pods)
    return chosen


def without_units(problem: Problem, units: list[int]) -> Problem:
    """The problem once these units are evicted."""
    gone = np.zeros(problem.units, np.bool_)
    gone[units] = True
    stays = ~gone[problem.pod_unit]
    free, _ = problem.without(frozenset(units))
    return replace(
        problem,
        free=free,
        pod_unit=problem.pod_unit[stays],
        pod_node=problem.pod_node[stays],
        pod_requests=problem.pod_requests[stays],
        pod_bars=problem.pod_bars[stays],
    )


def _gains(problem: Problem, spans: Flags) -> tuple[Ints, Ints]:
    """Spanning units that make room for pods when evicted alone, and for how many."""
    held = holdings(problem, spans)
    requests, most = problem.requests[0], problem.most[0]
    none = np.zeros(problem.units, np.bool_)
    before = capacity(problem, none)[0]
    free = problem.free[held.node] + held.requests
    fits = np.minimum(most[held.node], problem.need)
    for resource in np.flatnonzero(requests):
        fits = np.minimum(fits, np.maximum(free[:, resource], 0) // requests[resource])
    gain = np.bincount(held.unit, np.maximum(fits - before[held.node], 0), problem.units).astype(np.int64)
    units = np.flatnonzero(gain)
    return units, gain[units]


def _without_groups(problem: Problem, local: Flags) -> Ints:
    """[pods] roughly what it costs to place that many by evicting local units alone."""
    cost = node_bounds(problem, holdings(problem, local), capacity(problem, local), 0).cost
    steps = np.diff(cost, axis=1)
    steps = np.sort(steps[(cost[:, 1:] < INFINITE) & (steps >= 0)])[: problem.need]
    total = np.full(problem.need + 1, INFINITE, np.int64)
    total[: len(steps) + 1] = np.concatenate([[0], np.cumsum(steps)])
    return total
