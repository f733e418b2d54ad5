"""What came of a simulation, as data: every job, every stretch of running, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from reprieve.simulate.jobs import Job
from reprieve.simulate.lives import NEVER, Life, Stretch
from reprieve.simulate.recorder import Record

if TYPE_CHECKING:
    from reprieve.simulate.engine import Simulation
    from reprieve.simulate.timeline import Timeline


class Fate(msgspec.Struct, frozen=True, gc=False):
    """What became of one job. Times in ticks; -1: not in this simulation."""

    first: int
    """When it ran first."""
    finish: int
    preempted: int
    failures: int
    lost: int
    """Ticks for which it held its place in vain."""
    held: int
    """Ticks for which it held its place."""
    useful: int
    """Ticks of work that it did and need not do again."""
    left: int
    """Ticks of work that are left, as of its last checkpoint; 0 when it ended."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    policy: str
    jobs: tuple[Job, ...]
    fates: tuple[Fate, ...]
    stretches: tuple[Stretch, ...]
    end: int
    gpus: int
    """Thousandths of GPUs on all nodes."""
    cores: int
    """Thousandths of cores on all nodes."""
    too_large: tuple[int, ...] = ()
    unqueued: dict[int, str] = {}
    """Jobs that no queue took, and why."""
    decisions: int = 0
    """Scheduling cycles."""
    cycles: int = 0
    """Quota cycles."""
    admissions: int = 0
    quota_preemptions: int = 0
    budget_violations: int = 0
    notes: tuple[str, ...] = ()
    seconds: tuple[float, float] = (0.0, 0.0)
    """Of a processor of this machine: in scheduling cycles, in quota cycles. No seed repeats them."""
    record: Record | None = None
    """Why jobs waited and made way, if it was to be recorded."""

    @classmethod
    def of(
        cls,
        run: Timeline,
        clusters: Sequence[Simulation],
        end: int,
        notes: tuple[str, ...],
        unqueued: dict[int, str],
        busy: float,
    ) -> Result:
        """`clusters`: where the jobs ran."""
        scheduling = [each.scheduling for each in clusters if each.scheduling is not None]
        admission = [each.admission for each in clusters if each.admission is not None]
        held = [0] * len(run.jobs)
        for stretch in run.lives.stretches:
            held[stretch.job] += stretch.end - stretch.start
        return cls(
            policy=run.settings.policy.name,
            jobs=run.jobs,
            fates=tuple(map(_fate, run.jobs, run.lives.all, held)),
            stretches=tuple(run.lives.stretches),
            end=end,
            gpus=sum(each.scene.gpus for each in clusters),
            cores=sum(each.scene.cores for each in clusters),
            too_large=tuple(sorted(run.too_large)),
            unqueued=unqueued,
            decisions=sum(each.decisions for each in scheduling),
            budget_violations=sum(each.budget_violations for each in scheduling),
            cycles=sum(each.cycles for each in admission),
            admissions=sum(each.admissions for each in admission),
            quota_preemptions=sum(each.preemptions for each in admission),
            notes=notes,
            seconds=(
                sum(each.seconds for each in scheduling) * busy,
                sum(each.seconds for each in admission) * busy,
            ),
        )


def _fate(job: Job, life: Life, held: int) -> Fate:
    useful = job.duration if life.finish != NEVER else life.kept
    return Fate(
        life.first, life.finish, life.preempted, life.failures, life.lost, held, useful, life.remaining
    )
