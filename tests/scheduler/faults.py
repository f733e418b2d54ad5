"""A network that misbehaves: requests that fail before or after the server acted, that take long, and watches
that are cut.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

from reprieve.kube import Request, Response, Stream, Transport, TransportError
from tests.wrapped import Wrapped


class Deck:
    """Deals the same cards over and over, shuffled anew each time: what comes when is chance, how often is
    not.
    """

    def __init__(self, cards: Sequence[str], dice: random.Random) -> None:
        self._cards = cards
        self._dice = dice
        self._left: list[str] = []

    def deal(self) -> str:
        if not self._left:
            self._left = self._dice.sample(self._cards, len(self._cards))
        return self._left.pop()


class Faulty(Wrapped):
    """Around a real transport. One request in `one_in` goes wrong, each in its turn in one of four ways."""

    def __init__(self, inner: Transport, dice: random.Random, one_in: int = 20, delay: float = 0.02) -> None:
        super().__init__(inner)
        self._dice = dice
        self._delay = delay
        luck = ["bad", *["good"] * (one_in - 1)]
        self._calls, self._streams, self._chunks = (Deck(luck, dice) for _ in range(3))
        self._ways = Deck(["error", "overload", "refused", "lost"], dice)
        self.faults: Counter[str] = Counter()

    async def call(self, request: Request) -> Response:
        await asyncio.sleep(self._dice.random() * self._delay)  # a slow network is one of the faults
        if self._calls.deal() == "good":
            return await self._inner.call(request)
        way = self._ways.deal()
        self.faults[way] += 1
        match way:
            case "error":
                return _refusal(500, "InternalError")
            case "overload":
                return _refusal(429, "TooManyRequests", {"Retry-After": "0"})
            case "refused":
                raise TransportError("connection refused")
            case _:
                await self._inner.call(request)
                raise TransportError("the answer was lost")

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        if self._streams.deal() == "bad":
            self.faults["watch refused"] += 1
            raise TransportError("connection refused")
        async with self._inner.stream(request) as stream:
            yield Stream(stream.code, self._cut(stream.chunks), stream.headers)

    async def _cut(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            if self._chunks.deal() == "bad":
                self.faults["watch cut"] += 1
                yield chunk[: len(chunk) // 2]
                raise TransportError("cut off")
            yield chunk


def _refusal(code: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return Response(
        code, json.dumps({"kind": "Status", "code": code, "reason": reason}).encode(), headers or {}
    )
