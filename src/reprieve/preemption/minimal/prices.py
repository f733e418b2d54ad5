"""A bound for gangs of several classes and for budgets: pods and disruptions have prices, nodes decide.

An answer places so many pods of each class. Pay it a price for every pod, charge it a price for every
disruption under a budget (at most that of a violation) and give back what the budget allows at that price.
Let every node decide for itself how many units to evict and which pods to take: what the nodes lose at most,
plus the prices of all pods, is at most the cost of any answer, whatever the prices are. They are moved
towards classes of which too few pods are placed and budgets that are overdrawn (a subgradient step) as long
as that raises the bound.

A node that evicts t units frees at most what its t largest ones hold, and pays at least for the t cheapest;
units under spent budgets are counted apart because they are so expensive. What the room is worth is looked
up, resource by resource, among the combinations of pods that fit into it.
"""

import itertools
from math import prod
from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.node_bounds import Stack, capacity, holdings, stack, stacked
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Flags, Ints, Problem

#: Steps of the prices; combinations of pods on a node; sets of classes that nodes may admit.
STEPS, COMBINATIONS, PATTERNS = 32, 4_000, 12
#: Units under spent budgets that are counted one by one.
DEAR = 3
#: A cost that is never paid, small enough to add up.
_FAR = INFINITE >> 8


def price_bound(problem: Problem, evictable: Flags, guess: int, target: int) -> int | None:
    """A lower bound for the cost of every answer; no effort is made to raise it above the target.

    `guess`: about what an answer costs, to begin with. None when there are too many combinations of pods.
    """
    nodes = _Nodes.of(problem, evictable, np.minimum(capacity(problem, evictable), problem.need))
    return None if nodes is None else max(0, _Climb(nodes, problem, guess, target).best)


class _Side(NamedTuple):
    """Nodes that admit the same classes."""

    vectors: Ints  # [combination, class] pods that may be on a node together
    orders: list[Ints]  # of the combinations, by what they request of each scarce resource
    fitting: list[Ints]  # [node, eviction] how many of them fit, in that order
    nodes: Ints

    def value(self, price: Ints, cost: Ints) -> tuple[int, Ints, Ints, Ints]:
        """What the nodes gain at these prices (not above 0), the pods they take; who does, and how."""
        worth = self.vectors @ price
        value, pick = np.full(cost.shape, _FAR), np.zeros(cost.shape, np.int64)
        for order, fitting in zip(self.orders, self.fitting, strict=True):
            ranked = worth[order]
            most = np.maximum.accumulate(ranked)
            last = np.maximum.accumulate(np.where(ranked == most, np.arange(len(ranked)), 0))
            here = most[fitting]
            smaller = here < value
            value = np.where(smaller, here, value)
            pick = np.where(smaller, order[last[fitting]], pick)
        loss = cost - value
        at = loss.argmin(axis=1)
        every = np.arange(len(loss))
        used = loss[every, at] < 0
        taken = self.vectors[pick[every, at][used]].sum(axis=0)
        return int(loss[every, at][used].sum()), taken, self.nodes[used], at[used]


class _Nodes(NamedTuple):
    sides: list[_Side]
    base: Ints  # [node] what any pod costs there
    prices: Ints  # [node, unit] of units under no spent budget
    uses: Ints  # [node, unit, budget]
    dear: Ints  # [node, count] what so many units under spent budgets cost

    @classmethod
    def of(cls, problem: Problem, evictable: Flags, fits: Ints) -> "_Nodes | None":
        held = holdings(problem, evictable)
        admitted = fits > 0
        forced = np.asarray((held.bars | ~admitted[:, held.node].T).all(axis=1))
        base = np.bincount(held.node[forced], held.cost[forced], problem.nodes).astype(np.int64)
        demand = fits.T @ problem.requests
        scarce = np.flatnonzero((demand > problem.free).any(axis=0))
        scarce = scarce if len(scarce) else np.zeros(1, np.int64)
        free = problem.free[:, scarce]
        np.add.at(free, held.node[forced], held.requests[forced][:, scarce])
        rest = held.only(~forced)
        rest = rest._replace(requests=rest.requests[:, scarce])
        cheap, dear = stack(problem.nodes, rest, ~rest.dear), stack(problem.nodes, rest, rest.dear)
        most_dear = min(DEAR, dear.costs.shape[1] - 1)
        freed = _freed(cheap, dear, most_dear)
        patterns, of_node = np.unique(admitted, axis=1, return_inverse=True)
        if patterns.shape[1] > PATTERNS:
            return None
        sides = []
        for number in np.flatnonzero(patterns.any(axis=0)).tolist():
            here = np.flatnonzero(of_node == number)
            most = fits[:, here].max(axis=1)
            room = np.maximum(free[here][:, None, :] + freed[here], 0)
            vectors = _vectors(most, problem.requests[:, scarce], room.max(axis=(0, 1)))
            if vectors is None:
                return None
            requested = vectors @ problem.requests[:, scarce]
            orders = [np.argsort(column, kind="stable") for column in requested.T]
            fitting = [
                np.searchsorted(column[order], room[:, :, r], side="right") - 1
                for r, (column, order) in enumerate(zip(requested.T, orders, strict=True))
            ]
            sides.append(_Side(vectors, orders, fitting, here))
        uses = np.where(spanning(problem)[:, None], 0, problem.uses)  # the others are charged once a unit
        drawn = stacked(problem.nodes, rest, ~rest.dear, uses[rest.unit])
        return cls(sides, base, cheap.prices, drawn, dear.costs[:, : most_dear + 1])

    def bound(self, problem: Problem, price: Ints, fee: Ints) -> tuple[int, Ints, Ints]:
        """The bound at these prices and fees, the pods that are missing, what budgets are overdrawn by."""
        beyond = int(problem.counts.sum()) - problem.need
        total = int(problem.counts @ price) - beyond * int(price.max()) - int(problem.allowed @ fee)
        missing, over = problem.counts.copy(), -problem.allowed
        missing[int(price.argmax())] -= beyond
        charged = np.minimum(self.prices + self.uses @ fee, _FAR)
        order = np.argsort(charged, axis=1, kind="stable")
        sums = np.minimum(np.cumsum(np.take_along_axis(charged, order, axis=1), axis=1), _FAR)
        cheap = np.concatenate([np.zeros((len(sums), 1), np.int64), sums], axis=1)
        cost = (cheap[:, :, None] + self.dear[:, None, :]).reshape(len(cheap), -1) + self.base[:, None]
        for side in self.sides:
            value, placed, who, how = side.value(price, np.minimum(cost[side.nodes], _FAR))
            total += value
            missing -= placed
            leaving = np.arange(order.shape[1]) < (how // self.dear.shape[1])[:, None]
            drawn = np.take_along_axis(self.uses[who], order[who][:, :, None], axis=1)
            over = over + (drawn * leaving[:, :, None]).sum(axis=(0, 1))
        return total, missing, over


def _freed(cheap: Stack, dear: Stack, most_dear: int) -> Ints:
    """[node, eviction, resource] what so many units of both kinds free at most."""
    freed = dear.sums[:, : most_dear + 1].copy()
    freed[:, -1] = dear.freed if most_dear else 0  # the last step stands for all of them
    both: Ints = cheap.sums[:, :, None, :] + freed[:, None, :, :]
    return both.reshape(len(freed), -1, freed.shape[2])


def _vectors(most: Ints, requests: Ints, room: Ints) -> Ints | None:
    """Combinations of pods that fit into the most room there is, the empty one included."""
    if prod((most + 1).tolist()) > 20 * COMBINATIONS:
        return None
    rows = np.array(list(itertools.product(*(range(k + 1) for k in most.tolist()))), np.int64)
    rows = rows[(rows @ requests <= room).all(axis=1)]
    return rows if len(rows) <= COMBINATIONS else None


class _Climb:
    """Moves the prices and fees towards what is missing and overdrawn; `best` is the best bound."""

    def __init__(self, nodes: _Nodes, problem: Problem, guess: int, target: int) -> None:
        self.nodes, self.problem = nodes, problem
        self.best, self.at = 0, (np.zeros(problem.classes, np.int64), np.zeros_like(problem.allowed))
        size = (problem.requests / np.maximum(problem.requests.max(axis=0), 1)).sum(axis=1)
        unit = size / max(float(size @ problem.counts), 1e-9)
        violation = problem.violation_price()
        starts = [(guess * share, 0) for share in (1.0, 0.5, 1.5, 3.0, 6.0)]
        if problem.uses.size and target >= violation:  # every draw as a violation, less what is allowed
            starts.append((target + violation * int(problem.allowed.sum()), violation))
        for total, fee in starts:
            self._try(np.rint(unit * min(total, _FAR)).astype(np.int64), np.full_like(problem.allowed, fee))
        self._move(target, violation)

    def _try(self, price: Ints, fee: Ints) -> tuple[int, Ints, Ints]:
        found = self.nodes.bound(self.problem, price, fee)
        if found[0] > self.best:
            self.best, self.at = found[0], (price, fee)
        return found

    def _move(self, target: int, violation: int) -> None:
        now, stretch, since = self.at, 1.0, 0
        for _ in range(STEPS):
            before = self.best
            bound, missing, over = self._try(*now)
            since = 0 if self.best > before else since + 1
            if self.best >= target - target // 1000:
                return
            if since > 2:
                stretch, since, now = stretch / 2, 0, self.at
                bound, missing, over = self._try(*now)
            over = np.where((now[1] == 0) & (over < 0), 0, over)  # a fee cannot fall below nothing
            length = float(missing @ missing) + float(over @ over)
            if not length:
                return
            aim = min(target, 2 * self.best)
            step = stretch * max(aim - bound, aim // 1000) / length
            price = np.maximum(now[0] + np.rint(step * missing).astype(np.int64), 0)
            fee = np.clip(now[1] + np.rint(step * over).astype(np.int64), 0, violation)
            now = price, fee
