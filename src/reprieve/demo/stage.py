"""The clusters of the tour: an API server with fake nodes, and the controllers a user would run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reprieve.config import Configuration
from reprieve.demo.tour import MANIFESTS
from reprieve.kube import BUDGETS, JOBS, POD_GROUPS, PODS, PRIORITY_CLASSES, QUOTA_KINDS, Client, Resource
from reprieve.local import controllers_of, local_cluster
from reprieve.objects import NodeTemplate, Pod, read_documents
from reprieve.server import EmbeddedServer, Habits

NODES = ("gpu=4:cpu=8500m,memory=32Gi", "stable=2:cpu=16,memory=64Gi", "spot=2:cpu=16,memory=64Gi")
TERMINATE_SECONDS = 3.0
APPLIED = {r.kind: r for r in (PODS, POD_GROUPS, PRIORITY_CLASSES, BUDGETS, JOBS, *QUOTA_KINDS)}


@dataclass
class Stage:
    server: EmbeddedServer
    client: Client

    async def apply(self, manifest: str) -> Path:
        """What `kubectl apply -f` does, with the tour's own client."""
        path = MANIFESTS / manifest
        for source in read_documents(path):
            resource: Resource = APPLIED[source.document["kind"]]
            await self.client.create(resource, source.document)
        return path

    async def pods(self) -> dict[str, Pod]:
        """By name; those being deleted included."""
        return {pod.name: pod for pod in (await self.client.listing(PODS, "default")).items}

    async def running(self, *names: str) -> dict[str, Pod]:
        """Every pod there is, once all of these run; nothing before."""
        pods = await self.pods()
        run = all(name in pods and pods[name].status.phase == "Running" for name in names)
        return pods if run else {}


@asynccontextmanager
async def stage(port: int = 0) -> AsyncIterator[tuple[Stage, str]]:
    """Up and scheduling when entered; with the address of the page."""
    nodes = [NodeTemplate.parse(text) for text in NODES]
    habits = Habits(run_for=None, terminate_after=TERMINATE_SECONDS)
    async with (
        local_cluster(nodes=nodes, habits=habits) as server,
        controllers_of(server, ("scheduler", "quota"), Configuration.load({}), port) as controlled,
    ):
        yield Stage(server, controlled.client), controlled.page
