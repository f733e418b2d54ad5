"""The scheduler's loop with recorded calls in place of an API server."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

from reprieve.config import Configuration
from reprieve.controllers.scheduler.shell import Shell
from reprieve.kube import Change
from reprieve.objects.decode import decode
from reprieve.scheduler.core import Core
from tests.builders import Document
from tests.scheduler.recorded import Recorded
from tests.waiting import PATIENCE


class Bench:
    """`options` are those of the loop."""

    def __init__(self, *documents: Document, **options: Any) -> None:
        self.actions = Recorded()
        self.core = Core(Configuration.load(None), "reprieve")
        self.shell = Shell(self.core, self.actions, **options)
        for document in documents:
            document["metadata"].setdefault("uid", f"uid-{document['metadata']['name']}")
            self.shell.observe(Change("ADDED", None, decode(document)))

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Self]:
        task = asyncio.create_task(self.shell.run())
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def until(self, done: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not done():
                await asyncio.sleep(0)

    def verbs(self, *wanted: str) -> list[tuple[str, str]]:
        return [(verb, key.removeprefix("ns/")) for verb, key, _ in self.actions.calls if verb in wanted]
