"""Which option to take on which node: a dynamic program over the nodes, exact for separable costs.

The state after some nodes is how many pods were placed on each *axis* (one for every class that could run
out, one for all the others) and how much of each budget is drawn. Budgets saturate at their allowance; what
goes beyond is paid at once. All moves of a node are tried together: each is a row that says from which state
every state is reached.
"""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprieve.preemption.minimal.problem import Ints
from reprieve.preemption.minimal.work_limit import WorkLimit

INFINITE = 1 << 61


class Transitions(NamedTuple):
    """Ways to move on: the origin of each state, the extra cost, and which of the moves it is."""

    origin: NDArray[np.int32]  # [row, state]; one past the last state: not reached
    extra: Ints  # [row] violations times their price
    move: Ints  # [row]


class DynamicProgram:
    """The cheapest way to place `need` pods, for axes of given lengths and budgets of given allowances."""

    def __init__(self, need: int, lengths: tuple[int, ...], allowed: tuple[int, ...], price: int) -> None:
        self.need, self.lengths, self.allowed, self.price = need, lengths, allowed, price
        self.shape = tuple(n + 1 for n in (*lengths, *allowed))
        self.states = int(np.prod(self.shape))
        grid = np.indices(self.shape).reshape(len(self.shape), self.states)
        self._pods = grid[: len(lengths)].sum(axis=0)
        self._grid = grid
        self._known: dict[tuple[int, ...], tuple[NDArray[np.int32], Ints]] = {}

    def rows(self, moves: list[tuple[int, ...]]) -> Transitions:
        """The rows of one node; a move is the pods on each axis, then the draws on each budget."""
        parts = [self._move(move) for move in moves]
        return Transitions(
            np.concatenate([origin for origin, _ in parts]),
            np.concatenate([extra for _, extra in parts]),
            np.repeat(np.arange(len(moves)), [len(extra) for _, extra in parts]),
        )

    def solve(
        self, steps: list[Transitions], costs: list[Ints], drawn: Ints, work: WorkLimit
    ) -> tuple[int, list[int]] | None:
        """The least cost and the move taken on each node (-1: none), or None when there is none.

        `costs` holds the cost of each node's moves, `drawn` what is already drawn from the budgets.
        """
        layer = np.full(self.states + 1, INFINITE, np.int64)
        beyond = np.maximum(drawn - np.array(self.allowed, np.int64), 0)
        start = (*(0 for _ in self.lengths), *np.minimum(drawn, self.allowed).tolist())
        layer[int(np.ravel_multi_index(start, self.shape))] = self.price * int(beyond.sum())
        layers = [layer]
        for step, cost in zip(steps, costs, strict=True):
            reached = layer[step.origin] + (cost[step.move] + step.extra)[:, None]
            layer = layer.copy()
            np.minimum(layer[:-1], reached.min(axis=0), out=layer[:-1])
            layers.append(layer)
            work.take(4 + step.origin.size / 500)
        final = np.where(self._pods == self.need, layer[:-1], INFINITE)
        state = int(final.argmin())
        if final[state] >= INFINITE:
            return None
        return int(final[state]), self._trace(layers, steps, costs, state)

    def _trace(
        self, layers: list[Ints], steps: list[Transitions], costs: list[Ints], state: int
    ) -> list[int]:
        taken = [-1] * len(steps)
        for at in range(len(steps) - 1, -1, -1):
            before, step = layers[at], steps[at]
            if before[state] != layers[at + 1][state]:
                reached = before[step.origin[:, state]] + costs[at][step.move] + step.extra
                row = int(reached.argmin())
                taken[at], state = int(step.move[row]), int(step.origin[row, state])
        return taken

    def _move(self, move: tuple[int, ...]) -> tuple[NDArray[np.int32], Ints]:
        """The rows of one move: one for the plain shift, and one for each way to saturate the budgets."""
        if move not in self._known:
            choices: list[range] = [range(1)] * len(self.lengths)
            choices += [
                range(min(by, allowed) + 1)
                for by, allowed in zip(self._draws(move), self.allowed, strict=True)
            ]
            rows = [self._row(move, lacking) for lacking in itertools.product(*choices)]
            self._known[move] = (
                np.array([origin for origin, _ in rows], np.int32),
                np.array([extra for _, extra in rows], np.int64),
            )
        return self._known[move]

    def _draws(self, move: tuple[int, ...]) -> tuple[int, ...]:
        return move[len(self.lengths) :]

    def _row(self, move: tuple[int, ...], left: tuple[int, ...]) -> tuple[Ints, int]:
        """Origins of all states if budgets that end saturated had `left` of their allowance before."""
        reached = np.ones(self.states, np.bool_)
        origin, extra = [], 0
        for axis, by in enumerate(move):
            have = self._grid[axis]
            before = have - by
            if axis >= len(self.lengths):
                allowed = self.allowed[axis - len(self.lengths)]
                saturated = have == allowed
                if left[axis] < by:
                    before = np.where(saturated, allowed - left[axis], before)
                    reached &= saturated
                    extra += (by - left[axis]) * self.price
            reached &= before >= 0
            origin.append(np.maximum(before, 0))
        flat = np.ravel_multi_index(tuple(origin), self.shape)
        return np.where(reached, flat, self.states), extra
