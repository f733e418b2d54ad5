"""The narrow seam between the client and the network.

`Transport` is all the client knows of HTTP: one call that answers whole, and one that streams.
`HttpTransport` (in `http_transport.py`) speaks to a server; `MemoryTransport` answers from functions, so
that a test needs no socket.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Query = field(default_factory=dict)
    body: bytes = b""
    content_type: str = ""
    timeout: float | None = None

    def json(self) -> Any:
        return msgspec.json.decode(self.body) if self.body else None


@dataclass(frozen=True, slots=True)
class Response:
    code: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stream:
    """An open answer: chunks as they come, cut anywhere."""

    code: int
    chunks: AsyncIterator[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport(Protocol):
    """Raises `TransportError` when there is no answer; never interprets one."""

    async def call(self, request: Request) -> Response: ...

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]: ...

    async def close(self) -> None: ...


Handler = Callable[[Request], Awaitable[Response | Stream]]


class MemoryTransport:
    """Answers from a function, and keeps all requests for assertions."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.requests: list[Request] = []

    async def call(self, request: Request) -> Response:
        self.requests.append(request)
        answer = await self._handler(request)
        if isinstance(answer, Stream):
            return Response(answer.code, b"".join([chunk async for chunk in answer.chunks]), answer.headers)
        return answer

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        self.requests.append(request)
        answer = await self._handler(request)
        if isinstance(answer, Response):
            answer = Stream(answer.code, _once(answer.body), answer.headers)
        yield answer

    async def close(self) -> None:
        return None


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
