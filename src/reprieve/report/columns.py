"""A result as columns: times in seconds, sizes in GPUs or cores."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from reprieve.simulate import Result, seconds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
EVICTED = ("preempted", "quota")
"""Why a stretch is over: for another job."""


class Columns:
    def __init__(self, result: Result, *, by_gpu: bool) -> None:
        jobs, stretches = result.jobs, result.stretches
        self.result = result
        self.per_pod = np.array([job.gpu if by_gpu else job.cpu for job in jobs], float) / 1000
        self.pods = np.array([job.pods for job in jobs], int)
        self.size = self.per_pod * self.pods
        self.submit = _seconds(job.submit for job in jobs)
        self.duration = _seconds(job.duration for job in jobs)
        self.first = _seconds(fate.first for fate in result.fates)
        self.finish = _seconds(fate.finish for fate in result.fates)
        self.lost = _seconds(fate.lost for fate in result.fates) * self.size / 3600
        """GPU-hours or core-hours."""
        self.preempted = np.array([fate.preempted for fate in result.fates], int)
        self.klass = np.array([job.klass for job in jobs])
        end = seconds(result.end)
        self.later = self.submit > end
        """They come only after the end of a run that was cut: nobody has seen them wait."""
        self.left_out = self.later.copy()
        self.left_out[[*result.too_large, *result.unqueued]] = True
        started = self.first >= 0
        self.wait = np.where(started, self.first, np.maximum(end, self.submit)) - self.submit
        """For the first start; of a job that never started, until the end of the simulation."""
        self.started = started
        self.job = np.array([each.job for each in stretches], int)
        self.begin = _seconds(each.start for each in stretches)
        self.over = _seconds(each.end for each in stretches)
        self.by = np.array([each.by for each in stretches], int)
        self.why = np.array([each.why for each in stretches], str)
        self.stretch_lost = _seconds(each.lost for each in stretches) * self.size[self.job] / 3600


def _seconds(ticks: Iterable[int]) -> Floats:
    return np.array([seconds(each) for each in ticks], float)
