"""How far from the optimum an answer can be: a lower bound for every problem, and the sentence about the gap.

The bound leaves rules out until what remains can be solved at once. There are four relaxations and the
highest bound counts; each is at most the cost of any answer to the whole problem:

1. Every class has a price, and every node decides for itself (`prices`). Where that is too much:
2. all classes become one class that requests no more of anything than any of them, or
3. only the class with the largest total request has to be placed; the others need nothing.
4. All nodes become one, resource by resource, and units may be evicted in part, those that free most for
   their cost first. Spanning units count whole here, where the first two charge them in shares.
"""

import math
from dataclasses import replace

import numpy as np

from reprieve.preemption import sentences
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.node_bounds import capacity, dual, holdings, node_bounds
from reprieve.preemption.minimal.prices import price_bound
from reprieve.preemption.minimal.problem import NO_PRIORITY, Flags, Ints, Problem, Score, add_rows


def relaxed_bound(problem: Problem, evictable: Flags, target: int = INFINITE) -> int:
    """A lower bound (violations times their price plus weight) for answers that evict only these units.

    INFINITE when there is no such answer. `target`: nothing is gained by a bound above it.
    """
    if not enough_capacity(problem, evictable):
        return INFINITE
    bound = _highest_bound(problem, evictable, target)
    broken = (problem.spent + problem.uses.sum(axis=1))[evictable].sum()
    everything = int(problem.weight[evictable].sum() + problem.violation_price() * broken)
    return bound if bound <= everything else INFINITE  # not even the eviction of all of them is enough


def _highest_bound(problem: Problem, evictable: Flags, target: int) -> int:
    bounds = [pooled(problem, evictable)]
    if bounds[0] >= target:
        return bounds[0]
    if problem.classes > 1 or (problem.uses.size and target >= problem.violation_price()):
        weight = target % problem.violation_price() if target < INFINITE else 0
        priced = price_bound(problem, evictable, max(bounds[0], weight), min(target, INFINITE >> 8))
        bounds += [] if priced is None else [priced]
        if priced is not None and problem.classes > 1:
            return max(bounds)
    one_by_one = problem if problem.classes == 1 else _merged(problem)
    bounds.append(_class_by_itself(one_by_one, evictable, 0, problem.need))
    if problem.classes > 1:
        size = (problem.requests / np.maximum(problem.requests.max(axis=0), 1)).sum(axis=1)
        must = problem.need - (int(problem.counts.sum()) - problem.counts)
        largest = int((size * must).argmax())
        if must[largest] > 0:
            bounds.append(_class_by_itself(problem, evictable, largest, int(must[largest])))
    return max(bounds)


def rough_floor(problem: Problem) -> Score | None:
    """A lower bound for every answer that takes little time; None when there is no answer."""
    price = problem.violation_price()
    for level in (NO_PRIORITY, *np.unique(problem.priority).tolist()):
        evictable = np.asarray(problem.priority <= level)
        if enough_capacity(problem, evictable):
            rest = pooled(problem, np.ones(problem.units, np.bool_))
            fewest = min(rest, INFINITE) // price  # levels above may save violations
            own = pooled(problem, evictable)
            return Score(fewest, level, max(0, own - fewest * price) if own // price == fewest else 0)
    return None


def enough_capacity(problem: Problem, evictable: Flags) -> bool:
    """Whether enough pods would fit if classes did not compete: a quick check that skips hopeless levels."""
    fits = capacity(problem, evictable).sum(axis=1)
    return int(np.minimum(fits, problem.counts).sum()) >= problem.need


def _class_by_itself(problem: Problem, evictable: Flags, cls: int, need: int) -> int:
    fits = np.minimum(capacity(problem, evictable), need)
    if int(fits[cls].sum()) < need:
        return INFINITE
    return dual(node_bounds(problem, holdings(problem, evictable), fits, cls).cost, need).bound


def _merged(problem: Problem) -> Problem:
    """One class in place of all: it may go where any of them may go and requests the least of any of them."""
    return replace(
        problem,
        requests=problem.requests.min(axis=0, keepdims=True),
        counts=np.array([problem.counts.sum()]),
        most=problem.most.sum(axis=0, keepdims=True),
        pod_bars=np.asarray(problem.pod_bars.all(axis=1, keepdims=True)),
        apart=(),
    )


def pooled(problem: Problem, evictable: Flags) -> int:
    """What all nodes together lack of a resource must be freed; the most expensive resource counts."""
    admitted = np.asarray(problem.most.any(axis=0))
    here = admitted[problem.pod_node]
    freed = np.zeros((problem.units, problem.free.shape[1]), np.int64)
    add_rows(freed, problem.pod_unit[here], problem.pod_requests[here])
    for absorber, absorbed in problem.absorbs.items():
        freed[absorber] += freed[list(absorbed)].sum(axis=0)
    lacking = _least_demand(problem) - np.maximum(problem.free[admitted], 0).sum(axis=0)
    cost = problem.weight + problem.violation_price() * problem.spent
    return max(
        (_sliced(cost[evictable], freed[evictable, r], int(lacking[r])) for r in np.flatnonzero(lacking > 0)),
        default=0,
    )


def _least_demand(problem: Problem) -> Ints:
    """Of each resource, what `need` pods request at least."""
    demand = np.sort(np.repeat(problem.requests, problem.counts, axis=0), axis=0)
    least: Ints = demand[: problem.need].sum(axis=0)
    return least


def _sliced(cost: Ints, freed: Ints, lacking: int) -> int:
    """The least cost of freeing the lacking amount when every unit may be evicted in part."""
    helpful = freed > 0
    cost, freed = cost[helpful], freed[helpful]
    order = np.argsort(cost / freed, kind="stable")
    cost, total = cost[order], np.cumsum(freed[order])
    last = int(np.searchsorted(total, lacking))
    if last == len(total):
        return INFINITE
    before = int(total[last - 1]) if last else 0
    part = int(cost[last]) * (lacking - before) // int(freed[order[last]])
    return int(cost[:last].sum()) + part


Price = tuple[int, int, float]
"""(violations, highest priority, weighted sum) of the victims."""


def gap(price: Price, floor: Price, *, relaxed: bool) -> str:
    """How far from the optimum a plan of this price can be, given a lower bound (the floor).

    `relaxed`: the floor ignores rules that reach beyond a node, so the true distance may be smaller.
    """
    if floor >= price:
        return sentences.CHEAPEST
    if floor[0] < price[0]:
        return sentences.fewer_violations_possible(floor[0], price[0], relaxed=relaxed)
    if floor[1] < price[1]:
        if floor[1] <= NO_PRIORITY:
            return sentences.no_victims_possible(relaxed=relaxed)
        return sentences.lower_victims_possible(floor[1], relaxed=relaxed)
    hundredths = math.ceil(10_000 * (1 - floor[2] / price[2]))  # rounded up: it must stay true
    return sentences.at_most_from_the_optimum(max(hundredths, 1), relaxed=relaxed)


def distance(price: Price, floor: Price) -> float:
    """The share of its sum that a better plan could save; 1 where one with another priority is possible."""
    if floor >= price:
        return 0.0
    return 1 - floor[2] / price[2] if floor[:2] == price[:2] else 1.0
