"""Our schemas and resources against what a real API server says of itself.

Every difference is either a defect or one of the few that are written down here with their reason.
"""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from reprieve.objects import SchemaNode, schemas, well_known
from reprieve.objects.schemas.files import files, load
from reprieve.server import builtin_resources
from reprieve.server.registry import SUBRESOURCES

FACTS = Path(__file__).parent / "facts" / "kubernetes-1.38.json.gz"
DATA = Path(schemas.__file__).parent

OURS: dict[tuple[str, str], str] = {
    ("io.k8s.api.scheduling.v1beta1.PodGroupSpec", "preemptionMode"): "KEP-5710's first draft",
    ("io.k8s.api.scheduling.v1beta1.PodGroupSpec", "preemptionPriorityClassName"): "KEP-5710's first draft",
    ("io.k8s.api.scheduling.v1beta1.PodGroupTemplate", "preemptionPriorityClassName"): "as above",
}
"""Fields that we have and Kubernetes does not, and why."""

OPEN = {
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    *(
        f"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON{rest}"
        for rest in ("", "SchemaPropsOrArray", "SchemaPropsOrBool", "SchemaPropsOrStringArray")
    ),
}
"""Whatever JSON it is; OpenAPI has no word for that."""
SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "microtime",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intOrString",
}


@cache
def facts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(FACTS.read_bytes()))
    return found


@cache
def definitions() -> dict[str, Any]:
    found: dict[str, Any] = facts()["definitions"]
    return found


def kinds() -> Iterator[tuple[str, str, str]]:
    for definition in definitions().values():
        for each in definition.get("x-kubernetes-group-version-kind", ()):
            yield each["group"], each["version"], each["kind"]


def stated_type(fact: dict[str, Any]) -> str:
    """The type as our files spell it, with full names."""
    if "$ref" in fact:
        name = fact["$ref"].rpartition("/")[2]
        if name in OPEN:
            return "any"
        if name in SCALARS:
            return SCALARS[name]
        return name if definitions()[name].get("properties") else "{}"
    if fact["type"] == "array":
        return f"[{stated_type(fact['items'])}]"
    if fact["type"] == "object":
        return f"{{{stated_type(fact['additionalProperties'])}}}"
    if fact["type"] == "integer":
        return str(fact["format"])
    return "bytes" if fact.get("format") == "byte" else str(fact["type"])


def our_type(node: SchemaNode) -> str:
    if node.type_name:
        return node.type_name
    if node.shape == "list":
        return f"[{our_type(node.item_schema)}]"
    if node.shape == "map":
        return f"{{{our_type(node.item_schema)}}}"
    if node.shape == "object":
        return "{}"
    return f"int{node.bits}" if node.bits else node.scalar or "any"


def stated(fact: dict[str, Any], required: bool) -> dict[str, Any]:
    inner = fact.get("items") or fact.get("additionalProperties") or {}
    strategies = fact.get("x-kubernetes-patch-strategy", "").split(",")
    list_type = fact.get("x-kubernetes-list-type", "")
    return {
        "type": stated_type(fact),
        "required": required,
        "values": sorted(value for value in fact.get("enum", inner.get("enum", ())) if value),
        "list": "" if list_type == "atomic" else list_type,
        "keys": fact.get("x-kubernetes-list-map-keys", []),
        "atomic": _atomic(fact),
        "merges": "merge" in strategies,
        "retainKeys": "retainKeys" in strategies,
        "replaces": "replace" in strategies,
        "mergeKey": fact.get("x-kubernetes-patch-merge-key", ""),
    }


def _atomic(fact: dict[str, Any]) -> bool:
    named = definitions().get(fact.get("$ref", "").rpartition("/")[2], {})
    own = fact.get("x-kubernetes-map-type", named.get("x-kubernetes-map-type", ""))
    return bool(own == "atomic")


def ours(node: SchemaNode) -> dict[str, Any]:
    return {
        "type": our_type(node),
        "required": node.required,
        "values": sorted((node.item or node).allowed),
        "list": node.list_type,
        "keys": list(node.keys),
        "atomic": node.atomic,
        "merges": node.merges,
        "retainKeys": node.retain_keys,
        "replaces": node.replaces,
        "mergeKey": node.merge_key,
    }


def named_types(node: SchemaNode, seen: dict[str, SchemaNode]) -> dict[str, SchemaNode]:
    """Every named type that a kind is made of."""
    if node.type_name and node.type_name not in seen:
        seen[node.type_name] = node
        for child in node.fields.values():
            named_types(child, seen)
    elif node.item is not None:
        named_types(node.item, seen)
    return seen


@cache
def all_types() -> dict[str, SchemaNode]:
    found: dict[str, SchemaNode] = {}
    for (group, kind), versions in schemas.known_kinds().items():
        for version in versions if group != well_known.KUEUE_API else ():
            root = schemas.builtin_schema(group, version, kind)
            assert root is not None
            named_types(root, found)
    return found


def test_every_kind_of_kubernetes_is_described() -> None:
    described = {(g, v, k) for (g, k), versions in schemas.known_kinds().items() for v in versions}
    internal = {("", "v1", kind) for kind in ("APIGroup", "APIVersions", "APIResourceList", "Status")}
    assert {key for key in kinds() if not key[2].endswith("List")} - internal <= described
    assert {key for key in described if key[0] != well_known.KUEUE_API} <= {*kinds()}


def test_types_have_the_fields_of_the_real_ones() -> None:
    differences = {}
    for name, node in all_types().items():
        extra = {field for type_, field in OURS if type_ == name}
        if wrong := (set(node.fields) - extra) ^ set(definitions()[name].get("properties", ())):
            differences[name] = wrong
    assert differences == {}


def test_types_required_fields_values_list_types_and_merge_keys_equal_the_real_ones() -> None:
    differences = {}
    for name, node in all_types().items():
        definition = definitions()[name]
        for field, fact in definition.get("properties", {}).items():
            expected = stated(fact, field in definition.get("required", ()))
            if (found := ours(node.fields[field])) != expected:
                differences[name, field] = (found, expected)
    assert differences == {}


def test_kinds_live_in_namespaces_as_the_real_ones_do() -> None:
    for api_version, resources in facts()["resources"].items():
        group = api_version.rpartition("/")[0]
        for resource in resources.values():
            assert schemas.is_namespaced(group, resource["kind"]) is (resource["scope"] == "Namespaced")


@pytest.mark.parametrize("file", sorted(files()))
def test_the_quick_reader_reads_what_yaml_says(file: str) -> None:
    said = yaml.safe_load((DATA / f"{file}.yaml").read_text())
    assert load(file)["types"] == said["types"]
    assert list(load(file)["kinds"]) == said.get("kinds", [])
    assert list(load(file)["cluster"]) == said.get("cluster", [])
    assert load(file).get("group", "") == said.get("group", "")


NOT_SERVED: dict[tuple[str, str], str] = {
    ("nodes", "proxy"): "fake nodes have no kubelet to reach",
    ("services", "proxy"): "no pod listens behind a service",
    ("pods", "proxy"): "no container listens",
    ("pods", "attach"): "no container runs",
    ("pods", "exec"): "no container runs",
    ("pods", "log"): "no container writes a log",
    ("pods", "portforward"): "no container listens",
    ("pods", "ephemeralcontainers"): "no container runs that could be debugged",
}
"""Subresources that the embedded server does not have, and why."""


def test_served_resources_are_those_of_a_real_server() -> None:
    """Kinds, scopes, names, short names, categories and verbs, of resources and subresources."""
    differences: dict[tuple[str, str], Any] = {}
    for each in builtin_resources():
        if each.group == well_known.KUEUE_API:
            continue
        api_version = f"{each.group}/{each.version}" if each.group else each.version
        real = facts()["resources"].get(api_version, {}).get(each.plural)
        if real is None:
            differences[api_version, each.plural] = ("served", "not real")
            continue
        missing = {name for name in real["subresources"] if (each.plural, name) in NOT_SERVED}
        expected = {
            **real,
            "categories": sorted(real["categories"]),
            "subresources": {n: v for n, v in real["subresources"].items() if n not in missing},
        }
        found = {
            "kind": each.kind,
            "scope": "Namespaced" if each.namespaced else "Cluster",
            "singular": each.singular,
            "shortNames": list(each.short_names),
            "categories": sorted(each.categories),
            "verbs": sorted(each.verbs),
            "subresources": {n: sorted(SUBRESOURCES[n].verbs) for n in each.subresources if n not in missing},
        }
        if found != expected:
            differences[api_version, each.plural] = (found, expected)
    assert differences == {}
