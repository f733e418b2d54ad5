"""A bound that counts groups whole: nodes that share spanning units, taken together.

Shares of a spanning unit let a plan pay for half of it. Where its nodes form a small *component* (nodes that
are linked by spanning units), the question "what do k pods cost in this component?" has an answer without
shares: either no spanning unit leaves, or at least the cheapest one is paid as a whole and all are supposed
to be gone. A dynamic program over the components then gives a bound for the whole problem, in whole groups.
"""

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.links import components
from reprieve.preemption.minimal.node_bounds import capacity, dual, holdings, node_bounds
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Flags, Ints, Problem
from reprieve.preemption.minimal.whole_groups import without_units
from reprieve.preemption.minimal.work_limit import WorkLimit

#: Components of more nodes than this are not looked at; the program has so many moves in all.
WIDEST, MOVES = 16, 12_000
_FAR = INFINITE >> 4
"""More than any cost, and small enough to add up."""


def component_bound(problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> int:
    """A lower bound, at most the limit, for the answers of a problem with one class of pods.

    0 where there is nothing to gain: no spanning units, or nodes that are linked into large components.
    """
    spans = evictable & spanning(problem)
    if not spans.any() or problem.absorbs or problem.classes != 1:
        return 0
    pods = spans[problem.pod_unit]
    of_node = components(problem.nodes, problem.units, problem.pod_unit[pods], problem.pod_node[pods])
    if of_node is None or int(np.bincount(of_node).max()) > WIDEST:
        return 0
    work.take(3 * problem.nodes)
    curve = _curves(problem, spans, evictable & ~spans, of_node)
    price = dual(np.minimum(curve, INFINITE), problem.need)
    if price.bound >= limit:
        return limit
    near = np.argsort(price.reduced, kind="stable")[: MOVES // curve.shape[1]]
    outside = np.delete(price.reduced, near)
    work.take(len(near) * curve.shape[1])
    inside = _cheapest(curve[near], problem.need)
    return min(limit, inside, price.bound + max(0, int(outside.min(initial=_FAR))))


def _curves(problem: Problem, spans: Flags, local: Flags, of_node: Ints) -> Ints:
    """[component, k] what k pods cost at least."""
    held = holdings(problem, local)
    stay = _joined(node_bounds(problem, held, capacity(problem, local), 0).cost, of_node, problem.need)
    gone = without_units(problem, np.flatnonzero(spans).tolist())
    leave = _joined(
        node_bounds(gone, holdings(gone, local), capacity(gone, local), 0).cost, of_node, problem.need
    )
    pods = spans[problem.pod_unit]
    entry = np.full(len(stay), _FAR, np.int64)
    price = problem.weight + problem.violation_price() * problem.spent
    np.minimum.at(entry, of_node[problem.pod_node[pods]], price[problem.pod_unit[pods]])
    width = max(stay.shape[1], leave.shape[1])
    curve = np.full((len(stay), width), _FAR, np.int64)
    curve[:, : stay.shape[1]] = stay
    leave = np.minimum(leave + entry[:, None], _FAR)
    np.minimum(curve[:, : leave.shape[1]], leave, out=curve[:, : leave.shape[1]])
    curve[:, 0] = 0
    return curve


def _joined(cost: Ints, of_node: Ints, need: int) -> Ints:
    """The curves of nodes as curves of their components: the cheapest way to share k pods out."""
    cost = np.minimum(cost, _FAR)
    order = np.argsort(of_node, kind="stable")
    size = np.bincount(of_node)
    first = np.cumsum(size) - size
    found: Ints = cost[order[first]]
    for rank in range(1, int(size.max(initial=1))):
        more = np.flatnonzero(size > rank)
        added = cost[order[first[more] + rank]]
        width = min(need, found.shape[1] + cost.shape[1] - 2) + 1
        grown = np.full((len(found), width), _FAR, np.int64)
        grown[:, : found.shape[1]] = found[:, :width]
        for k in range(1, cost.shape[1]):
            part = np.minimum(found[more, : max(0, width - k)] + added[:, [k]], _FAR)
            target = grown[more, k : k + part.shape[1]]
            grown[more, k : k + part.shape[1]] = np.minimum(target, part)
        found = grown
    return found


def _cheapest(curve: Ints, need: int) -> int:
    layer = np.full(need + 1, _FAR, np.int64)
    layer[0] = 0
    for costs in curve.tolist():
        reached = layer.copy()
        for k, cost in enumerate(costs[1 : need + 1], start=1):
            if cost < _FAR:
                np.minimum(reached[k:], layer[:-k] + cost, out=reached[k:])
        layer = reached
    return int(layer[need])
