"""Lower bounds for every node at once: what k pods of one class cost there at least.

All nodes go through the same few array operations. A bound counts how many units must leave when the largest go
first, resource by resource, and charges the cheapest of that many; units of spent budgets count apart because they
are so dear. Units that live on several nodes are charged in equal shares.

The price of a pod (the multiplier of the number of pods to place) that makes the sum of all nodes' best offers largest
gives a bound for the whole problem, and says which nodes are worth a closer look.
"""

from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.model import Flags, Ints, Problem
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.table import INFINITE


class Pieces(NamedTuple):
    """What each evictable unit holds on each of its nodes."""

    unit: Ints
    node: Ints
    requests: Ints
    bars: Flags
    cost: Ints  # its share of the unit's cost
    dear: Flags  # of a spent budget

    def only(self, chosen: Flags) -> "Pieces":
        unit, node, requests, bars, cost, dear = self
        return Pieces(unit[chosen], node[chosen], requests[chosen], bars[chosen], cost[chosen], dear[chosen])


def pieces(problem: Problem, evictable: Flags) -> Pieces:
    pods = np.flatnonzero(evictable[problem.pod_unit])
    key = problem.pod_unit[pods] * problem.nodes + problem.pod_node[pods]
    unique, index = np.unique(key, return_inverse=True)
    unit, node = unique // problem.nodes, unique % problem.nodes
    requests = np.zeros((len(unique), problem.free.shape[1]), np.int64)
    np.add.at(requests, index, problem.pod_requests[pods])
    bars = np.zeros((len(unique), problem.classes), np.bool_)
    np.logical_or.at(bars, index, problem.pod_bars[pods])
    shares = np.maximum(np.bincount(unit, minlength=problem.units), 1)
    cost = (problem.weight + problem.violation_price() * problem.spent) // shares
    for absorber, absorbed in problem.absorbs.items():
        cost[[absorber, *absorbed]] = 0  # who pays depends on who leaves: charge nobody here
    return Pieces(unit, node, requests, bars, cost[unit], problem.spent[unit] > 0)


def capacity(problem: Problem, evictable: Flags) -> Ints:
    """How many pods of each class fit on each node [class, node] once everything evictable has left."""
    pods = evictable[problem.pod_unit]
    room = problem.free.copy()
    np.add.at(room, problem.pod_node[pods], problem.pod_requests[pods])
    barred = np.zeros((problem.nodes, problem.classes), np.bool_)
    np.logical_or.at(barred, problem.pod_node[~pods], problem.pod_bars[~pods])
    fits = np.minimum(np.minimum(problem.most, problem.counts[:, None]), problem.need)
    for cls, asked in enumerate(problem.requests):
        for resource in np.flatnonzero(asked):
            np.minimum(fits[cls], np.maximum(room[:, resource], 0) // asked[resource], out=fits[cls])
    fits[barred.T] = 0
    return fits


class Curves(NamedTuple):
    """For k pods of one class on each node, k from 0: bounds, and where the cheapest units do and the bound is exact."""

    cost: Ints  # [node, k]
    exact: Flags  # [node, k]
    leaving: Ints  # [node, k] how many units that is, the cheapest first


def curves(problem: Problem, held: Pieces, fits: Ints, cls: int) -> Curves:
    asked, free = problem.requests[cls], problem.free.copy()
    forced = held.bars[:, cls]
    base = np.bincount(held.node[forced], held.cost[forced], problem.nodes).astype(np.int64)
    np.add.at(free, held.node[forced], held.requests[forced])
    rest = held.only(~forced)
    cheap, dear = _stack(problem.nodes, rest, ~rest.dear), _stack(problem.nodes, rest, rest.dear)
    both = _stack(problem.nodes, rest, np.ones(len(rest.node), np.bool_))
    shape = problem.nodes, int(fits[cls].max(initial=0)) + 1
    found = Curves(np.full(shape, INFINITE, np.int64), np.zeros(shape, np.bool_), np.zeros(shape, np.int64))
    found.cost[:, 0], found.exact[:, 0] = 0, True
    plain = _plain(problem, held, forced)
    for k in range(1, shape[1]):
        here = np.flatnonzero(fits[cls] >= k)
        lacking = np.where(asked > 0, np.maximum(k * asked - free[here], 0), 0)
        total = both.fewest(here, lacking)
        left = np.maximum(lacking - cheap.freed[here], 0)
        costly = np.maximum(dear.fewest(here, left), total - cheap.size[here])
        cost = dear.cheapest(here, costly) + cheap.cheapest(here, total - costly)
        found.cost[here, k] = base[here] + cost
        found.leaving[here, k] = total
        found.exact[here, k] = (
            plain[here] & (cost == both.cheapest(here, total)) & both.enough(here, total, lacking)
        )
    return found


def _plain(problem: Problem, held: Pieces, forced: Flags) -> Flags:
    """Nodes whose units live only there, draw on no budget and bar nobody: their cheapest units are what they seem."""
    draws = np.asarray(problem.uses[held.unit].sum(axis=1) > 0)
    plain = np.ones(problem.nodes, np.bool_)
    plain[held.node[forced | spanning(problem)[held.unit] | draws]] = False
    return plain


class _Stack:
    """Pieces of each node side by side: sorted sums by resource and by cost."""

    def __init__(self, freed: Ints, size: Ints, sums: Ints, costs: Ints, by_cost: Ints) -> None:
        self.freed, self.size, self.sums, self.costs, self.by_cost = freed, size, sums, costs, by_cost

    def fewest(self, here: Ints, lacking: Ints) -> Ints:
        """How many pieces must leave so that nothing lacks, at least."""
        counts: Ints = (self.sums[here] < lacking[:, None, :]).sum(axis=1).max(axis=1)
        return counts

    def cheapest(self, here: Ints, count: Ints) -> Ints:
        total: Ints = self.costs[here, np.clip(count, 0, self.costs.shape[1] - 1)]
        return total

    def enough(self, here: Ints, count: Ints, lacking: Ints) -> Flags:
        """Whether the cheapest so many pieces free what lacks."""
        freed = self.by_cost[here, np.clip(count, 0, self.by_cost.shape[1] - 1)]
        return np.asarray((freed >= lacking).all(axis=1))


def _stack(nodes: int, held: Pieces, chosen: Flags) -> _Stack:
    node, requests, cost = held.node[chosen], held.requests[chosen], held.cost[chosen]
    order = np.lexsort((cost, node))
    node, requests, cost = node[order], requests[order], cost[order]
    size = np.bincount(node, minlength=nodes)
    rank = np.arange(len(node)) - np.repeat(np.cumsum(size) - size, size)
    width = int(size.max(initial=0))
    block = np.zeros((nodes, width + 1, held.requests.shape[1]), np.int64)
    block[node, rank + 1] = requests
    prices = np.full((nodes, width + 1), INFINITE // (width + 1), np.int64)
    prices[:, 0] = 0
    prices[node, rank + 1] = cost
    largest_first = np.cumsum(-np.sort(-block, axis=1), axis=1)
    largest_first = np.concatenate([np.zeros_like(block[:, :1]), largest_first[:, :-1]], axis=1)
    return _Stack(block.sum(axis=1), size, largest_first, np.cumsum(prices, axis=1), np.cumsum(block, axis=1))


class Dual(NamedTuple):
    """The price of a pod, the bound it gives, and by how much each node's best offer misses it."""

    price: int
    bound: int
    reduced: Ints  # [node] best of cost less price over k > 0; negative: the node is wanted
    wanted: Ints  # [node] pods it takes at this price


def dual(curve: Ints, need: int) -> Dual:
    """Bisect the price: below it too few pods find a place, above it enough."""
    steps = np.arange(curve.shape[1])
    low, high = 0, max(1, int(curve[curve < INFINITE].max(initial=0)))
    while high - low > 1:
        middle = (low + high) // 2
        if int((curve - middle * steps).argmin(axis=1).sum()) >= need:
            high = middle
        else:
            low = middle
    best = max((low, high), key=lambda price: _value(curve, steps, price, need))
    offers = curve - best * steps
    reduced = offers[:, 1:].min(axis=1) if curve.shape[1] > 1 else np.full(len(curve), INFINITE)
    return Dual(best, _value(curve, steps, best, need), reduced, offers.argmin(axis=1))


def _value(curve: Ints, steps: Ints, price: int, need: int) -> int:
    return price * need + int((curve - price * steps).min(axis=1).sum())
