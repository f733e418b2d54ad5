"""What every discrete-event run has: jobs that arrive, a heap of events, a clock that only goes forward."""

import time as clock
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from reprieve.objects import ReprieveError, counted, some
from reprieve.simulate.events import Event, Events
from reprieve.simulate.jobs import TICKS, Job
from reprieve.simulate.lives import NEVER, Lives
from reprieve.simulate.pods import EPOCH
from reprieve.simulate.policies import SELDOM, Policy
from reprieve.simulate.result import Result

if TYPE_CHECKING:
    from reprieve.simulate.engine import Simulation

PATIENCE = 3 * round(SELDOM) * TICKS
"""How long those who wait are tried again when nothing else happens any more, on top of the longest pause."""
LAST_YEAR = 9000
LAST = round((datetime(LAST_YEAR, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()) * TICKS
"""Objects have dates, and there are none after the year 9999; jobs one after the other may come that far."""
MOST_NAMED = 5
"""So many jobs are named that are too large."""
Progress = Callable[[int, int], None]
"""Called with how many jobs have ended, and how many there are."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How the jobs behave, apart from who decides. Times in ticks."""

    policy: Policy
    checkpoint: int = 1800 * TICKS
    """A job saves its work this often; 0: never."""
    restore: int = 0
    """What it takes to begin again after an eviction."""
    grace: int = 0
    """How long evicted pods hold their place."""
    announce: bool = False
    """Jobs write `reprieve.dev/checkpointed-at` on their pods."""
    cycle_every: int = 0
    """Quota cycles take place at multiples of this; 0: whenever somebody can be tried."""
    until: int | None = None
    mean_failure: int = 0
    """Mean time between two failures of a node, drawn; 0: nodes never fail by themselves."""
    repair: int = 3600 * TICKS
    seed: int = 0


class Timeline(ABC):
    """`too_large`: jobs that are left out."""

    def __init__(self, jobs: Sequence[Job], settings: Settings, too_large: Collection[int]) -> None:
        self.settings = settings
        self.jobs = tuple(jobs)
        self.now = 0
        self.lives = Lives(self.jobs, settings.checkpoint, settings.restore)
        self.too_large = too_large
        self._events = Events()
        self._arrivals = deque(
            sorted(
                (index for index in range(len(self.jobs)) if index not in too_large),
                key=lambda index: (self.jobs[index].submit, index),
            )
        )
        self._left = len(self._arrivals)
        self._created = NEVER
        pauses = settings.policy.config.preemption
        self._patience = PATIENCE + (round(pauses.max_return_pause * TICKS) if pauses.return_pause else 0)
        self._quiet = 0
        """When something was last to come."""
        self._at_rest = False
        """Nothing changes any more, and somebody still waits."""

    def run(self, progress: Progress | None = None) -> Result:
        """To the end, or `until`."""
        step = max(1, self._left // 200)
        wall, processor = clock.perf_counter(), clock.process_time()
        while self.step():
            if progress is not None and self._left % step == 0:
                progress(len(self.jobs) - self._left, len(self.jobs))
        wall, processor = clock.perf_counter() - wall, clock.process_time() - processor
        return self.result(processor / wall if wall else 1.0)

    def step(self) -> bool:
        """All that happens at the next moment; whether there was one."""
        time = self._next_time()
        until = self.settings.until
        if not self._left or (until is not None and time is not None and time > until):
            return False
        if time is None or self._stuck(time):
            self._at_rest = True
            return False
        assert time >= self.now, "time never goes back"
        if time > LAST:
            raise ReprieveError(
                f"the simulation goes on after the year {LAST_YEAR}; --until ends it before, "
                "and times in a trace are seconds"
            )
        self.now = time
        self._clock(time)
        while True:
            while (event := self._events.pop(time)) is not None:
                self._happen(event)
            while self._arrivals and self.jobs[self._arrivals[0]].submit <= time:
                self._arrive(self._arrivals.popleft())
            self._try_waiting()
            if self._events.next_time() != time:
                break
        return True

    def _next_time(self) -> int | None:
        following = self._events.next_time()
        if self._arrivals:
            coming = self.jobs[self._arrivals[0]].submit
            following = coming if following is None or coming < following else following
        return None if following is None else max(self.now, following)

    def _stuck(self, time: int) -> bool:
        """Nothing runs, comes or changes any more, and trying those who wait has not helped for long."""
        if self._arrivals or len(self._events):
            self._quiet = time
        return time - self._quiet > self._patience

    def creation(self) -> int:
        """The creation time of a job's objects: what is made at one moment keeps its order."""
        self._created = max(self.now, self._created + 1)
        return self._created

    def _result(
        self,
        clusters: "Sequence[Simulation]",
        notes: Sequence[str],
        unqueued: dict[int, str],
        busy: float,
    ) -> Result:
        end = self.now if self.settings.until is None or not self._left else self.settings.until
        self.lives.cut(end)
        said = [*notes]
        if later := len(self._arrivals):
            verb = "comes" if later == 1 else "come"
            said.append(f"{counted(later, 'job')} of the trace {verb} after the end")
        if self.too_large:
            said.append(f"{self._named(self.too_large, 'can never run here, larger than the cluster')}")
        if unqueued:
            first = min(unqueued)
            words = "left out, no queue takes them" if len(unqueued) > 1 else "left out, no queue takes it"
            named = self._named(unqueued, words)
            said.append(f"{named}; of {self.jobs[first].name}: {unqueued[first]}")
        if self._at_rest and (waiting := self._waiting(unqueued)):
            verb = "still waits" if len(waiting) == 1 else "still wait"
            why = self._why_waiting(clusters, waiting[0])
            named = self._named(waiting, f"{verb} when nothing changes any more")
            said.append(f"{named}; of {self.jobs[waiting[0]].name}: {why}" if why else named)
        return Result.of(self, clusters, end, tuple(said), unqueued, busy)

    def _named(self, jobs: Collection[int], what: str) -> str:
        names = some([self.jobs[index].name for index in sorted(jobs)], MOST_NAMED)
        return f"{counted(len(jobs), 'job')} {what}: {names}"

    def _waiting(self, unqueued: Collection[int]) -> list[int]:
        """Those that could run, and did not end."""
        left_out = {*self.too_large, *unqueued}
        return [
            index
            for index, life in enumerate(self.lives.all)
            if life.finish == NEVER and index not in left_out
        ]

    def _why_waiting(self, clusters: "Sequence[Simulation]", job: int) -> str:
        """For quota, as its queue says it; several clusters would each say something else."""
        admission = clusters[0].admission if len(clusters) == 1 else None
        return "" if admission is None else admission.why(job)

    @abstractmethod
    def result(self, busy: float = 1.0) -> Result:
        """`busy`: the share of the time in which a processor worked for this run."""

    @abstractmethod
    def _clock(self, now: int) -> None: ...

    @abstractmethod
    def _happen(self, event: Event) -> None: ...

    @abstractmethod
    def _arrive(self, index: int) -> None: ...

    @abstractmethod
    def _try_waiting(self) -> None: ...
