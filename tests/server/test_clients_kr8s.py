"""kr8s, over TLS with the generated kubeconfig."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import kr8s
import pytest
from kr8s.asyncio.objects import ConfigMap, CustomResourceDefinition, Pod, new_class

from reprieve.server import EmbeddedServer
from tests.server.widgets import GROUP, PLURAL, definition, widget
from tests.waiting import PATIENCE


@pytest.fixture
async def api() -> AsyncIterator[Any]:
    async with EmbeddedServer() as server:
        yield await kr8s.asyncio.api(kubeconfig=str(server.kubeconfig))


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "data": data}


async def test_objects_are_created_read_changed_and_deleted(api: Any) -> None:
    spec = {"containers": [{"name": "main", "image": "busybox:1"}]}
    pod = await Pod({"metadata": {"name": "crud", "namespace": "default"}, "spec": spec}, api=api)
    await pod.create()
    assert pod.status.phase == "Pending"
    assert (await Pod.get("crud", namespace="default", api=api)).metadata.uid == pod.metadata.uid
    await pod.label(tier="web")
    found = [p.name async for p in api.get("pods", namespace="default", label_selector={"tier": "web"})]
    assert found == ["crud"]
    await pod.delete()
    assert not await pod.exists()


async def test_patches_change_and_stale_patches_conflict(api: Any) -> None:
    item = await ConfigMap(config_map("patched", n="1"), api=api)
    await item.create()
    version = item.metadata.resourceVersion
    await item.patch({"data": {"n": "2"}})
    assert item.data.n == "2"
    with pytest.raises(kr8s.ServerError) as refused:
        await item.patch({"metadata": {"resourceVersion": version}, "data": {"n": "3"}})
    assert refused.value.response.status_code == 409


async def test_a_watch_tells_what_happens_and_can_be_taken_up_again(api: Any) -> None:
    async def watch(count: int) -> list[tuple[str, str]]:
        seen = []
        async for event, item in api.watch("configmaps", namespace="default"):
            seen.append((event, item.name))
            if len(seen) == count:
                break
        return seen

    first = asyncio.create_task(watch(2))
    for name in ("a", "b"):
        await (await ConfigMap(config_map(name), api=api)).create()
    assert await asyncio.wait_for(first, PATIENCE) == [("ADDED", "a"), ("ADDED", "b")]
    assert await asyncio.wait_for(watch(2), PATIENCE) == [("ADDED", "a"), ("ADDED", "b")]


async def test_a_custom_resource_makes_the_round_trip(api: Any) -> None:
    crd = await CustomResourceDefinition(definition(), api=api)
    await crd.create()
    await asyncio.wait_for(crd.wait("condition=Established"), PATIENCE)
    widget_class = new_class(
        kind="Widget", version=f"{GROUP}/v1", namespaced=True, plural=PLURAL, asyncio=True
    )
    item = await widget_class(widget("w"), api=api)
    await item.create()
    assert item.spec == {"size": 3, "colour": "green"}
    await item.patch({"spec": {"size": 4}})
    assert (await widget_class.get("w", namespace="default", api=api)).spec.size == 4
    await item.delete()
    assert not await item.exists()
