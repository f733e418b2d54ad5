"""The quota controller's cycle in virtual time: jobs in as Workloads, out as soon as they have quota.

What `controllers.quota` does with an API server happens here without one. Nothing here decides anything.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Protocol

from reprieve.config import Configuration
from reprieve.objects import (
    ClusterQueue,
    LocalQueue,
    Object,
    Pod,
    ReprieveError,
    Workload,
    namespace_labels,
)
from reprieve.quota import DUE_TO, Outcome, Quota, Rules, cycle, load, release, waiters
from reprieve.simulate.jobs import Job
from reprieve.simulate.pods import JobObjects, instant
from reprieve.simulate.scheduling import Decided, Listener


class Host(Protocol):
    """Whose jobs they are."""

    def admitted(self, job: int) -> None:
        """It has quota."""

    def expelled(self, job: int, by: int) -> None:
        """It loses its quota to that other job."""


class Admission:
    """`every`: cycles take place at multiples of this many ticks; 0: whenever somebody can be tried."""

    def __init__(
        self,
        config: Configuration,
        documents: Iterable[Object],
        objects: JobObjects,
        host: Host,
        jobs: tuple[Job, ...],
        every: int = 0,
    ) -> None:
        self.cycles = self.admissions = self.preemptions = 0
        self.seconds = 0.0
        """How long its cycles took, by the clock on the wall."""
        self.listener: Listener | None = None
        self.unqueued: dict[int, str] = {}
        """Jobs that no queue takes, and why."""
        self._every = every
        self._objects = objects
        self._host = host
        self._jobs = jobs
        given = [each for each in documents if not isinstance(each, Workload)]  # it begins empty
        self._quota: Quota = load(given, Rules.of(config), instant(0))
        self._queues = local_queues(given)
        for namespace, _ in filter(None, self._queues.values()):
            if namespace not in self._quota.namespaces:
                self._quota.put_namespace(namespace, namespace_labels(namespace))
        self._evicted: dict[int, Workload] = {}
        self._index: dict[str, int] = {}
        self._key: dict[int, str] = {}
        self._paused = 0
        """No cycle before this moment."""

    def local_queue(self, job: Job) -> tuple[str, str] | None:
        """Namespace and name of the LocalQueue that the job names; None if there is none."""
        return self._queues.get(job.queue)

    def submit(self, index: int, now: int, created: int) -> None:
        job = self._jobs[index]
        where = self.local_queue(job)
        if where is None:
            self.unqueued[index] = self.unknown_queue(job)
            return
        self.put(index, self._objects.workload(job, where, created), now)

    def unknown_queue(self, job: Job) -> str:
        """Why no queue takes it."""
        if not job.queue:
            return "its row names no queue"
        why = (
            "and several LocalQueues or ClusterQueues are called so; write namespace/name"
            if job.queue in self._queues
            else "which does not exist"
        )
        return f"its row names the LocalQueue {job.queue!r}, {why}"

    def put(self, index: int, workload: Workload, now: int) -> None:
        """A workload as it is: it waits, or has its quota already."""
        key = workload.key
        self._index[key] = index
        self._key[index] = key
        self._quota.put_workload(workload, instant(now))

    @property
    def counts_pods(self) -> bool:
        """Whether pods outside of quota hold capacity of a topology."""
        return not self._quota.cache.capacity.unused

    def pod_seen(self, pod: Pod, gone: bool) -> None:
        """A pod is created, changes or is gone."""
        if gone:
            self._quota.cache.capacity.drop_pod(pod.key)
        else:
            self._quota.cache.capacity.put_pod(pod)

    def held(self, index: int) -> Workload | None:
        """The workload with what it was given; None while it waits."""
        info = self._quota.cache.workloads.get(self._key[index])
        return None if info is None else info.workload

    def why(self, index: int) -> str:
        """Why it waits; empty for one that does not."""
        key = self._key.get(index)
        found = next((each for each in waiters(self._quota) if each.workload == key), None)
        if found is None:
            return ""
        stopped = found.queue in self._quota.cache.inactive
        return f"ClusterQueue {found.queue}: {found.message}" if stopped else found.message

    def finish(self, index: int, now: int) -> None:
        key = self._key.pop(index)
        del self._index[key]
        self._quota.drop_workload(key, instant(now))

    def gone(self, index: int, now: int) -> None:
        """The pods of a job that lost its quota have ended: it queues for it again."""
        self._quota.put_workload(release(self._evicted.pop(index), instant(now)), instant(now))

    def has_quota(self, index: int) -> bool:
        return index not in self._evicted

    def run(self, now: int) -> int | None:
        """Cycles; returns when the next one is due although nothing happens until then."""
        begun = time.perf_counter()
        due = self._run(now, instant(now))
        self.seconds += time.perf_counter() - begun
        return due

    def _run(self, now: int, moment: datetime) -> int | None:
        tried: set[str] = set()
        """Who was refused since the last progress: each counts once, then nothing changes any more."""
        while self._quota.has_heads(moment):
            if now < self._paused:
                return self._paused
            if self._every and now % self._every:
                return -(-now // self._every) * self._every
            outcome = cycle(self._quota, moment, events=False)
            self.cycles += 1
            self._noted(outcome, moment)
            if self.listener is not None:
                for decided in _decided(outcome, now):
                    self.listener(decided)
            for reserved in outcome.reserved:
                self.admissions += 1
                self._host.admitted(self._index[reserved.info.key])
            for eviction in outcome.evicted:
                self.preemptions += 1
                index = self._index[eviction.victim.info.key]
                self._evicted[index] = eviction.workload
                self._host.expelled(index, self._index[eviction.preemptor.key])
            refused = {each.info.key for each in outcome.waiting}
            if self._every:
                self._paused = now + self._every
            elif outcome.made_progress:
                tried.clear()
            elif refused <= tried:
                break
            else:
                tried |= refused
        return None

    def _noted(self, outcome: Outcome, moment: datetime) -> None:
        """What a cycle has decided, before anybody acts on it."""


def _decided(outcome: Outcome, now: int) -> Iterator[Decided]:
    """Who waits, and who makes way for whom."""
    for waiting in outcome.waiting:
        yield Decided(now, f"Workload/{waiting.info.key}", "unschedulable", {}, (), (waiting.message,))
    for each in outcome.evicted:
        victim, unit = each.victim.info.key, f"Workload/{each.preemptor.key}"
        why = {f"Workload/{victim}": f"due to {DUE_TO[each.victim.reason]}"}
        yield Decided(now, unit, "preempts", {}, (victim,), (each.message,), why)


def local_queues(objects: Iterable[Object]) -> dict[str, tuple[str, str] | None]:
    """What a row may write as its queue, to namespace and name of the LocalQueue.

    Its name, `namespace/name`, or the name of its ClusterQueue; None for what several mean.
    """
    queues = [each for each in objects if isinstance(each, LocalQueue)]
    known = {each.name for each in objects if isinstance(each, ClusterQueue)}
    if lost := [each.key for each in queues if each.spec.cluster_queue not in known]:
        raise ReprieveError(f"LocalQueue {lost[0]} names a ClusterQueue that is not among the manifests")
    found: dict[str, tuple[str, str]] = {}
    twice: set[str] = set()
    for queue in queues:
        place = queue.namespace, queue.name
        for word in {queue.name, queue.key, queue.spec.cluster_queue}:
            if found.setdefault(word, place) != place:
                twice.add(word)
    return {word: None if word in twice else place for word, place in found.items()}
