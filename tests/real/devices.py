"""Devices on the nodes of a place, as a driver publishes them, and pods that claim them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reprieve.kube import CLAIM_TEMPLATES, RESOURCE_CLAIMS
from tests.builders import Document
from tests.real.cluster import Place
from tests.scheduler.equipped import CLASSES, DRIVER, EXTENDED, SLICES, spec

CLASS = "gpu"


@asynccontextmanager
async def equipped(here: Place, nodes: int, number: int) -> AsyncIterator[None]:
    """So many devices on each node, a class that also serves an extended resource, a template of claims."""
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    body = {"selectors": [selector], "extendedResourceName": EXTENDED}
    await here.create(CLASSES, {"metadata": {"name": CLASS}, "spec": body})
    names = [f"{here.name}-{index}" for index in range(nodes)]
    await here.create(SLICES, *(_slice(name, number) for name in names))
    await here.create(CLAIM_TEMPLATES, {**_named(here, "one"), "spec": {"spec": spec()}})
    try:
        yield
    finally:
        await here.clear()
        await here.client.request("DELETE", RESOURCE_CLAIMS.path(here.name))
        for name in names:
            await here.client.delete(SLICES, name)
        await here.client.delete(CLASSES, CLASS)


def _slice(node: str, number: int) -> Document:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{each}"} for each in range(number)]
    body = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    return {"metadata": {"name": node}, "spec": body}


def _named(here: Place, name: str) -> Document:
    return {"metadata": {"name": name, "namespace": here.name}}


def claim(here: Place, name: str, count: int = 1) -> Document:
    return {**_named(here, name), "spec": spec(count)}


def using(here: Place, name: str, claim: str = "", priority: str = "low", **more: Any) -> Document:
    """A pod with this claim; without one it gets its own, from the template."""
    source = {"resourceClaimName": claim} if claim else {"resourceClaimTemplateName": "one"}
    body = here.own_pod(name, 1, priority, **more)
    body["spec"]["resourceClaims"] = [{"name": "c", **source}]
    body["spec"]["containers"][0]["resources"]["claims"] = [{"name": "c"}]
    return body


def asking(here: Place, name: str, **more: Any) -> Document:
    """A pod that asks for a device as an extended resource."""
    body = here.own_pod(name, 1, **more)
    resources = body["spec"]["containers"][0]["resources"]
    resources["requests"][EXTENDED] = resources.setdefault("limits", {})[EXTENDED] = "1"
    return body


def left_for(pod: Document) -> Document:
    """What an attempt that did not get far has left for a pod's extended resource."""
    meta = pod["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
    left = {
        "name": f"{meta['name']}-left",
        "namespace": meta["namespace"],
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [owner],
    }
    return {"metadata": left, "spec": spec()}


async def holders(here: Place) -> dict[str, list[str]]:
    """Device to the pods for which its claim is reserved."""
    found: dict[str, list[str]] = {}
    for each in (await here.client.listing(RESOURCE_CLAIMS.raw(), here.name)).items:
        status = each.get("status") or {}
        users = [user["name"] for user in status.get("reservedFor") or ()]
        for result in (status.get("allocation") or {"devices": {}})["devices"].get("results") or ():
            found.setdefault(f"{result['pool']}/{result['device']}", []).extend(users)
    return found
