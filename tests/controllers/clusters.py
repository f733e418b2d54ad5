"""Embedded clusters over real HTTP for the tests of the live controllers: a manager, workers, and what they
hold.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from reprieve.config import Configuration
from reprieve.controllers import fleet, quota
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    JOBS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    MULTIKUEUE_CONFIGS,
    NAMESPACES,
    RESOURCE_FLAVORS,
    SECRETS,
    Client,
    Informer,
)
from reprieve.objects.well_known import KUBECONFIG_NAMESPACE
from reprieve.server import EmbeddedServer
from tests import builders
from tests.builders import Document
from tests.waiting import eventually

NAMESPACE = "ml"
GATES = {"MultiKueueOrchestratedPreemption": True}


@dataclass
class Cluster:
    name: str
    server: EmbeddedServer
    client: Client
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self, controller: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(controller)
        self.tasks.append(task)
        return task

    async def stop_controllers(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.tasks.clear()

    async def workloads(self) -> dict[str, Document]:
        listed = (await self.client.listing(KUEUE_WORKLOADS.raw(), NAMESPACE)).items
        return {item["metadata"]["name"]: item for item in listed}

    async def furnish(self, cpu: str = "4", check: str = "", **queue: Any) -> None:
        """A namespace, a flavor, a queue with this much cpu."""
        client = self.client
        await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
        await client.create(RESOURCE_FLAVORS, builders.flavor(nodeLabels={"pool": "gpu"}))
        strategy = {"admissionChecksStrategy": {"admissionChecks": [{"name": check}]}} if check else {}
        within = {"withinClusterQueue": "LowerPriority"}
        made = builders.cluster_queue("cq", cpu, **{"preemption": within, **strategy, **queue})
        await client.create(CLUSTER_QUEUES, made)
        await client.create(LOCAL_QUEUES, builders.local_queue("main", "cq", namespace=NAMESPACE), NAMESPACE)


workload = partial(builders.workload, cpu=2, count=2, namespace=NAMESPACE)
job = partial(builders.job, cpu=2, count=2, queue="main", namespace=NAMESPACE)


def is_true(document: Document, type: str) -> bool:
    conditions = (document.get("status") or {}).get("conditions") or ()
    return any(each["type"] == type and each["status"] == "True" for each in conditions)


@asynccontextmanager
async def cluster(name: str, **options: Any) -> AsyncIterator[Cluster]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(EmbeddedServer(**{"controllers": False, **options}))
        client = await stack.enter_async_context(Client.from_kubeconfig(server.kubeconfig))
        made = Cluster(name, server, client)
        stack.push_async_callback(made.stop_controllers)
        yield made


class Kubelet:
    """The pods of one cluster's jobs, as numbers: they start at once and take a while to stop."""

    def __init__(self, cluster: Cluster, stopping: float = 0.5) -> None:
        self.cluster = cluster
        self.stopping = stopping
        """How long pods take to go; infinite: they never do."""
        self.stopped: list[str] = []
        """Jobs that were suspended while they ran: the preemptions."""

    async def run(self) -> None:
        changed = asyncio.Event()
        informer = Informer(self.cluster.client, JOBS.raw(), lambda _: changed.set())
        async with asyncio.TaskGroup() as group, informer as jobs:
            leaving: set[str] = set()
            while True:
                changed.clear()
                for item in jobs:
                    name, active = item["metadata"]["name"], (item.get("status") or {}).get("active", 0)
                    if not active:
                        leaving.discard(name)
                    if not item["spec"].get("suspend") and not active:
                        await self._set_active(name, item["spec"]["parallelism"])
                    elif item["spec"].get("suspend") and active and name not in leaving:
                        leaving.add(name)
                        self.stopped.append(name)
                        group.create_task(self._stop(name))
                await changed.wait()

    async def _stop(self, name: str) -> None:
        await asyncio.sleep(self.stopping)  # real: preemptors must wait as long as pods take to stop
        await self._set_active(name, 0)

    async def _set_active(self, name: str, number: int) -> None:
        await self.cluster.client.patch(
            JOBS, name, {"status": {"active": number}}, NAMESPACE, subresource="status"
        )


@dataclass
class Fleet:
    manager: Cluster
    workers: list[Cluster]
    kubelets: dict[str, Kubelet]

    def preemptions(self) -> dict[str, int]:
        """How many running jobs were stopped in each worker."""
        return {name: len(kubelet.stopped) for name, kubelet in self.kubelets.items()}


@asynccontextmanager
async def full_fleet(
    size: int = 3, gates: bool = True, settings: Document | None = None, manager_cpu: str = "1000"
) -> AsyncIterator[Fleet]:
    """A manager and workers that are all full of low-priority work, everything running and connected."""
    feature = GATES if gates else {}
    config = Configuration.load({"featureGates": feature, "fleet": settings or {}})
    async with AsyncExitStack() as stack:
        manager = await stack.enter_async_context(cluster("manager"))
        workers = [await stack.enter_async_context(cluster(f"worker{n}")) for n in range(1, size + 1)]
        kubelets = {worker.name: Kubelet(worker) for worker in workers}
        for worker in workers:
            await worker.furnish()
            worker.start(kubelets[worker.name].run())
            worker.start(quota.run(worker.client, config))
            await worker.client.create(JOBS, job("low"), NAMESPACE)
        await _furnish_manager(manager, workers, manager_cpu)
        manager.start(quota.run(manager.client, config))
        manager.start(fleet.run(manager.client, config))
        made = Fleet(manager, workers, kubelets)
        for worker in workers:
            await eventually(partial(_runs, worker), f"{worker.name} is full")
        await eventually(lambda: _all_connected(manager, size), "every worker is connected")
        yield made


async def _furnish_manager(manager: Cluster, workers: list[Cluster], cpu: str) -> None:
    client = manager.client
    await manager.furnish(cpu=cpu, check="fleet")
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
    spec = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
    await client.create(ADMISSION_CHECKS, {"metadata": {"name": "fleet"}, "spec": spec})
    names = [worker.name for worker in workers]
    await client.create(MULTIKUEUE_CONFIGS, {"metadata": {"name": "all"}, "spec": {"clusters": names}})
    await client.create(NAMESPACES, {"metadata": {"name": KUBECONFIG_NAMESPACE}})
    for worker in workers:
        data = {"kubeconfig": base64.b64encode(worker.server.kubeconfig.read_bytes()).decode()}
        await client.create(SECRETS, {"metadata": {"name": worker.name}, "data": data}, KUBECONFIG_NAMESPACE)
        source = {"kubeConfig": {"location": worker.name, "locationType": "Secret"}}
        document = {"metadata": {"name": worker.name}, "spec": {"clusterSource": source}}
        await client.create(MULTIKUEUE_CLUSTERS, document)


async def _runs(worker: Cluster) -> bool:
    listed = (await worker.client.listing(JOBS.raw(), NAMESPACE)).items
    return all((item.get("status") or {}).get("active") for item in listed)


async def _all_connected(manager: Cluster, size: int) -> bool:
    listed = (await manager.client.listing(MULTIKUEUE_CLUSTERS.raw())).items
    return sum(is_true(item, "Active") for item in listed) == size
