"""CustomResourceDefinitions for clusters that do not serve the kinds themselves.

Their structural schemas come from the one description of each kind. A real API server insists that every
value has a type or is explicitly open, nothing is referenced, list keys are required, and `metadata` is
left to the server. Types that contain themselves and whole pod templates are left open below that point.
"""

from collections.abc import Iterable
from typing import Any

from reprieve.objects import STAND_IN_GROUP, TABLE, Kind, SchemaNode, schemas, well_known

SCHEDULING, KUEUE = well_known.SCHEDULING_API, well_known.KUEUE_API
DEFINED = {SCHEDULING: ("PodGroup", "Workload")}
"""Of a group that an API server may have in part: the kinds that can be added."""
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
    rows = [
        row
        for row in TABLE.values()
        if row.group in wanted and row.kind in DEFINED.get(row.group, (row.kind,))
    ]
    return sorted(map(_definition, rows), key=lambda each: str(each["metadata"]["name"]))


def _definition(row: Kind) -> dict[str, Any]:
    group = DEFINED_IN.get(row.group, row.group)
    names: dict[str, Any] = {
        "kind": row.kind,
        "listKind": f"{row.kind}List",
        "plural": row.plural,
        "singular": row.kind.lower(),
    }
    if row.short_names:
        names["shortNames"] = list(row.short_names)
    if row.group == KUEUE:
        names["categories"] = ["kueue"]
    # An older spelling of a group is read where it is written; a definition has the newest one.
    versions = row.versions if row.group == KUEUE else row.versions[:1]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{row.plural}.{group}", "labels": {"app.kubernetes.io/part-of": "reprieve"}},
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced" if row.namespaced else "Cluster",
            "versions": [_version(row, each) for each in versions],
        },
    }


def _version(row: Kind, name: str) -> dict[str, Any]:
    node = schemas.builtin_schema(row.group, name, row.kind)
    assert node is not None, f"{row.kind} is not described"
    version: dict[str, Any] = {
        "name": name,
        "served": True,
        "storage": name == row.versions[0],
        "schema": {"openAPIV3Schema": _root_schema(node)},
        "additionalPrinterColumns": [*_COLUMNS.get(row.kind, ()), _AGE],
    }
    if row.has_status:
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
