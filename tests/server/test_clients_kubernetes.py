"""The official Python client, over TLS with the generated kubeconfig."""

from collections.abc import Iterator

import pytest
from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException

from reprieve.server import EmbeddedServer
from tests.server.widgets import GROUP, PLURAL, definition, widget


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as server:
        yield server


@pytest.fixture
def connection(server: EmbeddedServer) -> Iterator[client.ApiClient]:
    with config.new_client_from_config(str(server.kubeconfig)) as connection:
        yield connection


@pytest.fixture
def core(connection: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(connection)


def config_map(name: str, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


def v1_pod(name: str) -> client.V1Pod:
    spec = client.V1PodSpec(containers=[client.V1Container(name="main", image="busybox:1")])
    return client.V1Pod(metadata=client.V1ObjectMeta(name=name, labels={"app": name}), spec=spec)


def test_objects_are_created_read_changed_and_deleted(core: client.CoreV1Api) -> None:
    created = core.create_namespaced_pod("default", v1_pod("crud"))
    assert created.status.phase == "Pending"
    assert core.read_namespaced_pod("crud", "default").metadata.uid == created.metadata.uid
    assert [
        p.metadata.name for p in core.list_namespaced_pod("default", label_selector="app=crud").items
    ] == ["crud"]
    patched = core.patch_namespaced_pod("crud", "default", {"metadata": {"labels": {"tier": "web"}}})
    assert patched.metadata.labels == {"app": "crud", "tier": "web"}
    core.delete_namespaced_pod("crud", "default")
    with pytest.raises(ApiException) as gone:
        core.read_namespaced_pod("crud", "default")
    assert gone.value.status == 404


def test_a_stale_update_is_a_conflict(core: client.CoreV1Api) -> None:
    first = core.create_namespaced_config_map("default", config_map("conflict", n="1"))
    first.data = {"n": "2"}
    core.replace_namespaced_config_map("conflict", "default", first)
    with pytest.raises(ApiException) as refused:
        core.replace_namespaced_config_map("conflict", "default", first)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")


def test_a_watch_stops_and_resumes(core: client.CoreV1Api) -> None:
    start = core.list_namespaced_config_map("default").metadata.resource_version
    for i in range(4):
        core.create_namespaced_config_map("default", config_map(f"watched-{i}"))
    seen = []
    for _ in range(2):
        stream = watch.Watch()
        for event in stream.stream(
            core.list_namespaced_config_map, "default", resource_version=start, timeout_seconds=100
        ):
            seen.append((event["type"], event["object"].metadata.name))
            start = event["object"].metadata.resource_version
            if len(seen) % 2 == 0:
                stream.stop()
    assert seen == [("ADDED", f"watched-{i}") for i in range(4)]


def test_lists_come_in_pages(core: client.CoreV1Api) -> None:
    for i in range(5):
        core.create_namespaced_config_map("default", config_map(f"page-{i}"))
    first = core.list_namespaced_config_map("default", limit=2)
    assert len(first.items) == 2
    rest = core.list_namespaced_config_map("default", _continue=first.metadata._continue)
    assert len(rest.items) >= 3
    assert first.metadata.resource_version == rest.metadata.resource_version


def test_scheduling_groups_are_served_in_their_types(connection: client.ApiClient) -> None:
    api = client.SchedulingV1beta1Api(connection)
    gang = client.V1beta1PodGroupSchedulingPolicy(gang=client.V1beta1GangSchedulingPolicy(min_count=4))
    group = client.V1beta1PodGroup(
        metadata=client.V1ObjectMeta(name="train"), spec=client.V1beta1PodGroupSpec(scheduling_policy=gang)
    )
    api.create_namespaced_pod_group("default", group)
    assert api.read_namespaced_pod_group("train", "default").spec.scheduling_policy.gang.min_count == 4


def test_an_eviction_is_sent_and_a_version_is_told(
    core: client.CoreV1Api, connection: client.ApiClient
) -> None:
    core.create_namespaced_pod("default", v1_pod("evicted"))
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="evicted", namespace="default"))
    core.create_namespaced_pod_eviction("evicted", "default", eviction)
    with pytest.raises(ApiException):
        core.read_namespaced_pod("evicted", "default")
    assert client.VersionApi(connection).get_code().major == "1"


def test_a_custom_resource_makes_the_round_trip(connection: client.ApiClient) -> None:
    definitions = client.ApiextensionsV1Api(connection)
    definitions.create_custom_resource_definition(definition())
    custom = client.CustomObjectsApi(connection)
    path = (GROUP, "v1", "default", PLURAL)
    created = custom.create_namespaced_custom_object(*path, widget("w"))
    assert created["spec"] == {"size": 3, "colour": "green"}
    with pytest.raises(ApiException) as refused:
        custom.create_namespaced_custom_object(*path, widget("bad", size=0))
    assert refused.value.status == 422
    custom.patch_namespaced_custom_object(*path, "w", {"spec": {"size": 5}})
    custom.patch_namespaced_custom_object_status(*path, "w", {"status": {"ready": True}})
    shown = custom.get_namespaced_custom_object(*path, "w")
    assert (shown["spec"]["size"], shown["status"]) == (5, {"ready": True})
    assert [w["metadata"]["name"] for w in custom.list_namespaced_custom_object(*path)["items"]] == ["w"]
    definitions.delete_custom_resource_definition(f"{PLURAL}.{GROUP}")
    with pytest.raises(ApiException) as gone:
        custom.list_namespaced_custom_object(*path)
    assert gone.value.status == 404
