"""A queue of keys that are due now or later, by the server's clock.

A key is on the queue once, at the earliest time it was added for. `ManualClock` makes time stand still in
tests.
"""

import asyncio
import heapq
from collections.abc import Callable, Hashable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Clock = Callable[[], datetime]
_FEW = 100


class ManualClock:
    """A clock that moves only by `advance`, which wakes everything that waits for it."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now
        self._listeners: list[Callable[[], None]] = []

    def __call__(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        for wake in self._listeners:
            wake()

    def listen(self, wake: Callable[[], None]) -> None:
        self._listeners.append(wake)


class DelayingQueue(Generic[Key]):
    """One consumer takes what is due; anything in the same event loop may add."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[Key, datetime] = {}
        self._heap: list[tuple[datetime, int, Key]] = []
        self._order = count()
        self._wake = asyncio.Event()
        if isinstance(clock, ManualClock):
            clock.listen(self._wake.set)

    def add(self, key: Key, due: datetime | None = None) -> None:
        due = due or self._clock()
        known = self._due.get(key)
        if known is not None and known <= due:
            return
        self._due[key] = due
        heapq.heappush(self._heap, (due, next(self._order), key))
        self._wake.set()

    def drop(self, key: Key) -> None:
        """Its place goes with it when half of the places are void: an event is due only after an hour."""
        self._due.pop(key, None)
        if len(self._heap) > 2 * len(self._due) + _FEW:
            self._heap = [place for place in self._heap if self._due.get(place[2]) == place[0]]
            heapq.heapify(self._heap)

    def __len__(self) -> int:
        return len(self._due)

    def due_now(self) -> list[Key]:
        """Take what is due, in the order it became due."""
        now = self._clock()
        keys: list[Key] = []
        while self._heap and self._heap[0][0] <= now:
            due, _, key = heapq.heappop(self._heap)
            if self._due.get(key) == due:
                del self._due[key]
                keys.append(key)
        return keys

    async def take(self) -> list[Key]:
        """Wait until something is due and take it."""
        while not (keys := self.due_now()):
            self._wake.clear()
            timeout = (self._heap[0][0] - self._clock()).total_seconds() if self._heap else None
            if isinstance(self._clock, ManualClock):
                timeout = None
            try:
                async with asyncio.timeout(timeout):
                    await self._wake.wait()
            except TimeoutError:
                continue
        return keys
