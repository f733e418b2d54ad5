"""The client-side rate limit and the jittered backoff.

Both take their clock and their randomness as arguments, so that tests need no real time.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


class RateLimit:
    """A token bucket: `qps` requests a second on average, `burst` at once. Zero `qps` means no limit.

    Waiters are served in the order in which they came: each takes its token at once, possibly on credit,
    and sleeps until the bucket would have held it.
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

    async def take(self) -> None:
        if self._qps <= 0:
            return
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._updated) * self._qps)
        self._updated = now
        self._tokens -= 1
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._qps)


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
