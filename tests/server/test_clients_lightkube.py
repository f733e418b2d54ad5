"""lightkube, over TLS with the generated kubeconfig."""

from collections.abc import Iterator

import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import PatchType

from reprieve.server import EmbeddedServer
from tests.server.widgets import GROUP, PLURAL, definition, widget


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as server:
        yield server


@pytest.fixture
def client(server: EmbeddedServer) -> Client:
    return Client(config=KubeConfig.from_file(server.kubeconfig), trust_env=False, field_manager="tests")


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def test_objects_are_created_read_changed_and_deleted(client: Client) -> None:
    spec = PodSpec(containers=[Container(name="main", image="busybox:1")])
    created = client.create(Pod(metadata=ObjectMeta(name="crud", namespace="default"), spec=spec))
    assert created.status.phase == "Pending"
    assert client.get(Pod, "crud").metadata.uid == created.metadata.uid
    patched = client.patch(Pod, "crud", {"metadata": {"labels": {"a": "b"}}}, patch_type=PatchType.MERGE)
    assert patched.metadata.labels == {"a": "b"}
    assert [p.metadata.name for p in client.list(Pod, labels={"a": "b"})] == ["crud"]
    client.delete(Pod, "crud")
    with pytest.raises(ApiError) as gone:
        client.get(Pod, "crud")
    assert gone.value.status.code == 404


def test_a_stale_update_is_a_conflict(client: Client) -> None:
    first = client.create(config_map("conflict", n="1"))
    first.data = {"n": "2"}
    client.replace(first)
    with pytest.raises(ApiError) as refused:
        client.replace(first)
    assert (refused.value.status.code, refused.value.status.reason) == (409, "Conflict")


def test_an_applied_object_belongs_to_its_manager(client: Client) -> None:
    client.apply(config_map("applied", n="1"), field_manager="one")
    with pytest.raises(ApiError) as refused:
        client.apply(config_map("applied", n="2"), field_manager="two")
    assert refused.value.status.code == 409
    assert client.apply(config_map("applied", n="2"), field_manager="two", force=True).data == {"n": "2"}


def test_a_watch_stops_and_resumes(client: Client) -> None:
    existing = client.list(ConfigMap)
    assert all(c.kind == "ConfigMap" for c in existing)
    start = existing.resourceVersion
    for i in range(4):
        client.create(config_map(f"watched-{i}"))
    seen = []
    for _ in range(2):
        for event, item in client.watch(ConfigMap, resource_version=start, server_timeout=100):
            seen.append((event, item.metadata.name))
            start = item.metadata.resourceVersion
            if len(seen) % 2 == 0:
                break
    assert seen == [("ADDED", f"watched-{i}") for i in range(4)]


def test_lists_are_paged_without_the_caller_noticing(client: Client) -> None:
    for i in range(7):
        client.create(config_map(f"page-{i}"))
    names = [
        c.metadata.name for c in client.list(ConfigMap, chunk_size=3) if c.metadata.name.startswith("page-")
    ]
    assert names == [f"page-{i}" for i in range(7)]


def test_a_custom_resource_makes_the_round_trip(client: Client) -> None:
    client.create(CustomResourceDefinition.from_dict(definition()))
    client.wait(CustomResourceDefinition, f"{PLURAL}.{GROUP}", for_conditions=["Established"])
    widgets = create_namespaced_resource(GROUP, "v1", "Widget", PLURAL)
    created = client.create(widgets(widget("w")))
    assert created["spec"] == {"size": 3, "colour": "green"}
    assert client.patch(widgets, "w", {"spec": {"size": 5}}, patch_type=PatchType.MERGE)["spec"]["size"] == 5
    assert [w.metadata.name for w in client.list(widgets)] == ["w"]
    client.delete(widgets, "w")
    client.delete(CustomResourceDefinition, f"{PLURAL}.{GROUP}")
