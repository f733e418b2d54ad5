"""Lower bounds for every node at once: what k pods of one class cost there at least.

All nodes go through the same few array operations. A bound counts how many units must leave when the largest
go first, resource by resource, and charges for the cheapest of that many; units under spent budgets are
counted apart because they are so expensive. Spanning units are charged in equal shares.

The price of a pod (the multiplier of the number of pods to place) that maximises the sum over the nodes' best
offers gives a bound for the whole problem, and says which nodes are worth a closer look.
"""

import itertools
from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Flags, Ints, Problem, add_rows

#: Sets of units are bits of one number; of at most FEW units on a node all pairs are tried.
WIDEST, FEW = 60, 24
#: The price of an absent unit: more than any other, and small enough to add up.
_ABSENT = INFINITE >> 7


class Holdings(NamedTuple):
    """What each evictable unit holds on each of its nodes."""

    unit: Ints
    node: Ints
    requests: Ints
    bars: Flags
    cost: Ints  # its share of the unit's cost
    dear: Flags  # under a spent budget
    by_cost: Ints  # their numbers by node, on each the cheapest first

    def only(self, chosen: Flags) -> "Holdings":
        unit, node, requests, bars, cost, dear, by_cost = self
        number = np.cumsum(chosen) - 1
        return Holdings(
            unit[chosen],
            node[chosen],
            requests[chosen],
            bars[chosen],
            cost[chosen],
            dear[chosen],
            number[by_cost[chosen[by_cost]]],
        )


def holdings(problem: Problem, evictable: Flags) -> Holdings:
    pods = np.flatnonzero(evictable[problem.pod_unit])
    unit, node = problem.pod_unit[pods], problem.pod_node[pods]
    requests, bars = problem.pod_requests[pods], problem.pod_bars[pods]
    key = unit * problem.nodes + node
    if (key[1:] <= key[:-1]).any():  # some are out of order, or a unit has several pods on a node
        unique, index = np.unique(key, return_inverse=True)
        unit, node = unique // problem.nodes, unique % problem.nodes
        requests = np.zeros((len(unique), problem.free.shape[1]), np.int64)
        add_rows(requests, index, problem.pod_requests[pods])
        bars = np.zeros((len(unique), problem.classes), np.bool_)
        np.logical_or.at(bars, index, problem.pod_bars[pods])
    shares = np.maximum(np.bincount(unit, minlength=problem.units), 1)
    cost = (problem.weight + problem.violation_price() * problem.spent) // shares
    for absorber, absorbed in problem.absorbs.items():
        cost[[absorber, *absorbed]] = 0  # the cost depends on which of them leave: charge none here
    return Holdings(
        unit, node, requests, bars, cost[unit], problem.spent[unit] > 0, np.lexsort((cost[unit], node))
    )


def capacity(problem: Problem, evictable: Flags) -> Ints:
    """How many pods of each class fit on each node [class, node] once everything evictable has left."""
    pods = evictable[problem.pod_unit]
    available = problem.free.copy()
    add_rows(available, problem.pod_node[pods], problem.pod_requests[pods])
    fits = np.minimum(np.minimum(problem.most, problem.counts[:, None]), problem.need)
    for cls, demand in enumerate(problem.requests):
        for resource in np.flatnonzero(demand):
            np.minimum(fits[cls], np.maximum(available[:, resource], 0) // demand[resource], out=fits[cls])
    fits[problem.barred(~pods).T] = 0
    return fits


class NodeBounds(NamedTuple):
    """For k pods of one class on each node, k from 0: lower bounds, and where they are exact."""

    cost: Ints  # [node, k]
    exact: Flags  # [node, k]
    leaving: Ints  # [node, k] where exact: the units to evict, as bits, the cheapest first


def node_bounds(problem: Problem, held: Holdings, fits: Ints, cls: int) -> NodeBounds:
    forced = held.bars[:, cls]
    base = np.bincount(held.node[forced], held.cost[forced], problem.nodes).astype(np.int64)
    columns = _scarce(problem, fits, cls)
    demand, free = problem.requests[cls, columns], problem.free[:, columns]
    rest = held
    if forced.any():
        add_rows(free, held.node[forced], held.requests[forced][:, columns])
        rest = held.only(~forced)
    free = np.ascontiguousarray(free.T)
    rest = rest._replace(requests=rest.requests[:, columns])
    both = stack(problem.nodes, rest, np.ones(len(rest.node), np.bool_))
    cheap = stack(problem.nodes, rest, ~rest.dear) if rest.dear.any() else both
    dear = stack(problem.nodes, rest, rest.dear)
    shape = problem.nodes, int(fits[cls].max(initial=0)) + 1
    found = NodeBounds(
        np.full(shape, INFINITE, np.int64), np.zeros(shape, np.bool_), np.zeros(shape, np.int64)
    )
    found.cost[:, 0], found.exact[:, 0] = 0, True
    plain = _plain(problem, held, forced)
    for k in range(1, shape[1]):
        here = np.flatnonzero(fits[cls] >= k)
        short = np.maximum(k * demand[:, None] - free[:, here], 0)
        lacking = np.where(demand[:, None] > 0, short, 0)
        total = both.fewest(here, lacking)
        left = np.maximum(lacking - cheap.freed[:, here], 0)
        costly = np.maximum(dear.fewest(here, left), total - cheap.size[here])
        cost = dear.cheapest(here, costly) + cheap.cheapest(here, total - costly)
        exact = (cost == both.cheapest(here, total)) & both.enough(here, total, lacking)
        leaving = (1 << np.minimum(total, WIDEST)) - 1
        both.try_few(here, lacking, total, cost, exact, leaving)
        found.cost[here, k] = base[here] + cost
        found.leaving[here, k] = leaving
        found.exact[here, k] = plain[here] & exact & (total <= WIDEST)
    return found


def _scarce(problem: Problem, fits: Ints, cls: int) -> Ints:
    """Resources of which a node may have too little; the first one if there is none."""
    demand = problem.requests[cls]
    lacking = (fits[cls][:, None] * demand > problem.free) & (demand > 0)
    found = np.flatnonzero(lacking.any(axis=0))
    return found if len(found) else np.zeros(1, np.int64)


def _plain(problem: Problem, held: Holdings, forced: Flags) -> Flags:
    """Nodes whose units are local, draw on no budget and bar no class: their bounds can be exact."""
    draws = np.asarray(problem.uses[held.unit].sum(axis=1) > 0)
    plain = np.ones(problem.nodes, np.bool_)
    plain[held.node[forced | spanning(problem)[held.unit] | draws]] = False
    return plain


class Stack:
    """The holdings of each node side by side: sorted sums by resource and by cost.

    Nodes are the last axis of every table, so that a step goes over all of them at once.
    """

    def __init__(self, size: Ints, block: Ints, prices: Ints) -> None:
        """Holdings in order of cost: what they free (`block` [rank, resource, node]) and their `prices`."""
        self.size, self.block, self.prices = size, block, prices
        in_order = (block[1:] <= block[:-1]).all()
        largest_first = block if in_order else -np.sort(-block, axis=0)
        self.by_cost = _from_nothing(block)
        self.sums = self.by_cost if in_order else _from_nothing(largest_first)
        self.costs = _from_nothing(prices)

    @property
    def freed(self) -> Ints:
        """[resource, node] by all of them."""
        every: Ints = self.by_cost[-1]
        return every

    def fewest(self, here: Ints, lacking: Ints) -> Ints:
        """How many units must leave at least so that nothing is lacking [resource, node]."""
        counts = np.zeros(lacking.shape, np.int64)
        for freed in self.sums:
            counts += freed[:, here] < lacking
        most: Ints = counts.max(axis=0)
        return most

    def cheapest(self, here: Ints, count: Ints) -> Ints:
        total: Ints = self.costs[np.clip(count, 0, len(self.costs) - 1), here]
        return total

    def try_few(
        self, here: Ints, lacking: Ints, total: Ints, cost: Ints, exact: Flags, leaving: Ints
    ) -> None:
        """Where one or two units may do, but not the cheapest: find the cheapest, or that more must leave."""
        width = len(self.prices)
        for size in (1, 2):
            open_ = np.flatnonzero(~exact & (total == size))
            sets = np.array(list(itertools.combinations(range(width), size)), np.int64).reshape(-1, size)
            if not len(open_) or not len(sets) or width > FEW:
                continue
            at = here[open_]
            freed = self.block[:, :, at][sets].sum(axis=1)
            price = self.prices[:, at][sets].sum(axis=1)
            price[(freed < lacking[:, open_]).any(axis=1)] = INFINITE
            best = price.argmin(axis=0)
            lowest = price[best, np.arange(len(at))]
            next_size = np.full(len(open_), size + 1)
            more = self.cheapest(at, next_size)  # more units, each cheaper, may cost less than these few
            done = lowest < _ABSENT
            hit = open_[done & (lowest <= more)]
            exact[hit] = True
            leaving[hit] = (1 << sets[best[done & (lowest <= more)]]).sum(axis=1)
            cost[open_] = np.maximum(cost[open_], np.minimum(lowest, more))
            total[open_[~done]] = size + 1

    def enough(self, here: Ints, count: Ints, lacking: Ints) -> Flags:
        """Whether the cheapest `count` units free what is lacking."""
        at = np.clip(count, 0, len(self.by_cost) - 1)
        found = np.ones(len(here), np.bool_)
        for resource, short in enumerate(lacking):
            found &= self.by_cost[at, resource, here] >= short
        return found


def _from_nothing(steps: Ints) -> Ints:
    """Sums of the first 0, 1, 2, ... steps."""
    sums: Ints = np.zeros((len(steps) + 1, *steps.shape[1:]), np.int64)
    np.cumsum(steps, axis=0, out=sums[1:])
    return sums


def stack(nodes: int, held: Holdings, chosen: Flags) -> Stack:
    order = held.by_cost[chosen[held.by_cost]]
    node = held.node[order]
    size = np.bincount(node, minlength=nodes)
    rank = np.arange(len(node)) - np.repeat(np.cumsum(size) - size, size)
    width = int(size.max(initial=0))
    block = np.zeros((width, held.requests.shape[1], nodes), np.int64)
    for resource, amounts in enumerate(held.requests.T):
        block[rank, resource, node] = amounts[order]
    prices = np.full((width, nodes), _ABSENT, np.int64)
    prices[rank, node] = held.cost[order]
    return Stack(size, block, prices)


def in_order(nodes: int, held: Holdings, chosen: Flags) -> Ints:
    """[node, rank] the numbers of the chosen holdings in the order of their stack; -1: there is none."""
    order = held.by_cost[chosen[held.by_cost]]
    size = np.bincount(held.node[order], minlength=nodes)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    found = np.full((nodes, int(size.max(initial=0))), -1, np.int64)
    found[held.node[order], rank] = order
    return found


class Dual(NamedTuple):
    """The Lagrangian dual: the price of a pod, the bound it gives, and each node's reduced cost."""

    price: int
    bound: int
    reduced: Ints  # [node] least cost minus price over k > 0; negative: the node is used
    wanted: Ints  # [node] pods placed at this price


def dual(curve: Ints, need: int) -> Dual:
    """Bisect the price: below it too few pods are placed, above it enough."""
    steps = np.arange(curve.shape[1])
    low, high = 0, max(1, int(curve[curve < INFINITE].max(initial=0)))
    by_step = np.ascontiguousarray(curve.T)
    while high - low > 1:
        middle = (low + high) // 2
        if _wanted(by_step, middle) >= need:
            high = middle
        else:
            low = middle
    best = max((low, high), key=lambda price: _value(curve, steps, price, need))
    offers = curve - best * steps
    reduced = offers[:, 1:].min(axis=1) if curve.shape[1] > 1 else np.full(len(curve), INFINITE)
    return Dual(best, _value(curve, steps, best, need), reduced, offers.argmin(axis=1))


def _wanted(by_step: Ints, price: int) -> int:
    """How many pods all nodes together take at this price; `by_step`: their curves by number of pods."""
    least, taken = by_step[0], np.zeros(by_step.shape[1], np.int64)
    for pods in range(1, len(by_step)):
        offer = by_step[pods] - price * pods
        taken[offer < least] = pods
        least = np.minimum(least, offer)
    return int(taken.sum())


def _value(curve: Ints, steps: Ints, price: int, need: int) -> int:
    return price * need + int((curve - price * steps).min(axis=1).sum())
