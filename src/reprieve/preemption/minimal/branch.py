"""Branch and bound over spanning units (units with pods on several nodes); everything else is solved exactly.

While a spanning unit is undecided, every node that relies on its eviction pays a share of its cost. The
shares of a unit add up to at most its cost, so the optimum of the dynamic program is a lower bound. A unit
that is decided to be evicted is paid once and its resources are free on all nodes; one that is decided to
stay frees nothing.
"""

import heapq
import itertools
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE, DynamicProgram, Transitions
from reprieve.preemption.minimal.options import NodeOptions, Option
from reprieve.preemption.minimal.problem import Answer, Flags, Ints, Problem
from reprieve.preemption.minimal.work_limit import WorkLimit

#: States of the dynamic program; budgets that would exceed it are counted afterwards, and the bound ignores
#: them.
STATES = 2_500
#: Options times states: what one run of the dynamic program may cost.
CELLS = 1_000_000
#: Rounds in which shares of undecided units are moved to the nodes that rely on their eviction.
ROUNDS = 6


class Found(NamedTuple):
    """The cheapest answer below a limit, and a lower bound for every answer."""

    answer: Answer | None
    cost: int  # violations times their price plus weight
    bound: int | None = None  # None: unknown

    def weakened_by(self, node_options: NodeOptions) -> "Found":
        """The same with the bound reduced by what the options may have left out."""
        if self.bound is None or not node_options.complete:
            return self._replace(bound=None)
        return self._replace(bound=max(0, self.bound - node_options.slack))


class BranchAndBound:
    """Solves a problem exactly on some of its nodes, for the units that may be evicted."""

    def __init__(
        self, problem: Problem, evictable: Flags, nodes: list[int], limit: int, work: WorkLimit
    ) -> None:
        self.problem, self.work, self.limit = problem, work, limit
        self.node_options = NodeOptions(problem, evictable, work)
        self.nodes: list[int] = []
        self.options: list[Option] = []
        self.slices: list[tuple[int, int]] = []
        for node in nodes:
            found = [] if work.spent else self.node_options.options(node, limit)
            if found:
                self.nodes.append(node)
                self.slices.append((len(self.options), len(self.options) + len(found)))
                self.options += found
        self.node_options.complete &= not work.spent
        self.axis_of = _axes(problem, self.node_options.most[:, self.nodes])
        self.lengths = tuple(
            min(
                problem.need,
                int(problem.counts[[c for c in range(problem.classes) if self.axis_of[c] == axis]].sum()),
            )
            for axis in range(max(self.axis_of, default=0) + 1)
        )
        self._index()
        self.best: Found = Found(None, limit)
        self.relaxed: list[int] = []  # victims of the latest relaxation
        self.count_exactly(())

    def count_exactly(self, budgets: tuple[int, ...]) -> None:
        """Give these budgets an axis; a pod under another one counts as a violation, less its allowance.

        Both are lower bounds. The second is exact once a budget is used up, and then the better one.
        """
        problem = self.problem
        states, kept = int(np.prod([n + 1 for n in self.lengths])), []
        most = min(STATES, CELLS // max(1, len(self.options)))
        for budget in sorted(budgets, key=lambda b: (int(problem.allowed[b]), b)):
            if states * (int(problem.allowed[budget]) + 1) <= most:
                states *= int(problem.allowed[budget]) + 1
                kept.append(budget)
        self.budgets = sorted(kept)
        linear = [b for b in range(len(problem.allowed)) if b not in budgets]
        price = self.node_options.price
        self.unit_cost = self.node_options.cost + price * problem.uses[:, linear].sum(axis=1)
        self.cost = np.array(
            [o.cost + price * sum(o.uses[b] for b in linear) for o in self.options], np.int64
        )
        self.rebate = price * int(problem.allowed[linear].sum())
        allowed = tuple(int(problem.allowed[b]) for b in self.budgets)
        self.program = DynamicProgram(problem.need, self.lengths, allowed, price)
        self._group()

    def _index(self) -> None:
        """The pairs (spanning unit, node) that options rely on."""
        pairs: dict[tuple[int, int], int] = {}
        entries = [
            (index, pairs.setdefault((unit, option.node), len(pairs)))
            for index, option in enumerate(self.options)
            for unit in option.spans
        ]
        self.pair_unit = np.array([unit for unit, _ in pairs], np.int64)
        self.entry_option = np.array([option for option, _ in entries], np.int64)
        self.entry_pair = np.array([pair for _, pair in entries], np.int64)

    def _group(self) -> None:
        """Options of a node with the same move through the states compete: only the cheapest can be taken."""
        self.steps: list[Transitions] = []
        order: list[int] = []  # options, those of one move side by side
        starts: list[int] = []  # where each move begins in it
        self.bounds = [0]  # where the moves of each node begin in `starts`
        for first, last in self.slices:
            grouped: dict[tuple[int, ...], list[int]] = defaultdict(list)
            for index in range(first, last):
                grouped[self._move(self.options[index])].append(index)
            self.steps.append(self.program.rows(list(grouped)))
            for rows in grouped.values():
                starts.append(len(order))
                order += rows
            self.bounds.append(len(starts))
        self.order, self.starts = np.array(order, np.int64), np.array(starts, np.int64)

    def _move(self, option: Option) -> tuple[int, ...]:
        pods = [0] * len(self.lengths)
        for cls, count in option.placed:
            pods[self.axis_of[cls]] += count
        return (*pods, *(option.uses[budget] for budget in self.budgets))

    def solve(self) -> Found:
        """The cheapest answer that costs less than the limit.

        Budgets first count as used up; those that turn out not to be get an axis, and if a gap remains, all
        do.
        """
        everything = tuple(range(len(self.problem.allowed)))
        if not everything:
            bound = self._branch()
            return self.best._replace(bound=bound).weakened_by(self.node_options)
        bound = self._root()[0]
        drawn = self.problem.uses[self.relaxed].sum(axis=0)
        exact = tuple(np.flatnonzero(drawn < self.problem.allowed).tolist())
        for budgets in dict.fromkeys([exact, everything]):
            self.count_exactly(budgets)
            bound = max(bound, self._branch())
            if bound >= self.best.cost or self.work.spent:
                break
        return self.best._replace(bound=min(bound, self.best.cost)).weakened_by(self.node_options)

    def _branch(self) -> int:
        """Decide one unit after the other, lowest bound first. Returns a lower bound for every answer."""
        bound, share, partial = self._root()
        queue: list[tuple[int, int, frozenset[int], frozenset[int], int]] = []
        if partial is not None:
            queue.append((bound, 0, frozenset(), frozenset(), partial))
        leaves = bound if partial is None else INFINITE
        ticket = 0
        while queue and queue[0][0] < self.best.cost and not self.work.spent:
            _, _, out, stay, unit = heapq.heappop(queue)
            for child_out, child_stay in ((out | {unit}, stay), (out, stay | {unit})):
                bound, partial, _ = self._relax(share, child_out, child_stay)
                if partial is None:
                    leaves = min(leaves, bound)
                elif bound < self.best.cost:
                    ticket += 1
                    heapq.heappush(queue, (bound, ticket, child_out, child_stay, partial))
        return min([leaves, self.best.cost, *(entry[0] for entry in queue)])

    def _shares(self) -> Ints:
        share = np.zeros(len(self.pair_unit), np.int64)
        units, counts = np.unique(self.pair_unit, return_counts=True)
        for unit, count in zip(units.tolist(), counts.tolist(), strict=True):
            share[self.pair_unit == unit] = int(self.unit_cost[unit]) // count
        return share

    def _root(self) -> tuple[int, Ints, int | None]:
        """The first bound, raised by moving shares from nodes that do not rely on a unit to those that do."""
        none: frozenset[int] = frozenset()
        share = self._shares()
        bound, partial, used = self._relax(share, none, none)
        best = bound, share, partial
        for _ in range(ROUNDS):
            if partial is None or bound >= self.best.cost or self.work.spent:
                break
            share = self._moved(share, used)
            bound, partial, used = self._relax(share, none, none)
            if bound > best[0] or partial is None:
                best = bound, share, partial
        return best

    def _moved(self, share: Ints, used: Flags) -> Ints:
        share = share.copy()
        for unit in np.unique(self.pair_unit[used]).tolist():
            own = self.pair_unit == unit
            wanted, idle = np.flatnonzero(own & used), np.flatnonzero(own & ~used)
            if len(idle):
                given = share[idle] // 2
                share[idle] -= given
                share[wanted] += int(given.sum()) // len(wanted)
        return share

    def _relax(self, share: Ints, out: frozenset[int], stay: frozenset[int]) -> tuple[int, int | None, Flags]:
        """A lower bound given which units leave and stay, a unit to branch on, and the pairs in use."""
        problem = self.problem
        decided = np.zeros(problem.units, np.int64)
        decided[list(out)], decided[list(stay)] = 1, 2
        state = decided[self.pair_unit]
        cost = self.cost.copy()
        np.add.at(cost, self.entry_option, np.where(state == 0, share, 0)[self.entry_pair])
        cost[self.entry_option[state[self.entry_pair] == 2]] = INFINITE
        leaving = np.fromiter(sorted(out), np.int64)
        paid = int(self.unit_cost[leaving].sum()) - self.rebate
        drawn = problem.uses[leaving].sum(axis=0)[self.budgets]
        used = np.zeros(len(self.pair_unit), np.bool_)
        solved = self._solve_program(cost, drawn)
        if solved is None:
            return INFINITE, None, used
        bound, taken = solved[0] + paid, solved[1]
        used[self.entry_pair[np.isin(self.entry_option, taken)]] = True
        true_cost = self._consider_answer(taken, out)
        undecided = np.unique(self.pair_unit[used & (state == 0)]).tolist()
        if true_cost <= bound or not undecided:
            return bound, None, used
        unpaid = {u: int(self.unit_cost[u] - share[used & (self.pair_unit == u)].sum()) for u in undecided}
        return bound, max(undecided, key=lambda u: (unpaid[u], int(problem.uses[u].sum()), -u)), used

    def _solve_program(self, cost: Ints, drawn: Ints) -> tuple[int, list[int]] | None:
        """The least sum of options, at most one for each node, and which they are."""
        if not self.options:
            return None
        ordered = cost[self.order]
        moves = np.minimum.reduceat(ordered, self.starts)
        costs = [moves[a:b] for a, b in itertools.pairwise(self.bounds)]
        solved = self.program.solve(self.steps, costs, drawn, self.work)
        if solved is None:
            return None
        taken = []
        for first, move in zip(self.bounds, solved[1], strict=False):
            if move >= 0:
                begin = int(self.starts[first + move])
                end = begin + int(np.flatnonzero(ordered[begin:] == moves[first + move])[0])
                taken.append(int(self.order[end]))
        return solved[0], taken

    def _consider_answer(self, taken: list[int], out: frozenset[int]) -> int:
        """Keep the answer made of these options if it is the best so far. Returns its true cost."""
        problem = self.problem
        chosen = [self.options[index] for index in taken]
        units = out.union(*(option.units for option in chosen), *(option.spans for option in chosen))
        self.relaxed = sorted(problem.whole(units))
        cost = problem.cost(units)
        if cost < self.best.cost:
            placed = np.zeros((problem.classes, problem.nodes), np.int64)
            for option in chosen:
                for cls, count in option.placed:
                    placed[cls, option.node] += count
            self.best = Found(Answer(problem.whole(units), placed), cost)
        return cost


def _axes(problem: Problem, most: Ints) -> list[int]:
    """The axis of each class: its own if it may run out on several nodes, else the shared first."""
    runs_out = ((most > 0).sum(axis=1) > 1) & (problem.counts < problem.need)
    axes, used = [], 0
    for own in runs_out.tolist():
        used += own
        axes.append(used if own else 0)
    return axes if not all(runs_out) else [axis - 1 for axis in axes]
