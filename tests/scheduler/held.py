"""A network on which deletions of pods wait until the test lets them through."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from reprieve.kube import Request, Response, Stream, Transport


class Held:
    """`answers`: the deletion happens at once, and only its answer waits."""

    def __init__(self, inner: Transport, *, answers: bool) -> None:
        self._inner = inner
        self._answers = answers
        self._open = asyncio.Event()
        self.arrived = asyncio.Event()
        """A deletion is being held."""
        self.opened: datetime | None = None

    def open(self) -> None:
        self.opened = datetime.now(UTC)
        self._open.set()

    async def call(self, request: Request) -> Response:
        if request.method != "DELETE" or "/pods/" not in request.path:
            return await self._inner.call(request)
        if self._answers:
            response = await self._inner.call(request)
        self.arrived.set()
        await self._open.wait()
        return response if self._answers else await self._inner.call(request)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        async with self._inner.stream(request) as stream:
            yield stream

    async def close(self) -> None:
        await self._inner.close()
