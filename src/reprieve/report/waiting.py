"""How long jobs of each class waited for their first start: the share that had started after each time."""

from collections.abc import Sequence

import numpy as np

from reprieve.report.columns import Columns, Floats

POINTS = 160
LEAST = 1.0
"""Seconds at which a logarithmic axis begins; who waited less has started by then."""


def axis(longest: float) -> Floats:
    """Times that are evenly far apart on a logarithmic axis."""
    return np.geomspace(LEAST, max(longest, 10 * LEAST), POINTS)


def longest(all_columns: Sequence[Columns]) -> float:
    return max((float(each.wait[~each.left_out].max(initial=0.0)) for each in all_columns), default=0.0)


def started_within(columns: Columns, klass: str, times: Floats) -> Floats:
    """Of the jobs of a class that could run at all; who never started keeps it below 1."""
    mine = (columns.klass == klass) & ~columns.left_out
    waits = np.sort(columns.wait[mine & columns.started])
    return np.searchsorted(waits, times, side="right") / max(1, int(mine.sum()))


def percentiles(columns: Columns, klass: str, shares: Sequence[float]) -> list[float | None]:
    """After how many seconds these shares of the class had started; None: they never did."""
    mine = (columns.klass == klass) & ~columns.left_out
    waits = np.sort(columns.wait[mine & columns.started])
    places = [int(np.ceil(share * int(mine.sum()))) - 1 for share in shares]
    return [float(waits[max(place, 0)]) if 0 <= max(place, 0) < len(waits) else None for place in places]
