"""Bodies as Go clients send them by default: Kubernetes' protobuf, for every kind that is built in."""

import json
import os
import subprocess
from collections.abc import AsyncIterator
from typing import Any

import pytest

from reprieve.objects import SchemaNode, schemas, well_known
from reprieve.server.http import protobuf
from reprieve.server.resources import builtin_resources
from tests.server import protobuf_writer as writer
from tests.server.widgets import definition
from tests.server.wire import PODS, Answer, Wire, connected, pod

SOURCE = os.environ.get("REPRIEVE_KUBERNETES_SOURCE", "")
KINDS = sorted(
    {
        (r.group, r.version, r.kind)
        for r in builtin_resources()
        if r.group != well_known.KUEUE_API and "create" in r.verbs
    }
    | {
        ("policy", "v1", "Eviction"),
        ("autoscaling", "v1", "Scale"),
        ("authentication.k8s.io", "v1", "TokenRequest"),
    }
)
ACCEPT = "application/vnd.kubernetes.protobuf,application/json"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


async def send(wire: Wire, method: str, path: str, document: dict[str, Any]) -> Answer:
    headers = {"Content-Type": writer.MEDIA_TYPE, "Accept": ACCEPT}
    return await wire(method, path, writer.encode(document), headers)


def full(node: SchemaNode, name: str = "", above: tuple[str, ...] = ()) -> Any:
    """A value with every field that protobuf has a number for; a type within itself is left out."""
    if node.shape == "list":
        return [full(node.item_schema, name, above), full(node.item_schema, name, above)]
    if node.shape == "map":
        return {"one": full(node.item_schema, name, above), "two": full(node.item_schema, name, above)}
    if node.shape == "any":
        return {"type": "string"} if name in protobuf._UNIONS else {"a": [1, "b"]}
    if node.shape == "object":
        inside = (*above, node.type_name)
        return {
            key: full(child, key, inside)
            for key, child in node.fields.items()
            if child.number and not _leads_back(child, inside) and key != "dependencies"
        }
    samples = {
        "integer": len(name) + 1,
        "number": 1.5,
        "boolean": True,
        "time": "2026-01-02T03:04:05Z",
        "microtime": "2026-01-02T03:04:05.000006Z",
        "quantity": "1500m",
        "bytes": "AAEC",
        "intOrString": "25%",
    }
    return samples.get(node.scalar, f"value of {name}")


def _leads_back(node: SchemaNode, above: tuple[str, ...]) -> bool:
    while node.shape in ("list", "map"):
        node = node.item_schema
    return node.type_name in above and bool(node.type_name)


@pytest.mark.parametrize(("group", "version", "kind"), KINDS)
def test_every_served_kind_is_read_whole(group: str, version: str, kind: str) -> None:
    node = schemas.builtin_schema(group, version, kind)
    assert node is not None
    api_version = f"{group}/{version}" if group else version
    document = {**full(node), "apiVersion": api_version, "kind": kind}
    assert protobuf.decode(writer.encode(document)) == document


@pytest.mark.parametrize(("group", "version", "kind"), KINDS)
def test_no_field_of_a_served_kind_lacks_its_number(group: str, version: str, kind: str) -> None:
    """But for `apiVersion` and `kind`, which the envelope has, and older spellings that Go does not know."""
    known = {"apiVersion", "kind", "preemptionMode", "preemptionPriorityClassName"}
    node = schemas.builtin_schema(group, version, kind)
    assert node is not None
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        node = waiting.pop()
        while node.shape in ("list", "map"):
            node = node.item_schema
        if node.shape != "object" or node.type_name in seen:
            continue
        seen.add(node.type_name)
        missing = {name for name, child in node.fields.items() if not child.number} - known
        assert not missing, f"{node.type_name} has no numbers for {missing}"
        waiting += node.fields.values()


@pytest.mark.parametrize(("group", "version", "kind"), KINDS)
def test_the_samples_of_kubernetes_itself_are_read_as_their_json_says(
    group: str, version: str, kind: str
) -> None:
    """With a checkout of Kubernetes: its own fully populated samples, in both encodings."""
    if not SOURCE:
        pytest.skip("REPRIEVE_KUBERNETES_SOURCE names no clone of Kubernetes to compare with")
    if kind == "CustomResourceDefinition":
        pytest.skip("Kubernetes has no sample of a CustomResourceDefinition")
    base = f"HEAD:staging/src/k8s.io/api/testdata/HEAD/{group or 'core'}.{version}.{kind}"
    encoded, text = (
        subprocess.run(["git", "-C", SOURCE, "show", base + end], capture_output=True, check=True).stdout
        for end in (".pb", ".json")
    )
    assert _without_nulls(protobuf.decode(encoded)) == _without_nulls(json.loads(text))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


async def test_what_nobody_set_is_not_there_and_a_zero_that_was_set_is(wire: Wire) -> None:
    meta = {"name": "b", "namespace": "default"}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"a": "b"}}},
    }
    made = await send(wire, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)
    assert (made.status, made.body["spec"]) == (201, budget["spec"])
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta,
        "spec": {
            "storageClassName": "",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    decoded = protobuf.decode(writer.encode(claim))
    assert decoded["spec"] == claim["spec"]
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta}
    spec = {"holderIdentity": "", "leaseTransitions": 0, "renewTime": "0001-01-01T00:00:05.000000Z"}
    assert protobuf.decode(writer.encode({**lease, "spec": spec}))["spec"] == spec


async def test_a_pod_lives_its_whole_life_in_protobuf(wire: Wire) -> None:
    document = pod("p") | {"metadata": {"name": "p", "namespace": "default"}}
    made = await send(wire, "POST", PODS, document)
    assert made.status == 201
    assert made.headers["Content-Type"].startswith("application/json")
    assert made.body["spec"]["containers"][0]["image"] == document["spec"]["containers"][0]["image"]
    made.body["metadata"]["labels"] = {"a": "b"}
    assert (await send(wire, "PUT", f"{PODS}/p", made.body)).body["metadata"]["labels"] == {"a": "b"}
    target = {"kind": "Node", "name": "n"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": target}
    assert (await send(wire, "POST", f"{PODS}/p/binding", binding)).status == 201
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
    assert (await send(wire, "DELETE", f"{PODS}/p", options)).status == 200
    assert (await wire.get(f"{PODS}/p")).status == 404


async def test_a_definition_comes_in_protobuf_and_its_objects_do_not(wire: Wire) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "minimum": 0, "maximum": 2.5, "default": 0},
                    "names": {"type": "array", "items": {"type": "string"}},
                    "free": {"type": "object", "additionalProperties": {"type": "string"}},
                    "mode": {"type": "string", "enum": ["a", "b"]},
                },
            }
        },
    }
    document = definition()
    document["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    made = await send(wire, "POST", path, document)
    assert made.status == 201
    assert made.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == schema
    group, version = document["spec"]["group"], document["spec"]["versions"][0]["name"]
    plural, kind = document["spec"]["names"]["plural"], document["spec"]["names"]["kind"]
    body = writer.envelope(f"{group}/{version}", kind, b"")
    refused = await wire(
        "POST",
        f"/apis/{group}/{version}/namespaces/default/{plural}",
        body,
        {"Content-Type": writer.MEDIA_TYPE},
    )
    assert (refused.status, refused.reason) == (415, "UnsupportedMediaType")
    assert "application/json" in refused.message
