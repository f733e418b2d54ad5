"""A discrete-event run: time goes from event to event, and at each of them those who wait are tried.

    simulation = Simulation(scene, trace.jobs, settings)
    result = simulation.run()

Decisions are those of the live scheduler (`scheduling`) and the live quota cycle (`admission`); the engine
brings them events and carries out what they decide. Where there are no nodes, a job runs as soon as it has
quota. It reads no clock but to measure itself, and draws nothing that does not follow from the seed.
"""

from collections import deque
from collections.abc import Sequence

from reprieve.simulate import lives
from reprieve.simulate.admission import Admission
from reprieve.simulate.events import Event, Kind
from reprieve.simulate.failures import NodeEvent, drawn_failures
from reprieve.simulate.jobs import Job
from reprieve.simulate.lives import NEVER
from reprieve.simulate.pods import JobObjects
from reprieve.simulate.result import Result
from reprieve.simulate.scene import Scene
from reprieve.simulate.scheduling import Listener, Scheduling
from reprieve.simulate.timeline import Settings, Timeline


class Simulation(Timeline):
    quota_cycles: type[Admission] = Admission
    """What runs the quota cycles."""

    def __init__(
        self,
        scene: Scene,
        jobs: Sequence[Job],
        settings: Settings,
        node_events: Sequence[NodeEvent] = (),
        listener: Listener | None = None,
    ) -> None:
        super().__init__(jobs, settings, scene.too_large(jobs))
        self.scene = scene
        policy = settings.policy
        self._objects = objects = JobObjects(
            scene.counted,
            shares=scene.shares,
            preempts=policy.preempts,
            taken=[job.name for job in self.jobs],
            flavors=scene.flavors,
        )
        self.scheduling: Scheduling | None = None
        if scene.nodes:
            self.scheduling = Scheduling(policy.config, objects, self, self.jobs, settings.grace)
            self.scheduling.listener = listener
            for each in scene.cluster_objects():
                self.scheduling.observe(each)
        self.admission: Admission | None = None
        if scene.queues:
            self.admission = self.quota_cycles(
                policy.config, scene.objects, objects, self, self.jobs, settings.cycle_every
            )
            self.admission.listener = listener
        self._nodes = {each.name: each for each in scene.nodes}
        self._down: set[str] = set()
        self._line: deque[int] = deque()
        self._leaving: set[int] = set()
        """Jobs whose pods are on their way out."""
        for event in (*node_events, *drawn_failures(self.jobs, list(self._nodes), settings)):
            self._events.add(event.time, Kind.NODE, event)

    # --- time -----------------------------------------------------------------------------------------------

    def _clock(self, now: int) -> None:
        if self.scheduling is not None:
            self.scheduling.at(now)

    def _happen(self, event: Event) -> None:
        index = event.about
        if event.kind is Kind.NODE:
            self._node(event.about)
        elif self.lives.all[index].run != event.run:
            pass  # it is about an earlier run
        elif event.kind is Kind.GONE:
            self._gone(index)
        elif index in self.lives.running:
            if event.kind is Kind.END:
                self._end(index)
            elif self.scheduling is not None:
                self.scheduling.checkpointed(index)
                self._plan_checkpoint(index)

    def _arrive(self, index: int) -> None:
        if self.admission is None:
            self._release(index)
            return
        self.admission.submit(index, self.now, self.creation())
        if index in self.admission.unqueued:
            self._left -= 1

    def _try_waiting(self) -> None:
        if self.admission is not None:
            due = self.admission.run(self.now)
            if due is not None:
                self._events.wake(due)
        if self.scheduling is not None:
            self._schedule(self.scheduling)

    def _schedule(self, scheduling: Scheduling) -> None:
        scheduling.run()
        while self._line and not scheduling.waiting():
            scheduling.submit(self._line.popleft(), self.creation())
            scheduling.run()
        ready = scheduling.next_time()
        if ready is not None:
            self._events.wake(ready)

    # --- jobs -----------------------------------------------------------------------------------------------

    def _release(self, index: int) -> None:
        """The job may run: its pods are made, or it joins the line."""
        held = self.admission.held(index) if self.admission is not None else None
        if held is not None:
            self._objects.give(self.jobs[index], held)
        if self.scheduling is None:
            self.started(index, ())
        elif self.settings.policy.in_line:
            self._line.append(index)
        else:
            self.scheduling.submit(index, self.creation())

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
        if self.admission is None or self.admission.has_quota(index):
            self._release(index)
        else:
            self._queue_again(index)

    def _queue_again(self, index: int) -> None:
        """It has lost its quota."""
        assert self.admission is not None
        self.admission.gone(index, self.now)

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
        self._events.add(self.now + grace, Kind.GONE, index, self.lives.all[index].run)

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

    def result(self, busy: float = 1.0) -> Result:
        unqueued = self.admission.unqueued if self.admission is not None else {}
        return self._result((self,), self.scene.notes, unqueued, busy)
