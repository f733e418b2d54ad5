"""A network that misbehaves: requests that fail before or after the server acted, that take long, and watches that are cut."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from reprieve.kube import Request, Response, Stream, Transport, TransportError


class Faulty:
    """Around a real transport. `rate` is the share of requests that go wrong, in one of four ways."""

    def __init__(
        self, inner: Transport, dice: random.Random, rate: float = 0.05, delay: float = 0.02
    ) -> None:
        self._inner = inner
        self._dice = dice
        self._rate = rate
        self._delay = delay
        self.faults = 0

    async def call(self, request: Request) -> Response:
        await asyncio.sleep(self._dice.random() * self._delay)
        if self._dice.random() >= self._rate:
            return await self._inner.call(request)
        self.faults += 1
        match self._dice.randrange(4):
            case 0:
                return _refusal(500, "InternalError")
            case 1:
                return _refusal(429, "TooManyRequests", {"Retry-After": "0"})
            case 2:
                raise TransportError("connection refused")
            case _:
                await self._inner.call(request)
                raise TransportError("the answer was lost")

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        if self._dice.random() < self._rate:
            self.faults += 1
            raise TransportError("connection refused")
        async with self._inner.stream(request) as stream:
            yield Stream(stream.code, self._cut(stream.chunks), stream.headers)

    async def _cut(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            if self._dice.random() < self._rate:
                self.faults += 1
                yield chunk[: len(chunk) // 2]
                raise TransportError("cut off")
            yield chunk

    async def close(self) -> None:
        await self._inner.close()


def _refusal(code: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return Response(
        code, json.dumps({"kind": "Status", "code": code, "reason": reason}).encode(), headers or {}
    )
