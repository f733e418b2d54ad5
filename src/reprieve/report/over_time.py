"""Use and queue over time: exact means in equal buckets, so any number of jobs makes charts of one size."""

from typing import NamedTuple

import numpy as np

from reprieve.report.columns import Columns, Floats

BUCKETS = 1500
GOES_ON = ("ended", "cut")
"""A stretch that is over for another reason is followed by waiting."""


class Series(NamedTuple):
    """For each bucket; `time` is its middle, in seconds."""

    time: Floats
    used: Floats
    """GPUs or cores that were held."""
    waiting: Floats
    """Jobs that waited, for quota or for a place."""


def over_time(columns: Columns, end: float, buckets: int = BUCKETS) -> Series:
    edges = np.linspace(0.0, end, buckets + 1)
    size = columns.size[columns.job]
    held = _means([(columns.begin, size), (columns.over, -size)], edges)
    again = ~np.isin(columns.why, GOES_ON)
    come = columns.submit[~columns.left_out]
    waiting = _means(
        [
            (come, np.ones(len(come))),
            (columns.begin, -np.ones(len(columns.begin))),
            (columns.over[again], np.ones(int(again.sum()))),
        ],
        edges,
    )
    return Series((edges[:-1] + edges[1:]) / 2, held, waiting)


def _means(changes: list[tuple[Floats, Floats]], edges: Floats) -> Floats:
    """The mean in each bucket of what changes at some times by some amounts."""
    times = np.clip(np.concatenate([each for each, _ in changes]), 0.0, edges[-1])
    steps = np.concatenate([each for _, each in changes])
    order = np.argsort(times, kind="stable")
    times = np.concatenate([[0.0], times[order], [edges[-1]]])
    level = np.concatenate([[0.0], np.cumsum(steps[order])])
    area = np.concatenate([[0.0], np.cumsum(level * np.diff(times))])
    means: Floats = np.diff(np.interp(edges, times, area)) / np.diff(edges)
    return np.maximum(means, 0.0)
