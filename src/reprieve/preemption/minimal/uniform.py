"""Large problems with one class of pods: look closely only at the nodes that can matter.

1. Lower bounds for all nodes at once, and the price of a pod that follows from them.
2. Take the cheapest offers at that price. Where an offer is only a bound, replace it by the exact cost and
   repeat.
3. If the offers cost what the price says, they are optimal. If not, branch and bound decides among the nodes
   that come close.
"""

from functools import cached_property

import numpy as np

from reprieve.preemption.minimal.branch import BranchAndBound, Found
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.node_bounds import Dual, capacity, dual, holdings, node_bounds
from reprieve.preemption.minimal.options import NodeOptions, Option
from reprieve.preemption.minimal.problem import Answer, Flags, Ints, Problem
from reprieve.preemption.minimal.work_limit import WorkLimit

#: Rounds of step 2, and how many more nodes than those already chosen go to branch and bound.
ROUNDS, SPARE = 12, 48


class UniformSearch:
    def __init__(self, problem: Problem, evictable: Flags, limit: int, work: WorkLimit) -> None:
        self.problem, self.evictable, self.limit, self.work = problem, evictable, limit, work
        self.held = holdings(problem, evictable)
        found = node_bounds(problem, self.held, capacity(problem, evictable), 0)
        self.cost, self.exact, self.leaving = found
        self.known: dict[tuple[int, int], Option] = {}
        work.take(0.3 * problem.nodes * self.cost.shape[1])
        self._by_node = self.held.by_cost
        self._starts = np.searchsorted(self.held.node[self._by_node], np.arange(problem.nodes + 1))

    @cached_property
    def node_options(self) -> NodeOptions:
        return NodeOptions(self.problem, self.evictable, self.work)

    def _weakened(self, found: Found) -> Found:
        """Bounds alone are exact; options of nodes looked at closely may be incomplete."""
        return found.weakened_by(self.node_options) if "node_options" in vars(self) else found

    def quick(self) -> Answer | None:
        """The answer that the picks make, without closing the gap to the bound."""
        _, picks = self._settle(dual(self.cost, self.problem.need))
        direct = self._direct(picks) if picks else Found(None, INFINITE)
        return self.solve().answer if direct.answer is None else direct.answer

    def solve(self) -> Found:
        price = dual(self.cost, self.problem.need)
        if price.bound >= self.limit:
            return Found(None, self.limit, self.limit)
        price, picks = self._settle(price)
        if price.bound >= self.limit:
            return self._weakened(Found(None, self.limit, self.limit))
        direct = self._direct(picks) if picks else Found(None, INFINITE)
        if direct.cost <= price.bound:
            return self._weakened(direct._replace(bound=direct.cost))
        return self._weakened(self._close_gap(price, picks, direct))

    def _settle(self, price: Dual) -> tuple[Dual, dict[int, int]]:
        """Look closely at what is picked until all of it is exact: the price then, and the picks."""
        picks = self._picks(price)
        for _ in range(ROUNDS):
            vague = [node for node, k in picks.items() if not self.exact[node, k]]
            if not vague or self.work.spent:
                break
            for node in vague:
                if not self.work.spent:
                    self._look_closely(node)
            price = dual(self.cost, self.problem.need)
            picks = self._picks(price)
        return price, picks

    def _close_gap(self, price: Dual, picks: dict[int, int], direct: Found) -> Found:
        """What branch and bound finds among the nodes that come close, if the picks leave a gap."""
        best = min(self.limit, direct.cost)
        near = self._near(price, picks, best - price.bound)
        exact = BranchAndBound(self.problem, self.evictable, near, best, self.work).solve()
        outside = np.delete(price.reduced, near)
        beyond = price.bound + max(0, int(outside.min(initial=self.limit)))
        found = exact if exact.answer is not None else direct if direct.cost < self.limit else exact
        inside = 0 if exact.bound is None else min(exact.bound, beyond)
        return found._replace(bound=min(found.cost, max(price.bound, inside)))

    def _picks(self, price: Dual) -> dict[int, int]:
        """Pods by node: what is wanted at the price, then the next best until the number is right."""
        problem, cost = self.problem, self.cost
        offers = cost - price.price * np.arange(cost.shape[1])
        wanted = price.wanted.copy()
        missing = problem.need - int(wanted.sum())
        if missing:
            extra = offers - offers[np.arange(len(wanted)), wanted][:, None]
            steps = np.arange(cost.shape[1])[None, :] - wanted[:, None]
            node, k = np.nonzero((steps > 0 if missing > 0 else steps < 0) & (cost < INFINITE))
            for index in np.lexsort((k, node, extra[node, k])).tolist():
                step = int(k[index] - wanted[node[index]])
                if 0 < step <= missing or missing <= step < 0:
                    wanted[node[index]] += step
                    missing -= step
                if not missing:
                    break
        if missing:
            return {}
        return {node: int(wanted[node]) for node in np.flatnonzero(wanted).tolist()}

    def _look_closely(self, node: int) -> None:
        """Replace the bounds of a node by the cost of its options, spanning units in equal shares."""
        best: dict[int, int] = {}
        rows = slice(self._starts[node], self._starts[node + 1])
        share = dict(
            zip(
                self.held.unit[self._by_node[rows]].tolist(),
                self.held.cost[self._by_node[rows]].tolist(),
                strict=True,
            )
        )
        for option in self.node_options.options(node, INFINITE):
            ((_, k),) = option.placed
            cost = option.cost + sum(share[unit] for unit in option.spans)
            if cost < best.get(k, INFINITE):
                best[k] = cost
                self.known[node, k] = option
        for k in range(1, self.cost.shape[1]):
            self.cost[node, k] = max(int(self.cost[node, k]), best.get(k, INFINITE))
        self.exact[node] = True

    def _direct(self, picks: dict[int, int]) -> Found:
        """The answer made of the picked offers, at its true cost."""
        problem = self.problem
        units: set[int] = set()
        placed = np.zeros((1, problem.nodes), np.int64)
        for node, k in picks.items():
            placed[0, node] = k
            option = self.known.get((node, k))
            if option is not None:
                units.update(option.units, option.spans)
            elif self.exact[node, k]:
                ranked = self._by_node[self._starts[node] : self._starts[node + 1]]
                bits = int(self.leaving[node, k])
                units.update(self.held.unit[row] for at, row in enumerate(ranked.tolist()) if bits >> at & 1)
            else:
                return Found(None, INFINITE)
        victims = frozenset(units)
        return Found(Answer(problem.whole(victims), placed), problem.cost(victims))

    def _near(self, price: Dual, picks: dict[int, int], gap: int) -> list[int]:
        """The picked nodes and some of those that could replace them within the gap, nearest first."""
        order = np.argsort(price.reduced, kind="stable")
        close = [n for n in order[price.reduced[order] <= gap].tolist() if n not in picks]
        return sorted([*picks, *close[: SPARE + len(picks) // 4]])


def choose_nodes(problem: Problem, evictable: Flags, most: int) -> list[int]:
    """For several classes: the nodes that are cheap for one of them, each class by itself."""
    fits, held = capacity(problem, evictable), holdings(problem, evictable)
    chosen: set[int] = set()
    for cls in range(problem.classes):
        count = min(problem.need, int(problem.counts[cls]))
        price = dual(node_bounds(problem, held, fits, cls).cost, count)
        order: Ints = np.lexsort((np.arange(problem.nodes), price.reduced))
        useful = order[price.reduced[order] < INFINITE // 2]
        enough = int(np.searchsorted(np.cumsum(fits[cls][useful]), 2 * count)) + 8
        chosen.update(useful[: min(enough, most)].tolist())
    return sorted(chosen)
