"""What each node can offer: a number of pods placed for a set of victims.

An option places some pods on a node and names the cheapest local units (with pods only there) that must be
evicted, and the spanning units (with pods elsewhere too) whose eviction it relies on. Options are exact: no
cheaper set of victims allows the same pods with the same spanning units.
"""

import itertools
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.frontier import Frontier, Items, frontier
from reprieve.preemption.minimal.problem import Flags, Ints, Problem
from reprieve.preemption.minimal.work_limit import WorkLimit

#: Combinations of pods considered on one node; more arise only with many classes of tiny pods.
COMBINATIONS = 2000


class Option(NamedTuple):
    node: int
    placed: tuple[tuple[int, int], ...]  # (class, pods)
    cost: int
    uses: tuple[int, ...]
    units: tuple[int, ...]  # with pods only on this node
    spans: tuple[int, ...]  # with pods elsewhere too


def spanning(problem: Problem) -> Flags:
    """Units with pods on several nodes, and those that absorb others: they are paid once for all nodes."""
    low = np.full(problem.units, problem.nodes, np.int64)
    high = np.full(problem.units, -1, np.int64)
    np.minimum.at(low, problem.pod_unit, problem.pod_node)
    np.maximum.at(high, problem.pod_unit, problem.pod_node)
    result: Flags = high > low
    result[list(problem.absorbs)] = True
    return result


class NodeOptions:
    """Computes the options of a node for the units that may be evicted."""

    def __init__(self, problem: Problem, evictable: Flags, work: WorkLimit) -> None:
        self.problem, self.work = problem, work
        self.price = problem.violation_price()
        self.cost = problem.weight + self.price * problem.spent
        cheapest = int(np.sort(problem.weight)[len(problem.weight) // 10]) if problem.units else 0
        self.tolerances = tuple(step for step in (cheapest // 1000, cheapest // 50) if step)
        self.complete = True
        self.slack = 0  # how much cheaper all nodes together could be than their options
        self.evictable = evictable
        staying = ~evictable[problem.pod_unit]
        barred = np.zeros((problem.nodes, problem.classes), np.bool_)
        np.logical_or.at(barred, problem.pod_node[staying], problem.pod_bars[staying])
        self.most = np.where(barred.T, 0, problem.most)
        self._order = np.argsort(problem.pod_node, kind="stable")
        self._starts = np.searchsorted(problem.pod_node[self._order], np.arange(problem.nodes + 1))
        self._takers = {
            unit: absorber
            for absorber, absorbed in problem.absorbs.items()
            if evictable[absorber]
            for unit in absorbed
        }
        self.spans = spanning(problem)
        self._known: dict[tuple[bytes, ...], Frontier] = {}

    def _pods_by_unit(self, node: int) -> dict[int, list[int]]:
        """The evictable pods of a node by unit, absorbing units first."""
        found: dict[int, list[int]] = defaultdict(list)
        for pod in self._order[self._starts[node] : self._starts[node + 1]].tolist():
            unit = int(self.problem.pod_unit[pod])
            if unit in self._takers:
                found[self._takers[unit]].append(pod)
            if self.evictable[unit]:
                found[unit].append(pod)
        return dict(sorted(found.items(), key=lambda entry: (entry[0] not in self.problem.absorbs, entry[0])))

    def options(self, node: int, limit: int) -> list[Option]:
        """All options of the node for at most `limit`, ordered by pods placed."""
        problem = self.problem
        classes = np.flatnonzero(self.most[:, node])
        if not len(classes):
            return []
        self.work.take(300)
        own = self._pods_by_unit(node)
        gone = sorted({pod for pods in own.values() for pod in pods})
        available = problem.free[node] + problem.pod_requests[gone].sum(axis=0)
        vectors = self._vectors(node, classes, available)
        if not len(vectors):
            return []
        demand = vectors @ problem.requests[classes]
        lacking = np.where(demand > 0, np.maximum(demand - problem.free[node], 0), 0)
        columns = np.flatnonzero(lacking.any(axis=0))
        bars = [c for c, cls in enumerate(classes.tolist()) if problem.pod_bars[gone, cls].any()]
        freed = np.array(
            [
                [
                    *problem.pod_requests[pods][:, columns].sum(axis=0),
                    *(int(problem.pod_bars[pods, classes[c]].sum()) for c in bars),
                ]
                for pods in own.values()
            ],
            np.int64,
        ).reshape(len(own), len(columns) + len(bars))
        wanted = [int(problem.pod_bars[gone, classes[c]].sum()) for c in bars]
        needed = np.hstack([lacking[:, columns], (vectors[:, bars] > 0) * np.array(wanted, np.int64)])
        return self._chosen(node, classes, vectors, needed, self._items(list(own), freed), limit)

    def _vectors(self, node: int, classes: Ints, available: Ints) -> Ints:
        """Numbers of pods of each class that fit once everything evictable is gone."""
        problem = self.problem
        ranges = []
        for cls in classes.tolist():
            demand = problem.requests[cls]
            fits = min(
                (int(available[r]) // int(demand[r]) for r in np.flatnonzero(demand)), default=problem.need
            )
            ranges.append(
                range(
                    max(0, min(fits, problem.need, int(self.most[cls, node]), int(problem.counts[cls]))) + 1
                )
            )
        rows = list(itertools.islice(itertools.product(*ranges), COMBINATIONS))
        self.complete &= len(rows) < COMBINATIONS
        vectors = np.array(rows, np.int64)
        demand = vectors @ problem.requests[classes]
        good = (
            ((demand <= available) | (demand == 0)).all(axis=1)
            & (vectors.sum(axis=1) <= problem.need)
            & (vectors.sum(axis=1) > 0)
        )
        where = {cls: c for c, cls in enumerate(classes.tolist())}
        for a, b in problem.apart:
            if a in where and b in where:
                good &= np.minimum(vectors[:, where[a]], vectors[:, where[b]]) == 0
        fitting: Ints = vectors[good]
        return fitting

    def _items(self, units: list[int], freed: Ints) -> Items:
        problem = self.problem
        position = {unit: i for i, unit in enumerate(units)}
        absorber = [-1] * len(units)
        for unit in units:
            for absorbed in problem.absorbs.get(unit, ()):
                if absorbed in position:
                    absorber[position[absorbed]] = position[unit]
        index = np.array(units, np.int64)
        elsewhere = self.spans[index]
        return Items(
            index,
            freed,
            np.where(elsewhere, 0, self.cost[index]),
            np.where(elsewhere[:, None], 0, problem.uses[index]),
            elsewhere,
            np.array(absorber, np.int64),
        )

    def _frontier(self, items: Items, cap: Ints, limit: int) -> Frontier:
        key = tuple(part.tobytes() for part in (*items[1:], cap, np.array(limit)))
        if key not in self._known:
            found = frontier(items, cap, limit, self.tolerances)
            self.work.take(len(items.unit) * (45 + len(found.cost) ** 2 / 800))
            self._known[key] = found
        return self._known[key]

    def _chosen(
        self, node: int, classes: Ints, vectors: Ints, needed: Ints, items: Items, limit: int
    ) -> list[Option]:
        sets = self._frontier(items, needed.max(axis=0, initial=0), limit)
        self.complete &= sets.slack >= 0
        self.slack += max(sets.slack, 0)
        options = []
        shared = sets.taken[:, items.elsewhere]
        for vector, floor in zip(vectors, needed, strict=True):
            enough = np.flatnonzero((sets.freed >= floor).all(axis=1))
            self.work.take(5 + len(enough) / 20)
            placed = tuple((int(c), int(k)) for c, k in zip(classes, vector, strict=True) if k)
            for row in _undominated(sets, shared, enough):
                taken = sets.taken[row]
                options.append(
                    Option(
                        node,
                        placed,
                        int(sets.cost[row]),
                        tuple(sets.uses[row].tolist()),
                        tuple(items.unit[taken & ~items.elsewhere].tolist()),
                        tuple(items.unit[taken & items.elsewhere].tolist()),
                    )
                )
        return options


def _undominated(sets: Frontier, shared: Flags, rows: Ints) -> list[int]:
    """Of these sets (cheapest first) those that no cheaper one dominates in budgets and spanning units."""
    uses, spans = sets.uses[rows], shared[rows]
    free = np.flatnonzero(~uses.any(axis=1) & ~spans.any(axis=1))
    if len(free):  # dominates everything more expensive
        rows, uses, spans = rows[: free[0] + 1], uses[: free[0] + 1], spans[: free[0] + 1]
    if len(rows) < 2:
        return [int(row) for row in rows]
    dominates = np.tri(len(rows), k=-1, dtype=np.bool_).T
    for column in uses.T:
        dominates &= column[:, None] <= column[None, :]
    for flags in spans.T:
        dominates &= ~flags[:, None] | flags[None, :]
    return [int(row) for row in rows[~dominates.any(axis=0)]]
