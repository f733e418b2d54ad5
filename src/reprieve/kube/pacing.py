"""The client-side rate limit and the jittered backoff.

Both take their clock and their randomness as arguments, so that tests need no real time.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


def since_boot() -> float:
    """Seconds that also pass while the machine sleeps, where the system can say so: a lease runs out then."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


OTHERS_TURN = 8
"""Of so many requests one is never urgent: a watch must be opened again also in a storm of bindings."""


class RateLimit:
    """A token bucket: `qps` requests a second on average, `burst` at once. Zero `qps` means no limit.

    Whoever finds no token waits in one of two lanes, urgent ones first, in each lane in the order of arrival.
    """

    def __init__(
        self, qps: float, burst: int = 1, *, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._qps = qps
        self._burst = max(1, burst)
        self._tokens = float(self._burst)
        self._clock = clock
        self._sleep = sleep
        self._updated = clock()
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()
        self._in_a_row = 0
        self._serving: asyncio.Task[None] | None = None

    async def take(self, urgent: bool = False) -> None:
        if self._qps <= 0:
            return
        self._refill()
        if self._tokens >= 1 and not self._urgent and not self._others:
            self._tokens -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._others).append(turn)
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve(), name="rate-limit")
        await turn

    def _refill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._updated) * self._qps)
        self._updated = now

    async def _serve(self) -> None:
        """Hand out tokens as they come, until nobody waits."""
        try:
            while self._urgent or self._others:
                self._refill()
                if self._tokens < 1:
                    await self._sleep((1 - self._tokens) / self._qps)
                    self._refill()
                    self._tokens = max(1.0, self._tokens)
                turn = self._next()
                if turn is not None:
                    self._tokens -= 1
                    turn.set_result(None)
        finally:
            self._serving = None

    def _next(self) -> asyncio.Future[None] | None:
        while self._urgent or self._others:
            first = self._urgent and (self._in_a_row < OTHERS_TURN or not self._others)
            turn = (self._urgent if first else self._others).popleft()
            if not turn.done():  # done: who waited was cancelled
                self._in_a_row = self._in_a_row + 1 if first else 0
                return turn
        return None


@dataclass(slots=True)
class Backoff:
    """Growing pauses: `base`, `base * factor`, … up to `cap`, each stretched by up to `jitter` of itself.

    After `reset` seconds without a failure the next one starts at `base` again.
    """

    base: float = 0.8
    cap: float = 30.0
    factor: float = 2.0
    jitter: float = 1.0
    reset: float = 120.0
    clock: Clock = time.monotonic
    random: Callable[[], float] = random.random
    _step: int = 0
    _last: float = float("-inf")

    def next(self) -> float:
        now = self.clock()
        if now - self._last > self.reset:
            self._step = 0
        self._last = now
        pause = min(self.cap, self.base * self.factor**self._step)
        if pause < self.cap:
            self._step += 1
        return float(pause * (1 + self.jitter * self.random()))

    def clear(self) -> None:
        self._step = 0
