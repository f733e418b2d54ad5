"""Clusters that misbehave, in virtual time: the real fleet manager against modelled workers behind bad links.

A worker models what its quota controller would do with slots instead of quota: a copy takes a free slot, else
it preempts if its gate is open (by the worker's own lease), else it says that it is blocked. Its clock may be
hours off.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from reprieve.controllers.fleet import Manager
from reprieve.fleet.cost import PreemptionCost, signal_message
from reprieve.fleet.lease import LeaseState, lease_of
from reprieve.fleet.reading import declares_gate, gate_is_open
from reprieve.fleet.settings import FleetSettings
from reprieve.kube import Client, Request, Response, Stream, TransportError
from reprieve.objects import has_condition, set_condition, well_known
from tests import builders
from tests.controllers.memory_api import Document, MemoryApi
from tests.controllers.virtual_time import utc_now
from tests.strategies.dice import Dice

NAMESPACE = "ml"


@dataclass
class Link:
    """What lies between the manager and one API server."""

    api: MemoryApi
    rng: Dice
    cut: bool = False
    delay: float = 0.0
    lossy: float = 0.0

    async def call(self, request: Request) -> Response:
        await asyncio.sleep(0.002 + self.rng.random() * self.delay)
        if self.cut:
            await asyncio.sleep(2.0)
            raise TransportError("the link is cut")
        answer = await self.api.transport().call(request)
        if self.cut or self.rng.chance(self.lossy):
            raise TransportError("the answer was lost")
        return answer

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        await asyncio.sleep(0.002 + self.rng.random() * self.delay)
        if self.cut:
            await asyncio.sleep(2.0)
            raise TransportError("the link is cut")
        async with self.api.transport().stream(request) as stream:
            yield stream

    async def close(self) -> None:
        return None

    def break_off(self) -> None:
        self.cut = True
        self.api.cut_watches()


@dataclass
class Worker:
    name: str
    rng: Dice
    skew: timedelta
    slots: int
    stuck: bool
    api: MemoryApi = field(default_factory=MemoryApi)
    alive: bool = True
    busy: int = 0
    """Slots held by others: the potential victims."""
    preempted: int = 0
    leaving: dict[str, float] = field(default_factory=dict)
    started: dict[str, float] = field(default_factory=dict)
    witnessed: set[str] = field(default_factory=set)
    runs: list[tuple[str, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.busy = self.slots
        self.link = Link(self.api, self.rng)
        self.api.listeners.append(lambda *_: self.changed.set())
        self.changed = asyncio.Event()

    def now(self) -> datetime:
        return utc_now() + self.skew

    def opened(self, key: str) -> bool:
        """Whether this worker would preempt for the copy now: what two workers must never do at once."""
        copy = self.api.get("workloads", NAMESPACE, key)
        if copy is None or not self.alive or not declares_gate(copy):
            return False
        lease = lease_of(copy, key in self.witnessed, self.now())
        return gate_is_open(copy) and lease.state in (LeaseState.NONE, LeaseState.NOTE, LeaseState.HOLD)

    async def run(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), 1.0)
            self.changed.clear()
            await asyncio.sleep(0.05)
            if self.alive:
                self._cycle()

    def restart(self) -> None:
        """The controller's memory is gone; the objects are not."""
        self.witnessed.clear()
        self.alive = True

    def _cycle(self) -> None:
        now = asyncio.get_running_loop().time()
        for key, since in list(self.started.items()):
            if self.api.get("workloads", NAMESPACE, key) is None:
                self.runs.append((key, since, now))
                del self.started[key]
        for key, at in list(self.leaving.items()):
            if now >= at:
                del self.leaving[key]
                self.busy -= 1
        for copy in sorted(self.api.all("workloads"), key=lambda item: item["metadata"]["name"]):
            self._handle(deepcopy(copy), now)

    def _handle(self, copy: Document, now: float) -> None:
        key = copy["metadata"]["name"]
        if has_condition(copy, "Admitted"):
            self._work(copy, now)
            return
        admitted = sum(has_condition(item, "Admitted") for item in self.api.all("workloads"))
        if admitted + self.busy < self.slots:
            set_condition(copy, "QuotaReserved", True, "QuotaReserved", "", self.now())
            set_condition(copy, "Admitted", True, "Admitted", "", self.now())
            set_condition(copy, "BlockedOnPreemptionGates", False, "QuotaReserved", "", self.now())
            self.api.put("workloads", copy)
        elif not self._may_preempt(copy):
            price = PreemptionCost(self.rng.randrange(3), self.rng.randrange(100), 1)
            if set_condition(
                copy, "BlockedOnPreemptionGates", True, "PreemptionGated", signal_message(price), self.now()
            ) and not has_condition(
                self.api.get("workloads", NAMESPACE, key) or {}, "BlockedOnPreemptionGates"
            ):
                self.api.put("workloads", copy)
        elif key not in self.leaving and self.busy > len(self.leaving):
            self.preempted += 1
            self.leaving[key] = float("inf") if self.stuck else now + self.rng.uniform(1, 40)

    def _may_preempt(self, copy: Document) -> bool:
        key = copy["metadata"]["name"]
        if not gate_is_open(copy):
            self.witnessed.add(key)
            return not declares_gate(copy)
        lease = lease_of(copy, key in self.witnessed, self.now())
        if lease.state is LeaseState.NOTE:
            copy["metadata"].setdefault("annotations", {})[well_known.GATE_SEEN_ANNOTATION] = lease.note
            self.api.put("workloads", copy)
        if lease.state is LeaseState.CLOSE:
            copy["status"]["preemptionGates"] = [{"name": well_known.MULTIKUEUE_GATE, "position": "Closed"}]
            self.witnessed.add(key)
            self.api.put("workloads", copy)
            return False
        return True

    def _work(self, copy: Document, now: float) -> None:
        key = copy["metadata"]["name"]
        job = self.api.get("jobs", NAMESPACE, key)
        if job is None or has_condition(copy, "Finished"):
            return
        since = self.started.setdefault(key, now)
        if now - since > 30:
            self.runs.append((key, self.started.pop(key), now))
            set_condition(copy, "Finished", True, "Succeeded", "done", self.now())
            self.api.put("jobs", {**job, "status": {"conditions": [{"type": "Complete", "status": "True"}]}})
            self.api.put("workloads", copy)


class World:
    """A manager, its workers, and the workloads that must all end exactly once."""

    def __init__(self, dice: Dice, settings: FleetSettings, workers: int = 3, workloads: int = 5) -> None:
        self.rng = dice
        self.settings = settings
        self.home = MemoryApi()
        self.home_link = Link(self.home, self.rng)
        self.workers = {
            name: Worker(
                name,
                self.rng,
                timedelta(seconds=self.rng.choice([0, 0, 7200, -7200, 45, -45])),
                slots=self.rng.randint(1, 3),
                stuck=self.rng.chance(0.25),
            )
            for name in (f"worker{number}" for number in range(1, workers + 1))
        }
        if all(worker.stuck for worker in self.workers.values()):
            self.workers["worker1"].stuck = False
        self.keys = [f"wl{number}" for number in range(workloads)]
        self.violations: list[str] = []
        self.managers = 1
        """More than one: leader election has failed."""
        self._running: list[asyncio.Task[None]] = []

    def furnish(self) -> None:
        home = self.home
        home.put("multikueueconfigs", {"metadata": {"name": "all"}, "spec": {"clusters": list(self.workers)}})
        parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
        home.put(
            "admissionchecks",
            {
                "metadata": {"name": "mk"},
                "spec": {"controllerName": well_known.MULTIKUEUE_CONTROLLER, "parameters": parameters},
            },
        )
        for name in self.workers:
            source = {"kubeConfig": {"location": name, "locationType": "Path"}}
            home.put("multikueueclusters", {"metadata": {"name": name}, "spec": {"clusterSource": source}})

    async def submit(self, within: float) -> None:
        """The workloads, one after the other."""
        for key in self.keys:
            self._submit(key)
            await asyncio.sleep(self.rng.uniform(0, 2 * within / len(self.keys)))

    def _submit(self, key: str) -> None:
        labels = {"kueue.x-k8s.io/queue-name": "main"}
        metadata = {"name": key, "namespace": NAMESPACE, "labels": labels}
        self.home.put("jobs", {"metadata": metadata, "spec": {"suspend": True, "template": {"spec": {}}}})
        owner = builders.owned_by("Job", key, "j")
        workload = builders.workload(
            key, None, 100, namespace=NAMESPACE, metadata={"ownerReferences": [owner]}
        )
        reserve(workload, utc_now())
        self.home.put("workloads", workload)

    def start_manager(self) -> None:
        async def connect(cluster: Document) -> Client:
            link = self.workers[cluster["metadata"]["name"]].link
            return Client(link, jitter=self.rng.random)

        for _ in range(self.managers):
            client = Client(self.home_link, jitter=self.rng.random)
            manager = Manager(client, connect, self.settings, now=utc_now)
            self._running.append(asyncio.create_task(manager.run()))

    async def stop_manager(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._running.clear()

    async def requota(self) -> None:
        """The manager's own quota controller: a check that says Retry evicts, and the workload queues
        again.
        """
        while True:
            await asyncio.sleep(1.0)
            for workload in list(self.home.all("workloads")):
                if workload["status"]["admissionChecks"][0]["state"] == "Retry":
                    fresh = deepcopy(workload)
                    fresh["status"] = {
                        "admissionChecks": [{"name": "mk", "state": "Pending"}],
                        "conditions": [
                            {"type": "QuotaReserved", "status": "False", "reason": "PendingEvaluation"}
                        ],
                    }
                    self.home.put("workloads", fresh)
                elif not has_condition(workload, "QuotaReserved"):
                    fresh = deepcopy(workload)
                    reserve(fresh, utc_now())
                    self.home.put("workloads", fresh)

    def watch_gates(self) -> None:
        """Checked at every change anywhere: never two clusters that would preempt for the same workload."""
        for key in self.keys:
            opened = [name for name, worker in self.workers.items() if worker.opened(key)]
            if len(opened) > 1:
                self.violations.append(f"{asyncio.get_running_loop().time():.1f}: {key} open in {opened}")

    def finished(self) -> bool:
        listed = list(self.home.all("workloads"))
        return len(listed) == len(self.keys) and all(
            has_condition(workload, "Finished") for workload in listed
        )

    def overlapping_runs(self) -> list[str]:
        """Runs of one workload at the same time in two clusters."""
        intervals: dict[str, list[tuple[float, float, str]]] = {}
        for name, worker in self.workers.items():
            for key, start, end in worker.runs:
                intervals.setdefault(key, []).append((start, end, name))
        found = []
        for key, listed in intervals.items():
            listed.sort()
            for (_, end, first), (start, _, second) in pairwise(listed):
                if start < end:
                    found.append(f"{key} in {first} until {end:.1f} and in {second} from {start:.1f}")
        return found


def reserve(workload: Document, now: datetime) -> None:
    status: dict[str, Any] = workload.setdefault("status", {})
    status["admission"] = {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "count": 1}]}
    status["admissionChecks"] = [{"name": "mk", "state": "Pending"}]
    set_condition(workload, "QuotaReserved", True, "QuotaReserved", "", now)
