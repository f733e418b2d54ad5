"""Keeps a local copy of one collection in step with the server: list, watch, resume, start over.

How it runs, for ever, until cancelled:
1. get everything: as a stream (WatchList) where the server can, else a paged LIST; hand it over with
   `replace`;
2. follow the changes from that revision; hand each over with `apply`; bookmarks only move the revision;
3. a stream that ends is resumed from the last revision seen; `410 Gone` (as an answer or inside the stream)
   goes back to 1, and `replace` finds out what was missed;
4. errors wait a jittered, growing time; a stream silent for too long is opened again: it may be dead, and
   if it is only quiet (servers send no bookmarks for a collection that has not changed since they started)
   that costs one request.
One task for each reflector; the sink is called in that task, in order, and must not block.
"""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from reprieve.kube.client import Client
from reprieve.kube.errors import (
    ApiError,
    ConfigError,
    Status,
    TransportError,
    from_status,
    missing_right,
)
from reprieve.kube.nesting import TOO_DEEP, name_in
from reprieve.kube.pacing import Backoff, Sleep
from reprieve.kube.resources import Resource
from reprieve.kube.wire import Bookmark, WatchEvent, decoder_of, revision_of
from reprieve.objects import InvalidObject

log = logging.getLogger(__name__)

SHORTEST_WATCH, LONGEST_WATCH = 300.0, 600.0
SILENCE = 150.0
"""Busy servers send a bookmark about once a minute; more than two missed ones may mean a dead connection."""
INITIAL_EVENTS = 60.0
VERY_SHORT = 1.0
A_MOMENT = 5.0
"""A server may ask for so many seconds without being called troubled."""


class Sink(Protocol):
    def replace(self, objects: list[Any]) -> None:
        """The collection consists of exactly these objects now."""

    def apply(self, type: str, object: Any) -> None:
        """One object was ADDED, MODIFIED or DELETED."""

    def vanished(self, namespace: str, name: str) -> None:
        """One object was deleted in a state that cannot be read; it may never have been known."""


@dataclass(slots=True)
class _Stream:
    """How far one stream has come."""

    initial: bool
    """It still sends the objects that existed when it was opened."""
    first: list[Any] = field(default_factory=list)
    seen: int = 0


class Reflector:
    def __init__(
        self,
        client: Client,
        resource: Resource,
        sink: Sink,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        watch_list: bool = True,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        silence: float = SILENCE,
    ) -> None:
        self.resource = resource
        self._client = client
        self._sink = sink
        self._namespace = namespace
        self._labels, self._fields = labels, fields
        self._watch_list = watch_list
        self._backoff = backoff or Backoff()
        self._sleep = sleep
        self._jitter = jitter
        self._silence = silence
        self._decode_one = decoder_of(resource)
        self._place = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
        self.revision = ""

    async def run(self) -> None:
        while True:
            try:
                await self._once()
                self._backoff.clear()
            except (ApiError, TransportError, TimeoutError, ConfigError, msgspec.MsgspecError) as error:
                if isinstance(error, ApiError) and error.expired:
                    self.revision = ""
                pause = self._backoff.next()
                if isinstance(error, ApiError) and error.retry_after:
                    pause = max(pause, error.retry_after)
                self._tell(error, pause)
                await self._sleep(pause)
            except Exception:
                # Nothing that a server sends may end this: whoever follows the collection would go blind.
                self.revision = ""
                pause = self._backoff.next()
                log.exception("watch of %s failed, again in %.1f s", self.resource.plural, pause)
                await self._sleep(pause)

    def _tell(self, error: Exception, pause: float) -> None:
        """Passing trouble is logged each time; a missing right once, and it keeps us from being ready.

        429 is no trouble at first: a server that has just learnt of a kind asks to be asked again in a
        second. One that goes on so has too much to do, and meanwhile we are blind.
        """
        if isinstance(error, ApiError) and error.code == 429 and pause < A_MOMENT:
            log.info("watch of %s is asked for again in %.1f s: %s", self.resource.plural, pause, error)
            return
        if not (isinstance(error, ApiError) and error.refused):
            text = str(error) or type(error).__name__
            log.warning("watch of %s interrupted, again in %.1f s: %s", self.resource.plural, pause, text)
            return
        problem = missing_right(error, f"list and watch {self._place}")
        if self._client.problems.get(self._place) != problem:
            log.warning("%s", problem)
        self._client.problems[self._place] = problem

    async def _once(self) -> None:
        if not self.revision and self._watch_list:
            try:
                await self._follow(initial=True)
                return
            except (ApiError, TimeoutError) as error:
                if self.revision:
                    raise
                # Old servers and old storage refuse; some only say so inside the stream. LIST always works.
                log.debug(
                    "streaming list of %s is not available: %s", self.resource.plural, error or "no end"
                )
                self._watch_list = isinstance(error, ApiError) and error.transient and error.code == 429
        if not self.revision:
            await self._list()
        await self._follow()

    async def _list(self) -> None:
        resource = self.resource
        listing = await self._client.listing(
            resource, self._namespace, labels=self._labels, fields=self._fields, decode=self._decode
        )
        self._sink.replace([item for item in listing.items if item is not None])
        self.revision = listing.revision
        self._no_problem()

    async def _follow(self, initial: bool = False) -> None:
        """One stream. With `initial` it starts with everything there is, up to a marked bookmark."""
        opened, stream = time.monotonic(), _Stream(initial)
        try:
            async with asyncio.timeout(self._patience(stream)) as limit:
                async for event in self._events(initial):
                    stream.seen += 1
                    self._take(event, stream)
                    self._prolong(limit, stream)
        except TimeoutError:
            if stream.initial:
                raise
            log.debug("no news of %s for %.0f s: asking again", self.resource.plural, self._silence)
            return
        if stream.initial:
            raise TransportError("the stream ended before the initial events did")
        if not stream.seen and time.monotonic() - opened < VERY_SHORT:
            raise TransportError("a very short watch: closed at once with nothing received")

    def _prolong(self, limit: asyncio.Timeout, stream: "_Stream") -> None:
        """News: the patience starts anew. Bursts of events move the limit once, not with each of them."""
        patience, before = self._patience(stream), limit.when() or 0.0
        end = asyncio.get_running_loop().time() + patience
        if not before <= end <= before + patience / 16:
            limit.reschedule(end)

    def _patience(self, stream: "_Stream") -> float:
        return INITIAL_EVENTS if stream.initial else self._silence

    def _events(self, initial: bool) -> AsyncIterator[WatchEvent]:
        lifetime = SHORTEST_WATCH + (LONGEST_WATCH - SHORTEST_WATCH) * self._jitter()
        return self._client.watch(
            self.resource, self._namespace, query=self._query(initial), timeout=lifetime
        )

    def _take(self, event: WatchEvent, stream: "_Stream") -> None:
        if event.type == "BOOKMARK":
            bookmark = msgspec.json.decode(event.object, type=Bookmark)
            if stream.initial and bookmark.ends_initial_events:
                stream.initial = False
                first, stream.first = stream.first, []  # a watch may last for hours, its first objects not
                self._sink.replace(first)
            if not stream.initial:
                self._works(bookmark.metadata.resource_version)
            return
        object = self._object(event)
        if object is None:
            if event.type == "DELETED":  # what was known of it before is no longer so
                gone = name_in(event.object)
                self._sink.vanished(gone.namespace, gone.name)
            return
        if stream.initial:
            stream.first.append(object)
        else:
            self._sink.apply(event.type, object)
            self._works(revision_of(object))

    def _works(self, revision: str) -> None:
        """An event arrived: any trouble is over."""
        self.revision = revision or self.revision
        self._backoff.clear()
        self._no_problem()

    def _no_problem(self) -> None:
        if self._client.problems.pop(self._place, None):
            log.info("%s can be read now", self._place)

    def _query(self, initial: bool) -> dict[str, str]:
        query = {"allowWatchBookmarks": "true"}
        if initial:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        else:
            query["resourceVersion"] = self.revision
        if self._labels:
            query["labelSelector"] = self._labels
        if self._fields:
            query["fieldSelector"] = self._fields
        return query

    def _object(self, event: WatchEvent) -> Any:
        if event.type == "ERROR":
            raise from_status(msgspec.json.decode(event.object, type=Status))
        return self._decode(event.object)

    def _decode(self, raw: bytes | msgspec.Raw) -> Any:
        """The object, or None for one we cannot read: one odd document must not stop all the others."""
        try:
            return self._decode_one(raw)
        except (InvalidObject, msgspec.MsgspecError, RecursionError) as error:
            why = TOO_DEEP if isinstance(error, RecursionError) else error
            log.error("ignoring %s %s, which cannot be read: %s", self.resource.kind, name_in(raw), why)
            return None
