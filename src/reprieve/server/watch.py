"""Streams of changes: who watches what, and how a change looks through a selector.

A `Watcher` starts at a revision and gets every later change exactly once: first what history holds, then
what `Hub` delivers as it is committed; it joins in one step of the event loop, so nothing is lost between
the two. Changes wait in a list until the reader takes them all at once. A reader that falls too far behind
is cut off (it can resume at the last revision it saw); a reader in this process may be as slow as it likes.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from reprieve.server.errors import too_large_revision, too_old
from reprieve.server.registry import ResourceInfo
from reprieve.server.selection import Selection
from reprieve.server.storage import ADDED, DELETED, MODIFIED, Change, Record, Store
from reprieve.server.storage.records import encode

BACKLOG = 10_000


class Event:
    """A change as one watcher sees it. `object` is decoded on first use and shared: read only."""

    __slots__ = ("_object", "record", "type")

    def __init__(self, type: str, record: Record) -> None:
        self.type = type
        self.record = record
        self._object: dict[str, Any] | None = None

    @property
    def revision(self) -> int:
        return self.record.revision

    @property
    def object(self) -> dict[str, Any]:
        if self._object is None:
            self._object = self.record.object
        return self._object


class Watcher:
    """One reader of one resource, possibly of one namespace, through one selection."""

    def __init__(
        self, hub: "Hub", storage_key: str, namespace: str | None, selection: Selection | None, backlog: int
    ) -> None:
        self._hub = hub
        self.storage_key = storage_key
        self.namespace = namespace
        self._selection = None if selection is None or selection.everything else selection
        self._backlog = backlog
        self.started = 0
        """The revision after which it sees everything."""
        self._waiting: list[Change] = []
        self._wake = asyncio.Event()
        self.overflowed = False
        self.closed = False

    def offer(self, change: Change) -> None:
        self._waiting.append(change)
        if self._backlog and len(self._waiting) > self._backlog:
            self.overflowed = True
            self._hub.leave(self)
        if not self._wake.is_set():
            self._wake.set()

    async def take(self, timeout: float | None = None) -> list[Event]:
        """Everything that waits; after the timeout, or when the watcher is closed, possibly nothing."""
        if not self._waiting and not self.closed:
            self._wake.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._wake.wait()
            except TimeoutError:
                return []
        changes, self._waiting = self._waiting, []
        if self._selection is None:
            return [Event(change.type, change.record) for change in changes]
        seen = (seen_through(change, self._selection) for change in changes)
        return [event for event in seen if event is not None]

    @property
    def idle(self) -> bool:
        """Whether it has taken everything that was committed so far."""
        return not self._waiting

    def prime(self, revision: int, changes: list[Change]) -> None:
        """Start with what happened between the revision and now."""
        self.started = revision
        namespace = self.namespace
        self._waiting = [c for c in changes if namespace is None or c.record.namespace == namespace]

    def close(self) -> None:
        self.closed = True
        self._hub.leave(self)
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        try:
            while not self.closed:
                for event in await self.take():
                    yield event
        finally:
            self.close()


def seen_through(change: Change, selection: Selection) -> Event | None:
    """A change through a selector: what comes into view is ADDED, what leaves it is DELETED."""
    now = change.type != DELETED and selection(change.record)
    before = change.previous is not None and selection(change.previous)
    if now:
        return Event(MODIFIED if before else ADDED, change.record)
    if not before:
        return None
    if change.type == DELETED:
        return Event(DELETED, change.record)
    assert change.previous is not None
    return Event(DELETED, _as_of(change.previous, change.revision))


def _as_of(record: Record, revision: int) -> Record:
    """The old state under the revision at which it left the view, so that a client can resume there."""
    document = record.object
    document["metadata"]["resourceVersion"] = str(revision)
    return Record(
        record.storage_key, record.namespace, record.name, revision, encode(document), record.labels
    )


class Hub:
    """Hands committed changes to the watchers they concern."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watchers: dict[tuple[str, str | None], dict[Watcher, None]] = {}
        store.listen(self._deliver)

    def watch(
        self,
        resource: ResourceInfo,
        namespace: str | None,
        revision: int,
        selection: Selection | None = None,
        backlog: int = BACKLOG,
    ) -> Watcher:
        """Follow a resource from just after a revision."""
        store = self._store
        if revision < store.compacted:
            raise too_old(revision, store.compacted)
        if revision > store.revision:
            raise too_large_revision(revision, store.revision)
        storage_key = resource.storage_key
        watcher = Watcher(self, storage_key, namespace, selection, backlog)
        watcher.prime(revision, store.collection(storage_key).since(revision))
        self._watchers.setdefault((storage_key, namespace), {})[watcher] = None
        return watcher

    def leave(self, watcher: Watcher) -> None:
        key = (watcher.storage_key, watcher.namespace)
        peers = self._watchers.get(key)
        if peers is not None:
            peers.pop(watcher, None)
            if not peers:
                del self._watchers[key]

    @property
    def count(self) -> int:
        return sum(len(watchers) for watchers in self._watchers.values())

    def close_all(self) -> None:
        for watchers in list(self._watchers.values()):
            for watcher in list(watchers):
                watcher.close()

    def _deliver(self, changes: list[Change]) -> None:
        watchers = self._watchers
        if not watchers:
            return
        for change in changes:
            record = change.record
            for key in ((record.storage_key, None), (record.storage_key, record.namespace)):
                for watcher in tuple(watchers.get(key, ())):
                    watcher.offer(change)
