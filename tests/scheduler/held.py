"""A network on which deletions of pods wait until the test lets them through."""

import asyncio
from datetime import UTC, datetime

from reprieve.kube import Request, Response, Transport
from tests.wrapped import Wrapped


class Held(Wrapped):
    """`answers`: the deletion happens at once, and only its answer waits."""

    def __init__(self, inner: Transport, *, answers: bool) -> None:
        super().__init__(inner)
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
