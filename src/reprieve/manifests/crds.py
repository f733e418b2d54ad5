"""CustomResourceDefinitions for clusters that do not serve the kinds themselves.

Their structural schemas come from the one description of each kind. A real API server insists that every
value has a type or is explicitly open, nothing is referenced, list keys are required, and `metadata` is
left to the server. Types that contain themselves and whole pod templates are left open below that point.
"""

from collections.abc import Iterable
from typing import Any

from reprieve.objects import STAND_IN_GROUP, SchemaNode, schemas, well_known
from reprieve.server import ResourceInfo, builtin_resources

SCHEDULING, KUEUE = well_known.SCHEDULING_API, well_known.KUEUE_API
KINDS = {SCHEDULING: ("PodGroup", "Workload")}
DEFINED_IN = {SCHEDULING: STAND_IN_GROUP}
"""Groups that the API server keeps for itself: their kinds are defined elsewhere."""

_COLUMNS = {
    "PodGroup": [
        {"name": "MinCount", "type": "integer", "jsonPath": ".spec.schedulingPolicy.gang.minCount"},
        {"name": "Priority", "type": "integer", "jsonPath": ".spec.priority"},
        {
            "name": "Scheduled",
            "type": "string",
            "jsonPath": '.status.conditions[?(@.type=="PodGroupInitiallyScheduled")].status',
        },
    ],
}
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def crds(groups: Iterable[str] = (SCHEDULING, KUEUE)) -> list[dict[str, Any]]:
    """The definitions of these groups, newest version stored; sorted by name."""
    wanted = set(groups)
    found: dict[str, list[ResourceInfo]] = {}
    for resource in builtin_resources():
        if resource.group in wanted and resource.kind in KINDS.get(resource.group, (resource.kind,)):
            group = DEFINED_IN.get(resource.group, resource.group)
            found.setdefault(f"{resource.plural}.{group}", []).append(resource)
    return [_definition(name, found[name]) for name in sorted(found)]


def _definition(name: str, versions: list[ResourceInfo]) -> dict[str, Any]:
    first = versions[0]
    names: dict[str, Any] = {
        "kind": first.kind,
        "listKind": f"{first.kind}List",
        "plural": first.plural,
        "singular": first.kind.lower(),
    }
    if first.short_names:
        names["shortNames"] = list(first.short_names)
    if first.categories:
        names["categories"] = list(first.categories)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "reprieve"}},
        "spec": {
            "group": DEFINED_IN.get(first.group, first.group),
            "names": names,
            "scope": "Namespaced" if first.namespaced else "Cluster",
            "versions": [_version(each, storage=each is first) for each in versions],
        },
    }


def _version(resource: ResourceInfo, *, storage: bool) -> dict[str, Any]:
    node = schemas.builtin_schema(resource.group, resource.version, resource.kind)
    assert node is not None, f"{resource.kind} is not described"
    version: dict[str, Any] = {
        "name": resource.version,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": _root_schema(node)},
        "additionalPrinterColumns": [*_COLUMNS.get(resource.kind, ()), _AGE],
    }
    if "status" in resource.subresources:
        version["subresources"] = {"status": {}}
    return version


Schema = dict[str, Any]

_RULES = {
    "KubeConfig": [
        {
            "rule": "!has(self.locationType) || self.locationType != 'Path' || "
            f"(self.location.startsWith('{well_known.KUBECONFIG_FOLDER}') && "
            "!self.location.contains('/../'))",
            "message": f"a path must lie under {well_known.KUBECONFIG_FOLDER}",
        }
    ]
}
"""Rules that the API server checks, by type."""

OPEN: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
ANY: Schema = {"x-kubernetes-preserve-unknown-fields": True}
_LEFT_OPEN = frozenset({"io.k8s.api.core.v1.PodTemplateSpec"})

_SCALARS: dict[str, Schema] = {
    "string": {"type": "string"},
    "integer": {"type": "integer", "format": "int64"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "bytes": {"type": "string", "format": "byte"},
    "quantity": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
    "intOrString": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
}


def _root_schema(node: SchemaNode) -> Schema:
    """The schema of a whole object."""
    schema = _schema(node, ())
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


def _schema(node: SchemaNode, above: tuple[str, ...]) -> Schema:
    schema = dict(_shape(node, above))
    text = node.description or node.about
    if text:
        schema["description"] = text
    return schema


def _shape(node: SchemaNode, above: tuple[str, ...]) -> Schema:
    if node.type_name and (node.type_name in above or node.type_name in _LEFT_OPEN):
        return OPEN
    match node.shape:
        case "scalar":
            return _SCALARS[node.scalar]
        case "list":
            return _list(node, above)
        case "map":
            assert node.item is not None
            return {"type": "object", "additionalProperties": _schema(node.item, above)}
        case "any":
            return ANY
    return _object(node, (*above, node.type_name) if node.type_name else above)


def _object(node: SchemaNode, above: tuple[str, ...]) -> Schema:
    schema: Schema = {"type": "object"}
    if node.fields:
        schema["properties"] = {name: _schema(child, above) for name, child in node.fields.items()}
    if required := [name for name, child in node.fields.items() if child.required]:
        schema["required"] = required
    if node.atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    if rules := _RULES.get(node.type_name.rpartition(".")[2]):
        schema["x-kubernetes-validations"] = rules
    return schema


def _list(node: SchemaNode, above: tuple[str, ...]) -> Schema:
    assert node.item is not None
    items = _schema(node.item, above)
    schema: Schema = {"type": "array", "items": items}
    if node.list_type == "map" and "properties" in items:
        items["required"] = sorted({*items.get("required", ()), *node.keys})
        schema |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(node.keys)}
    elif node.list_type == "set":
        schema["x-kubernetes-list-type"] = "set"
    return schema
