"""Nodes that share spanning units, taken together: a spanning unit leaves all of its nodes or none.

Nodes that are linked by spanning units form a component. Where few of them link it, all ways to evict them
are tried, each paid once; what the nodes lose is then added up over the component. No share is paid.
"""

from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.node_bounds import Holdings
from reprieve.preemption.minimal.problem import Flags, Ints

#: How many spanning units of a component are tried in every combination.
MOST = 3
#: Steps in which the nodes of a component find each other.
ROUNDS = 16
#: A cost that is never paid, small enough to add up.
FAR = INFINITE >> 8


def components(nodes: int, units: int, unit: Ints, node: Ints) -> Ints | None:
    """The component of each node, numbered from 0; None when one of them reaches too far.

    `unit`, `node`: which spanning units have pods on which nodes.
    """
    label = np.arange(nodes)
    for _ in range(ROUNDS):
        least = np.full(units, nodes, np.int64)
        np.minimum.at(least, unit, label[node])
        joined = label.copy()
        np.minimum.at(joined, node, least[unit])
        if (joined == label).all():
            return np.unique(label, return_inverse=True)[1]
        label = joined
    return None


class Chosen(NamedTuple):
    """What all components lose at least, and how."""

    total: int
    least: Ints  # [node] its part
    leaving: Ints  # [node] which units of its component leave, as bits
    units: Ints  # those that leave anywhere


class Links:
    """The spanning units that are paid once; `bits` of the sets of a node are theirs, the highest ones."""

    def __init__(self, nodes: int, held: Holdings, spans: Flags) -> None:
        """`spans` [unit]: those that may be paid once."""
        among = np.flatnonzero(spans[held.unit])
        own, where = held.unit[among], held.node[among]
        found = components(nodes, len(spans), own, where) if len(among) else None
        self.component: Ints = np.arange(nodes) if found is None else found
        home = np.full(len(spans), -1, np.int64)  # [unit] its component
        home[own] = self.component[where] if found is not None else -1
        linked = np.flatnonzero(home >= 0)
        linked = linked[np.argsort(home[linked], kind="stable")]
        size = np.bincount(home[linked], minlength=int(self.component.max(initial=-1)) + 1)
        linked = linked[size[home[linked]] <= MOST]
        size[size > MOST] = 0
        self.bits = int(size.max(initial=0))
        self.column = np.full(len(spans), -1, np.int64)  # [unit] its number within its component, -1: none
        self.column[linked] = np.arange(len(linked)) - np.repeat(np.cumsum(size) - size, size)
        cost = np.bincount(held.unit, held.cost, len(spans)).astype(np.int64)
        self._cost = np.full((self.bits, len(size)), FAR)
        self._cost[self.column[linked], home[linked]] = cost[linked]
        self._unit = np.full((self.bits, len(size)), -1, np.int64)
        self._unit[self.column[linked], home[linked]] = linked
        self._order = np.argsort(self.component, kind="stable")
        self._starts = np.searchsorted(self.component[self._order], np.arange(len(size)))

    def choose(self, loss: Ints, fees: Ints) -> Chosen:
        """The least loss of every component, given that of each node [set, node] and fees [unit]."""
        if not self.bits:
            least = np.minimum(loss.min(axis=0), 0)  # a node that loses by it takes no part
            nothing = np.zeros(len(least), np.int64)
            return Chosen(int(least.sum()), least, nothing, nothing[:0])
        least = np.minimum(loss.reshape(1 << self.bits, -1, loss.shape[1]).min(axis=1), 0)
        for bit in range(self.bits):  # a unit that leaves need not be relied on
            halves = least.reshape(-1, 2, 1 << bit, loss.shape[1])
            np.minimum(halves[:, 1], halves[:, 0], out=halves[:, 1])
        price = self._cost + np.where(self._unit >= 0, fees[self._unit], 0)
        total = np.add.reduceat(least[:, self._order], self._starts, axis=1) + subset_sums(price)
        best = total.argmin(axis=0)
        leaving = best[self.component]
        gone = (best >> np.arange(self.bits)[:, None]) & 1 > 0
        lost = int(total[best, np.arange(len(best))].sum())
        return Chosen(lost, least[leaving, np.arange(len(leaving))], leaving, self._unit[gone])

    def only_leaving(self, loss: Ints, leaving: Ints) -> Ints:
        """The losses [set, node] of sets without units that stay; `FAR` for the others."""
        if not self.bits:
            return loss
        sets = len(loss)
        linked = np.arange(sets) // (sets >> self.bits)
        rows: Flags = (linked & ~np.arange(1 << self.bits)[:, None]) == 0
        return np.where(rows[leaving].T, loss, FAR)


def subset_sums(amounts: Ints) -> Ints:
    """[set, ...] the sums over all sets of rows, at most `FAR`; bit i of a set's number is row i."""
    sums = np.zeros((1 << len(amounts), *amounts.shape[1:]), np.int64)
    for row, amount in enumerate(amounts):  # the sets with this row: those of the rows before, and it
        sets = 1 << row
        np.add(sums[:sets], amount, out=sums[sets : 2 * sets])
    return np.minimum(sums, FAR, out=sums)
