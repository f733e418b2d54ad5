"""The shape all small controllers share: something changes, a key goes on the queue, `reconcile` makes it right.

Reconciling looks at the committed state only, so it may run at any time and any number of times. A write that meets a
conflict, or an object that is gone, is no error: the change that caused it puts the key on the queue again, and a
later attempt is scheduled to be safe.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta

from reprieve.server.api import Api
from reprieve.server.controllers.delaying_queue import DelayingQueue
from reprieve.server.errors import ApiError
from reprieve.server.storage import DELETED, Change, Record

log = logging.getLogger(__name__)

Key = tuple[str, str]
"""Namespace and name."""
RETRY = timedelta(milliseconds=200)
AFTER_A_BUG = timedelta(seconds=30)
WRITES_AT_ONCE = 64
"""Enough to fill a group commit, few enough to stay responsive."""


class Controller:
    """`place` is the resource whose objects are reconciled."""

    place = ""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.queue: DelayingQueue[Key] = DelayingQueue(api.backend.clock)
        store = api.backend.store
        for record in store.shelf(self.place).scan(None):
            self.queue.add((record.namespace, record.name))
        store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.place == self.place:
                self.changed(change.record, change.type == DELETED)

    def changed(self, record: Record, gone: bool) -> None:
        """Called while a change is published: note what to do, do nothing yet."""
        key = (record.namespace, record.name)
        if gone:
            self.queue.drop(key)
        else:
            self.queue.add(key)

    async def reconcile(self, key: Key) -> datetime | None:
        """Make it right; the time of the next look if one is needed without a change."""
        raise NotImplementedError

    async def run(self) -> None:
        while True:
            for key in await self.queue.take():
                await self._attempt(key)
            await asyncio.sleep(0)

    async def _attempt(self, key: Key) -> None:
        try:
            due = await self.reconcile(key)
        except ApiError as refusal:
            if refusal.code not in (404, 409, 429):
                log.warning("%s %s/%s: %s", self.place, *key, refusal)
            due = self.api.now() + RETRY if refusal.code != 404 else None
        except Exception:  # one object that cannot be dealt with must not hold up the others
            log.exception("%s %s/%s could not be reconciled", self.place, *key)
            due = self.api.now() + AFTER_A_BUG
        if due is not None:
            self.queue.add(key, due)


async def in_parallel(calls: Iterable[Callable[[], Awaitable[object]]]) -> list[ApiError]:
    """Run writes side by side, so that they share commits; the refusals come back."""
    waiting = list(calls)
    refusals: list[ApiError] = []
    for start in range(0, len(waiting), WRITES_AT_ONCE):
        batch = waiting[start : start + WRITES_AT_ONCE]
        results = await asyncio.gather(*(call() for call in batch), return_exceptions=True)
        for result in results:
            if isinstance(result, ApiError):
                refusals.append(result)
            elif isinstance(result, BaseException):
                raise result
    return refusals
