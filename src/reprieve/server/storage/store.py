"""The state of the server: what is committed, what is being written to disk, and who is notified.

One event loop owns a `Store`. A write is checked against the *head* (committed state plus writes in flight)
and takes the next revision at once, so check and write are one step. It becomes visible to readers and
watchers when it is committed: in memory mode immediately; with a journal, when the transaction that holds it
(and everything else that waited: group commit) is on disk. `await store.settled()` waits for that. So
nothing that a client saw can be lost.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from sys import intern
from typing import Any

from reprieve.server.errors import ApiError, unavailable
from reprieve.server.storage.collection import Collection
from reprieve.server.storage.journal import Journal, Row
from reprieve.server.storage.records import ADDED, DELETED, MODIFIED, Change, Record, encode, interned

log = logging.getLogger(__name__)

Listener = Callable[[list[Change]], None]
Key = tuple[str, str, str]

COMPACTION_STEP = 1000
"""History is cut back by this much at once, or by a tenth if that is less."""


class Store:
    def __init__(self, directory: Path | None = None, history: int = 20_000) -> None:
        self.history = history
        """How many revisions watchers can go back at least."""
        self.revision = 1
        self.compacted = 0
        self._collections: dict[str, Collection] = {}
        self._head = 1
        self._in_flight: dict[Key, Change] = {}
        self._waiting: list[Change] = []
        self._batch: asyncio.Future[None] | None = None
        """Done when the transaction under way is committed."""
        self._next: asyncio.Future[None] | None = None
        """Done when the batch that is still being filled is committed."""
        self._committing: asyncio.Task[None] | None = None
        self._listeners: list[Listener] = []
        self._stale: list[int] = []
        """Revisions that an earlier compaction should have removed from the journal; the next one does."""
        self._journal: Journal | None = None
        if directory is not None:
            self._journal = Journal(directory)
            with self._journal.readable():
                self._load(self._journal)
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="reprieve-journal")

    # -- reading ---------------------------------------------------------------------------------------------

    def collection(self, storage_key: str) -> Collection:
        collection = self._collections.get(storage_key)
        if collection is None:
            collection = self._collections[storage_key] = Collection()
        return collection

    def get(self, storage_key: str, namespace: str, name: str) -> Record | None:
        """The committed state of an object."""
        return self.collection(storage_key).get(namespace, name)

    def head(self, storage_key: str, namespace: str, name: str) -> Record | None:
        """The state that the next write must build on."""
        change = self._in_flight.get((storage_key, namespace, name))
        if change is not None:
            return None if change.type == DELETED else change.record
        return self.collection(storage_key).get(namespace, name)

    def in_flight(self, storage_key: str) -> list[Record]:
        """What is written and not committed yet; it may never be."""
        changes = self._in_flight.values()
        return [
            each.record for each in changes if each.record.storage_key == storage_key and each.type != DELETED
        ]

    @property
    def count(self) -> int:
        return sum(collection.count for collection in self._collections.values())

    @property
    def storage_keys(self) -> list[str]:
        return [storage_key for storage_key, collection in self._collections.items() if collection.count]

    def listen(self, listener: Listener) -> None:
        """Call with every batch of committed changes, in revision order. What a listener raises is logged."""
        self._listeners.append(listener)

    # -- writing ---------------------------------------------------------------------------------------------

    def put(self, storage_key: str, namespace: str, name: str, document: dict[str, Any]) -> Record:
        """Write an object. Its first two members must be `apiVersion` and `kind`."""
        previous = self.head(storage_key, namespace, name)
        record = self._stamp(storage_key, namespace, name, document)
        self._write(Change(ADDED if previous is None else MODIFIED, record, previous))
        return record

    def delete(self, storage_key: str, namespace: str, name: str, document: dict[str, Any]) -> Record:
        """Remove an object; the document is the last state watchers will see."""
        previous = self.head(storage_key, namespace, name)
        record = self._stamp(storage_key, namespace, name, document)
        self._write(Change(DELETED, record, previous))
        return record

    def _stamp(self, storage_key: str, namespace: str, name: str, document: dict[str, Any]) -> Record:
        revision = self._head + 1
        metadata = document["metadata"]
        metadata["resourceVersion"] = str(revision)
        raw = encode(document)
        self._head = revision
        return Record(storage_key, intern(namespace), name, revision, raw, interned(metadata.get("labels")))

    def _write(self, change: Change) -> None:
        if self._journal is None:
            self._publish([change])
            return
        record = change.record
        self._in_flight[record.storage_key, record.namespace, record.name] = change
        self._waiting.append(change)
        if self._committing is None:
            self._committing = asyncio.get_running_loop().create_task(self._commit_waiting())

    async def settled(self) -> None:
        """Return when every write made so far is committed; raise if it could not be."""
        if not self._waiting:
            if self._batch is not None:
                await asyncio.shield(self._batch)
            return
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._next)

    @asynccontextmanager
    async def committed(self) -> AsyncIterator[None]:
        """Writes made within are committed when it ends.

        A refusal waits, too: it may rest on a write in flight (`already exists`), and if that one is not
        committed the refusal would tell of something that never was.
        """
        try:
            yield
        except ApiError:
            await self.settled()
            raise
        await self.settled()

    async def _commit_waiting(self) -> None:
        loop = asyncio.get_running_loop()
        journal = self._journal
        assert journal is not None
        await asyncio.sleep(0)
        while self._waiting:
            changes, self._waiting = self._waiting, []
            self._batch = self._next or loop.create_future()
            self._next = None
            horizon = self._horizon()
            dead = self.replaced(horizon)
            rows = [_row(change) for change in changes]
            try:
                await loop.run_in_executor(self._thread, journal.commit, rows, dead, horizon)
            except Exception as error:  # noqa: BLE001 - whatever the disk reports, no caller may see success
                self._abandon(error)
                continue
            # Only now: had the commit failed, the rows on disk would still need their later tombstones.
            self.compact(horizon)
            self._publish(changes)
            self._batch.set_result(None)
            self._batch = None
        self._committing = None

    def _abandon(self, error: Exception) -> None:
        """A transaction failed: discard it and everything built on it."""
        refusal = unavailable(f"storage refused the write: {error}")
        for future in (self._batch, self._next):
            if future is not None:
                future.set_exception(refusal)
                future.exception()
        self._batch = self._next = None
        self._waiting.clear()
        self._in_flight.clear()
        self._head = self.revision

    def _publish(self, changes: list[Change]) -> None:
        for change in changes:
            record = change.record
            self.collection(record.storage_key).apply(change)
            key = (record.storage_key, record.namespace, record.name)
            if self._in_flight.get(key) is change:
                del self._in_flight[key]
        self.revision = changes[-1].revision
        for listener in self._listeners:
            try:
                listener(changes)
            except Exception:
                log.exception("a listener failed on revision %d", self.revision)
        if self._journal is None:
            self.compact(self._horizon())

    # -- history ---------------------------------------------------------------------------------------------

    def _horizon(self) -> int:
        """The revision up to which history is due to be forgotten, or already is."""
        if self.revision - self.compacted < self.history + min(COMPACTION_STEP, self.history // 10 + 1):
            return self.compacted
        return self.revision - self.history

    def replaced(self, horizon: int) -> list[int]:
        """The revisions that nobody needs once history begins after the horizon."""
        if horizon <= self.compacted:
            return []
        dead = list(self._stale)
        for collection in self._collections.values():
            for change in collection.until(horizon):
                dead += _dead_with(change)
        return dead

    def compact(self, horizon: int) -> None:
        """Forget the changes up to a revision. With a journal: after a commit without what they replaced."""
        if horizon <= self.compacted:
            return
        for collection in self._collections.values():
            collection.forget(horizon)
        self._stale.clear()
        self.compacted = horizon

    def _load(self, journal: Journal) -> None:
        self.compacted = journal.compacted
        for revision, storage_key, namespace, name, deleted, value in journal.rows():
            collection = self.collection(storage_key)
            previous = collection.get(namespace, name)
            record = Record.load(storage_key, namespace, name, revision, value)
            type_ = DELETED if deleted else MODIFIED if previous is not None else ADDED
            change = Change(type_, record, previous)
            remember = revision > self.compacted
            collection.apply(change, remember)
            if not remember:
                self._stale += _dead_with(change)
            self.revision = revision
        self.revision = max(self.revision, self.compacted, 1)
        self._head = self.revision

    async def close(self) -> None:
        """Finish the writes in flight and release the data directory."""
        if self._committing is not None:
            await self._committing
        if self._journal is not None:
            self._thread.shutdown()
            self._journal.close()
            self._journal = None


def _row(change: Change) -> Row:
    record = change.record
    deleted = change.type == DELETED
    return record.revision, record.storage_key, record.namespace, record.name, deleted, record.raw


def _dead_with(change: Change) -> list[int]:
    """Revisions that nobody needs any more when a change is forgotten: what it replaced, and a tombstone."""
    dead = [] if change.previous is None else [change.previous.revision]
    return [*dead, change.revision] if change.type == DELETED else dead
