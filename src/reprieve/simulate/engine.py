"""A discrete-event run: time goes from event to event, and at each of them those who wait are tried.

    simulation = Simulation(scene, trace.jobs, settings)
    result = simulation.run()

Decisions are those of the live scheduler (`scheduling`) and the live quota cycle (`admission`); the engine
brings them events and carries out what they decide. Where there are no nodes, a job runs as soon as it has
quota. It reads no clock but to measure itself, and draws nothing that does not follow from the seed.
"""

from collections import deque
from collections.abc import Callable, Sequence

import msgspec

from reprieve.objects import counted
from reprieve.simulate import lives
from reprieve.simulate.admission import Admission
from reprieve.simulate.events import Event, Events, Kind
from reprieve.simulate.failures import NodeEvent, drawn_failures
from reprieve.simulate.jobs import TICKS, Job
from reprieve.simulate.lives import NEVER, Lives
from reprieve.simulate.pods import JobObjects
from reprieve.simulate.policies import SELDOM, Policy
from reprieve.simulate.result import Result
from reprieve.simulate.scene import Scene
from reprieve.simulate.scheduling import Listener, Scheduling

PATIENCE = 3 * round(SELDOM) * TICKS
"""How long those who wait are tried again when nothing else happens any more."""
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


class Simulation:
    def __init__(
        self,
        scene: Scene,
        jobs: Sequence[Job],
        settings: Settings,
        node_events: Sequence[NodeEvent] = (),
        listener: Listener | None = None,
    ) -> None:
        self.settings = settings
        self.scene = scene
        self.jobs = tuple(jobs)
        self.now = 0
        self.lives = Lives(self.jobs, settings.checkpoint, settings.restore)
        self.too_large = scene.too_large(self.jobs)
        policy = settings.policy
        objects = JobObjects(scene.counted, shares=scene.shares, preempts=policy.preempts)
        self.scheduling: Scheduling | None = None
        if scene.nodes:
            self.scheduling = Scheduling(policy.config, objects, self, self.jobs, settings.grace)
            self.scheduling.listener = listener
            for each in scene.cluster_objects():
                self.scheduling.observe(each)
        self.admission: Admission | None = None
        if scene.queues:
            self.admission = Admission(
                policy.config, scene.objects, objects, self, self.jobs, settings.cycle_every
            )
        self._nodes = {each.name: each for each in scene.nodes}
        self._down: set[str] = set()
        self._events = Events()
        self._arrivals = deque(
            sorted(
                (index for index in range(len(self.jobs)) if index not in self.too_large),
                key=lambda index: (self.jobs[index].submit, index),
            )
        )
        self._left = len(self._arrivals)
        self._line: deque[int] = deque()
        self._created = NEVER
        self._quiet = 0
        """When something was last to come."""
        self._leaving: set[int] = set()
        """Jobs whose pods are on their way out."""
        for event in (*node_events, *self._failures()):
            self._events.add(event.time, Kind.NODE, event)

    def _failures(self) -> list[NodeEvent]:
        settings = self.settings
        if not settings.mean_failure or not self.jobs:
            return []
        horizon = settings.until or 2 * max(job.submit + job.duration for job in self.jobs)
        return drawn_failures(
            list(self._nodes), settings.mean_failure, settings.repair, horizon, settings.seed
        )

    # --- time -----------------------------------------------------------------------------------------------

    def run(self, progress: Progress | None = None) -> Result:
        """To the end, or `until`."""
        step = max(1, self._left // 200)
        while self.step():
            if progress is not None and self._left % step == 0:
                progress(len(self.jobs) - self._left, len(self.jobs))
        return self.result()

    def step(self) -> bool:
        """All that happens at the next moment; whether there was one."""
        time = self._next_time()
        until = self.settings.until
        if time is None or not self._left or (until is not None and time > until) or self._stuck(time):
            return False
        assert time >= self.now, "time never goes back"
        self.now = time
        if self.scheduling is not None:
            self.scheduling.at(time)
        while True:
            while (event := self._events.pop(time)) is not None:
                self._happen(event)
            self._arrive()
            self._try_waiting()
            if self._events.next_time() != time:
                break
        return True

    def _next_time(self) -> int | None:
        coming = self.jobs[self._arrivals[0]].submit if self._arrivals else None
        times = [each for each in (coming, self._events.next_time()) if each is not None]
        return max(self.now, min(times)) if times else None

    def _stuck(self, time: int) -> bool:
        """Nothing runs, comes or changes any more, and trying those who wait has not helped for long."""
        if self._arrivals or len(self._events):
            self._quiet = time
        return time - self._quiet > PATIENCE

    def _happen(self, event: Event) -> None:
        index = event.about
        if event.kind is Kind.NODE:
            self._node(event.about)
        elif event.kind is Kind.GONE:
            self._gone(index)
        elif self.lives.all[index].run == event.run and index in self.lives.running:
            if event.kind is Kind.END:
                self._end(index)
            elif self.scheduling is not None:
                self.scheduling.checkpointed(index)
                self._plan_checkpoint(index)

    def _arrive(self) -> None:
        while self._arrivals and self.jobs[self._arrivals[0]].submit <= self.now:
            index = self._arrivals.popleft()
            if self.admission is not None:
                self.admission.submit(index, self.now, self._creation())
                if index in self.admission.unqueued:
                    self._left -= 1
            else:
                self._release(index)

    def _try_waiting(self) -> None:
        if self.admission is not None:
            due = self.admission.run(self.now)
            if due is not None:
                self._events.wake(due)
        if self.scheduling is None:
            return
        self.scheduling.run()
        while self._line and not self.scheduling.waiting():
            self.scheduling.submit(self._line.popleft(), self._creation())
            self.scheduling.run()
        ready = self.scheduling.next_time()
        if ready is not None:
            self._events.wake(ready)

    def _creation(self) -> int:
        """The creation time of a job's pods: what is made at one moment keeps its order."""
        self._created = max(self.now, self._created + 1)
        return self._created

    # --- jobs -----------------------------------------------------------------------------------------------

    def _release(self, index: int) -> None:
        """The job may run: its pods are made, or it joins the line."""
        if self.scheduling is None:
            self.started(index, ())
        elif self.settings.policy.in_line:
            self._line.append(index)
        else:
            self.scheduling.submit(index, self._creation())

    def _end(self, index: int) -> None:
        self.lives.end(index, self.now)
        if self.scheduling is not None:
            self.scheduling.forget(index)
        if self.admission is not None:
            self.admission.finish(index, self.now)
        self._left -= 1

    def _gone(self, index: int) -> None:
        """The pods of an evicted job have ended: it waits again, for quota or for a place."""
        self._leaving.discard(index)
        if self.scheduling is not None:
            self.scheduling.gone(index)
        if self.admission is None or not self.admission.gone(index, self.now):
            self._release(index)

    def _stop(self, index: int, why: str, by: int = NEVER, grace: int | None = None) -> None:
        """Its pods have been told to go."""
        if index in self._leaving:
            return
        grace = self.settings.grace if grace is None else grace
        if index in self.lives.running:
            self.lives.stop(index, self.now, grace, why, by)
        else:
            grace = 0  # it only waited: nothing has to end
        self._leaving.add(index)
        self._events.add(self.now + grace, Kind.GONE, index)

    # What the scheduler and the quota cycle decide

    def started(self, job: int, nodes: tuple[str, ...]) -> None:
        end = self.lives.begin(job, self.now, nodes)
        self._events.add(end, Kind.END, job, self.lives.all[job].run)
        if self.settings.announce:
            self._plan_checkpoint(job)

    def _plan_checkpoint(self, job: int) -> None:
        time = self.lives.next_checkpoint(job, self.now)
        if time is not None:
            self._events.add(time, Kind.CHECKPOINT, job, self.lives.all[job].run)

    def evicted(self, job: int, by: int | None) -> None:
        self._stop(job, lives.PREEMPTED, NEVER if by is None else by)

    def admitted(self, job: int) -> None:
        self._release(job)

    def expelled(self, job: int, by: int) -> None:
        if job in self._line:
            self._line.remove(job)
        if self.scheduling is not None:
            self.scheduling.stop(job)
        self._stop(job, lives.QUOTA, by)

    # --- nodes ----------------------------------------------------------------------------------------------

    def _node(self, event: NodeEvent) -> None:
        scheduling = self.scheduling
        if scheduling is None or event.node not in self._nodes:
            return
        if event.what == "return":
            self._down.discard(event.node)
            scheduling.observe(self._nodes[event.node])
        elif event.node in self._down:
            pass  # it is gone already
        elif event.what == "drain":
            for job in scheduling.cordon(event.node):
                scheduling.stop(job)
                self._stop(job, lives.DRAINED)
        else:
            self._down.add(event.node)
            for job in scheduling.lose(event.node):
                scheduling.stop(job)
                self._stop(job, lives.NODE, grace=0)

    # --- what came of it ------------------------------------------------------------------------------------

    def result(self) -> Result:
        end = self.now if self.settings.until is None or not self._left else self.settings.until
        self.lives.cut(end)
        notes = list(self.scene.notes)
        if self.too_large:
            notes.append(f"{counted(len(self.too_large), 'job')} can never run here: larger than the cluster")
        unqueued = self.admission.unqueued if self.admission is not None else {}
        return Result.of(self, end, tuple(notes), unqueued)
