"""OpenAPI documents: complete references, the marks that kubectl looks for, custom kinds."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from reprieve.server.openapi import v3_document, v3_index
from reprieve.server.registry import ResourceInfo
from reprieve.server.resources import builtin_resources

RESOURCES = builtin_resources()
GROUP_VERSIONS = sorted({r.api_version for r in RESOURCES})
FOO = ResourceInfo(
    group="example.com",
    version="v1",
    kind="Foo",
    plural="foos",
    custom=True,
    schema={
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"n": {"type": "integer", "nullable": True}}}
        },
    },
)


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref" and isinstance(item, str):
                yield item
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def schemas(group_version: str) -> dict[str, Any]:
    document = v3_document(group_version, RESOURCES)
    assert document is not None
    return document["components"]["schemas"]


@pytest.mark.parametrize("group_version", GROUP_VERSIONS)
def test_every_reference_of_a_version_3_document_resolves(group_version: str) -> None:
    document = v3_document(group_version, RESOURCES)
    assert document is not None
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= known


@pytest.mark.parametrize("resource", [r for r in RESOURCES if "patch" in r.verbs], ids=repr)
def test_kubectl_finds_that_fields_are_validated_by_the_server(resource: ResourceInfo) -> None:
    document = v3_document(resource.api_version, RESOURCES)
    assert document is not None
    gvk = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    patches = [p["patch"] for p in document["paths"].values() if "patch" in p]
    ours = [p for p in patches if p["x-kubernetes-group-version-kind"] == gvk]
    assert ours
    assert all({"fieldValidation", "dryRun"} <= {q["name"] for q in p["parameters"]} for p in ours)


@pytest.mark.parametrize("resource", RESOURCES, ids=repr)
def test_kubectl_explain_finds_the_kind_by_its_path_and_its_component_by_the_kind(
    resource: ResourceInfo,
) -> None:
    document = v3_document(resource.api_version, RESOURCES)
    assert document is not None
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    operations = document["paths"][f"{root}{scope}/{resource.plural}"]
    gvk = next(iter(operations.values()))["x-kubernetes-group-version-kind"]
    components = document["components"]["schemas"].values()
    assert any(gvk in c.get("x-kubernetes-group-version-kind", ()) for c in components)


def test_containers_say_how_they_merge() -> None:
    containers = schemas("v1")["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-strategy"] == "merge"
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-list-type"] == "map"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]


def test_volumes_merge_and_retain_keys() -> None:
    volumes = schemas("v1")["io.k8s.api.core.v1.PodSpec"]["properties"]["volumes"]
    assert volumes["x-kubernetes-patch-strategy"] == "merge,retainKeys"


def test_a_described_reference_is_wrapped() -> None:
    pod = schemas("v1")["io.k8s.api.core.v1.Pod"]["properties"]["spec"]
    assert pod["allOf"] == [{"$ref": "#/components/schemas/io.k8s.api.core.v1.PodSpec"}]


def test_a_custom_kind_is_described_by_its_own_schema() -> None:
    document = v3_document("example.com/v1", [FOO])
    assert document is not None
    foo = document["components"]["schemas"]["com.example.v1.Foo"]
    assert foo["properties"]["spec"]["properties"]["n"] == {"type": "integer", "nullable": True}
    assert "metadata" in foo["properties"]


def test_the_index_lists_every_version_and_changes_with_the_schema() -> None:
    index = v3_index([*RESOURCES, FOO])["paths"]
    assert "api/v1" in index
    assert "apis/batch/v1" in index
    mark = index["apis/example.com/v1"]["serverRelativeURL"]
    assert re.fullmatch(r"/openapi/v3/apis/example\.com/v1\?hash=[0-9A-F]{32}", mark)
    changed = ResourceInfo(
        group="example.com", version="v1", kind="Foo", plural="foos", custom=True, schema={"type": "object"}
    )
    assert v3_index([changed])["paths"]["apis/example.com/v1"]["serverRelativeURL"] != mark


def test_a_version_that_is_not_served_has_no_document() -> None:
    assert v3_document("example.com/v9", RESOURCES) is None
