"""An API without HTTP, its controllers and fake nodes, on a clock that the test moves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from reprieve.objects import NodeTemplate
from reprieve.server import controllers
from reprieve.server.api import Api
from reprieve.server.backend import Backend
from reprieve.server.bootstrap import bootstrap
from reprieve.server.controllers.delaying_queue import ManualClock
from reprieve.server.fake_nodes import FakeKubelet, Habits
from tests import builders

Doc = dict[str, Any]


class Rig:
    def __init__(self, api: Api, clock: ManualClock) -> None:
        self.api = api
        self.clock = clock

    async def settle(self) -> None:
        """Let everybody do what can be done now."""
        quiet, revision = 0, -1
        while quiet < 30:
            await asyncio.sleep(0)
            now = self.api.backend.store.revision
            quiet, revision = (quiet + 1, revision) if now == revision else (0, now)

    async def advance(self, seconds: float) -> None:
        await self.settle()
        self.clock.advance(seconds)
        await self.settle()

    async def create(self, resource: str, *documents: Doc) -> None:
        for document in documents:
            await self.api.create(resource, document)
        await self.settle()

    def get(self, resource: str, name: str, namespace: str = "default") -> Doc:
        document = self.api.peek(resource, name, namespace)
        assert document is not None, f"{resource} {namespace}/{name} is gone"
        return document

    def gone(self, resource: str, name: str, namespace: str = "default") -> bool:
        return self.api.peek(resource, name, namespace) is None

    async def end(self, name: str, code: int = 0, namespace: str = "default") -> None:
        """A pod's only container ends with this code, as a kubelet would report it."""
        now = self.api.backend.timestamp()
        ended = {"terminated": {"exitCode": code, "finishedAt": now, "startedAt": now}}
        status: Doc = {
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": [
                {"name": "c", "image": "i", "ready": False, "restartCount": 0, "state": ended}
            ],
        }
        patch = {"status": status}
        await self.api.patch("pods", name, patch, namespace, subresource="status")
        await self.settle()

    def pods(self, where: Callable[[Doc], bool] = lambda pod: True) -> list[Doc]:
        return [pod for pod in self.api.select("pods") if where(pod)]

    def phases(self) -> list[str]:
        return sorted(pod["status"]["phase"] for pod in self.pods())


@asynccontextmanager
async def running(nodes: Sequence[str] = (), habits: Habits | None = None) -> AsyncIterator[Rig]:
    """Controllers always; a fake kubelet when there are nodes."""
    clock = ManualClock()
    backend = Backend(None, clock=clock)
    bootstrap(backend)
    api = Api(backend)
    tasks = [asyncio.create_task(controllers.run(api))]
    if nodes:
        templates = [NodeTemplate.parse(spec) for spec in nodes]
        tasks.append(asyncio.create_task(FakeKubelet(api, templates, habits).run()))
    rig = Rig(api, clock)
    await rig.settle()
    try:
        yield rig
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await backend.store.close()


pod = partial(builders.pod, cpu=None, labels={})
job = partial(builders.job, cpu=None, pod={"nodeName": "n-0", "terminationGracePeriodSeconds": 5})


def condition(doc: Doc, type: str) -> str:
    for item in (doc.get("status") or {}).get("conditions") or ():
        if item["type"] == type:
            return f"{item['status']}/{item.get('reason', '')}"
    return ""
