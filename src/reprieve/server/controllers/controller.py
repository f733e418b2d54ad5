"""What all small controllers share: a change puts a key on the queue, and `reconcile` handles it.

Reconciling looks at the committed state only, so it may run at any time and any number of times. A write
that meets a conflict, or an object that is gone, is not an error: the change that caused it puts the key on
the queue again, and another attempt is scheduled to be safe.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from itertools import islice
from weakref import WeakKeyDictionary

from reprieve.server.api import Api
from reprieve.server.controllers.delaying_queue import DelayingQueue
from reprieve.server.errors import ApiError
from reprieve.server.storage import DELETED, Change, Record, Store

log = logging.getLogger(__name__)

Key = tuple[str, str]
"""Namespace and name."""
RETRY = timedelta(milliseconds=200)
AFTER_A_BUG = timedelta(seconds=30)
WRITES_AT_ONCE = 64
"""Enough to fill a group commit, few enough to stay responsive."""


class Changes:
    """Committed changes, passed on to those who asked for their resource: a change costs what it concerns."""

    def __init__(self, store: Store) -> None:
        self._listeners: dict[str, list[Callable[[Change], None]]] = {}
        store.listen(self._follow)

    @staticmethod
    def shared(store: Store) -> "Changes":
        """One for all controllers of the same server."""
        if store not in _SHARED:
            _SHARED[store] = Changes(store)
        return _SHARED[store]

    def of(self, resource: str, listener: Callable[[Change], None]) -> None:
        """Call the listener with every change of the resource, by storage key. It may only queue work."""
        self._listeners.setdefault(resource, []).append(listener)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            for listener in self._listeners.get(change.record.storage_key, ()):
                try:
                    listener(change)
                except Exception:  # one controller that fails must not keep the others from hearing
                    log.exception("a controller failed on revision %d", change.revision)


_SHARED: WeakKeyDictionary[Store, Changes] = WeakKeyDictionary()


class Controller:
    """`resource` is the storage key of the objects to reconcile."""

    resource = ""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.queue: DelayingQueue[Key] = DelayingQueue(api.backend.clock)
        store = api.backend.store
        for record in store.collection(self.resource).scan(None):
            self.queue.add((record.namespace, record.name))
        self.changes = Changes.shared(store)
        self.changes.of(self.resource, lambda change: self.changed(change.record, change.type == DELETED))

    def changed(self, record: Record, gone: bool) -> None:
        """Called while a change is being published: may only add to the queue."""
        key = (record.namespace, record.name)
        if gone:
            self.queue.drop(key)
        else:
            self.queue.add(key)

    async def reconcile(self, key: Key) -> datetime | None:
        """Bring the object to its desired state; returns when to look again if nothing changes until then."""
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
                log.warning("%s %s/%s: %s", self.resource, *key, refusal)
            due = self.api.now() + RETRY if refusal.code != 404 else None
        except Exception:  # one object that cannot be dealt with must not hold up the others
            log.exception("%s %s/%s could not be reconciled", self.resource, *key)
            due = self.api.now() + AFTER_A_BUG
        if due is not None:
            self.queue.add(key, due)


async def in_parallel(
    calls: Iterable[Callable[[], Awaitable[object]]], *, stop_when_refused: bool = False
) -> list[ApiError]:
    """Run writes concurrently, so that they share commits; returns the errors of those that were refused.

    With `stop_when_refused` no further batch is begun after a refusal: what a quota forbids once it forbids a
    thousand times.
    """
    waiting = iter(calls)  # what a call needs is made when its turn comes
    refusals: list[ApiError] = []
    while batch := list(islice(waiting, WRITES_AT_ONCE)):
        results = await asyncio.gather(*(call() for call in batch), return_exceptions=True)
        for result in results:
            if isinstance(result, ApiError):
                refusals.append(result)
            elif isinstance(result, BaseException):
                raise result
        if refusals and stop_when_refused:
            break
    return refusals
