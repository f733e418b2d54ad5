"""A bound for gangs of several classes and for budgets: pods and disruptions have prices, nodes decide.

An answer places so many pods of each class. Pay it a price for every pod, charge it a price for every
disruption under a budget (at most that of a violation) and give back what the budget allows at that price.
Let every node decide for itself how many units to evict and which pods to take: what the nodes lose at most,
plus the prices of all pods, is at most the cost of any answer, whatever the prices are. They are moved
towards classes of which too few pods are placed and budgets that are overdrawn (a subgradient step) as long
as that raises the bound.

What the room that a node makes is worth is looked up, resource by resource, among the combinations of pods
that fit into it. A spanning unit is charged in shares, one for each of its nodes; they move, too, towards the
nodes that rely on its eviction.
"""

import itertools
from math import prod
from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.evictions import FAR, Evictions, evictions
from reprieve.preemption.minimal.node_bounds import Holdings, capacity, holdings
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Flags, Ints, Problem

#: Steps of the prices; combinations of pods on a node; sets of classes that nodes may admit.
STEPS, COMBINATIONS, PATTERNS = 40, 4_000, 12
#: Every how many steps the shares of spanning units move.
SHARING = 3


def price_bound(problem: Problem, evictable: Flags, guess: int, target: int) -> int | None:
    """A lower bound for the cost of every answer; no effort is made to raise it above the target.

    `guess`: about what an answer costs, to begin with. None when there are too many combinations of pods.
    """
    nodes = _Nodes.of(problem, evictable, np.minimum(capacity(problem, evictable), problem.need))
    return None if nodes is None else max(0, _Climb(nodes, guess, target).best)


class _Side(NamedTuple):
    """Nodes that admit the same classes."""

    vectors: Ints  # [combination, class] pods that may be on a node together
    orders: list[Ints]  # of the combinations, by what they request of each scarce resource
    fitting: list[Ints]  # [node, eviction] how many of them fit, in that order
    nodes: Ints

    def choose(self, price: Ints, cost: Ints) -> tuple[Ints, Ints]:
        """[node, eviction] what the nodes lose at these prices, and which pods they take."""
        worth = self.vectors @ price
        value, pick = np.full(cost.shape, FAR), np.zeros(cost.shape, np.int64)
        for order, fitting in zip(self.orders, self.fitting, strict=True):
            ranked = worth[order]
            most = np.maximum.accumulate(ranked)
            last = np.maximum.accumulate(np.where(ranked == most, np.arange(len(ranked)), 0))
            here = most[fitting]
            smaller = here < value
            value = np.where(smaller, here, value)
            pick = np.where(smaller, order[last[fitting]], pick)
        return cost - value, pick


class _Prices(NamedTuple):
    price: Ints  # [class] paid for a pod
    fee: Ints  # [budget] charged for a disruption
    share: Ints  # [holding] charged for its unit


class _Bound(NamedTuple):
    total: int
    missing: Ints  # [class] pods
    over: Ints  # [budget] disruptions beyond what is allowed
    gains: Ints  # [holding] of spanning units: what its leaving is worth to its node


class _Nodes(NamedTuple):
    problem: Problem
    held: Holdings
    uses: Ints  # [holding, budget]; none of spanning units, which would be charged on every node
    sides: list[_Side]
    base: Ints  # [node] what any pod costs there
    evictions: Evictions
    linked: bool  # there are spanning units

    @classmethod
    def of(cls, problem: Problem, evictable: Flags, fits: Ints) -> "_Nodes | None":
        held = holdings(problem, evictable)
        admitted = fits > 0
        forced = np.asarray((held.bars | ~admitted[:, held.node].T).all(axis=1))
        base = np.bincount(held.node[forced], held.cost[forced], problem.nodes).astype(np.int64)
        scarce = np.flatnonzero((fits.T @ problem.requests > problem.free).any(axis=0))
        scarce = scarce if len(scarce) else np.zeros(1, np.int64)
        free, requests = problem.free[:, scarce], problem.requests[:, scarce]
        np.add.at(free, held.node[forced], held.requests[forced][:, scarce])
        rest = held.only(~forced)
        rest = rest._replace(requests=rest.requests[:, scarce])
        found = evictions(problem.nodes, rest)
        patterns, of_node = np.unique(admitted, axis=1, return_inverse=True)
        if patterns.shape[1] > PATTERNS:
            return None
        sides = []
        for number in np.flatnonzero(patterns.any(axis=0)).tolist():
            here = np.flatnonzero(of_node == number)
            room = np.maximum(free[here][:, None, :] + found.freed[here], 0)
            side = _side(fits[:, here].max(axis=1), requests, room, here)
            if side is None:
                return None
            sides.append(side)
        spans = spanning(problem)
        uses = np.where(spans[:, None], 0, problem.uses)[rest.unit]
        return cls(problem, rest, uses, sides, base, found, bool(spans[rest.unit].any()))

    def bound(self, prices: _Prices) -> _Bound:
        problem, (price, fee, share) = self.problem, prices
        beyond = int(problem.counts.sum()) - problem.need
        total = int(problem.counts @ price) - beyond * int(price.max()) - int(problem.allowed @ fee)
        missing = problem.counts.copy()
        missing[int(price.argmax())] -= beyond
        held = self.evictions.held
        charged = np.append(np.minimum(share + self.uses @ fee, FAR), FAR)[held]  # the last: there is none
        cost = np.minimum(self.evictions.cost(charged) + self.base[:, None], FAR)
        relied, gains = np.zeros(len(share) + 1, np.bool_), np.zeros(len(share) + 1, np.int64)
        for side in self.sides:
            loss, pick = side.choose(price, cost[side.nodes])
            at, every = loss.argmin(axis=1), np.arange(len(loss))
            used = loss[every, at] < 0
            total += int(loss[every, at][used].sum())
            missing -= side.vectors[pick[every, at][used]].sum(axis=0)
            who = side.nodes[used]
            relied[held[who][self.evictions.leaving(who, at[used])]] = True
            if self.linked:
                gains[held[side.nodes]] = self.evictions.gains(loss, charged[side.nodes])
        over = self.uses[relied[:-1]].sum(axis=0) - problem.allowed
        return _Bound(total, missing, over, gains[:-1])


def _side(most: Ints, requests: Ints, room: Ints, here: Ints) -> _Side | None:
    vectors = _vectors(most, requests, room.max(axis=(0, 1)))
    if vectors is None:
        return None
    requested = vectors @ requests
    orders = [np.argsort(column, kind="stable") for column in requested.T]
    fitting = [
        np.searchsorted(column[order], room[:, :, r], side="right") - 1
        for r, (column, order) in enumerate(zip(requested.T, orders, strict=True))
    ]
    return _Side(vectors, orders, fitting, here)


def _vectors(most: Ints, requests: Ints, room: Ints) -> Ints | None:
    """Combinations of pods that fit into the most room there is, the empty one included."""
    if prod((most + 1).tolist()) > 20 * COMBINATIONS:
        return None
    rows = np.array(list(itertools.product(*(range(k + 1) for k in most.tolist()))), np.int64)
    rows = rows[(rows @ requests <= room).all(axis=1)]
    return rows if len(rows) <= COMBINATIONS else None


class _Climb:
    """Moves prices and fees towards what is missing and overdrawn, shares to where they are worth most."""

    def __init__(self, nodes: _Nodes, guess: int, target: int) -> None:
        self.nodes, self.problem = nodes, nodes.problem
        problem = nodes.problem
        self.best = 0
        nothing = np.zeros(problem.classes, np.int64)
        self.at = _Prices(nothing, np.zeros_like(problem.allowed), nodes.held.cost)
        self.spans = spanning(problem)[nodes.held.unit]
        self.unit_cost = np.bincount(nodes.held.unit, nodes.held.cost, problem.units)
        self.unit_nodes = np.maximum(np.bincount(nodes.held.unit, minlength=problem.units), 1)
        size = (problem.requests / np.maximum(problem.requests.max(axis=0), 1)).sum(axis=1)
        unit = size / max(float(size @ problem.counts), 1e-9)
        self.violation = problem.violation_price()
        starts = [(guess * share, 0) for share in (1.0, 0.5, 1.5, 3.0, 6.0)]
        if problem.uses.size and target >= self.violation:  # every draw as a violation, less what is allowed
            starts.append((target + self.violation * int(problem.allowed.sum()), self.violation))
        for total, fee in starts:
            price = np.rint(unit * min(total, FAR)).astype(np.int64)
            self._try(_Prices(price, np.full_like(problem.allowed, fee), nodes.held.cost))
        self._move(guess, target)

    def _try(self, prices: _Prices) -> _Bound:
        found = self.nodes.bound(prices)
        if found.total > self.best:
            self.best, self.at = found.total, prices
        return found

    def _move(self, guess: int, target: int) -> None:
        now, stretch, since = self.at, 1.0, 0
        for number in range(STEPS):
            before = self.best
            found = self._try(now)
            since = 0 if self.best > before else since + 1
            if self.best >= target - target // 1000:
                return
            if since > 2:
                stretch, since, now = stretch / 2, 0, self.at
                found = self._try(now)
            over = np.where((now.fee == 0) & (found.over < 0), 0, found.over)  # no fee falls below nothing
            length = float(found.missing @ found.missing) + float(over @ over)
            if not length:
                return
            aim = min(target, 2 * self.best or guess)
            step = stretch * max(aim - found.total, aim // 1000) / length
            now = _Prices(
                np.maximum(now.price + np.rint(step * found.missing).astype(np.int64), 0),
                np.clip(now.fee + np.rint(step * over).astype(np.int64), 0, self.violation),
                self._shares(found.gains, now.share) if number % SHARING == 0 else now.share,
            )

    def _shares(self, gains: Ints, before: Ints) -> Ints:
        """Shares of spanning units in proportion to what their leaving is worth, no more than their cost."""
        if not self.nodes.linked:
            return before
        unit = self.nodes.held.unit
        total = np.bincount(unit, gains, self.problem.units)
        part = np.maximum(self.unit_cost - 2 * self.unit_nodes, 0.0) / np.maximum(total, 1.0)
        shares = np.floor(gains * part[unit]).astype(np.int64)
        return np.where(self.spans & (total[unit] > 0), shares, before)
