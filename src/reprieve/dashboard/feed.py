"""Keeps the inventory equal to an API server by list and watch, and knows when that fails.

A page that shows an old state must say so; `Contact` holds what it says.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any

from reprieve.dashboard.inventory import Inventory
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLAIM_TEMPLATES,
    CLUSTER_QUEUES,
    COHORTS,
    COMPOSITE_POD_GROUPS,
    DEVICE_CLASSES,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    NODES,
    POD_GROUPS,
    PODS,
    RESOURCE_CLAIMS,
    RESOURCE_FLAVORS,
    RESOURCE_SLICES,
    ApiError,
    Client,
    ConfigError,
    Reflector,
    Resource,
    TransportError,
)
from reprieve.objects import Object, format_time
from reprieve.runtime import keep_running

log = logging.getLogger(__name__)

WATCHED = (
    NODES,
    PODS,
    POD_GROUPS,
    COMPOSITE_POD_GROUPS,
    DEVICE_CLASSES,
    RESOURCE_SLICES,
    RESOURCE_CLAIMS,
    CLAIM_TEMPLATES,
    RESOURCE_FLAVORS,
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    COHORTS,
    LOCAL_QUEUES,
    KUEUE_WORKLOADS,
    MULTIKUEUE_CLUSTERS,
)
UNSERVED_SECONDS = 30.0
"""How often to check whether a kind that was not served, or not readable, can be read now."""
UNREACHABLE_SECONDS = 2.0
"""How often to try a server that does not answer yet."""
PING_SECONDS = 3.0
PING_TIMEOUT_SECONDS = 4.0
UNAUTHORIZED, SERVER_ERROR = 401, 500


class Contact:
    """Whether the API server answers, and which kinds cannot be read. `revision` grows with every change."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._problem = ""
        self._since: datetime | None = None
        self._unseen: dict[str, str] = {}
        self.revision = 0

    def lost(self, problem: str) -> None:
        """The first problem is kept: later ones follow from it."""
        if not self._problem:
            self._problem, self._since = problem, self._now()
            self.revision += 1

    def found(self) -> None:
        if self._problem:
            self._problem, self._since = "", None
            self.revision += 1

    def unseen(self, kind: str, why: str) -> None:
        """A kind that cannot be shown; an empty reason when it can."""
        if self._unseen.get(kind, "") != why:
            self._unseen[kind] = why
            self.revision += 1

    def to_dict(self) -> dict[str, Any]:
        return {
            "problem": self._problem,
            "since": format_time(self._since) if self._since else None,
            "unseen": [f"{kind}: {why}" for kind, why in sorted(self._unseen.items()) if why],
        }


class _IntoInventory:
    """Hands one kind's objects on as they come; only the inventory's compact records are kept."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._known: dict[str, Object] = {}

    def replace(self, objects: list[Any]) -> None:
        fresh = {obj.key for obj in objects}
        for key in [key for key in self._known if key not in fresh]:
            self._inventory.remove(self._known.pop(key))
        for obj in objects:
            self.apply("MODIFIED", obj)

    def apply(self, type: str, object: Any) -> None:
        if type == "DELETED":
            self._known.pop(object.key, None)
            self._inventory.remove(object)
        else:
            self._known[object.key] = _named(object)
            try:
                self._inventory.put(object)
            except Exception:  # one odd object must not hide the others
                log.exception("%s %s cannot be shown", object.__class__.__name__, object.key)

    def vanished(self, namespace: str, name: str) -> None:
        known = self._known.pop(f"{namespace}/{name}" if namespace else name, None)
        if known is not None:
            self._inventory.remove(known)


def _named(obj: Any) -> Object:
    """The object's kind and name, enough to remove it later."""
    named: Object = obj.__class__(metadata=obj.metadata.__class__(name=obj.name, namespace=obj.namespace))
    return named


@asynccontextmanager
async def feeding(client: Client, inventory: Inventory, contact: Contact) -> AsyncIterator[None]:
    """While inside, the inventory follows the API server, whatever fails: an old state looks new."""
    lives: list[tuple[str, Callable[[], Awaitable[None]]]] = [
        (each.plural, partial(_follow, client, each, inventory, contact)) for each in WATCHED
    ]
    lives.append(("pings", partial(keep_pinging, client, contact)))
    tasks = [asyncio.create_task(keep_running(f"the page: {name}", life)) for name, life in lives]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _follow(client: Client, resource: Resource, inventory: Inventory, contact: Contact) -> None:
    """A kind that is not served, or may not be read, is tried again later."""
    served: Resource | None = None
    while served is None:
        pause = UNSERVED_SECONDS
        try:
            served = await client.served(resource)
            if served is not None:
                await client.request("GET", served.path(), query={"limit": "1"})
            contact.unseen(resource.plural, "")
        except ApiError as error:
            served = None
            contact.unseen(resource.plural, str(error))
        except (TransportError, ConfigError) as error:
            served, pause = None, UNREACHABLE_SECONDS
            contact.lost(str(error))
        if served is None:
            await asyncio.sleep(pause)
    await Reflector(client, served, _IntoInventory(inventory)).run()


async def keep_pinging(client: Client, contact: Contact) -> None:
    """For ever: a small request now and then, because a broken watch looks like a quiet cluster."""
    while True:
        try:
            async with asyncio.timeout(PING_TIMEOUT_SECONDS):
                await client.request("GET", "/version")
        except (TransportError, ConfigError, TimeoutError) as error:
            contact.lost(str(error) or f"no answer within {PING_TIMEOUT_SECONDS:g} s")
        except ApiError as error:
            if error.code == UNAUTHORIZED or error.code >= SERVER_ERROR:
                contact.lost(str(error))
            else:
                contact.found()
        else:
            contact.found()
        await asyncio.sleep(PING_SECONDS)
