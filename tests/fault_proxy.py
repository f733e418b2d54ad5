"""A network that misbehaves, in front of any API server: for clients that are processes of their own.

One request in `one_in` goes wrong, each way in its turn: refused with 500 or 429, dropped before the server
sees it, or after the server has acted. Watches are refused and cut in the middle of an event. Every request
takes a while.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import aiohttp
from aiohttp import web
from tools.proxy import Proxy

from tests.scheduler.faults import Deck

WAYS = ("error", "overload", "refused", "lost")
REFUSALS = {"error": (500, "InternalError"), "overload": (429, "TooManyRequests")}


class FaultProxy(Proxy):
    def __init__(
        self,
        upstream: Path,
        dice: random.Random,
        *,
        one_in: int = 20,
        delay: float = 0.02,
        ways: Sequence[str] = WAYS,
    ) -> None:
        super().__init__(upstream)
        self._dice = dice
        self._delay = delay
        luck = ["bad", *["good"] * (one_in - 1)]
        self._calls, self._watches, self._chunks = (Deck(luck, dice) for _ in range(3))
        self._ways = Deck(ways, dice)
        self.faults: Counter[str] = Counter()
        self.quiet = False
        """Whether it behaves for now."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if self.quiet:
            return await super().answer(request)
        if request.query.get("watch"):
            if self._watches.deal() == "bad":
                self.faults["watch refused"] += 1
                raise _hung_up(request)
            return await super().answer(request)
        await asyncio.sleep(self._dice.random() * self._delay)
        if self._calls.deal() == "good":
            return await super().answer(request)
        way = self._ways.deal()
        self.faults[way] += 1
        if way in REFUSALS:
            return _refusal(*REFUSALS[way])
        if way == "lost":
            async with self.ask(request) as answer:
                await answer.read()
        raise _hung_up(request)

    async def chunks(self, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        watching = "watch" in answer.url.query
        async for chunk in super().chunks(answer):
            if watching and not self.quiet and self._chunks.deal() == "bad":
                self.faults["watch cut"] += 1
                yield chunk[: len(chunk) // 2]
                raise ConnectionResetError("cut off")
            yield chunk


def _refusal(code: int, reason: str) -> web.Response:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return web.json_response(status, status=code, headers={"Retry-After": "0"} if code == 429 else {})


def _hung_up(request: web.BaseRequest) -> BaseException:
    """Close the connection without a word; what is returned ends the handler."""
    if request.transport is not None:
        request.transport.abort()
    return asyncio.CancelledError()
