"""What a simulation is judged by. The formulas are in docs/simulate.md; times in seconds, work in hours.

Work is counted in GPUs; in cores where no job asks for a GPU. A job is *ended* when it did all its work;
means and percentiles are over ended jobs, the percentiles with linear interpolation.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reprieve.simulate.jobs import TICKS, Job
from reprieve.simulate.result import Result

Floats = NDArray[np.float64]
HOUR = 3600
LATE = 1800
"""A gang that waits longer than this for its first start is late."""
FEWEST = 10
"""Queues with fewer jobs say nothing about fairness."""
SIZES = ((1, "1"), (4, "2-4"), (8, "5-8"), (16, "9-16"))
"""Most GPUs (or cores) of a job in each size class; beyond that: more."""
LARGEST = "more"


class Spread(msgspec.Struct, frozen=True, rename="camel"):
    mean: float
    p50: float
    p99: float


class Group(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Jobs of one class, queue or size."""

    jobs: int
    ended: int
    jct: Spread | None
    """Job completion time: end - submission; None where no job ended."""
    delay: Spread | None
    """Queueing delay: first start - submission; None where no job ended."""
    preemptions_per_job: float
    lost_hours: float
    goodput: float | None


class Fairness(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Finish-time fairness: above 1 a job ended later than an even share would have let it."""

    p50: float
    p99: float
    max: float
    above_one: float
    """Share of the jobs."""


class Metrics(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    policy: str
    unit: str
    """What work is counted in: gpu or cpu."""
    jobs: int
    ended: int
    never: int
    """Jobs that did not end: too large, in no queue, or cut off by the end of the simulation."""
    too_large: int
    jct: Spread | None
    delay: Spread | None
    makespan_hours: float
    utilisation_window: float | None
    """Held in the window over window times capacity; None without nodes."""
    utilisation: float | None
    """The same over the makespan."""
    useful_hours: float
    lost_hours: float
    held_hours: float
    goodput: float | None
    preemptions: int
    preemptions_per_job: float
    failures: int
    """Runs that a node ended by failing or draining."""
    jain: float | None
    fairness: Fairness | None
    deadlines_missed: float | None
    """Share of the ended jobs with a deadline; None without any."""
    late_gangs: int
    """Jobs of several pods that started more than half an hour after their submission, or never."""
    budget_violations: int
    decisions: int
    cycles: int
    admissions: int
    quota_preemptions: int
    classes: dict[str, Group]
    queues: dict[str, Group]
    sizes: dict[str, Group]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


class _Columns:
    """The jobs as columns."""

    def __init__(self, result: Result) -> None:
        jobs, fates = result.jobs, result.fates
        self.by_gpu = any(job.gpu for job in jobs) or not any(job.cpu for job in jobs)
        self.capacity = (result.gpus if self.by_gpu else result.cores) / 1000
        self.size = np.array([self._size(job) for job in jobs], float) / 1000
        self.submit = _seconds(job.submit for job in jobs)
        self.duration = _seconds(job.duration for job in jobs)
        self.first = _seconds(fate.first for fate in fates)
        self.finish = _seconds(fate.finish for fate in fates)
        self.lost = _seconds(fate.lost for fate in fates)
        self.held = _seconds(fate.held for fate in fates)
        self.useful = _seconds(fate.useful for fate in fates)
        self.preempted = np.array([fate.preempted for fate in fates], float)
        self.ended = np.array([fate.finish >= 0 for fate in fates], bool)
        self.left_out = np.zeros(len(jobs), bool)
        """Who could never run here."""
        self.left_out[[*result.too_large, *result.unqueued]] = True
        self.jct = self.finish - self.submit
        self.delay = self.first - self.submit

    def _size(self, job: Job) -> int:
        return job.gpus if self.by_gpu else job.pods * job.cpu


def measure(result: Result, window: int | None = None) -> Metrics:
    """`window`, in ticks from the beginning: over which use is counted; from the first to the last
    submission if it is not given, and not beyond the end of a run that was cut."""
    columns = _Columns(result)
    ended = columns.ended
    submitted = [job.submit for job in result.jobs]
    first = min(submitted, default=0)
    begin, last = (first, max(submitted, default=0)) if window is None else (0, window)
    if not (ended | columns.left_out).all():
        last = min(last, result.end)
    over = float(columns.finish[ended].max()) if ended.any() else first / TICKS
    span = over - first / TICKS
    useful = float((columns.useful * columns.size).sum()) / HOUR
    lost = float((columns.lost * columns.size).sum()) / HOUR
    held = float((columns.held * columns.size).sum()) / HOUR
    return Metrics(
        policy=result.policy,
        unit="gpu" if columns.by_gpu else "cpu",
        jobs=len(result.jobs),
        ended=int(ended.sum()),
        never=int((~ended).sum()),
        too_large=len(result.too_large),
        jct=_spread(columns.jct[ended]),
        delay=_spread(columns.delay[ended]),
        makespan_hours=span / HOUR,
        utilisation_window=_used(result, columns, begin / TICKS, last / TICKS),
        utilisation=_used(result, columns, first / TICKS, over),
        useful_hours=useful,
        lost_hours=lost,
        held_hours=held,
        goodput=_share(useful, useful + lost),
        preemptions=int(columns.preempted.sum()),
        preemptions_per_job=_mean(columns.preempted),
        failures=sum(fate.failures for fate in result.fates),
        jain=_jain(result, columns),
        fairness=_fairness(result, columns),
        deadlines_missed=_missed(result),
        late_gangs=_late(result),
        budget_violations=result.budget_violations,
        decisions=result.decisions,
        cycles=result.cycles,
        admissions=result.admissions,
        quota_preemptions=result.quota_preemptions,
        classes=_groups(columns, [job.klass for job in result.jobs], ("high", "normal", "low")),
        queues=_groups(columns, [job.queue for job in result.jobs]),
        sizes=_groups(columns, [_size_class(size) for size in columns.size], [name for _, name in SIZES]),
        notes=result.notes,
    )


def _groups(columns: _Columns, labels: list[str], first: Iterable[str] = ()) -> dict[str, Group]:
    present = dict.fromkeys(labels)
    order = [*(label for label in first if label in present), *sorted(present.keys() - set(first))]
    array = np.array(labels)
    return {label: _group(columns, array == label) for label in order}


def _group(columns: _Columns, mine: NDArray[np.bool_]) -> Group:
    ended = mine & columns.ended
    useful = float((columns.useful[mine] * columns.size[mine]).sum()) / HOUR
    lost = float((columns.lost[mine] * columns.size[mine]).sum()) / HOUR
    return Group(
        jobs=int(mine.sum()),
        ended=int(ended.sum()),
        jct=_spread(columns.jct[ended]),
        delay=_spread(columns.delay[ended]),
        preemptions_per_job=_mean(columns.preempted[mine]),
        lost_hours=lost,
        goodput=_share(useful, useful + lost),
    )


def _size_class(size: float) -> str:
    return next((name for most, name in SIZES if size <= most), LARGEST)


def _used(result: Result, columns: _Columns, first: float, last: float) -> float | None:
    """What was held between the two moments."""
    if not result.stretches or last <= first:
        return None
    begin = np.clip(_seconds(each.start for each in result.stretches), first, last)
    end = np.clip(_seconds(each.end for each in result.stretches), first, last)
    size = columns.size[[each.job for each in result.stretches]]
    return _share(float(((end - begin) * size).sum()), columns.capacity * (last - first))


def _jain(result: Result, columns: _Columns) -> float | None:
    """Over queues: how fast the average job of each went, alone = 1."""
    ended = columns.ended
    speed = columns.duration[ended] / np.maximum(
        np.maximum(columns.jct[ended], columns.duration[ended]), 1e-9
    )
    queues: dict[str, list[float]] = {}
    names = [job.queue for job, over in zip(result.jobs, ended.tolist(), strict=True) if over]
    for name, each in zip(names, speed.tolist(), strict=True):
        queues.setdefault(name, []).append(each)
    means = np.array([np.mean(each) for each in queues.values() if len(each) >= FEWEST])
    return _share(float(means.sum() ** 2), len(means) * float((means**2).sum()))


def _fairness(result: Result, columns: _Columns) -> Fairness | None:
    """Against an even share of the cluster among the jobs that were there meanwhile."""
    ended = columns.ended & (columns.jct > 0) & (columns.duration > 0)
    if not columns.capacity or not ended.any():
        return None
    submit, finish, jct = columns.submit[ended], columns.finish[ended], columns.jct[ended]
    # Who has not ended was there until the run did; who could never run here was not there at all.
    end = result.end / TICKS
    there = (ended | (~columns.ended & (columns.submit < end))) & ~columns.left_out
    came, went = columns.submit[there], np.where(columns.ended, columns.finish, end)[there]
    times = np.concatenate([came, went])
    order = np.argsort(times, kind="stable")
    times = times[order]
    present = np.cumsum(np.concatenate([np.ones(len(came)), -np.ones(len(went))])[order])
    area = np.concatenate([[0.0], np.cumsum(present[:-1] * np.diff(times))])
    crowd = (np.interp(finish, times, area) - np.interp(submit, times, area)) / jct
    fair = columns.duration[ended] * np.maximum(1.0, columns.size[ended] * crowd / columns.capacity)
    ratio = jct / fair
    return Fairness(
        p50=float(np.quantile(ratio, 0.5)),
        p99=float(np.quantile(ratio, 0.99)),
        max=float(ratio.max()),
        above_one=float((ratio > 1 + 1e-9).mean()),
    )


def _missed(result: Result) -> float | None:
    strict = [
        fate.finish - job.submit > job.deadline
        for job, fate in zip(result.jobs, result.fates, strict=True)
        if job.deadline is not None and fate.finish >= 0
    ]
    return sum(strict) / len(strict) if strict else None


def _late(result: Result) -> int:
    return sum(
        1
        for job, fate in zip(result.jobs, result.fates, strict=True)
        if job.pods > 1 and (result.end if fate.first < 0 else fate.first) - job.submit > LATE * TICKS
    )


def _spread(values: Floats) -> Spread | None:
    if not len(values):
        return None
    return Spread(float(values.mean()), float(np.quantile(values, 0.5)), float(np.quantile(values, 0.99)))


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _seconds(ticks: Iterable[int]) -> Floats:
    return np.array(list(ticks), float) / TICKS
