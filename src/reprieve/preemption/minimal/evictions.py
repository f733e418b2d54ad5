"""What every node may evict, for the bound by prices: sets of units, what they free and what they cost.

Where nodes hold few units all sets are listed. Elsewhere a set is a number of units: it frees at most what
the largest hold and costs at least what the cheapest do; units under spent budgets are counted apart because
they are so expensive.
"""

from typing import Protocol

import numpy as np

from reprieve.preemption.minimal.links import FAR, Links, subset_sums
from reprieve.preemption.minimal.node_bounds import Holdings, in_order, stack
from reprieve.preemption.minimal.problem import Flags, Ints

#: Up to so many units on a node all sets are listed.
FEW = 6
#: Units under spent budgets that are counted one by one.
DEAR = 3


class Evictions(Protocol):
    exact: bool
    """Whether the sets are listed, linked units among them."""
    held: Ints
    """[node, unit] a number of each holding, or -1."""
    freed: Ints
    """[node, set, resource]"""

    def cost(self, charged: Ints) -> Ints:
        """[set, node] if every holding costs what is charged for it [node, unit]."""

    def leaving(self, who: Ints, how: Ints) -> Flags:
        """[chosen, unit] which holdings leave if the nodes `who` choose the sets `how`."""

    def gains(self, loss: Ints, charged: Ints) -> Ints:
        """[node, unit] how much lower the least loss of a node is if the holding leaves for nothing.

        `loss` [set, node], `charged` [node, unit].
        """


def evictions(nodes: int, held: Holdings, links: Links) -> Evictions:
    """`links`: spanning units that are listed last, each in the same place on all nodes."""
    column = links.column[held.unit]
    numbers = in_order(nodes, held, column < 0)
    if numbers.shape[1] + links.bits > FEW:
        return _Counts(nodes, held)
    linked = np.flatnonzero(column >= 0)
    shared = np.full((nodes, links.bits), -1, np.int64)
    shared[held.node[linked], column[linked]] = linked
    return _Sets(np.hstack([numbers, shared]), held)


class _Sets:
    """All sets of units."""

    exact = True

    def __init__(self, numbers: Ints, held: Holdings) -> None:
        width = numbers.shape[1]
        self.held = numbers
        self.bits = (np.arange(1 << width)[:, None] >> np.arange(width)) & 1
        requests = np.vstack([held.requests, np.zeros_like(held.requests[:1])])  # the last: there is none
        amounts = np.moveaxis(requests[numbers], 0, 1)
        self.freed: Ints = np.moveaxis(subset_sums(amounts), 0, 1)

    def cost(self, charged: Ints) -> Ints:
        return subset_sums(charged.T)

    def leaving(self, who: Ints, how: Ints) -> Flags:
        del who  # the sets are the same on all nodes
        return np.asarray(self.bits[how] > 0)

    def gains(self, loss: Ints, charged: Ints) -> Ints:
        found = np.zeros(charged.shape, np.int64)
        for at in range(charged.shape[1]):
            leaves = self.bits[:, at] > 0
            with_it = loss[leaves].min(axis=0) - charged[:, at]
            found[:, at] = np.maximum(loss[~leaves].min(axis=0) - with_it, 0)
        return found


class _Counts:
    """Numbers of units, those under spent budgets apart."""

    exact = False

    def __init__(self, nodes: int, held: Holdings) -> None:
        cheap, dear = stack(nodes, held, ~held.dear), stack(nodes, held, held.dear)
        self.few = min(DEAR, len(dear.costs) - 1)
        freed = np.moveaxis(dear.sums[: self.few + 1], 2, 0).copy()
        freed[:, -1] = dear.freed.T if self.few else 0  # the last step stands for all of them
        both: Ints = np.moveaxis(cheap.sums, 2, 0)[:, :, None, :] + freed[:, None, :, :]
        self.freed = both.reshape(nodes, -1, freed.shape[2])
        self.held = in_order(nodes, held, ~held.dear)
        self._dear = dear.costs[: self.few + 1].T
        self._order = np.zeros((0, 0), np.int64)

    def cost(self, charged: Ints) -> Ints:
        self._order = np.argsort(charged, axis=1, kind="stable")
        sums = np.minimum(np.cumsum(np.take_along_axis(charged, self._order, axis=1), axis=1), FAR)
        cheap = np.concatenate([np.zeros((len(sums), 1), np.int64), sums], axis=1)
        both = (cheap[:, :, None] + self._dear[:, None, :]).reshape(len(cheap), -1)
        total: Ints = np.minimum(both, FAR).T
        return total

    def leaving(self, who: Ints, how: Ints) -> Flags:
        flags = np.zeros((len(who), self.held.shape[1]), np.bool_)
        first = np.arange(self.held.shape[1]) < (how // (self.few + 1))[:, None]
        np.put_along_axis(flags, self._order[who], first, axis=1)
        return flags

    def gains(self, loss: Ints, charged: Ints) -> Ints:
        """Not known: numbers of units do not say which of them leave."""
        del loss
        return np.zeros(charged.shape, np.int64)
