"""The manager of a fleet in virtual time: one step of `reprieve.fleet` for each workload that has news.

What `controllers.fleet` does with API servers happens here without any. The manager gives every job quota at
once; who waits, waits for a worker. Nothing here decides anything.
"""

import heapq
from collections.abc import Iterable
from datetime import datetime
from math import ceil
from typing import Any, Protocol

from reprieve.fleet import (
    Action,
    CloseGate,
    CreateCopy,
    DeleteCopy,
    FleetSettings,
    Group,
    Nominate,
    OpenGate,
    Remote,
    SaveLedger,
    SetCheck,
    SyncJob,
    step,
    write_ledger,
)
from reprieve.objects import Document, format_time, well_known
from reprieve.simulate.jobs import TICKS
from reprieve.simulate.pods import instant

CHECK = "fleet"
"""The name of the admission check."""
RETRY = "Retry"


class Workers(Protocol):
    """The worker clusters, and the jobs on them."""

    def copy_of(self, cluster: str, job: int) -> Document | None:
        """The workload's copy there."""

    def create(self, cluster: str, job: int, document: Document) -> None: ...

    def delete(self, cluster: str, job: int) -> None: ...

    def move_gate(self, cluster: str, job: int, position: str) -> None: ...

    def send(self, cluster: str, job: int) -> None:
        """The job belongs to this cluster from now on and is made there, unless it has been."""

    def start_again(self, job: int) -> None:
        """It was evicted on its worker, or its worker is lost: the manager takes it back."""


class Manager:
    def __init__(self, settings: FleetSettings, clusters: Iterable[str], workers: Workers) -> None:
        self.away: dict[str, datetime] = {}
        """Clusters out of reach, and since when."""
        self.opened = 0
        """Gates that were opened."""
        self._settings = settings
        self._clusters = tuple(clusters)
        self._workers = workers
        self._local: dict[int, Document] = {}
        self._touched: dict[int, None] = {}
        self._due: list[tuple[int, int]] = []

    def __contains__(self, job: int) -> bool:
        return job in self._local

    @property
    def busy(self) -> bool:
        """Whether there is news of a workload."""
        return bool(self._touched)

    def next_due(self) -> int | None:
        """When a workload is looked at although nothing happens until then."""
        return self._due[0][0] if self._due else None

    def touch(self, job: int) -> None:
        """There is news of this one."""
        if job in self._local:
            self._touched[job] = None

    def touch_all(self) -> None:
        self._touched |= dict.fromkeys(self._local)

    def dispatch(self, job: int, workload: Document, now: int) -> None:
        """A workload that has the manager's quota; it may have been here before."""
        known = self._local.get(job)
        notes = known["metadata"].get("annotations") if known is not None else None
        meta = {**workload["metadata"], "annotations": notes or {}}
        self._local[job] = {**workload, "metadata": meta, "status": _pending(instant(now))}
        self.touch(job)

    def withdraw(self, job: int, now: int) -> None:
        """It has lost the manager's quota: its copies go, as far as they can be reached."""
        self._local[job]["status"] = {"conditions": []}
        self._step(job, now)

    def forget(self, job: int) -> None:
        """It is over."""
        del self._local[job]
        self._touched.pop(job, None)

    def run(self, now: int) -> None:
        """A step for everybody of whom there is news, or whose time has come."""
        while self._due and self._due[0][0] <= now:
            self.touch(heapq.heappop(self._due)[1])
        while self._touched:
            job = next(iter(self._touched))
            del self._touched[job]
            self._step(job, now)

    def _step(self, job: int, now: int) -> None:
        decided = step(self._group(job), self._settings, instant(now))
        for action in decided.actions:
            self._perform(job, action)
        settled = self._local[job]["status"].get("clusterName", "")
        if decided.requeue_after and (not settled or settled in self.away):
            heapq.heappush(self._due, (now + max(1, ceil(decided.requeue_after * TICKS)), job))

    def _group(self, job: int) -> Group:
        return Group(self._local[job], CHECK, tuple(self._remote(name, job) for name in self._clusters))

    def _remote(self, cluster: str, job: int) -> Remote:
        since = self.away.get(cluster)
        if since is not None:
            return Remote(cluster, connected=False, disconnected_since=since)
        return Remote(cluster, copy=self._workers.copy_of(cluster, job))

    def _perform(self, job: int, action: Action) -> None:
        local, workers = self._local[job], self._workers
        match action:
            case SaveLedger(ledger):
                text = write_ledger(ledger)
                local["metadata"]["annotations"] = {well_known.LEDGER_ANNOTATION: text} if text else {}
            case Nominate(clusters):
                local["status"]["nominatedClusterNames"] = list(clusters)
            case SetCheck(state, message, cluster):
                self._set_check(job, state, message, cluster)
            case CreateCopy(cluster, document):
                workers.create(cluster, job, document)
            case DeleteCopy(cluster):
                workers.delete(cluster, job)
            case OpenGate(cluster):
                self.opened += 1
                workers.move_gate(cluster, job, well_known.GATE_OPEN)
            case CloseGate(cluster):
                workers.move_gate(cluster, job, well_known.GATE_CLOSED)
            case SyncJob(cluster, final=False):
                workers.send(cluster, job)
            case _:
                raise AssertionError(f"{action} is for ends and for copies that people change: none here")

    def _set_check(self, job: int, state: str, message: str, cluster: str) -> None:
        status = self._local[job]["status"]
        status["admissionChecks"] = [{"name": CHECK, "state": state, "message": message}]
        if cluster:
            status["clusterName"] = cluster
            status.pop("nominatedClusterNames", None)
        if state == RETRY:
            self._workers.start_again(job)


def _pending(now: datetime) -> dict[str, Any]:
    reserved = {"type": well_known.QUOTA_RESERVED, "status": "True", "lastTransitionTime": format_time(now)}
    return {"conditions": [reserved], "admissionChecks": [{"name": CHECK, "state": "Pending"}]}
