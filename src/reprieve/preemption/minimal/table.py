"""Which option to take on which node: a dynamic program over the nodes, exact for separable costs.

The state after some nodes is how many pods were placed on each *axis* (one for every class that could run out, one for
all the others) and how much of each budget is drawn. Budgets saturate at their allowance; what goes beyond is paid on the
spot.
"""

import itertools
from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.meter import Meter
from reprieve.preemption.minimal.model import Ints

INFINITE = 1 << 61


class Step(NamedTuple):
    """The distinct moves of one node: each the cheapest of the options that move equally far."""

    moves: tuple[tuple[int, ...], ...]  # pods on each axis, then draws on each budget
    option: tuple[int, ...]  # which option that is
    cost: tuple[int, ...]


class Table:
    """Cheapest way to place `need` pods, for axes of given lengths and budgets of given allowances."""

    def __init__(self, need: int, lengths: tuple[int, ...], allowed: tuple[int, ...], price: int) -> None:
        self.need, self.lengths, self.allowed, self.price = need, lengths, allowed, price
        self.shape = tuple(n + 1 for n in (*lengths, *allowed))
        pods = np.zeros(self.shape, np.int64)
        for axis, length in enumerate(lengths):
            pods += np.arange(length + 1).reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        self._goal = pods == need
        self._known: dict[tuple[int, ...], list[tuple[tuple[slice, ...], tuple[slice, ...], int]]] = {}

    def solve(self, steps: list[Step], drawn: Ints, meter: Meter) -> tuple[int, list[int]] | None:
        """The least cost and the option taken on each node (-1: none), or None when there is no way."""
        start = np.full(self.shape, INFINITE, np.int64)
        beyond = np.maximum(drawn - np.array(self.allowed, np.int64), 0)
        start[(*(0 for _ in self.lengths), *np.minimum(drawn, self.allowed).tolist())] = self.price * int(
            beyond.sum()
        )
        layers = [start]
        for step in steps:
            layers.append(self._advance(layers[-1], step))
            meter.take((4 + start.size / 1000) * len(step.moves) + 2)
        final = np.where(self._goal, layers[-1], INFINITE)
        best = int(final.argmin())
        cost = int(final.flat[best])
        if cost >= INFINITE:
            return None
        state = tuple(int(i) for i in np.unravel_index(best, self.shape))
        return cost, self._trace(layers, steps, state)

    def _advance(self, before: Ints, step: Step) -> Ints:
        after = before.copy()
        for move, cost in zip(step.moves, step.cost, strict=True):
            for source, target, beyond in self._shifts(move):
                part = after[target]
                np.minimum(part, before[source] + (cost + beyond * self.price), out=part)
        return after

    def _shifts(self, move: tuple[int, ...]) -> list[tuple[tuple[slice, ...], tuple[slice, ...], int]]:
        """Slices (from, to) of a move, and how many pods go beyond a budget in each."""
        if move in self._known:
            return self._known[move]
        axes: list[list[tuple[slice, slice, int]]] = []
        for by, length in zip(move, self.lengths, strict=False):
            axes.append([(slice(0, length + 1 - by), slice(by, None), 0)])
        for by, allowed in zip(move[len(self.lengths) :], self.allowed, strict=True):
            inside = [(slice(0, allowed + 1 - by), slice(by, None), 0)] if by <= allowed else []
            over = [
                (slice(have, have + 1), slice(allowed, None), have + by - allowed)
                for have in range(max(0, allowed - by + 1), allowed + 1)
            ]
            axes.append(inside + over)
        self._known[move] = [
            (tuple(s for s, _, _ in each), tuple(t for _, t, _ in each), sum(b for _, _, b in each))
            for each in itertools.product(*axes)
        ]
        return self._known[move]

    def _trace(self, layers: list[Ints], steps: list[Step], state: tuple[int, ...]) -> list[int]:
        taken = [-1] * len(steps)
        for at in range(len(steps) - 1, -1, -1):
            before, here = layers[at], int(layers[at + 1][state])
            if int(before[state]) == here:
                continue
            taken[at], state = self._origin(before, steps[at], state, here)
        return taken

    def _origin(
        self, before: Ints, step: Step, state: tuple[int, ...], here: int
    ) -> tuple[int, tuple[int, ...]]:
        for move, option, cost in zip(step.moves, step.option, step.cost, strict=True):
            choices = [
                [have - by]
                if axis < len(self.lengths) or have < self.shape[axis] - 1
                else range(have - by, have + 1)
                for axis, (have, by) in enumerate(zip(state, move, strict=True))
            ]
            for origin in itertools.product(*choices):
                if min(origin) < 0:
                    continue
                beyond = sum(
                    max(0, have + by - allowed)
                    for have, by, allowed in zip(
                        origin[len(self.lengths) :], move[len(self.lengths) :], self.allowed, strict=True
                    )
                )
                if int(before[origin]) + cost + beyond * self.price == here:
                    return option, origin
        raise AssertionError("a state of the table has no origin")
