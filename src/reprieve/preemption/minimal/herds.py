"""A first answer for large problems in which groups that live on several nodes leave as a whole.

A group that holds room on many nodes can be the cheapest way to all of it. Which groups should go is a knapsack: each makes room for
so many pods at such a cost, and what single units on their own nodes would take for the rest is known from the bounds of all nodes.
Rooms are added up as if groups did not share nodes; once the groups are chosen, the rest is worked out anew with their room free.
"""

from dataclasses import replace

import numpy as np

from reprieve.preemption.minimal.curves import capacity, curves, pieces
from reprieve.preemption.minimal.model import Flags, Ints, Problem
from reprieve.preemption.minimal.table import INFINITE


def groups_to_go(problem: Problem, spans: Flags, local: Flags) -> list[int]:
    """Of the units that live on several nodes those whose departure pays, for a problem of one class."""
    units, gain = _gains(problem, spans)
    price = problem.weight + problem.violation_price() * problem.spent
    best = _without_groups(problem, local)
    taken: list[tuple[int, Flags]] = []
    for unit, pods in sorted(zip(units.tolist(), gain.tolist(), strict=True), key=lambda each: -each[1]):
        moved = np.concatenate([np.full(min(pods, len(best)), best[0]), best[:-pods]])[: len(best)]
        cheaper = moved + int(price[unit]) < best
        best = np.where(cheaper, moved + int(price[unit]), best)
        taken.append((unit, cheaper))
    chosen, left = [], problem.need
    for (unit, cheaper), pods in zip(reversed(taken), sorted(gain.tolist()), strict=True):
        if cheaper[left]:
            chosen.append(unit)
            left = max(0, left - pods)
    return chosen


def freed_of(problem: Problem, units: list[int]) -> Problem:
    """The problem once these units have left."""
    gone = np.zeros(problem.units, np.bool_)
    gone[units] = True
    stays = ~gone[problem.pod_unit]
    free, _ = problem.room(frozenset(units))
    return replace(
        problem,
        free=free,
        pod_unit=problem.pod_unit[stays],
        pod_node=problem.pod_node[stays],
        pod_requests=problem.pod_requests[stays],
        pod_bars=problem.pod_bars[stays],
    )


def _gains(problem: Problem, spans: Flags) -> tuple[Ints, Ints]:
    """Units, and how many more pods find room when each of them leaves by itself; only those that make room for any."""
    held = pieces(problem, spans)
    asked, most = problem.requests[0], problem.most[0]
    nobody = np.zeros(problem.units, np.bool_)
    before = capacity(problem, nobody)[0]
    room = problem.free[held.node] + held.requests
    fits = np.minimum(most[held.node], problem.need)
    for resource in np.flatnonzero(asked):
        fits = np.minimum(fits, np.maximum(room[:, resource], 0) // asked[resource])
    gain = np.bincount(held.unit, np.maximum(fits - before[held.node], 0), problem.units).astype(np.int64)
    units = np.flatnonzero(gain)
    return units, gain[units]


def _without_groups(problem: Problem, local: Flags) -> Ints:
    """[pods] what it costs to place so many with units on their own nodes alone, roughly."""
    cost = curves(problem, pieces(problem, local), capacity(problem, local), 0).cost
    steps = np.diff(cost, axis=1)
    steps = np.sort(steps[(cost[:, 1:] < INFINITE) & (steps >= 0)])[: problem.need]
    total = np.full(problem.need + 1, INFINITE, np.int64)
    total[: len(steps) + 1] = np.concatenate([[0], np.cumsum(steps)])
    return total
