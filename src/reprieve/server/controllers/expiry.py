"""What goes by itself: events after an hour, pods whose node is deleted."""

from datetime import datetime, timedelta
from functools import partial

from reprieve.objects import TimeError, parse_time
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.podindex import PodIndex
from reprieve.server.registry import Document
from reprieve.server.storage import Record

EVENT_LIFETIME = timedelta(hours=1)


class Events(Controller):
    """An event lives for an hour after it was seen last."""

    place = "events"

    def changed(self, record: Record, gone: bool) -> None:
        """No look before the hour is over: `reconcile` finds the exact time."""
        key = (record.namespace, record.name)
        if gone:
            self.agenda.drop(key)
        else:
            self.agenda.add(key, self.api.now() + EVENT_LIFETIME)

    async def reconcile(self, key: Key) -> datetime | None:
        event = self.api.peek(self.place, key[1], key[0])
        if event is None:
            return None
        due = _last_seen(event) + EVENT_LIFETIME
        if due > self.api.now():
            return due
        await self.api.delete(self.place, key[1], key[0])
        return None


def _last_seen(event: Document) -> datetime:
    seen = (event.get("series") or {}).get("lastObservedTime") or event.get("lastTimestamp")
    try:
        return parse_time(str(seen))
    except TimeError:
        return parse_time(event["metadata"]["creationTimestamp"])


class OrphanedPods(Controller):
    """Nobody is left to stop the pods of a node that was deleted: they go at once."""

    place = "nodes"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        super().__init__(api)

    def changed(self, record: Record, gone: bool) -> None:
        if gone:
            self.agenda.add(("", record.name))

    async def reconcile(self, key: Key) -> datetime | None:
        if self.api.peek("nodes", key[1]) is not None:
            return None
        await in_parallel(
            partial(self.api.delete, "pods", p.name, p.namespace, grace=0, uid=p.uid)
            for p in self._pods.on_node(key[1])
        )
        return None
