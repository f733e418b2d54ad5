"""Every operation of the server without HTTP: for controllers, fake nodes and tests in this process.

Same admission, same validation, same revisions as over the wire; the signatures are in `reprieve.server`.
Writes return when they are committed.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import msgspec

from reprieve.objects import Document
from reprieve.server.backend import Backend, DeleteOptions, WriteOptions
from reprieve.server.errors import unknown_resource
from reprieve.server.operations import deletion, reads, subresources, writes
from reprieve.server.patch import MERGE_PATCH
from reprieve.server.registry import Registry, ResourceInfo
from reprieve.server.selection import Selection
from reprieve.server.storage import ADDED
from reprieve.server.watch import Event


class Api:
    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    @property
    def registry(self) -> Registry:
        return self.backend.registry

    def now(self) -> datetime:
        return self.backend.clock()

    def resource(self, resource: ResourceInfo | str) -> ResourceInfo:
        """By storage key: "pods", "jobs.batch"."""
        if isinstance(resource, ResourceInfo):
            return resource
        found = self.backend.registry.by_storage_key(resource)
        if found is None:
            raise unknown_resource()
        return found

    # -- reading ---------------------------------------------------------------------------------------------

    def peek(self, resource: ResourceInfo | str, name: str, namespace: str = "") -> Document | None:
        record = self.backend.store.get(self.resource(resource).storage_key, namespace, name)
        return record.object if record is not None else None

    def select(
        self, resource: ResourceInfo | str, namespace: str | None = None, labels: str = "", fields: str = ""
    ) -> list[Document]:
        return [r.object for r in self._page(resource, namespace, labels, fields).records]

    async def get(self, resource: ResourceInfo | str, name: str, namespace: str = "") -> Document:
        return reads.get(self.backend, self.resource(resource), namespace, name).object

    async def list(
        self, resource: ResourceInfo | str, namespace: str | None = None, labels: str = "", fields: str = ""
    ) -> tuple[list[Document], int]:
        page = self._page(resource, namespace, labels, fields)
        return [r.object for r in page.records], page.revision

    def _page(
        self, resource: ResourceInfo | str, namespace: str | None, labels: str, fields: str
    ) -> reads.Page:
        options = reads.ListOptions(label_selector=labels, field_selector=fields)
        return reads.list_page(self.backend, self.resource(resource), namespace, options)

    async def watch(
        self,
        resource: ResourceInfo | str,
        namespace: str | None = None,
        from_revision: int | None = None,
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[Event]:
        info = self.resource(resource)
        selection = Selection(info, labels, fields)
        existing = []
        if from_revision is None:
            page = self._page(info, namespace, labels, fields)
            from_revision, existing = page.revision, page.records
        watcher = self.backend.hub.watch(info, namespace, from_revision, selection, backlog=0)
        try:
            for record in existing:
                yield Event(ADDED, record)
            async for event in watcher:
                yield event
        finally:
            watcher.close()

    # -- writing ---------------------------------------------------------------------------------------------

    async def create(
        self,
        resource: ResourceInfo | str,
        document: Document,
        namespace: str = "",
        *,
        manager: str = "",
        dry_run: bool = False,
        with_status: bool = False,
    ) -> Document:
        namespace = namespace or (document.get("metadata") or {}).get("namespace") or ""
        options = WriteOptions(manager=manager, dry_run=dry_run, with_status=with_status)
        document = msgspec.json.decode(msgspec.json.encode(document))
        async with self.backend.store.committed():
            record = writes.create(self.backend, self.resource(resource), document, namespace, options)
        return record.object

    async def update(
        self, resource: ResourceInfo | str, document: Document, *, subresource: str = "", manager: str = ""
    ) -> Document:
        meta = document["metadata"]
        options = WriteOptions(manager=manager)
        document = msgspec.json.decode(msgspec.json.encode(document))
        async with self.backend.store.committed():
            record, _ = writes.update(
                self.backend,
                self.resource(resource),
                document,
                meta.get("namespace", ""),
                meta["name"],
                options,
                subresource,
            )
        return record.object

    async def update_status(
        self, resource: ResourceInfo | str, document: Document, *, manager: str = ""
    ) -> Document:
        return await self.update(resource, document, subresource="status", manager=manager)

    async def patch(
        self,
        resource: ResourceInfo | str,
        name: str,
        patch: Any,
        namespace: str = "",
        *,
        content_type: str = MERGE_PATCH,
        subresource: str = "",
        manager: str = "",
        force: bool = False,
        with_status: bool = False,
    ) -> Document:
        options = WriteOptions(manager=manager, force=force, with_status=with_status)
        async with self.backend.store.committed():
            record, _ = writes.patch(
                self.backend,
                self.resource(resource),
                namespace,
                name,
                content_type,
                patch,
                options,
                subresource,
            )
        return record.object

    async def delete(
        self,
        resource: ResourceInfo | str,
        name: str,
        namespace: str = "",
        *,
        grace: int | None = None,
        propagation: str = "",
        uid: str = "",
    ) -> Document:
        options = DeleteOptions(
            grace_period_seconds=grace,
            propagation_policy=propagation or None,
            preconditions={"uid": uid} if uid else None,
        )
        async with self.backend.store.committed():
            record, _ = deletion.delete(self.backend, self.resource(resource), namespace, name, options)
        return record.object

    async def evict(self, name: str, namespace: str, *, grace: int | None = None) -> None:
        options = {} if grace is None else {"deleteOptions": {"gracePeriodSeconds": grace}}
        async with self.backend.store.committed():
            subresources.evict(self.backend, namespace, name, options)

    async def bind(self, name: str, namespace: str, node: str) -> None:
        async with self.backend.store.committed():
            subresources.bind(self.backend, namespace, name, {"target": {"kind": "Node", "name": node}})
