"""A transport around another one: tests say what goes wrong on the way, the rest passes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from reprieve.kube import Request, Response, Stream, Transport


class Wrapped:
    """Passes everything on. Those below it change what they are about."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def call(self, request: Request) -> Response:
        return await self._inner.call(request)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        async with self._inner.stream(request) as stream:
            yield stream

    async def close(self) -> None:
        await self._inner.close()
