"""What is removed when its time has come: pod groups whose pods are done, events after an hour, pods of
deleted nodes.
"""

from datetime import datetime, timedelta
from functools import partial

from reprieve.objects import Document, TimeError, parse_time, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.storage import Record

EVENT_LIFETIME = timedelta(hours=1)


class PodGroups(Controller):
    """A deleted group stays, by its finalizer, while one of its pods has not ended."""

    resource = "podgroups.scheduling.k8s.io"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        super().__init__(api)
        pods.listen(self._pod_changed)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        """Only a pod that ends or is removed can release its group."""
        if before is not None and before.group and not before.finished and (after is None or after.finished):
            self.queue.add((before.namespace, before.group))

    async def reconcile(self, key: Key) -> datetime | None:
        group = self.api.peek(self.resource, key[1], key[0])
        if group is None or not group["metadata"].get("deletionTimestamp"):
            return None
        finalizers = group["metadata"].get("finalizers") or ()
        if well_known.POD_GROUP_PROTECTION not in finalizers or any(
            not p.finished for p in self._pods.in_group(*key)
        ):
            return None
        kept = [f for f in finalizers if f != well_known.POD_GROUP_PROTECTION] or None
        await self.api.patch(
            self.resource, key[1], {"metadata": {"finalizers": kept}}, key[0], manager="podgroup-protection"
        )
        return None


class Events(Controller):
    """An event is kept for an hour after it was last seen."""

    resource = "events"

    def changed(self, record: Record, gone: bool) -> None:
        """Not before the hour is over: `reconcile` finds the exact time."""
        key = (record.namespace, record.name)
        if gone:
            self.queue.drop(key)
        else:
            self.queue.add(key, self.api.now() + EVENT_LIFETIME)

    async def reconcile(self, key: Key) -> datetime | None:
        event = self.api.peek(self.resource, key[1], key[0])
        if event is None:
            return None
        due = _last_seen(event) + EVENT_LIFETIME
        if due > self.api.now():
            return due
        await self.api.delete(self.resource, key[1], key[0])
        return None


def _last_seen(event: Document) -> datetime:
    seen = (event.get("series") or {}).get("lastObservedTime") or event.get("lastTimestamp")
    try:
        return parse_time(str(seen))
    except TimeError:
        return parse_time(event["metadata"]["creationTimestamp"])


class OrphanedPods(Controller):
    """No kubelet is left to stop the pods of a deleted node: they are removed at once."""

    resource = "nodes"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        super().__init__(api)

    def changed(self, record: Record, gone: bool) -> None:
        if gone:
            self.queue.add(("", record.name))

    async def reconcile(self, key: Key) -> datetime | None:
        if self.api.peek("nodes", key[1]) is not None:
            return None
        await in_parallel(
            partial(self.api.delete, "pods", p.name, p.namespace, grace=0, uid=p.uid)
            for p in self._pods.on_node(key[1])
        )
        return None
