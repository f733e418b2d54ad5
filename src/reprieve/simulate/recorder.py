"""Why jobs waited and made way, kept while a simulation runs for whoever asks afterwards.

A listener: without one nothing is kept and nothing is rendered. Runs decide millions of times; of each job
only the first and the last refusal and a few evictions are kept, so memory grows with the jobs, not with the
decisions.
"""

from collections.abc import Sequence
from sys import intern
from typing import NamedTuple

import msgspec

from reprieve.simulate.jobs import Job
from reprieve.simulate.scheduling import Decided

KEPT = 3
"""Evictions of one job that are kept: the first ones, and the last."""


class Refusals(NamedTuple):
    """How often a job was tried in vain, and what was said the first and the last time."""

    unit: str
    times: int
    first: int
    first_reasons: tuple[str, ...]
    last: int
    last_reasons: tuple[str, ...]


class MadeWay(NamedTuple):
    """One eviction, as the decision that caused it says."""

    time: int
    unit: str
    by: str
    """The unit that it made way for."""
    why: str
    reasons: tuple[str, ...]
    """Of the whole decision."""


class Record(msgspec.Struct, frozen=True):
    """By the index of the job."""

    refusals: dict[int, Refusals] = {}
    evictions: dict[int, list[MadeWay]] = {}


class Recorder:
    """`simulation = Simulation(..., listener=recorder)`; then `recorder.record`."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.record = Record({}, {})
        self._jobs = {job.name: index for index, job in enumerate(jobs)}

    def __call__(self, decided: Decided) -> None:
        if decided.outcome == "unschedulable":
            self._refused(self._job(decided.unit), decided)
        for unit, why in decided.why.items():
            reasons = tuple(map(intern, decided.reasons))
            made_way = MadeWay(decided.time, intern(unit), intern(decided.unit), intern(why), reasons)
            kept = self.record.evictions.setdefault(self._job(unit), [])
            if len(kept) == KEPT:
                kept.pop()
            kept.append(made_way)

    def _refused(self, job: int, decided: Decided) -> None:
        reasons = tuple(map(intern, decided.reasons))
        before = self.record.refusals.get(job)
        self.record.refusals[job] = (
            Refusals(decided.unit, 1, decided.time, reasons, decided.time, reasons)
            if before is None
            else before._replace(times=before.times + 1, last=decided.time, last_reasons=reasons)
        )

    def _job(self, unit: str) -> int:
        """The index of the job behind `Kind/namespace/name`."""
        return self._jobs[unit.split("/", 2)[2]]
