"""Owner references: what happens to dependents when their owner is deleted.

    background   the owner is removed at once, its dependents afterwards
    foreground   the owner waits (finalizer `foregroundDeletion`) until the dependents that block it are gone
    orphan       the dependents lose the reference (finalizer `orphan`), then the owner is removed

A dependent with several owners stays while one of them exists. Owners that never existed, or exist in another
namespace, count as gone. An object without a namespace cannot have an owner in one: it stays, and an event
says so. Owners that wait for each other in a circle do not wait: the reference that closes it blocks no more.
"""

import logging
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from reprieve.objects import Document
from reprieve.server.api import Api
from reprieve.server.controllers.controller import AFTER_A_BUG, RETRY, in_parallel
from reprieve.server.controllers.delaying_queue import DelayingQueue
from reprieve.server.controllers.events import record_event
from reprieve.server.errors import ApiError
from reprieve.server.operations.deletion import FOREGROUND, ORPHAN
from reprieve.server.storage import DELETED, Change, Record

log = logging.getLogger(__name__)

MANAGER = "garbage-collector"

ObjectKey = tuple[str, str, str]
"""Storage key, namespace, name."""


class _Owner(msgspec.Struct, gc=False, rename="camel"):
    uid: str = ""
    block_owner_deletion: bool = False


class _Meta(msgspec.Struct, gc=False, rename="camel"):
    uid: str = ""
    owner_references: list[_Owner] = []
    deletion_timestamp: str = ""
    finalizers: list[str] = []


class _Document(msgspec.Struct, gc=False):
    metadata: _Meta


_decode = msgspec.json.Decoder(_Document).decode


class GarbageCollector:
    """One queue for dependents whose owner may be gone and for owners that wait for dependents."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._queue: DelayingQueue[ObjectKey] = DelayingQueue(api.backend.clock)
        self._dependents: dict[str, set[ObjectKey]] = {}
        self._owners: dict[ObjectKey, list[str]] = {}
        store = api.backend.store
        for storage_key in store.storage_keys:
            for record in store.collection(storage_key).scan(None):
                self._note(record)
        store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.type == DELETED:
                self._forget(change.record)
            else:
                self._note(change.record)

    def _note(self, record: Record) -> None:
        """Index an object that has owners, queue one that waits for dependents. Most objects are neither."""
        where = (record.storage_key, record.namespace, record.name)
        owned = b'"ownerReferences"' in record.raw
        waits = b'"deletionTimestamp"' in record.raw and b'"finalizers"' in record.raw
        if not owned and not waits and where not in self._owners:
            return
        meta = _decode(record.raw).metadata
        uids = [owner.uid for owner in meta.owner_references]
        if self._owners.get(where, []) != uids:
            self._index(where, uids)
            self._queue.add(where)
        if meta.deletion_timestamp and {FOREGROUND, ORPHAN} & set(meta.finalizers):
            self._queue.add(where)

    def _index(self, where: ObjectKey, uids: list[str]) -> None:
        for uid in self._owners.pop(where, ()):
            dependents = self._dependents.get(uid, set())
            dependents.discard(where)
            if not dependents:
                self._dependents.pop(uid, None)
        if uids:
            self._owners[where] = uids
        for uid in uids:
            self._dependents.setdefault(uid, set()).add(where)

    def _forget(self, record: Record) -> None:
        """An object is gone: its dependents may follow, and its owners may be waiting for that."""
        where = (record.storage_key, record.namespace, record.name)
        if where in self._owners:
            for reference in record.object["metadata"].get("ownerReferences", ()):
                self._wake_owner(where, reference)
        self._index(where, [])
        for dependent in self._dependents.get(_decode(record.raw).metadata.uid, ()):
            self._queue.add(dependent)

    def _wake_owner(self, where: ObjectKey, reference: Document) -> None:
        resource = self._api.registry.by_kind(reference.get("apiVersion", ""), reference.get("kind", ""))
        if resource is not None:
            namespace = where[1] if resource.namespaced else ""
            self._queue.add((resource.storage_key, namespace, reference.get("name", "")))

    async def run(self) -> None:
        while True:
            for where in await self._queue.take():
                try:
                    due = await self._reconcile(where)
                except ApiError as refusal:
                    due = self._api.now() + RETRY if refusal.code != 404 else None
                except Exception:  # one object that cannot be dealt with must not hold up the others
                    log.exception("%s %s/%s could not be collected", *where)
                    due = self._api.now() + AFTER_A_BUG
                if due is not None:
                    self._queue.add(where, due)

    async def _reconcile(self, where: ObjectKey) -> datetime | None:
        document = self._api.peek(where[0], where[2], where[1])
        if document is None:
            return None
        finalizers = document["metadata"].get("finalizers") or ()
        if document["metadata"].get("deletionTimestamp"):
            if ORPHAN in finalizers:
                await self._orphan(where, document)
                return None
            if FOREGROUND in finalizers:
                return await self._foreground(where, document)
        if document["metadata"].get("ownerReferences"):
            await self._report_unreachable(where, document)
            await self._reconcile_dependent(where, document)
        return None

    async def _report_unreachable(self, where: ObjectKey, document: Document) -> None:
        for owner in document["metadata"]["ownerReferences"] if not where[1] else ():
            resource = self._api.registry.by_kind(owner.get("apiVersion", ""), owner.get("kind", ""))
            if resource is not None and resource.namespaced:
                message = (
                    f"ownerRef {owner.get('kind')} {owner.get('name')} is namespaced: an object without a "
                )
                message += "namespace cannot be owned by it"
                await record_event(
                    self._api, document, "OwnerRefInvalidNamespace", message, component=MANAGER, warning=True
                )

    # -- dependents ------------------------------------------------------------------------------------------

    async def _reconcile_dependent(self, where: ObjectKey, document: Document) -> None:
        references = document["metadata"]["ownerReferences"]
        states = [self._state(where, reference) for reference in references]
        alive = [r for r, state in zip(references, states, strict=True) if state == "alive"]
        if len(alive) == len(references):
            return
        if alive:
            await self._patch(where, {"metadata": {"ownerReferences": alive}})
            return
        if document["metadata"].get("deletionTimestamp"):
            return
        waiting = any(state == "waiting" for state in states)
        dependents = self._dependents.get(document["metadata"]["uid"], set())
        if waiting and any(self._waits(dependent) for dependent in dependents):
            unblocked = [{**r, "blockOwnerDeletion": False} for r in references]
            await self._patch(where, {"metadata": {"ownerReferences": unblocked}})
            for reference in references:
                self._wake_owner(where, reference)
        policy = "Foreground" if waiting and dependents else "Background"
        await self._api.delete(
            where[0], where[2], where[1], propagation=policy, uid=document["metadata"]["uid"]
        )

    def _state(self, where: ObjectKey, reference: Document) -> str:
        """alive, waiting (for its dependents to go), or gone."""
        resource = self._api.registry.by_kind(reference.get("apiVersion", ""), reference.get("kind", ""))
        if resource is None:
            return "alive"  # a kind that this server does not know: it may exist elsewhere
        if resource.namespaced and not where[1]:
            return "alive"  # it cannot be looked up: nobody knows in which namespace
        namespace = where[1] if resource.namespaced else ""
        record = self._api.backend.store.get(resource.storage_key, namespace, reference.get("name", ""))
        if record is None:
            return "gone"
        meta = _decode(record.raw).metadata
        if meta.uid != reference.get("uid"):
            return "gone"
        return "waiting" if self._waits((resource.storage_key, namespace, record.name)) else "alive"

    def _waits(self, where: ObjectKey) -> bool:
        """Whether an object waits in the foreground for its dependents."""
        record = self._api.backend.store.get(*where)
        if record is None:
            return False
        meta = _decode(record.raw).metadata
        return bool(meta.deletion_timestamp) and FOREGROUND in meta.finalizers

    # -- owners that wait ------------------------------------------------------------------------------------

    async def _orphan(self, where: ObjectKey, document: Document) -> None:
        uid = document["metadata"]["uid"]
        for dependent in list(self._dependents.get(uid, ())):
            current = self._api.peek(dependent[0], dependent[2], dependent[1])
            references = (current or {}).get("metadata", {}).get("ownerReferences") or ()
            kept = [r for r in references if r.get("uid") != uid]
            await self._patch(dependent, {"metadata": {"ownerReferences": kept or None}})
        await self._drop_finalizer(where, document, ORPHAN)

    async def _foreground(self, where: ObjectKey, document: Document) -> datetime | None:
        uid = document["metadata"]["uid"]
        dependents = list(self._dependents.get(uid, ()))
        blocking = [d for d in dependents if self._blocks(d, uid)]
        if not blocking:
            await self._drop_finalizer(where, document, FOREGROUND)
            return None

        async def reconcile(dependent: ObjectKey) -> None:
            current = self._api.peek(dependent[0], dependent[2], dependent[1])
            if current is not None and not current["metadata"].get("deletionTimestamp"):
                await self._reconcile_dependent(dependent, current)

        await in_parallel(partial(reconcile, d) for d in dependents)
        return None

    def _blocks(self, dependent: ObjectKey, uid: str) -> bool:
        record = self._api.backend.store.get(*dependent)
        if record is None:
            return False
        return any(
            o.uid == uid and o.block_owner_deletion for o in _decode(record.raw).metadata.owner_references
        )

    async def _drop_finalizer(self, where: ObjectKey, document: Document, finalizer: str) -> None:
        kept = [f for f in document["metadata"]["finalizers"] if f != finalizer]
        await self._patch(where, {"metadata": {"finalizers": kept or None}})

    async def _patch(self, where: ObjectKey, patch: dict[str, Any]) -> None:
        await self._api.patch(where[0], where[2], patch, where[1], manager=MANAGER)
