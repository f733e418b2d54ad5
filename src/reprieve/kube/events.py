"""Events for people (`kubectl describe`); a flood becomes one event with a count.

Written through core/v1, where an event may have its time under the old names too: what people type is
`kubectl get events --sort-by=.lastTimestamp`, and through events.k8s.io/v1 an API server takes no
`lastTimestamp`. Both APIs show the same events.

`record` never blocks and never fails: it puts the event into a bounded queue that a few background writers
empty. The same thing happening again to the same object within six minutes only raises the count of the
first event's series, written at most once per `flush_every` seconds. When the queue is full new events are
dropped and counted.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from reprieve.kube.client import MERGE_PATCH, Client
from reprieve.kube.errors import ApiError, ConfigError, TransportError
from reprieve.kube.pacing import Clock
from reprieve.kube.resources import CORE_EVENTS
from reprieve.objects import Object, format_micro_time, format_time

log = logging.getLogger(__name__)

SERIES_WINDOW = 360.0
NOTE_LIMIT = 1024
QUEUE_LIMIT = 10_000
WRITERS = 4


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """An object as events refer to it."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""

    @classmethod
    def to(cls, object: Object, api_version: str, kind: str) -> "ObjectReference":
        metadata = object.metadata
        return cls(api_version, kind, metadata.name, metadata.namespace, metadata.uid)

    def to_dict(self) -> dict[str, str]:
        fields = {
            "apiVersion": self.api_version, "kind": self.kind, "name": self.name,
            "namespace": self.namespace, "uid": self.uid,
        }  # fmt: skip
        return {key: value for key, value in fields.items() if value}


@dataclass(slots=True)
class _Series:
    name: str
    namespace: str
    last: datetime
    last_seen: float
    count: int = 1
    written: int = 1


Key = tuple[ObjectReference, ObjectReference | None, str, str, str]


class EventRecorder:
    def __init__(
        self,
        client: Client,
        controller: str,
        *,
        instance: str = "",
        flush_every: float = 30.0,
        clock: Clock = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._controller = controller
        self._instance = instance or f"{controller}-{socket.gethostname()}"[:128]
        self._flush_every = flush_every
        self._clock = clock
        self._now = now
        self._series: dict[Key, _Series] = {}
        self._queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(QUEUE_LIMIT)
        self.dropped = 0

    def record(
        self, regarding: ObjectReference, reason: str, note: str,
        *, action: str, type: str = "Normal", related: ObjectReference | None = None,
    ) -> None:  # fmt: skip
        key, seen, now = (regarding, related, type, reason, action), self._clock(), self._now()
        series = self._series.get(key)
        if series is not None and seen - series.last_seen <= SERIES_WINDOW:
            series.count += 1
            series.last, series.last_seen = now, seen
            return
        namespace = regarding.namespace or "default"
        name = f"{regarding.name[:230]}.{time.time_ns():x}"
        event = {
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": format_micro_time(now),
            "firstTimestamp": format_time(now.replace(microsecond=0)),
            "lastTimestamp": format_time(now.replace(microsecond=0)),
            "count": 1,
            "type": type,
            "reason": reason,
            "action": action,
            "message": clip(note),
            "source": {"component": self._controller},
            "reportingComponent": self._controller,
            "reportingInstance": self._instance,
            "involvedObject": regarding.to_dict(),
        }
        if related is not None:
            event["related"] = related.to_dict()
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self.dropped += 1
            return
        self._series[key] = _Series(name, namespace, now, seen)

    async def run(self) -> None:
        """Write until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WRITERS):
                group.create_task(self._write_events())
            group.create_task(self._write_series())

    async def drain(self) -> None:
        """Until everything recorded so far has been tried once."""
        await self._queue.join()
        await self.flush()

    async def _write_events(self) -> None:
        while True:
            event = await self._queue.get()
            try:
                await self._client.create(CORE_EVENTS, event)
            except (ApiError, TransportError, ConfigError) as error:
                log.debug("event %s was not written: %s", event["reason"], error)
            finally:
                self._queue.task_done()

    async def _write_series(self) -> None:
        while True:
            await asyncio.sleep(self._flush_every)
            await self.flush()

    async def flush(self) -> None:
        """Write the counts that grew, forget the series that ended.

        Writing takes its time: meanwhile a series may begin anew, or somebody else forget it.
        """
        now = self._clock()
        for key, series in list(self._series.items()):
            if series.count > series.written:
                series.written = series.count
                patch = {
                    "count": series.count,
                    "lastTimestamp": format_time(series.last.replace(microsecond=0)),
                    "series": {"count": series.count, "lastObservedTime": format_micro_time(series.last)},
                }
                try:
                    await self._client.patch(
                        CORE_EVENTS, series.name, patch, series.namespace, content_type=MERGE_PATCH
                    )
                except (ApiError, TransportError, ConfigError) as error:
                    log.debug("series of event %s was not written: %s", series.name, error)
            elif now - series.last_seen > SERIES_WINDOW and self._series.get(key) is series:
                del self._series[key]


def clip(note: str) -> str:
    """At most 1024 bytes, as the API demands, the cut marked."""
    encoded = note.encode()
    if len(encoded) <= NOTE_LIMIT:
        return note
    return encoded[: NOTE_LIMIT - 4].decode("utf-8", "ignore") + " ..."
