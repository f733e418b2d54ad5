"""A live copy of one collection, and handlers for its changes.

The copy answers reads without a request. Handlers get each change once, in order, with the state before it.
After a gap (a relist) they get what the gap must have contained, deletions included; an object that was
deleted and created again under the same name is a deletion and an addition.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from reprieve.kube.client import Client
from reprieve.kube.reflector import Reflector
from reprieve.kube.resources import Resource
from reprieve.kube.wire import key_of, revision_of, uid_of

log = logging.getLogger(__name__)

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


class Change(NamedTuple):
    type: ChangeType
    old: Any
    new: Any
    """For DELETED the last state seen; `old` is None for ADDED."""


Handler = Callable[[Change], None]


class Informer:
    """`async with Informer(client, PODS, handler) as pods:` enters when the copy is complete."""

    def __init__(self, client: Client, resource: Resource, *handlers: Handler, **options: Any) -> None:
        """Options are those of `Reflector`: namespace, labels, fields, watch_list, backoff, …"""
        self.resource = resource
        self.listed: Callable[[list[Any]], None] | None = None
        """Gets what there is at first as a whole, in place of one ADDED after the other for the handlers; if
        it fails, they get all of it after all."""
        self.reflector = Reflector(client, resource, self, **options)
        self._handlers = handlers
        self._objects: dict[tuple[str, str], Any] = {}
        self._synced = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        self._task = asyncio.create_task(self.reflector.run(), name=f"informer-{self.resource.plural}")
        return self._task

    async def synced(self) -> None:
        """Wait until handlers got everything that existed; raises if the reflector died before."""
        assert self._task is not None, "start the informer first"
        waiter = asyncio.create_task(self._synced.wait())
        await asyncio.wait({waiter, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not self._synced.is_set():
            waiter.cancel()
            await self._task

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def __aenter__(self) -> "Informer":
        self.start()
        await self.synced()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def get(self, name: str, namespace: str = "") -> Any | None:
        return self._objects.get((namespace, name))

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._objects.values()))

    def __len__(self) -> int:
        return len(self._objects)

    def replace(self, objects: list[Any]) -> None:
        """The result of a LIST: handlers get the difference, deletions first to free names and capacity."""
        fresh = {key_of(object): object for object in objects}
        if not self._objects and self._took_all(list(fresh.values())):
            self._objects = fresh
        else:
            for key in [key for key in self._objects if key not in fresh]:
                self._delete(key, self._objects[key])
            for key, object in fresh.items():
                self._put(key, object)
        self._synced.set()

    def _took_all(self, objects: list[Any]) -> bool:
        if self.listed is None:
            return False
        try:
            self.listed(objects)
        except Exception:  # one object among them: the others are not to be missed because of it
            log.exception("a handler of %s failed on the first list", self.resource.plural)
            return False
        return True

    def apply(self, type: str, object: Any) -> None:
        if type == "DELETED":
            self._delete(key_of(object), object)
        else:
            self._put(key_of(object), object)

    def vanished(self, namespace: str, name: str) -> None:
        old = self._objects.get((namespace, name))
        if old is not None:
            self._delete((namespace, name), old)

    def _put(self, key: tuple[str, str], object: Any) -> None:
        old = self._objects.get(key)
        if old is not None and uid_of(old) != uid_of(object):
            self._delete(key, old)
            old = None
        self._objects[key] = object
        if old is None:
            self._notify(Change("ADDED", None, object))
        elif revision_of(old) != revision_of(object):
            self._notify(Change("MODIFIED", old, object))

    def _delete(self, key: tuple[str, str], last: Any) -> None:
        old = self._objects.pop(key, None)
        if old is not None:
            self._notify(Change("DELETED", old, last))

    def _notify(self, change: Change) -> None:
        for handler in self._handlers:
            try:
                handler(change)
            except Exception:  # one failing handler must not blind the others
                log.exception("a handler of %s failed on %s", self.resource.plural, key_of(change.new))
