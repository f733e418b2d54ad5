"""Partial admission: how far do the pod sets of a workload have to shrink?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from reprieve.quota.demand import Demand

T = TypeVar("T")


def can_shrink(demands: Sequence[Demand]) -> bool:
    return any(demand.min_count is not None and demand.min_count < demand.count for demand in demands)


def largest_that_works(
    demands: Sequence[Demand], attempt: Callable[[Sequence[Demand]], T | None]
) -> T | None:
    """Shrink all pod sets in proportion, as little as needed.

    A binary search, so `attempt` should be monotonic.
    """
    deltas = [
        0 if demand.min_count is None else max(0, demand.count - demand.min_count) for demand in demands
    ]
    total = sum(deltas)
    low, high, best = 0, total + 1, None
    while low < high:
        middle = (low + high) // 2
        reduced = [
            demand.scaled(demand.count - delta * middle // total)
            for demand, delta in zip(demands, deltas, strict=True)
        ]
        found = attempt(reduced)
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    return best
