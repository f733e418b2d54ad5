"""A watch over HTTP: events as lines, bookmarks while nothing happens, an end when time is up.

A client that does not read is dropped: when its backlog overflows, or when a write stalls. It can resume at
the last revision it saw. Errors that happen before the first event (410 for a compacted revision) travel as
an ERROR event of a successful response, as kube-apiserver sends them.
"""

import asyncio
import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from aiohttp import HttpVersion11, web

from reprieve.objects import well_known
from reprieve.server.backend import Backend
from reprieve.server.errors import ApiError, bad_request, forbidden_field, invalid
from reprieve.server.http.aside import aside
from reprieve.server.http.negotiation import Limits
from reprieve.server.http.paths import Target, is_true
from reprieve.server.http.rendering import Renderer, encode
from reprieve.server.operations import reads
from reprieve.server.registry import ResourceInfo
from reprieve.server.selection import Selection
from reprieve.server.storage import ADDED, Record
from reprieve.server.watch import Watcher

_PREFIX = {
    type_: b'{"type":"%b","object":' % type_.encode()
    for type_ in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}
_CHUNK = 500
MAX_SECONDS = 3600.0


class WatchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of one watch."""

    version: str
    bookmarks: bool
    initial: bool | None
    """`sendInitialEvents`: send what exists, then a bookmark. Unset: only without a version."""
    seconds: float
    selection: Selection

    @classmethod
    def read(cls, resource: ResourceInfo, target: Target, query: dict[str, str]) -> "WatchRequest":
        fields = query.get("fieldSelector", "")
        if target.name:
            fields = ",".join(filter(None, (fields, f"metadata.name={target.name}")))
        _check_initial(query)
        return cls(
            version=query.get("resourceVersion", ""),
            bookmarks=is_true(query, "allowWatchBookmarks"),
            initial=is_true(query, "sendInitialEvents") if "sendInitialEvents" in query else None,
            seconds=_seconds(query),
            selection=Selection(resource, query.get("labelSelector", ""), fields),
        )


def _seconds(query: dict[str, str]) -> float:
    text = query.get("timeoutSeconds", "")
    if not text or text == "0":
        return MAX_SECONDS / 2 * (1 + random.random())
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise bad_request(f'timeoutSeconds: "{text[:32]}" is not a number')
    return min(float(text), MAX_SECONDS)


def _check_initial(query: dict[str, str]) -> None:
    match = query.get("resourceVersionMatch", "")
    causes = []
    if "sendInitialEvents" in query and match != "NotOlderThan":
        message = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(forbidden_field("resourceVersionMatch", message))
    if "sendInitialEvents" not in query and match:
        message = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(forbidden_field("resourceVersionMatch", message))
    if causes:
        raise invalid("meta.k8s.io", "ListOptions", "", causes)


class WatchStream:
    def __init__(
        self,
        backend: Backend,
        resource: ResourceInfo,
        renderer: Renderer,
        limits: Limits,
        bookmark_every: float,
    ) -> None:
        self._backend = backend
        self._resource = resource
        self._renderer = renderer
        self._limits = limits
        self._bookmark_every = bookmark_every

    async def serve(
        self, request: web.BaseRequest, namespace: str | None, watch: WatchRequest
    ) -> web.StreamResponse:
        if watch.version and not watch.version.isdigit():
            reads.parse_revision(self._backend, watch.version)  # no watch at all: 400
        response = web.StreamResponse(headers={"Cache-Control": "no-cache, private"})
        response.content_type = self._renderer.content_type
        if request.version >= HttpVersion11:
            response.enable_chunked_encoding()
        await response.prepare(request)
        try:
            watcher, existing = self._start(namespace, watch)
        except ApiError as error:
            await self._send(response, [self._line("ERROR", encode(error.to_status()))])
            return response
        try:
            await self._send_all(response, [(ADDED, record) for record in existing])
            if watch.initial:
                await self._send(response, [self._bookmark(watcher.started, end_of_initial=True)])
            await self._follow(response, watcher, watch)
        except (ConnectionError, TimeoutError):
            if request.transport is not None:
                request.transport.abort()
        finally:
            watcher.close()
        return response

    def _start(self, namespace: str | None, watch: WatchRequest) -> tuple[Watcher, list[Record]]:
        """A watcher, and the records to send first, both at the same revision."""
        backend = self._backend
        revision = reads.parse_revision(backend, watch.version)
        existing: list[Record] = []
        wanted = revision == 0 if watch.initial is None else watch.initial
        if wanted or revision == 0:
            revision = backend.store.revision
        if wanted:
            records = backend.store.collection(self._resource.storage_key).scan(namespace)
            existing = list(records if watch.selection.everything else filter(watch.selection, records))
        return backend.hub.watch(self._resource, namespace, revision, watch.selection), existing

    async def _follow(self, response: web.StreamResponse, watcher: Watcher, watch: WatchRequest) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + watch.seconds
        next_bookmark = loop.time() + self._bookmark_every
        while not watcher.closed and not watcher.overflowed:
            until = min(end, next_bookmark) if watch.bookmarks else end
            events = await watcher.take(max(0.0, until - loop.time()))
            if events:
                await self._send_all(response, [(event.type, event.record) for event in events])
            now = loop.time()
            if watch.bookmarks and now >= min(next_bookmark, end) and watcher.idle:
                await self._send(response, [self._bookmark(self._backend.store.revision)])
                next_bookmark = now + self._bookmark_every
            if now >= end:
                return
        if watcher.overflowed:
            raise ConnectionError("too slow")

    async def _send_all(self, response: web.StreamResponse, events: Sequence[tuple[str, Record]]) -> None:
        for i in range(0, len(events), _CHUNK):
            chunk = events[i : i + _CHUNK]
            effort = self._renderer.begin([record for _, record in chunk])
            await self._send(response, await aside(effort, partial(self._lines, chunk)))

    def _lines(self, events: Sequence[tuple[str, Record]]) -> list[bytes]:
        return [self._line(type_, self._renderer.event_object(record)) for type_, record in events]

    async def _send(self, response: web.StreamResponse, lines: list[bytes]) -> None:
        async with asyncio.timeout(self._limits.body_seconds):
            await response.write(b"".join(lines))

    def _line(self, type_: str, raw: bytes) -> bytes:
        return _PREFIX[type_] + raw + b"}\n"

    def _bookmark(self, revision: int, end_of_initial: bool = False) -> bytes:
        """The client has seen everything up to this revision."""
        meta: dict[str, Any] = {"resourceVersion": str(revision)}
        if end_of_initial:
            meta["annotations"] = {well_known.INITIAL_EVENTS_END: "true"}
        resource = self._resource
        raw = encode({"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta})
        return self._line("BOOKMARK", raw)
