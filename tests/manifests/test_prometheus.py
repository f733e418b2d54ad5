"""A real Prometheus scrapes a run with preemptions of every kind and answers each query of the dashboards."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from reprieve.config import Configuration
from reprieve.kube import (
    BUDGETS,
    JOBS,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    WORKLOAD_PRIORITY_CLASSES,
    Client,
    Resource,
)
from reprieve.local import controllers_of, local_cluster, local_fleet, nodes_ready
from reprieve.objects import NodeTemplate
from reprieve.server import Habits
from tests import builders
from tests.builders import Document, budget, pod_group, priority_class
from tests.controllers.test_local_fleet import job_for
from tests.manifests.test_monitoring import queries
from tests.programs import program
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
NODES = [NodeTemplate.parse("node=2:cpu=4,memory=16Gi")]
TROUBLE = re.compile(r'result="error"| [<>] ')
"""Queries that find nothing while all is well: counts of errors, and what alerts compare."""
pod = partial(builders.pod, schedulerName="reprieve", memory="1Gi")


@asynccontextmanager
async def prometheus(folder: Path, pages: list[str]) -> AsyncIterator[str]:
    """Scrapes these every second; its address, once it is ready."""
    targets = [page.removeprefix("http://").rstrip("/") for page in pages]
    job = {"job_name": "reprieve", "static_configs": [{"targets": targets}]}
    settings = {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    process = await asyncio.create_subprocess_exec(
        program("prometheus", "prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await eventually(partial(_ready, f"http://{address}/-/ready"), "Prometheus is ready")
        yield f"http://{address}"
    finally:
        process.terminate()
        await process.wait()


async def _ready(url: str) -> bool:
    try:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.ok
    except aiohttp.ClientError:
        return False


async def created(client: Client, *documents: tuple[Resource, Document]) -> None:
    for resource, document in documents:
        await client.create(resource, document)


async def placed(client: Client, *names: str) -> None:
    async def all_there() -> bool:
        found = (await client.listing(PODS.raw())).items
        on = {each["metadata"]["name"] for each in found if each["spec"].get("nodeName")}
        return set(names) <= on

    await eventually(all_there, f"{', '.join(names)} have their nodes")


async def preempt_pods(client: Client) -> None:
    """A pod has a gang make way, a gang has pods make way, one of them beyond its budget, and then another
    gang."""
    for name, value in (("low", 1), ("high", 100), ("top", 1000), ("crown", 10000)):
        await client.create(PRIORITY_CLASSES, priority_class(name, value))
    await gang(client, "old", "low")
    await created(client, (PODS, pod("boss-0", 4, "high")))
    await placed(client, "boss-0")
    guarded = [(BUDGETS, budget("guarded", minAvailable=1)), (PODS, pod("guarded-0", 4, "low"))]
    await created(client, *guarded)
    await placed(client, "guarded-0")
    await gang(client, "new", "top")
    await gang(client, "last", "crown")
    await created(client, (PODS, pod("never-0", 64, "low")))


async def gang(client: Client, name: str, priority: str) -> None:
    """One that fills the cluster."""
    pods = [pod(f"{name}-{i}", 4, priority, group=name) for i in range(2)]
    group = pod_group(name, 2, priority, mode="all")
    await created(client, (POD_GROUPS, group), *((PODS, each) for each in pods))
    await placed(client, *(each["metadata"]["name"] for each in pods))


async def preempt_across_clusters(clients: dict[str, Client]) -> None:
    """Both workers are full; the manager's job gets a turn to preempt that is too short, then another."""
    for client in clients.values():
        for name, value in (("low", 1), ("high", 10)):
            await client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
    for name in ("worker1", "worker2"):
        await clients[name].create(JOBS, job_for("notebook", "low", "1h"))

    async def all_full() -> bool:
        found = [(await clients[name].listing(PODS.raw())).items for name in ("worker1", "worker2")]
        return all(sum(bool(pod["spec"].get("nodeName")) for pod in pods) == 2 for pods in found)

    await eventually(all_full, "both workers are full of notebooks")
    await clients["manager"].create(JOBS, job_for("train", "high", "1h"))


async def test_every_query_is_answered_from_what_a_run_exposes(tmp_path: Path) -> None:
    settings = {
        "featureGates": {"MultiKueueOrchestratedPreemption": True},
        "fleet": {"singleClusterPreemptionTimeout": "2s"},
    }
    config, alone = Configuration.load(settings), Configuration.load({})
    async with (
        local_cluster(nodes=NODES, habits=Habits(terminate_after=0.2)) as server,
        controllers_of(server, ("scheduler",), alone) as single,
        local_fleet(2, NODES, Habits(terminate_after=6.0), config=config) as fleet,
        prometheus(tmp_path, [single.page, fleet.page, *fleet.pages.values()]) as address,
        aiohttp.ClientSession(address) as session,
    ):
        await nodes_ready(server, NODES)
        clients = {name: Client.from_kubeconfig(path) for name, path in fleet.kubeconfigs().items()}
        await preempt_pods(single.client)
        await preempt_across_clusters(clients)

        async def answer(query: str) -> list[Any]:
            async with session.get("/api/v1/query", params={"query": query}) as response:
                found = json.loads(await response.text())
            assert found["status"] == "success", f"{query}: {found}"
            series: list[Any] = found["data"]["result"]
            return series

        for where, query in queries():
            if TROUBLE.search(query):
                await answer(query)
            else:
                await eventually(partial(answer, query), f"{where}: {query} finds something")
        for client in clients.values():
            await client.close()
