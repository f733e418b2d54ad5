"""Structural schemas (as CustomResourceDefinitions demand them) from the one description of each kind.

What a real API server insists on: every value has a type or is explicitly open, nothing is referenced, list keys are required,
`metadata` is left to the server. Types that contain themselves and whole pod templates are left open below that point.
"""

from typing import Any

from reprieve.server import Node

Schema = dict[str, Any]

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


def root_schema(node: Node) -> Schema:
    """The schema of a whole object."""
    schema = _schema(node, ())
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


def _schema(node: Node, above: tuple[str, ...]) -> Schema:
    schema = dict(_shape(node, above))
    text = node.description or node.about
    if text:
        schema["description"] = text
    return schema


def _shape(node: Node, above: tuple[str, ...]) -> Schema:
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


def _object(node: Node, above: tuple[str, ...]) -> Schema:
    schema: Schema = {"type": "object"}
    if node.fields:
        schema["properties"] = {name: _schema(child, above) for name, child in node.fields.items()}
    if required := [name for name, child in node.fields.items() if child.required]:
        schema["required"] = required
    if node.atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _list(node: Node, above: tuple[str, ...]) -> Schema:
    assert node.item is not None
    items = _schema(node.item, above)
    schema: Schema = {"type": "array", "items": items}
    if node.list_type == "map" and "properties" in items:
        items["required"] = sorted({*items.get("required", ()), *node.keys})
        schema |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(node.keys)}
    elif node.list_type == "set":
        schema["x-kubernetes-list-type"] = "set"
    return schema
