"""kubernetes_asyncio, over TLS with the generated kubeconfig."""

from collections.abc import AsyncIterator

import pytest
from kubernetes_asyncio import client, config, watch
from kubernetes_asyncio.client.exceptions import ApiException

from reprieve.server import EmbeddedServer
from tests.server.widgets import GROUP, PLURAL, definition, widget


@pytest.fixture
async def connection() -> AsyncIterator[client.ApiClient]:
    async with EmbeddedServer() as server:
        configuration = client.Configuration()
        await config.load_kube_config(str(server.kubeconfig), client_configuration=configuration)
        async with client.ApiClient(configuration) as connection:
            yield connection


def config_map(name: str, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


async def test_objects_are_created_read_changed_and_deleted(connection: client.ApiClient) -> None:
    core = client.CoreV1Api(connection)
    created = await core.create_namespaced_config_map("default", config_map("crud", n="1"))
    assert (await core.read_namespaced_config_map("crud", "default")).metadata.uid == created.metadata.uid
    patched = await core.patch_namespaced_config_map("crud", "default", {"data": {"m": "2"}})
    assert patched.data == {"n": "1", "m": "2"}
    patch = [{"op": "remove", "path": "/data/n"}]
    assert (await core.patch_namespaced_config_map("crud", "default", patch)).data == {"m": "2"}
    await core.delete_namespaced_config_map("crud", "default")
    with pytest.raises(ApiException) as gone:
        await core.read_namespaced_config_map("crud", "default")
    assert gone.value.status == 404


async def test_a_stale_update_is_a_conflict(connection: client.ApiClient) -> None:
    core = client.CoreV1Api(connection)
    first = await core.create_namespaced_config_map("default", config_map("conflict", n="1"))
    first.data = {"n": "2"}
    await core.replace_namespaced_config_map("conflict", "default", first)
    with pytest.raises(ApiException) as refused:
        await core.replace_namespaced_config_map("conflict", "default", first)
    assert refused.value.status == 409


async def test_a_watch_stops_and_resumes(connection: client.ApiClient) -> None:
    core = client.CoreV1Api(connection)
    start = (await core.list_namespaced_config_map("default")).metadata.resource_version
    for i in range(4):
        await core.create_namespaced_config_map("default", config_map(f"watched-{i}"))
    seen = []
    for _ in range(2):
        async with watch.Watch().stream(
            core.list_namespaced_config_map, "default", resource_version=start, timeout_seconds=100
        ) as stream:
            async for event in stream:
                seen.append((event["type"], event["object"].metadata.name))
                start = event["object"].metadata.resource_version
                if len(seen) % 2 == 0:
                    break
    assert seen == [("ADDED", f"watched-{i}") for i in range(4)]


async def test_a_custom_resource_makes_the_round_trip(connection: client.ApiClient) -> None:
    await client.ApiextensionsV1Api(connection).create_custom_resource_definition(definition())
    custom = client.CustomObjectsApi(connection)
    path = (GROUP, "v1", "default", PLURAL)
    created = await custom.create_namespaced_custom_object(*path, widget("w"))
    assert created["spec"] == {"size": 3, "colour": "green"}
    created["spec"]["size"] = 6
    replaced = await custom.replace_namespaced_custom_object(*path, "w", created)
    assert replaced["spec"]["size"] == 6
    listed = await custom.list_namespaced_custom_object(*path)
    assert [w["metadata"]["name"] for w in listed["items"]] == ["w"]
    await custom.delete_namespaced_custom_object(*path, "w")
