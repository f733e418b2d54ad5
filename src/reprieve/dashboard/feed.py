"""Keeps the inventory equal to an API server, by list and watch, and says when that fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reprieve.dashboard.contact import Contact, keep_asking
from reprieve.dashboard.inventory import Inventory
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    COHORTS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    NODES,
    POD_GROUPS,
    PODS,
    RESOURCE_FLAVORS,
    ApiError,
    Client,
    Reflector,
    Resource,
    TransportError,
)
from reprieve.objects import Object

WATCHED = (
    NODES,
    PODS,
    POD_GROUPS,
    RESOURCE_FLAVORS,
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    COHORTS,
    LOCAL_QUEUES,
    KUEUE_WORKLOADS,
    MULTIKUEUE_CLUSTERS,
)
ASK_AGAIN_SECONDS = 30.0
"""How often to look whether a kind that was not served, or not to be read, can be read now."""
AT_FIRST_SECONDS = 2.0
"""How long to wait for a server that does not answer yet."""


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
            self._inventory.put(object)


def _named(obj: Any) -> Object:
    """The object's kind and name, enough to remove it later."""
    named: Object = obj.__class__(metadata=obj.metadata.__class__(name=obj.name, namespace=obj.namespace))
    return named


@asynccontextmanager
async def feeding(client: Client, inventory: Inventory, contact: Contact) -> AsyncIterator[None]:
    """While inside, the inventory follows the API server."""
    tasks = [asyncio.create_task(_follow(client, resource, inventory, contact)) for resource in WATCHED]
    tasks.append(asyncio.create_task(keep_asking(client, contact)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _follow(client: Client, resource: Resource, inventory: Inventory, contact: Contact) -> None:
    """A kind that is not served, or may not be read, is asked for again now and then."""
    served: Resource | None = None
    while served is None:
        pause = ASK_AGAIN_SECONDS
        try:
            served = await client.served(resource)
            if served is not None:
                await client.request("GET", served.path(), query={"limit": "1"})
            contact.unseen(resource.plural, "")
        except ApiError as error:
            served = None
            contact.unseen(resource.plural, str(error))
        except TransportError as error:
            served, pause = None, AT_FIRST_SECONDS
            contact.lost(str(error))
        if served is None:
            await asyncio.sleep(pause)
    await Reflector(client, served, _IntoInventory(inventory)).run()
