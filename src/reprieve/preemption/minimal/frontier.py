"""Which sets of units on one node are worth evicting: those that no other set dominates.

A set is described by what it frees (more is better), what it costs and draws on budgets (less is better) and
which spanning units it takes. One set dominates another when it is at least as good in all of them. Sets are
grown unit by unit; what is freed is capped at what could ever be needed, which keeps the frontier small.
"""

from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.problem import Flags, Ints

#: Above this many sets, costs are compared in steps of a tolerance, and then of a coarser one.
CROWDED = 224
#: Above this many sets only some are kept; the frontier is then no longer complete.
LIMIT = 640

UNLIMITED = 1 << 62


class Frontier(NamedTuple):
    """Sets of units, cheapest first."""

    freed: Ints  # [set, column], capped
    cost: Ints  # [set] of the local units
    uses: Ints  # [set, budget]
    taken: Flags  # [set, item]
    slack: int  # how much cheaper a set that was dropped may be; -1: unknown


class Items(NamedTuple):
    """The units with pods on one node, absorbing units before those they absorb."""

    unit: Ints
    freed: Ints  # [item, column]
    cost: Ints  # [item] 0 for spanning units: they are paid once, not here
    uses: Ints  # [item, budget]
    elsewhere: Flags  # [item]
    absorber: Ints  # [item] position of the item that absorbs it, or -1


def frontier(items: Items, cap: Ints, limit: int, tolerances: tuple[int, ...]) -> Frontier:
    """Grow the sets item by item; those that cost more than `limit` are dropped."""
    freed, cost, uses, elsewhere = items.freed, items.cost, items.uses, items.elsewhere
    size, slack = len(cost), 0
    limit = min(limit, _enough(items, cap)) + size * sum(tolerances)  # allow for what tolerances round up
    sets = Frontier(
        np.zeros((1, freed.shape[1]), np.int64),
        np.zeros(1, np.int64),
        np.zeros((1, uses.shape[1]), np.int64),
        np.zeros((1, size), np.bool_),
        0,
    )
    for item in range(size):
        grown_cost = sets.cost + cost[item]
        useful = (grown_cost <= limit) & (sets.freed < cap).any(axis=1)
        if items.absorber[item] >= 0:
            useful &= ~sets.taken[:, items.absorber[item]]
        grown = sets.taken[useful].copy()
        grown[:, item] = True
        merged = Frontier(
            np.concatenate([sets.freed, np.minimum(sets.freed[useful] + freed[item], cap)]),
            np.concatenate([sets.cost, grown_cost[useful]]),
            np.concatenate([sets.uses, sets.uses[useful] + uses[item]]),
            np.concatenate([sets.taken, grown]),
            0,
        )
        sets = _undominated(merged, elsewhere, 0)
        for step in tolerances:
            if len(sets.cost) > CROWDED:
                sets = _undominated(sets, elsewhere, step)
                slack += step
        if len(sets.cost) > LIMIT:
            sets = _rows(sets, np.linspace(0, len(sets.cost) - 1, LIMIT).astype(np.int64))
            slack = -1 << 62
    return sets._replace(slack=max(slack, -1))


def _enough(items: Items, cap: Ints) -> int:
    """The cost of a set that frees all that may be needed: dominates costlier ones if nothing else counts."""
    if items.elsewhere.any() or items.uses.any():
        return UNLIMITED
    left = items.freed.sum(axis=0) - cap
    if (left < 0).any():
        return UNLIMITED
    total = int(items.cost.sum())
    for item in np.argsort(-items.cost, kind="stable").tolist():
        rest = left - items.freed[item]
        if (rest >= 0).all():
            left, total = rest, total - int(items.cost[item])
    return total


def _rows(sets: Frontier, index: Ints) -> Frontier:
    return Frontier(sets.freed[index], sets.cost[index], sets.uses[index], sets.taken[index], sets.slack)


def _undominated(sets: Frontier, elsewhere: Flags, tolerance: int) -> Frontier:
    sets = _rows(sets, np.argsort(sets.cost, kind="stable"))
    shared = sets.taken[:, elsewhere]
    if sets.freed.shape[1] == 1 and not sets.uses.shape[1] and not shared.any():
        column = sets.freed[:, 0]
        best_before = np.maximum.accumulate(column)[:-1]
        return _rows(sets, np.flatnonzero(np.concatenate([[True], column[1:] > best_before])))
    price = sets.cost // max(tolerance, 1)
    as_good = price[:, None] <= price[None, :]  # [j, i]: j is at least as good as i, first in price
    for column in sets.freed.T:
        as_good &= column[:, None] >= column[None, :]
    for column in sets.uses.T:
        as_good &= column[:, None] <= column[None, :]
    for flags in shared.T:
        as_good &= ~flags[:, None] | flags[None, :]
    earlier = np.tri(len(price), k=-1, dtype=np.bool_).T
    dominates = as_good & (~as_good.T | earlier)
    return _rows(sets, np.flatnonzero(~dominates.any(axis=0)))
