"""Several clusters in one run: a manager dispatches the jobs, each worker has its scheduler and its quota.

    run = FleetSimulation({"eu": Scene(...), "us": Scene(...)}, jobs, settings)

The rules are those of `reprieve.fleet`: who gets a copy, whose preemption gate opens, who wins, how long a
lost worker is waited for. Nodes are called `eu/gpu-0`; an event of `eu` is one of the whole cluster.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from msgspec.structs import replace

from reprieve.fleet import gated_message, settings_from
from reprieve.objects import (
    Condition,
    Document,
    PreemptionGateState,
    ReprieveError,
    Workload,
    decode,
    format_time,
    well_known,
)
from reprieve.quota import Outcome, wait
from reprieve.simulate import lives
from reprieve.simulate.admission import Admission
from reprieve.simulate.engine import Simulation
from reprieve.simulate.events import Event, Kind
from reprieve.simulate.failures import NodeEvent, drawn_failures
from reprieve.simulate.jobs import TICKS, Job
from reprieve.simulate.manager import Manager
from reprieve.simulate.pods import JobObjects, instant
from reprieve.simulate.result import Result
from reprieve.simulate.scene import Scene
from reprieve.simulate.scheduling import Listener
from reprieve.simulate.timeline import Settings, Timeline

AGAIN = 1 * TICKS
"""How long after its eviction a job is dispatched again: the manager takes its quota back first."""


class CopyAdmission(Admission):
    """Quota cycles of a worker, which knows what each copy says."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.copies: dict[int, tuple[Document, Workload]] = {}
        """Each copy as the manager made it, and as it is now."""
        self.news: dict[int, None] = {}

    def create(self, index: int, document: Document, created: int, now: int) -> None:
        stamped = {"uid": f"{index:08d}", "creationTimestamp": format_time(instant(created))}
        document = {**document, "metadata": {**document["metadata"], **stamped}}
        workload = cast(Workload, decode(document))
        self.copies[index] = document, workload
        self.put(index, workload, now)

    def finish(self, index: int, now: int) -> None:
        super().finish(index, now)
        del self.copies[index]
        self._evicted.pop(index, None)

    def gone(self, index: int, now: int) -> None:
        super().gone(index, now)
        self._changed(index, replace(self.copies[index][1], status=type(self.copies[index][1].status)()))

    def move_gate(self, index: int, position: str, now: int) -> None:
        workload = self.copies[index][1]
        gate = PreemptionGateState(
            name=well_known.MULTIKUEUE_GATE, position=position, last_transition_time=instant(now)
        )
        moved = replace(workload, status=replace(workload.status, preemption_gates=(gate,)))
        self._changed(index, moved)
        self.put(index, moved, now)

    def close_gates(self, now: int) -> None:
        """The worker starts: it has not seen any gate opening, so it closes those that are open."""
        for index, (_, workload) in list(self.copies.items()):
            if any(gate.position == well_known.GATE_OPEN for gate in workload.status.preemption_gates):
                self.move_gate(index, well_known.GATE_CLOSED, now)

    def document(self, index: int) -> Document | None:
        """The copy as the manager reads it."""
        if index not in self.copies:
            return None
        document, workload = self.copies[index]
        gates = [_written(gate) for gate in workload.status.preemption_gates]
        conditions = [_condition(each) for each in workload.status.conditions]
        return {**document, "status": {"conditions": conditions, "preemptionGates": gates}}

    def _changed(self, index: int, workload: Workload) -> None:
        self.copies[index] = self.copies[index][0], workload
        self.news[index] = None

    def _noted(self, outcome: Outcome, moment: datetime) -> None:
        for reserved in outcome.reserved:
            self._changed(self._index[reserved.info.key], reserved.workload)
        for eviction in outcome.evicted:
            self._changed(self._index[eviction.victim.info.key], eviction.workload)
        for waiting in outcome.waiting:
            index = self._index[waiting.info.key]
            if waiting.gated:
                known = self.copies[index][1]
                message = gated_message(self._quota, waiting.info, known, moment)
                gated = wait(known, well_known.PREEMPTION_GATED, message, moment, gated=True)
                self._changed(index, gated)
            elif waiting.workload is not None:
                self._changed(index, waiting.workload)


class Worker(Simulation):
    """One cluster of the fleet. Time, events and the lives of the jobs are the fleet's."""

    quota_cycles: type[Admission] = CopyAdmission

    def __init__(
        self, fleet: "FleetSimulation", name: str, scene: Scene, settings: Settings, listener: Listener | None
    ) -> None:
        if not scene.queues:
            raise ReprieveError(
                f"cluster {name}: no ClusterQueue; a fleet sends jobs to where they get quota: "
                "give every cluster its queues, or all of them the same with -f"
            )
        super().__init__(scene, fleet.jobs, settings, (), listener)
        self.name = name
        self.nodes = tuple(each.name for each in scene.nodes)
        self.lives, self._events, self._fleet = fleet.lives, fleet.events, fleet
        self._arrivals.clear()

    @property
    def copies(self) -> CopyAdmission:
        assert isinstance(self.admission, CopyAdmission)
        return self.admission

    def creation(self) -> int:
        return self._fleet.creation()

    def at(self, now: int) -> None:
        self.now = now
        self._clock(now)

    def cycles(self) -> None:
        """Quota cycles; what they said is news for the manager."""
        due = self.copies.run(self.now)
        if due is not None:
            self._events.wake(due)
        for index in self.copies.news:
            self._fleet.manager.touch(index)
        self.copies.news.clear()

    def schedule(self) -> None:
        if self.scheduling is not None:
            self._schedule(self.scheduling)

    def receive(self, index: int) -> None:
        """The job is made here; it has quota already."""
        self._release(index)

    def abandon(self, index: int) -> None:
        """The cluster is lost with all that is in it."""
        self._leaving.discard(index)
        if index in self._line:
            self._line.remove(index)
        elif self.scheduling is not None:
            self.scheduling.forget(index)

    def happen(self, event: Event) -> None:
        self._happen(event)

    def node_event(self, event: NodeEvent) -> None:
        self._node(event)

    def lose(self) -> None:
        """The whole cluster is out of reach, and whatever ran there has stopped."""
        for name in self.nodes:
            self._node(NodeEvent(self.now, "fail", name))
        if self.scheduling is None:
            for index in [each for each in self.lives.running if self._fleet.home(each) is self]:
                self._stop(index, lives.NODE, grace=0)

    def regain(self) -> None:
        for name in self.nodes:
            self._node(NodeEvent(self.now, "return", name))
        while self.scheduling is None and self._line:
            self._release(self._line.popleft())

    def _release(self, index: int) -> None:
        """Without nodes nothing else keeps it from starting in a cluster that is out of reach."""
        if self.scheduling is None and self.name in self._fleet.manager.away:
            self._line.append(index)
        else:
            super()._release(index)

    def started(self, job: int, nodes: tuple[str, ...]) -> None:
        super().started(job, tuple(f"{self.name}/{node}" for node in nodes))

    def admitted(self, job: int) -> None:
        """Its copy says so; the manager decides where it runs."""

    def expelled(self, job: int, by: int) -> None:
        if self._fleet.home(job) is self:
            super().expelled(job, by)
        else:
            self.copies.gone(job, self.now)  # no job was made for this copy: nothing has to end

    def _end(self, index: int) -> None:
        super()._end(index)
        self._fleet.ended(index)

    def _queue_again(self, index: int) -> None:
        """It has no pods any more; the manager has withdrawn it."""
        self._fleet.take_back(index)


class FleetSimulation(Timeline):
    def __init__(
        self,
        scenes: Mapping[str, Scene],
        jobs: Sequence[Job],
        settings: Settings,
        node_events: Sequence[NodeEvent] = (),
        listener: Listener | None = None,
    ) -> None:
        nowhere = frozenset.intersection(*(scene.too_large(jobs) for scene in scenes.values()))
        super().__init__(jobs, settings, nowhere)
        self.events = self._events
        calm = replace(settings, mean_failure=0)
        self.workers = {name: Worker(self, name, scene, calm, listener) for name, scene in scenes.items()}
        self.manager = Manager(settings_from(settings.policy.config), self.workers, self)
        self.unqueued: dict[int, str] = {}
        self._objects = JobObjects(
            _counted(scenes.values()),
            shares=any(scene.shares for scene in scenes.values()),
            preempts=settings.policy.preempts,
        )
        self._home: dict[int, str] = {}
        """Where each job is that has been sent."""
        self._created_at: dict[int, int] = {}
        names = [f"{name}/{node}" for name, worker in self.workers.items() for node in worker.nodes]
        for event in (*node_events, *drawn_failures(self.jobs, names, settings)):
            self._events.add(event.time, Kind.NODE, event)

    def home(self, job: int) -> Worker | None:
        name = self._home.get(job)
        return None if name is None else self.workers[name]

    # --- what happens ---------------------------------------------------------------------------------------

    def _clock(self, now: int) -> None:
        for worker in self.workers.values():
            worker.at(now)

    def _happen(self, event: Event) -> None:
        if event.kind is Kind.NODE:
            self._node(event.about)
        elif event.kind is Kind.DISPATCH:
            self._dispatch(event.about)
        elif (worker := self.home(event.about)) is not None:
            worker.happen(event)

    def _arrive(self, index: int) -> None:
        if self._queue(index) is None:
            first = next(iter(self.workers.values()))
            self.unqueued[index] = first.copies.unknown_queue(self.jobs[index])
            self._left -= 1
            return
        self._dispatch(index)

    def _queue(self, index: int) -> tuple[str, str] | None:
        found = (worker.copies.local_queue(self.jobs[index]) for worker in self.workers.values())
        return next((each for each in found if each is not None), None)

    def _dispatch(self, index: int) -> None:
        queue = self._queue(index)
        assert queue is not None
        self._created_at[index] = self.creation()
        self.manager.dispatch(index, self._objects.workload_document(self.jobs[index], queue), self.now)

    def _try_waiting(self) -> None:
        up = [worker for name, worker in self.workers.items() if name not in self.manager.away]
        while True:
            self.manager.run(self.now)
            for worker in up:
                worker.cycles()
            if not self.manager.busy:
                break
        for worker in up:
            worker.schedule()
        due = self.manager.next_due()
        if due is not None:
            self._events.wake(due)

    def _node(self, event: NodeEvent) -> None:
        cluster, _, node = event.node.partition("/")
        worker = self.workers[cluster]
        if node:
            worker.node_event(event._replace(node=node))
        elif event.what == "return":
            self._return(worker)
        elif cluster not in self.manager.away:
            self.manager.away[cluster] = instant(self.now)
            worker.lose()
            self.manager.touch_all()

    def _return(self, worker: Worker) -> None:
        """It has what it had, but for nobody who has ended or runs elsewhere meanwhile."""
        if self.manager.away.pop(worker.name, None) is None:
            return
        worker.copies.close_gates(self.now)
        for index in [each for each in worker.copies.copies if each not in self.manager]:
            worker.copies.finish(index, self.now)
        worker.regain()
        self.manager.touch_all()

    def ended(self, index: int) -> None:
        del self._home[index]
        self.manager.forget(index)
        self._left -= 1

    # --- what the manager decides ---------------------------------------------------------------------------

    def copy_of(self, cluster: str, job: int) -> Document | None:
        return self.workers[cluster].copies.document(job)

    def create(self, cluster: str, job: int, document: Document) -> None:
        self.workers[cluster].copies.create(job, document, self._created_at[job], self.now)

    def delete(self, cluster: str, job: int) -> None:
        self.workers[cluster].copies.finish(job, self.now)

    def move_gate(self, cluster: str, job: int, position: str) -> None:
        self.workers[cluster].copies.move_gate(job, position, self.now)

    def send(self, cluster: str, job: int) -> None:
        if job not in self._home:
            self._home[job] = cluster
            self.workers[cluster].receive(job)

    def start_again(self, job: int) -> None:
        """An evicted job is taken back when its pods are gone; one on a lost worker at once."""
        home = self._home[job]
        if home in self.manager.away:
            self.workers[home].abandon(job)
            self.take_back(job)

    def take_back(self, job: int) -> None:
        del self._home[job]
        self.manager.withdraw(job, self.now)
        self._events.add(self.now + AGAIN, Kind.DISPATCH, job)

    def result(self, busy: float = 1.0) -> Result:
        clusters = tuple(self.workers.values())
        notes = dict.fromkeys(note for each in clusters for note in each.scene.notes)
        return self._result(clusters, tuple(notes), self.unqueued, busy)


def _counted(scenes: Iterable[Scene]) -> frozenset[str] | None:
    """Resources that a node somewhere states."""
    stated: set[str] = set()
    for scene in scenes:
        if scene.counted is None:
            return None
        stated |= scene.counted
    return frozenset(stated)


def _condition(condition: Condition) -> Document:
    since = condition.last_transition_time
    written = {"type": condition.type, "status": condition.status, "reason": condition.reason}
    written["message"] = condition.message
    return {**written, "lastTransitionTime": format_time(since)} if since is not None else written


def _written(gate: PreemptionGateState) -> Document:
    since = gate.last_transition_time
    assert since is not None
    return {"name": gate.name, "position": gate.position, "lastTransitionTime": format_time(since)}
