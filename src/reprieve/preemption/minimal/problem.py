"""The abstract problem of `minimal-cost`: which units to evict so that `need` pods fit, at the least cost.

Arrays only: nothing here knows pods, clusters or Kubernetes. A *class* is a set of interchangeable waiting
pods, a *unit* is what is evicted together, an *answer* says which units are evicted and how many pods of each
class go to each node. Answers are compared by:

1. budget violations: every evicted pod of a spent budget, and what goes beyond the allowance of the others;
2. the highest priority of an evicted unit;
3. the sum of the evicted units' weights.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: The highest priority of no victims: below every Kubernetes priority.
NO_PRIORITY = -(2**40)


EXACT = 1 << 53
"""Sums of floats are exact up to this."""


def add_rows(table: Ints, at: Ints, amounts: Ints) -> None:
    """`table[at] += amounts` where places repeat, column by column: ten times as fast as `np.add.at`."""
    if not len(at):
        return
    for number, column in enumerate(amounts.T):
        least, most = int(column.min()), int(column.max())
        if least == most:
            table[:, number] += most * np.bincount(at, minlength=len(table))
        elif max(-least, most) * len(at) < EXACT:
            table[:, number] += np.bincount(at, column, len(table)).astype(np.int64)
        else:
            np.add.at(table[:, number], at, column)


class Score(NamedTuple):
    """What an answer costs; smaller is better, field by field."""

    violations: int
    priority: int
    weight: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Free capacity, capacity that could be freed, and the pods that need it.

    Resources are columns; one of them counts pod slots. A unit that *absorbs* others (the leaders of a group
    whose workers may go one by one) takes them along: its weight, budgets and violations are those of the
    whole.
    """

    free: Ints  # [node, resource], negative where a node holds more than its size
    requests: Ints  # [class, resource]
    counts: Ints  # [class] waiting pods
    most: Ints  # [class, node] how many may share the node at most, 0 where it is not admitted
    need: int  # pods to place
    priority: Ints  # [unit]
    weight: Ints  # [unit]
    spent: Ints  # [unit] pods under a budget that allows nothing
    uses: Ints  # [unit, budget] pods that draw on each budget which allows something
    allowed: Ints  # [budget]
    pod_unit: Ints  # [evictable pod]
    pod_node: Ints  # [evictable pod]
    pod_requests: Ints  # [evictable pod, resource]
    pod_bars: Flags  # [evictable pod, class] while it runs, the class may not use its node
    apart: tuple[tuple[int, int], ...] = ()  # pairs of classes that cannot share a node
    absorbs: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        return len(self.free)

    @property
    def classes(self) -> int:
        return len(self.requests)

    @property
    def units(self) -> int:
        return len(self.priority)

    def violation_price(self) -> int:
        """More than all weights together, so that one violation outweighs any of them."""
        return int(self.weight.sum()) + 1

    def closed(self, units: frozenset[int]) -> frozenset[int]:
        """The units together with those they absorb."""
        return units.union(*(self.absorbs.get(unit, ()) for unit in units))

    def whole(self, units: frozenset[int]) -> frozenset[int]:
        """The units without those that another of them absorbs."""
        taken = {each for unit in units for each in self.absorbs.get(unit, ())}
        return units - taken

    def score(self, units: frozenset[int]) -> Score:
        index = np.fromiter(sorted(self.whole(units)), np.int64)
        if not len(index):
            return Score(0, NO_PRIORITY, 0)
        beyond = np.maximum(self.uses[index].sum(axis=0) - self.allowed, 0).sum()
        return Score(
            int(self.spent[index].sum() + beyond),
            int(self.priority[index].max()),
            int(self.weight[index].sum()),
        )

    def cost(self, units: frozenset[int]) -> int:
        """Violations times their price plus weight: the score without the priority, in one number."""
        score = self.score(units)
        return score.violations * self.violation_price() + score.weight

    def without(self, units: frozenset[int]) -> tuple[Ints, Flags]:
        """Free amounts [node, resource] and remaining bars [node, class] without the units."""
        gone = np.zeros(self.units, np.bool_)
        gone[list(self.closed(units))] = True
        leaves = gone[self.pod_unit]
        free = self.free.copy()
        add_rows(free, self.pod_node[leaves], self.pod_requests[leaves])
        return free, self.barred(~leaves)

    def barred(self, staying: Flags) -> Flags:
        """[node, class] where one of the pods that stay keeps the class away."""
        found = np.zeros((self.nodes, self.classes), np.bool_)
        if self.pod_bars.any():
            pod, cls = np.nonzero(self.pod_bars & staying[:, None])
            found[self.pod_node[pod], cls] = True
        return found


class Answer(NamedTuple):
    """Units to evict, and how many pods of each class go to each node."""

    units: frozenset[int]
    placed: Ints  # [class, node]

    def fault(self, problem: Problem) -> str:
        """Check against the problem: why the answer is not valid, or an empty text."""
        free, bars = problem.without(self.units)
        if (self.placed < 0).any() or (self.placed > problem.most).any():
            return "a node takes pods it may not take"
        if (self.placed.sum(axis=1) > problem.counts).any() or self.placed.sum() < problem.need:
            return "the wrong number of pods is placed"
        demand = self.placed.T @ problem.requests
        if ((demand > free) & (demand > 0)).any():
            return "a node is too small"
        if (bars & (self.placed.T > 0)).any():
            return "a pod that stays keeps a placed pod away"
        if any((np.minimum(self.placed[a], self.placed[b]) > 0).any() for a, b in problem.apart):
            return "two placed pods keep each other away"
        return ""
