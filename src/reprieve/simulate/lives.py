"""The life of each job: how far its work is, what it has lost, and every stretch of running it had.

A job keeps whole multiples of its checkpoint interval of what it did since it last started; stopped in
between it loses the rest. Restoring, and the grace period in which it still holds its place, count as lost.
So what was held is what was useful and what was lost, exactly.
"""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.simulate.jobs import Job

NEVER = -1
"""A time that has not come."""

ENDED, PREEMPTED, QUOTA, NODE, DRAINED, CUT = "ended", "preempted", "quota", "node", "drained", "cut"
"""Why a stretch of running is over. `cut`: the simulation ended first."""


class Stretch(NamedTuple):
    """One stretch of running, from its start until its place was free again."""

    job: int
    start: int
    end: int
    why: str
    by: int
    """The job that it made way for; -1 for none."""
    nodes: tuple[str, ...]
    lost: int = 0
    """Ticks of it that were held in vain; those of all stretches of a job are what it lost."""


class Life:
    __slots__ = (
        "failures",
        "finish",
        "first",
        "kept",
        "lost",
        "nodes",
        "overhead",
        "preempted",
        "remaining",
        "run",
        "started",
    )

    def __init__(self, duration: int) -> None:
        self.remaining = duration
        """Work left as of the last checkpoint."""
        self.overhead = 0
        """Time of the present run that restores it."""
        self.started = NEVER
        self.run = 0
        """Counts the runs; an event of an older one is void."""
        self.first = NEVER
        self.finish = NEVER
        self.preempted = 0
        self.failures = 0
        """Runs that a node ended by failing or draining."""
        self.lost = 0
        self.kept = 0
        """Work that runs which were stopped had saved."""
        self.nodes: tuple[str, ...] = ()


class Lives:
    def __init__(self, jobs: Sequence[Job], checkpoint: int, restore: int) -> None:
        self.all = [Life(job.duration) for job in jobs]
        self.stretches: list[Stretch] = []
        self.running: dict[int, None] = {}
        self._checkpoint = checkpoint
        self._restore = restore

    def begin(self, index: int, now: int, nodes: tuple[str, ...]) -> int:
        """It runs; returns when it will end if nothing stops it."""
        life = self.all[index]
        life.started = now
        life.nodes = nodes
        if life.first == NEVER:
            life.first = now
        self.running[index] = None
        return now + life.overhead + life.remaining

    def next_checkpoint(self, index: int, now: int) -> int | None:
        """When the running job saves its work next, if it will before it ends."""
        life = self.all[index]
        if not self._checkpoint:
            return None
        begun = life.started + life.overhead
        time = begun + (max(0, now - begun) // self._checkpoint + 1) * self._checkpoint
        return time if time < begun + life.remaining else None

    def end(self, index: int, now: int) -> None:
        life = self.all[index]
        life.lost += life.overhead
        life.finish = now
        life.remaining = 0
        self._over(index, now, ENDED, NEVER, life.overhead)

    def stop(self, index: int, now: int, grace: int, why: str, by: int = NEVER) -> None:
        """It is told to go and works no longer; its place is free after the grace period."""
        life = self.all[index]
        kept = self._saved(life, now)
        lost = now - life.started - kept + grace
        life.lost += lost
        life.remaining -= kept
        life.kept += kept
        if why in (PREEMPTED, QUOTA):
            life.preempted += 1
        else:
            life.failures += 1
        life.overhead = self._restore
        self._over(index, now + grace, why, by, lost)

    def cut(self, now: int) -> None:
        """The simulation ends here: what runs is counted so far, as work that is not lost, and who was told
        to go holds its place no longer than that."""
        for place, stretch in enumerate(self.stretches):
            if (beyond := stretch.end - now) > 0:
                self.all[stretch.job].lost -= beyond
                self.stretches[place] = stretch._replace(end=now, lost=stretch.lost - beyond)
        for index in list(self.running):
            life = self.all[index]
            lost = min(life.overhead, now - life.started)
            life.lost += lost
            life.kept += max(0, now - life.started - life.overhead)
            self._over(index, now, CUT, NEVER, lost)

    def _saved(self, life: Life, now: int) -> int:
        worked = max(0, now - life.started - life.overhead)
        return min(worked // self._checkpoint * self._checkpoint, life.remaining) if self._checkpoint else 0

    def _over(self, index: int, end: int, why: str, by: int, lost: int) -> None:
        life = self.all[index]
        del self.running[index]
        self.stretches.append(Stretch(index, life.started, end, why, by, life.nodes, lost))
        life.run += 1
        life.started = NEVER
        life.nodes = ()
