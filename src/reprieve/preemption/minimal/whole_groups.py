"""Which spanning groups to evict for one class of pods, and an answer with and without them.

A spanning group can be the cheapest way to free many nodes at once. Which groups to evict is a knapsack: each
makes room for some pods at some cost, and the bounds of all nodes give the cost of placing the rest with
local units. Gains are added up as if groups did not share nodes; once groups are chosen, the rest is solved
again without them.
"""

from dataclasses import replace

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.node_bounds import capacity, holdings
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Answer, Flags, Ints, Problem, add_rows
from reprieve.preemption.minimal.rationing import Rationed, rationed, without_budgets
from reprieve.preemption.minimal.work_limit import WorkLimit


def with_groups(problem: Problem, evictable: Flags, work: WorkLimit) -> Answer | None:
    """A valid answer for one class of pods, or none: local units alone, or some groups first."""
    spans = evictable & spanning(problem)
    local = evictable & ~spans
    found = rationed(problem, local, work)
    if not spans.any() or problem.absorbs or work.spent:
        return found.answer
    best = found.answer
    for groups in _choices(problem, spans, local, found):
        rest = rationed(without_units(problem, groups), local, work).answer
        if rest is not None:
            whole = rest._replace(units=rest.units | set(groups))
            if best is None or problem.cost(whole.units) < problem.cost(best.units):
                best = whole
    return best


def _choices(problem: Problem, spans: Flags, local: Flags, found: Rationed) -> list[list[int]]:
    """Groups that make room by themselves, and those that do where local units leave, too."""
    nobody = np.zeros(problem.units, np.bool_)
    bases = [nobody]
    if found.answer is None or problem.score(found.answer.units).violations:
        bases.append(local & (found.spent == 0))  # only without them budgets would be broken
    simple = replace(without_budgets(problem), spent=found.spent)
    chosen = [groups_to_go(simple, spans, base, found.cost) for base in bases]
    return [groups for at, groups in enumerate(chosen) if groups and groups not in chosen[:at]]


def groups_to_go(problem: Problem, spans: Flags, base: Flags, cost: Ints) -> list[int]:
    """Spanning units whose eviction pays; `base`: units that leave beside them.

    `cost` [node, k]: about what it costs to place k pods by evicting local units alone.
    """
    units, gain = _gains(problem, spans, base)
    price = problem.weight + problem.violation_price() * problem.spent
    best = _cheapest_first(cost, problem.need)
    moved, taken = np.empty_like(best), []
    for at in _worth_trying(gain, price[units], problem.need):
        pods = min(int(gain[at]), problem.need)
        moved[:pods], moved[pods:] = best[0], best[:-pods]
        moved += price[units[at]]
        taken.append((int(units[at]), pods, moved < best))
        np.minimum(best, moved, out=best)
    chosen, left = [], problem.need
    for unit, pods, cheaper in reversed(taken):
        if cheaper[left]:
            chosen.append(unit)
            left = max(0, left - pods)
    return chosen


def _worth_trying(gain: Ints, price: Ints, need: int) -> list[int]:
    """The largest first; of those with the same gain as many as there is need for, the cheapest."""
    order = np.lexsort((price, -gain))
    first = np.searchsorted(-gain[order], -gain[order])
    rank = np.arange(len(order)) - first
    worth: list[int] = order[rank * gain[order] < need].tolist()
    return worth


def without_units(problem: Problem, units: list[int]) -> Problem:
    """The problem once these units are evicted: what they draw from the budgets is gone."""
    gone = np.zeros(problem.units, np.bool_)
    gone[units] = True
    stays = ~gone[problem.pod_unit]
    free, _ = problem.without(frozenset(units))
    return replace(
        problem,
        free=free,
        allowed=np.maximum(problem.allowed - problem.uses[units].sum(axis=0), 0),
        pod_unit=problem.pod_unit[stays],
        pod_node=problem.pod_node[stays],
        pod_requests=problem.pod_requests[stays],
        pod_bars=problem.pod_bars[stays],
    )


def _gains(problem: Problem, spans: Flags, base: Flags) -> tuple[Ints, Ints]:
    """Spanning units that make room for pods when evicted next to the base, and for how many."""
    held = holdings(problem, spans)
    requests, most = problem.requests[0], problem.most[0]
    before = capacity(problem, base)[0]
    leaving = base[problem.pod_unit]
    room = problem.free.copy()
    add_rows(room, problem.pod_node[leaving], problem.pod_requests[leaving])
    free = room[held.node] + held.requests
    fits = np.minimum(most[held.node], problem.need)
    for resource in np.flatnonzero(requests):
        fits = np.minimum(fits, np.maximum(free[:, resource], 0) // requests[resource])
    gain = np.bincount(held.unit, np.maximum(fits - before[held.node], 0), problem.units).astype(np.int64)
    units = np.flatnonzero(gain)
    return units, gain[units]


def _cheapest_first(cost: Ints, need: int) -> Ints:
    """[pods] roughly what it costs to place that many on all nodes."""
    steps = np.diff(cost, axis=1)
    steps = np.sort(steps[(cost[:, 1:] < INFINITE) & (steps >= 0)])[:need]
    total = np.full(need + 1, INFINITE, np.int64)
    total[: len(steps) + 1] = np.concatenate([[0], np.cumsum(steps)])
    return total
