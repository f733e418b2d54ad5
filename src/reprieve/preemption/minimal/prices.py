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

from reprieve.preemption.minimal.cutting_planes import CuttingPlanes, Floats
from reprieve.preemption.minimal.evictions import Evictions, evictions
from reprieve.preemption.minimal.links import FAR, Links
from reprieve.preemption.minimal.node_bounds import Holdings, capacity, holdings
from reprieve.preemption.minimal.options import spanning
from reprieve.preemption.minimal.problem import Flags, Ints, Problem, add_rows

#: Steps of the prices; combinations of pods on a node; sets of classes that nodes may admit.
STEPS, COMBINATIONS, PATTERNS = 40, 4_000, 12
#: A bound this much below what the planes allow is good enough, in parts of the target.
PRECISE = 1e-3


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
    fitting: list[Ints]  # [eviction, kind] how many of them fit, in that order
    nodes: Ints
    kind: Ints  # [node] nodes of one kind have the same room whatever they evict

    def loss(self, price: Ints, cost: Ints) -> Ints:
        """[eviction, node] what the nodes lose at these prices."""
        worth = self.vectors @ price
        value = np.full(self.fitting[0].shape, FAR)
        for order, fitting in zip(self.orders, self.fitting, strict=True):
            np.minimum(value, np.maximum.accumulate(worth[order])[fitting], out=value)
        lost: Ints = cost - (value if len(value.T) == 1 else value[:, self.kind])
        return lost

    def taken(self, price: Ints, how: Ints, who: Ints) -> Ints:
        """[chosen] the combinations that nodes take: `who` (numbers within this side), evicting `how`."""
        worth = self.vectors @ price
        value, pick = np.full(len(who), FAR), np.zeros(len(who), np.int64)
        for order, fitting in zip(self.orders, self.fitting, strict=True):
            ranked = worth[order]
            most = np.maximum.accumulate(ranked)
            last = np.maximum.accumulate(np.where(ranked == most, np.arange(len(ranked)), 0))
            fits = fitting[how, self.kind[who]]
            smaller = most[fits] < value
            value = np.where(smaller, most[fits], value)
            pick = np.where(smaller, order[last[fits]], pick)
        return pick


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
    links: Links  # spanning units that are charged as a whole
    shared: Flags  # [holding] of other spanning units: they are charged in shares

    @classmethod
    def of(cls, problem: Problem, evictable: Flags, fits: Ints) -> "_Nodes | None":
        held = holdings(problem, evictable)
        admitted = fits > 0
        forced = np.asarray((held.bars | ~admitted[:, held.node].T).all(axis=1))
        base = np.bincount(held.node[forced], held.cost[forced], problem.nodes).astype(np.int64)
        scarce = np.flatnonzero((fits.T @ problem.requests > problem.free).any(axis=0))
        scarce = scarce if len(scarce) else np.zeros(1, np.int64)
        free, requests = problem.free[:, scarce], problem.requests[:, scarce]
        rest = held
        if forced.any():
            add_rows(free, held.node[forced], held.requests[forced][:, scarce])
            rest = held.only(~forced)
        rest = rest._replace(requests=rest.requests[:, scarce])
        spans = spanning(problem)
        links = Links(problem.nodes, rest, spans & (not problem.absorbs))
        found = evictions(problem.nodes, rest, links)
        if not found.exact:
            links = Links(problem.nodes, rest, np.zeros_like(spans))
        sides = _sides(admitted, fits, requests, free, found)
        if sides is None:
            return None
        uses = np.where(spans[:, None], 0, problem.uses)[rest.unit]
        shared = spans[rest.unit] & (links.column[rest.unit] < 0)
        return cls(problem, rest, uses, sides, base, found, links, shared)

    def bound(self, prices: _Prices) -> _Bound:
        problem, (price, fee, share) = self.problem, prices
        beyond = int(problem.counts.sum()) - problem.need
        total = int(problem.counts @ price) - beyond * int(price.max()) - int(problem.allowed @ fee)
        missing = problem.counts.copy()
        missing[int(price.argmax())] -= beyond
        held = self.evictions.held
        fees = self.uses @ fee if fee.any() else 0
        charged = np.append(np.minimum(share + fees, FAR), FAR)[held]  # the last: there is none
        loss = self._loss(price, charged)
        chosen = self.links.choose(loss, problem.uses @ fee)
        gone = np.zeros(len(share) + 1, np.bool_)
        for side in self.sides:
            used = np.flatnonzero(chosen.least[side.nodes] < 0)
            who = side.nodes[used]
            at = self.links.only_leaving(loss[:, who], chosen.leaving[who]).argmin(axis=0)
            missing -= side.vectors[side.taken(price, at, used)].sum(axis=0)
            gone[held[who][self.evictions.leaving(who, at)]] = True
        over = self.uses[gone[:-1]].sum(axis=0) + problem.uses[chosen.units].sum(axis=0) - problem.allowed
        gains = np.zeros(len(share) + 1, np.int64)
        if self.shared.any():
            gains[held] = self.evictions.gains(self.links.only_leaving(loss, chosen.leaving), charged)
        return _Bound(total + chosen.total, missing, over, gains[:-1])

    def _loss(self, price: Ints, charged: Ints) -> Ints:
        """[set, node] what the nodes lose at these prices."""
        loss = self.evictions.cost(charged)
        if self.base.any():
            loss = np.minimum(loss + self.base, FAR)
        for side in self.sides:
            if len(side.nodes) == loss.shape[1]:
                return side.loss(price, loss)
            loss[:, side.nodes] = side.loss(price, loss[:, side.nodes])
        return loss


def _sides(admitted: Flags, fits: Ints, requests: Ints, free: Ints, found: Evictions) -> list[_Side] | None:
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
    return sides


def _side(most: Ints, requests: Ints, room: Ints, here: Ints) -> _Side | None:
    vectors = _vectors(most, requests, room.max(axis=(0, 1)))
    if vectors is None:
        return None
    requested = vectors @ requests
    orders = [np.argsort(column, kind="stable") for column in requested.T]
    first, kind = _kinds(room)
    fitting = [
        np.searchsorted(column[order], room[first, :, r].T, side="right") - 1
        for r, (column, order) in enumerate(zip(requested.T, orders, strict=True))
    ]
    return _Side(vectors, orders, fitting, here, kind)


def _kinds(room: Ints) -> tuple[Ints, Ints]:
    """(the first node of each kind, the kind of each node): those with the same room are of one kind."""
    rows = room.reshape(len(room), -1)
    mixed = rows @ (2 * np.arange(rows.shape[1]) + 1) ** 3  # equal rows have equal sums; it may overflow
    _, first, kind = np.unique(mixed, return_index=True, return_inverse=True)
    if (rows == rows[first[kind]]).all():
        return first, kind
    return np.arange(len(room)), np.arange(len(room))


def _vectors(most: Ints, requests: Ints, room: Ints) -> Ints | None:
    """Combinations of pods that fit into the most room there is, the empty one included."""
    if prod((most + 1).tolist()) > 20 * COMBINATIONS:
        return None
    rows = np.array(list(itertools.product(*(range(k + 1) for k in most.tolist()))), np.int64)
    rows = rows[(rows @ requests <= room).all(axis=1)]
    return rows if len(rows) <= COMBINATIONS else None


class _Climb:
    """Looks for the prices with the highest bound: below planes, and shares to where they are worth most."""

    def __init__(self, nodes: _Nodes, guess: int, target: int) -> None:
        self.nodes, self.problem, self.target = nodes, nodes.problem, max(target, 1)
        problem = nodes.problem
        self.best, self.steps = 0, STEPS
        self.violation = problem.violation_price()
        self.unit_cost = np.bincount(nodes.held.unit, nodes.held.cost, problem.units)
        self.unit_nodes = np.maximum(np.bincount(nodes.held.unit, minlength=problem.units), 1)
        share = np.where(nodes.links.column[nodes.held.unit] < 0, nodes.held.cost, 0)
        starts = self._starts(guess)
        while self.steps > 0 and self.best < self.target - self.target // 1000:
            before = self.best
            at, gains = self._below_planes(starts, share)
            if not nodes.shared.any() or (self.best <= before and before):
                break
            starts, share = [at], self._shares(gains, share)

    def _starts(self, guess: int) -> list[Floats]:
        """Points to begin with, in parts of the target: pods cost what the guess says, by their size."""
        problem, budgets = self.problem, len(self.problem.allowed)
        size = (problem.requests / np.maximum(problem.requests.max(axis=0), 1)).sum(axis=1)
        unit = size / max(float(size @ problem.counts), 1e-9) / self.target
        starts = [np.append(unit * guess * times, np.zeros(budgets)) for times in (1.5, 6.0)]
        if budgets and self.target >= self.violation:  # every draw as a violation, less what is allowed
            total = self.target + self.violation * int(problem.allowed.sum())
            starts.append(np.append(unit * total, np.full(budgets, self.violation / self.target)))
        return starts

    def _below_planes(self, starts: list[Floats], share: Ints) -> tuple[Floats, Ints]:
        """Raise the bound with these shares. Returns the best point, and what shares are worth there."""
        classes, budgets = self.problem.classes, len(self.problem.allowed)
        dearest = FAR / (16 * int(self.problem.counts.sum()))  # the worth of pods stays below `FAR`
        most = np.full(classes + budgets, self.violation / self.target)
        most[:classes] = min(1.0, dearest / self.target)
        planes = CuttingPlanes(most, 1.0)
        top, at, gains = -FAR, starts[0], np.zeros_like(share)
        while self.steps > 0:
            self.steps -= 1
            point = np.minimum(starts.pop() if starts else planes.point, most)
            prices = np.floor(point * self.target).astype(np.int64)
            found = self.nodes.bound(_Prices(prices[:classes], prices[classes:], share))
            if found.total > top:
                top, at, gains = found.total, point, found.gains
            self.best = max(self.best, top)
            slope = np.append(found.missing, found.over).astype(np.float64)
            planes.add(found.total / self.target, slope, point)
            if not starts and top / self.target > planes.height - PRECISE:
                break
        return at, gains

    def _shares(self, gains: Ints, before: Ints) -> Ints:
        """Shares of spanning units in proportion to what their leaving is worth, no more than their cost."""
        unit = self.nodes.held.unit
        total = np.bincount(unit, gains, self.problem.units)
        part = np.maximum(self.unit_cost - 2 * self.unit_nodes, 0.0) / np.maximum(total, 1.0)
        shares = np.floor(gains * part[unit]).astype(np.int64)
        return np.where(self.nodes.shared & (total[unit] > 0), shares, before)
