"""The live scheduler's core in virtual time: jobs in as pods, its actions carried out at once.

What `controllers.scheduler` does with an API server happens here without one. Conditions and events are not
written: no decision reads them. Nothing here decides anything.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from types import MappingProxyType
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Node, Object, Pod, Reference, format_micro_time, well_known
from reprieve.preemption import Plan, decide
from reprieve.scheduler import (
    Action,
    Bind,
    BindGang,
    Core,
    CycleResult,
    Evicted,
    Mark,
    Nominate,
    Preempt,
    Release,
    Reprieve,
)
from reprieve.simulate.jobs import TICKS, Job
from reprieve.simulate.pods import EPOCH_SECONDS, SCHEDULER, JobObjects, instant, running, terminating


class Host(Protocol):
    """Whose jobs they are."""

    def started(self, job: int, nodes: tuple[str, ...]) -> None:
        """All pods of the job run."""

    def evicted(self, job: int, by: int | None) -> None:
        """A pod of it was told to go, for that other job: all of it stops now."""


class Decided(NamedTuple):
    """One decision, as far as people and tests look at it."""

    time: int
    unit: str
    outcome: str
    placements: dict[str, str]
    victims: tuple[str, ...]
    reasons: tuple[str, ...]
    why: Mapping[str, str] = MappingProxyType({})
    """For each unit that makes way because of it: why that one."""


Listener = Callable[[Decided], None]
PodSeen = Callable[[Pod, bool], None]
"""Called with a pod as it is from now on, and whether it is gone."""


class Scheduling:
    def __init__(
        self, config: Configuration, objects: JobObjects, host: Host, jobs: tuple[Job, ...], grace: int
    ) -> None:
        self.core = Core(config, SCHEDULER, decide=self._decide)
        self.decisions = 0
        self.budget_violations = 0
        self.seconds = 0.0
        """How long its cycles took, by the clock on the wall: asking for processor time is a system call."""
        self.listener: Listener | None = None
        self._objects = objects
        self._host = host
        self._jobs = jobs
        self._grace = grace
        self.pod_seen: PodSeen | None = None
        self._now = 0
        self._seconds = EPOCH_SECONDS
        self._pods: dict[str, Pod] = {}
        self._owner: dict[str, int] = {}
        self._keys: dict[int, list[str]] = {}
        self._preemptors: dict[str, int] = {}
        """The jobs of pod groups."""
        self._nodes: dict[str, Node] = {}

    def at(self, now: int) -> None:
        """The clock."""
        if now != self._now:
            self._now = now
            self._seconds = EPOCH_SECONDS + now / TICKS

    def observe(self, obj: Object) -> None:
        """An object of the cluster, as it is from now on."""
        old = self._nodes.get(obj.name) if isinstance(obj, Node) else None
        if isinstance(obj, Node):
            self._nodes[obj.name] = obj
        self.core.observe("MODIFIED" if old is not None else "ADDED", old, obj, self._seconds)

    # --- jobs come and go -----------------------------------------------------------------------------------

    def submit(self, index: int, created: int) -> None:
        """The pods of a job are made."""
        job = self._jobs[index]
        if job.pods > 1 and index not in self._keys:
            group = self._objects.group(job)
            self._preemptors[f"PodGroup/{group.key}"] = index
            self.core.observe("ADDED", None, group, self._seconds)
        keys = self._keys[index] = []
        for pod in self._objects.pods(job, created):
            key = pod.key
            keys.append(key)
            self._pods[key] = pod
            self._owner[key] = index
            self.core.observe("ADDED", None, pod, self._seconds)
            if self.pod_seen is not None:
                self.pod_seen(pod, False)

    def stop(self, index: int) -> None:
        """All pods of the job are told to go, those that have not been told yet; `gone` when they have."""
        for key in self._keys.get(index, ()):
            pod = self._pods[key]
            if pod.metadata.deletion_timestamp is None:
                self._change(pod, terminating(pod, self._now, self._grace))

    def gone(self, index: int) -> None:
        """No pod of the job is left; the job itself may come back."""
        if index not in self._keys:
            return  # it was never shown to the scheduler
        for key in self._keys[index]:
            pod = self._pods.pop(key)
            del self._owner[key]
            self.core.observe("DELETED", pod, pod, self._seconds)
            if self.pod_seen is not None:
                self.pod_seen(pod, True)
        self._keys[index] = []

    def forget(self, index: int) -> None:
        """The job is over."""
        self.gone(index)
        del self._keys[index]
        job = self._jobs[index]
        if job.pods > 1:
            group = self._objects.group(job)
            del self._preemptors[f"PodGroup/{group.key}"]
            self.core.observe("DELETED", group, group, self._seconds)

    def checkpointed(self, index: int) -> None:
        """The job has saved its work and says so on its pods."""
        notes = {well_known.CHECKPOINTED_AT_ANNOTATION: format_micro_time(instant(self._now))}
        for key in self._keys.get(index, ()):
            pod = self._pods[key]
            self._change(pod, replace(pod, metadata=replace(pod.metadata, annotations=notes)))

    # --- nodes ----------------------------------------------------------------------------------------------

    def cordon(self, name: str) -> list[int]:
        """No pod goes there any more; the jobs that have pods there."""
        node = self._nodes[name]
        self.observe(replace(node, spec=replace(node.spec, unschedulable=True)))
        return self._on(name)

    def lose(self, name: str) -> list[int]:
        """The node is gone, with its pods; the jobs that had pods there. The caller stops them at once."""
        jobs = self._on(name)
        node = self._nodes.pop(name)
        self.core.observe("DELETED", node, node, self._seconds)
        return jobs

    def _on(self, name: str) -> list[int]:
        return list(
            dict.fromkeys(self._owner[key] for key, pod in self._pods.items() if pod.spec.node_name == name)
        )

    # --- cycles ---------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Cycles until nobody is ready."""
        begun = time.perf_counter()
        while (cycle := self.core.cycle(self._seconds)) is not None:
            self.decisions += 1
            if self.listener is not None:
                self.listener(self._decided(cycle))
            if cycle.plan is not None and cycle.outcome == "preempts":
                self.budget_violations += cycle.plan.pdb_violations
            self._perform(cycle.actions)
        self._perform(self.core.report(self._seconds))
        self.seconds += time.perf_counter() - begun

    def _decide(self, cluster: Cluster, unit: Reference, config: Configuration, now: int | None) -> Plan:
        """The live scheduler's decision; why a unit waits is only found out if somebody listens."""
        return decide(cluster, unit, config, now, explain=self.listener is not None)

    def waiting(self) -> bool:
        """Whether anybody waits for a place."""
        return len(self.core.queue) > 0

    def next_time(self) -> int | None:
        """When somebody becomes ready by himself."""
        found = self.core.queue.next_ready()
        return None if found is None else max(self._now + 1, ceil((found - EPOCH_SECONDS) * TICKS))

    def _decided(self, cycle: CycleResult) -> Decided:
        plan, unit, reasons = cycle.plan, str(cycle.unit), tuple(cycle.reasons)
        placements = dict(plan.placements) if plan is not None else {}
        chosen = plan.victims if plan is not None and cycle.victims else ()
        why = {each.unit: each.reason for each in chosen if each.pod in cycle.victims}
        victims = tuple(sorted(cycle.victims))
        return Decided(self._now, unit, cycle.outcome, placements, victims, reasons, why)

    def _perform(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case Bind():
                    self._bind(action)
                case BindGang():
                    for bind in action.binds:
                        self._bind(bind)
                case Preempt():
                    for nomination in action.nominations:
                        self._nominate(nomination)
                    self._evict(action.victims, action.mark, self._job_of(action.preemptor))
                    self._perform(self.core.evicted(action, {}, self._seconds))
                case Release():
                    self._evict(action.pods, action.mark, None)
                    self._perform(self.core.released(action, {}, self._seconds))
                case Nominate():
                    self._nominate(action)
                case Reprieve():
                    raise AssertionError(f"{action.pod} was marked and not deleted: no call fails here")
                case _:
                    pass  # conditions and events

    def _job_of(self, preemptor: Reference) -> int:
        if preemptor.kind == "PodGroup":
            return self._preemptors[f"PodGroup/{preemptor.key}"]
        return self._owner[preemptor.key]

    def _bind(self, bind: Bind) -> None:
        key = bind.pod.key
        pod, index = self._pods[key], self._owner[key]
        job = self._jobs[index]
        self._change(pod, self._objects.placed(pod, job, bind.node, running(self._now)))
        self._perform(self.core.bound(bind, None, self._seconds))
        if job.pods == 1:
            self._host.started(index, (bind.node,))
        elif bind.unit not in self.core.memory.binding:
            self._host.started(index, tuple(self._pods[each].spec.node_name for each in self._keys[index]))

    def _nominate(self, nomination: Nominate) -> None:
        pod = self._pods.get(nomination.pod.key)
        if pod is not None and pod.status.nominated_node_name != nomination.node:
            self._change(pod, replace(pod, status=replace(pod.status, nominated_node_name=nomination.node)))

    def _evict(self, victims: Iterable[Evicted], mark: Mark, by: int | None) -> None:
        """Mark and delete every victim; whoever loses one pod stops altogether."""
        jobs: dict[int, None] = {}
        for victim in victims:
            pod = self._pods[victim.pod.key]
            self._change(pod, terminating(pod, self._now, self._grace, mark))
            jobs[self._owner[victim.pod.key]] = None
        for index in jobs:
            self.stop(index)
            self._host.evicted(index, by)

    def _change(self, old: Pod, new: Pod) -> None:
        self._pods[new.key] = new
        self.core.observe("MODIFIED", old, new, self._seconds)
        if self.pod_seen is not None:
            self.pod_seen(new, False)
