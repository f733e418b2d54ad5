"""Keys that need attention: each at most once at a time, some only later, failures ever later.

One loop, no locks. A key that is added while it is being handled is handled once more afterwards, so no
change is missed and two handlers never hold the same key.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from reprieve.kube import ApiError

log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
A_MOMENT = 1.0
"""Until pauses are this long a conflict is no trouble: somebody wrote first, and it is looked at again."""

Key = TypeVar("Key", bound=Hashable)
Handle = Callable[[Key], Awaitable[float]]
"""Handles one key; returns the seconds after which to handle it again, 0 for never."""


class WorkQueue(Generic[Key]):
    def __init__(self, handle: Handle[Key], concurrency: int = 16) -> None:
        self._handle = handle
        self._concurrency = concurrency
        self._ready: asyncio.Queue[Key] = asyncio.Queue()
        self._waiting: set[Key] = set()
        self._busy: set[Key] = set()
        self._again: set[Key] = set()
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        self._failures: dict[Key, int] = {}
        self.handled = 0

    def add(self, key: Key) -> None:
        if key in self._busy:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: Key, seconds: float) -> None:
        """Later. The earliest of several times wins."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None and timer.when() <= loop.time() + seconds:
            return
        if timer is not None:
            timer.cancel()
        self._timers[key] = loop.call_later(seconds, self._due, key)

    def _due(self, key: Key) -> None:
        self._timers.pop(key, None)
        self.add(key)

    def forget(self, key: Key) -> None:
        """The object is gone: no timer may bring its key back."""
        self._failures.pop(key, None)
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    async def run(self) -> None:
        """Handle keys until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._concurrency):
                    group.create_task(self._worker())
        finally:
            for timer in self._timers.values():
                timer.cancel()
            self._timers.clear()

    async def _worker(self) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._busy.add(key)
            try:
                await self._attempt(key)
            finally:
                self._busy.discard(key)
                if key in self._again:
                    self._again.discard(key)
                    self.add(key)

    async def _attempt(self, key: Key) -> None:
        self.handled += 1
        try:
            again = await self._handle(key)
        except Exception as error:  # noqa: BLE001 - one key's trouble must not stop the others
            pause = self._pause(key)
            ordinary = isinstance(error, ApiError) and error.conflict and pause < A_MOMENT
            level = logging.INFO if ordinary else logging.WARNING
            log.log(level, "%s: again in %.1f s: %s", key, pause, error or type(error).__name__)
            self.add_after(key, pause)
            return
        self._failures.pop(key, None)
        if again > 0:
            self.add_after(key, again)

    def _pause(self, key: Key) -> float:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures - 1, 12)))
