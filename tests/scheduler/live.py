"""A scheduler on the embedded server over HTTP, with nodes that start and stop pods."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import NAMESPACES, NODES, POD_GROUPS, PODS, PRIORITY_CLASSES, Client
from reprieve.objects.quantity import milli_value
from reprieve.server import EmbeddedServer
from tests import builders
from tests.builders import Document, node
from tests.waiting import PATIENCE, eventually


def kubelets(grace: float = 0.0) -> Callable[[Any], Any]:
    """Every node at once: a bound pod runs, a pod being deleted is gone after `grace` seconds."""

    async def end(api: Any, name: str, namespace: str, uid: str) -> None:
        await asyncio.sleep(grace)  # real: what the scheduler does meanwhile is what is tested
        try:
            await api.delete("pods", name, namespace, grace=0, uid=uid)
        except Exception as error:
            if getattr(error, "code", 0) not in (404, 409):
                raise

    async def run(api: Any) -> None:
        ending: dict[str, asyncio.Task[None]] = {}
        async for event in api.watch("pods"):
            metadata, spec = event.object["metadata"], event.object["spec"]
            uid = metadata["uid"]
            if event.type == "DELETED":
                ending.pop(uid, None)
            elif spec.get("nodeName") and metadata.get("deletionTimestamp") and uid not in ending:
                ending[uid] = asyncio.create_task(end(api, metadata["name"], metadata["namespace"], uid))

    return run


pod = partial(builders.pod, namespace="ns", labels={}, schedulerName="reprieve")
pod_group = partial(builders.pod_group, namespace="ns")


class Live:
    def __init__(self, server: EmbeddedServer, client: Client) -> None:
        self.server = server
        self.client = client
        self.scheduler: asyncio.Task[None] | None = None

    @property
    def pods(self) -> list[Document]:
        return self.server.api.select("pods")

    async def create(self, resource: Any, *documents: Document) -> None:
        await asyncio.gather(*(self.client.create(resource, document) for document in documents))

    async def until(self, done: Callable[[], bool], timeout: float = PATIENCE) -> None:
        async def reached() -> bool:
            if self.scheduler is not None and self.scheduler.done():
                await self.scheduler
            return done()

        await eventually(reached, self.story, timeout)

    def bound(self, prefix: str = "") -> list[str]:
        return sorted(
            pod["metadata"]["name"]
            for pod in self.pods
            if pod["spec"].get("nodeName") and pod["metadata"]["name"].startswith(prefix)
            and not pod["metadata"].get("deletionTimestamp")
        )  # fmt: skip

    def story(self) -> str:
        counts = Counter(
            (
                "terminating"
                if p["metadata"].get("deletionTimestamp")
                else "bound"
                if p["spec"].get("nodeName")
                else "waiting"
            )
            for p in self.pods
        )
        marked = sum("DisruptionTarget" in _conditions(p) for p in self.pods)
        waiting = [
            f"{p['metadata']['name']} (nominated for {p['status'].get('nominatedNodeName', 'nothing')}): "
            f"{_conditions(p).get('PodScheduled', 'nobody looked at it')}"
            for p in self.pods
            if not p["spec"].get("nodeName")
        ]
        return f"still not there: {dict(counts)}, {marked} marked; waiting: {waiting[:5]}"

    def overcommitted(self) -> dict[str, int]:
        """Nodes that hold more cpu than they have."""
        used: Counter[str] = Counter()
        for each in self.pods:
            if each["spec"].get("nodeName"):
                used[each["spec"]["nodeName"]] += sum(
                    milli_value(c["resources"]["requests"]["cpu"]) for c in each["spec"]["containers"]
                )
        capacity = {
            n["metadata"]["name"]: milli_value(n["status"]["allocatable"]["cpu"])
            for n in self.server.api.select("nodes")
        }
        return {name: amount for name, amount in used.items() if amount > capacity.get(name, 0)}


def _conditions(document: Document) -> dict[str, str]:
    """Type and message of each condition."""
    return {each["type"]: each.get("message", "") for each in document["status"].get("conditions", ())}


CLASSES = (
    builders.priority_class("low", 10, globalDefault=True),
    builders.priority_class("mid", 50),
    builders.priority_class("high", 100),
)


@asynccontextmanager
async def cluster(
    nodes: int = 4, cpu: int = 10, *, grace: float = 0.0, tls: bool = False, **options: Any
) -> AsyncIterator[Live]:
    """A server with nodes, a namespace and priority classes, and no scheduler."""
    background = (kubelets(grace), *options.pop("background", ()))
    async with (
        EmbeddedServer(tls=tls, background=background, **options) as server,
        Client.from_kubeconfig(server.kubeconfig) as client,
    ):
        live = Live(server, client)
        await live.create(NAMESPACES, {"metadata": {"name": "ns"}})
        await live.create(PRIORITY_CLASSES, *CLASSES)
        await live.create(NODES, *(node(f"n{index:03}", cpu) for index in range(nodes)))
        yield live


@asynccontextmanager
async def scheduling(
    live: Live, config: Document | None = None, client: Client | None = None
) -> AsyncIterator[LiveScheduler]:
    """A scheduler with a connection of its own."""
    own = client or Client.from_kubeconfig(live.server.kubeconfig)
    async with own:
        scheduler = LiveScheduler(own, Configuration.load(config))
        async with scheduler.following():
            task = live.scheduler = asyncio.create_task(scheduler.schedule())
            try:
                yield scheduler
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


__all__ = [
    "NODES",
    "PODS",
    "POD_GROUPS",
    "PRIORITY_CLASSES",
    "Live",
    "cluster",
    "kubelets",
    "pod",
    "pod_group",
    "scheduling",
]
