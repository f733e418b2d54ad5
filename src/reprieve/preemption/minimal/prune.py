"""One pod to place: it goes to one node, so nodes that must cost more than a known one are skipped.

The bounds are rough and computed for all nodes at once. Either one evicted pod is large enough, or several
must go: as many as it takes if each were as large as the largest one there, each at the price of the
cheapest. A unit's price is spread over its pods, so that no unit is charged more than it costs. Where one pod
is enough and nothing else is in the way, its full price is an upper bound.
"""

from dataclasses import replace

import numpy as np

from reprieve.preemption.minimal.branch import Found
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.problem import Flags, Ints, Problem

#: A price that is never reached.
_FAR = INFINITE


def promising(problem: Problem, evictable: Flags, limit: int) -> Ints:
    """Nodes where the pod may fit for less than the limit and no more than it surely costs elsewhere."""
    pods = np.flatnonzero(evictable[problem.pod_unit])
    unit, node, freed = problem.pod_unit[pods], problem.pod_node[pods], problem.pod_requests[pods]
    whole = problem.weight + problem.violation_price() * problem.spent
    price = whole[unit] // np.bincount(unit, minlength=problem.units)[unit]
    demand = problem.requests[0]
    lacking = np.where(demand > 0, np.maximum(demand - problem.free, 0), 0)
    largest = np.zeros_like(problem.free)
    np.maximum.at(largest, node, freed)
    enough = np.asarray((freed >= lacking[node]).all(axis=1))
    alone = _least(problem.nodes, node[enough], price[enough])
    several = np.maximum(-(-lacking // np.maximum(largest, 1)).max(axis=1), 2)
    bound = np.minimum(alone, np.minimum(_least(problem.nodes, node, price), _FAR // several) * several)
    bound[~lacking.any(axis=1)] = 0
    bound[((lacking > 0) & (largest == 0)).any(axis=1) | (problem.most[0] == 0)] = _FAR
    clear = enough & (problem.most[0, node] > 0) & ~_barred(problem)[node]
    surely = whole[unit] + problem.violation_price() * problem.uses[unit].sum(axis=1)
    return np.flatnonzero(bound <= min(limit - 1, int(surely[clear].min(initial=_FAR - 1))))


def _least(nodes: int, node: Ints, price: Ints) -> Ints:
    least = np.full(nodes, _FAR, np.int64)
    np.minimum.at(least, node, price)
    return least


def _barred(problem: Problem) -> Flags:
    """Nodes with a pod that keeps the class away."""
    barred = np.zeros(problem.nodes, np.bool_)
    barred[problem.pod_node[problem.pod_bars[:, 0]]] = True
    return barred


def restricted(problem: Problem, nodes: Ints) -> Problem:
    """The problem on these nodes alone; units keep their numbers and their weight."""
    at = np.full(problem.nodes, -1, np.int64)
    at[nodes] = np.arange(len(nodes))
    here = at[problem.pod_node] >= 0
    return replace(
        problem,
        free=problem.free[nodes],
        most=problem.most[:, nodes],
        pod_unit=problem.pod_unit[here],
        pod_node=at[problem.pod_node[here]],
        pod_requests=problem.pod_requests[here],
        pod_bars=problem.pod_bars[here],
    )


def widened(found: Found, problem: Problem, nodes: Ints) -> Found:
    """What was found on these nodes, in the numbers of all nodes."""
    if found.answer is None:
        return found
    placed = np.zeros((problem.classes, problem.nodes), np.int64)
    placed[:, nodes] = found.answer.placed
    return found._replace(answer=found.answer._replace(placed=placed))
