"""`SchemaNode` trees and custom schemas as OpenAPI writes them: components that reference each other."""

from reprieve.objects import Document, SchemaNode, schemas
from reprieve.server.registry import ResourceInfo

REFERENCE = "#/components/schemas/"

_SCALARS: dict[str, Document] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "quantity": {"type": "string"},
    "bytes": {"type": "string", "format": "byte"},
    "intOrString": {"type": "string", "format": "int-or-string"},
}

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_TYPE_META: Document = {
    "apiVersion": {
        "type": "string",
        "description": "APIVersion defines by which group and version the object is to be read.",
    },
    "kind": {"type": "string", "description": "Kind is what the object is."},
}


class Components:
    """Collects the schemas of the kinds that were added and of everything they mention."""

    def __init__(self) -> None:
        self.schemas: Document = {}

    def add_kind(self, resource: ResourceInfo) -> str:
        """The component's name of a resource's kind."""
        gvk = {"group": resource.group, "kind": resource.kind, "version": resource.version}
        node = schemas.builtin_schema(resource.group, resource.version, resource.kind)
        if resource.custom or node is None:
            return self._add_custom(resource, gvk)
        self._add_type(node)
        kinds = self.schemas[node.type_name].setdefault("x-kubernetes-group-version-kind", [])
        if gvk not in kinds:
            kinds.append(gvk)
        return node.type_name

    def _add_custom(self, resource: ResourceInfo, gvk: Document) -> str:
        domain = ".".join(reversed(resource.group.split("."))) if resource.group else "core"
        name = f"{domain}.{resource.version}.{resource.kind}"
        metadata = schemas.metadata()
        schema = dict(resource.schema or {"type": "object"})
        schema["properties"] = {
            **(schema.get("properties") or {}),
            **_TYPE_META,
            "metadata": self._value(metadata),
        }
        self.schemas[name] = schema | {"x-kubernetes-group-version-kind": [gvk]}
        return name

    def _add_type(self, node: SchemaNode) -> None:
        if node.type_name in self.schemas:
            return
        schema: Document = {"type": "object"}
        self.schemas[node.type_name] = schema
        if node.about:
            schema["description"] = node.about
        required = [name for name, child in node.fields.items() if child.required]
        if required:
            schema["required"] = required
        if node.fields:
            schema["properties"] = {name: self._value(child) for name, child in node.fields.items()}
        if node.atomic:
            schema["x-kubernetes-map-type"] = "atomic"

    def _value(self, node: SchemaNode) -> Document:
        schema = self._shape(node)
        if node.description:
            if "$ref" in schema:
                schema = {"allOf": [schema]}  # nothing may stand beside a reference
            schema["description"] = node.description
        schema.update(_extensions(node))
        return schema

    def _shape(self, node: SchemaNode) -> Document:
        if node.type_name:
            self._add_type(node)
            return {"$ref": REFERENCE + node.type_name}
        if node.shape == "scalar":
            return _scalar(node)
        if node.shape == "list" and node.item is not None:
            return {"type": "array", "items": self._value(node.item)}
        if node.shape == "map" and node.item is not None:
            return {"type": "object", "additionalProperties": self._value(node.item)}
        return {"type": "object"} if node.shape == "object" else {_PRESERVE: True}


def _scalar(node: SchemaNode) -> Document:
    schema = dict(_SCALARS.get(node.scalar, _SCALARS["string"]))
    if node.bits:
        schema["format"] = f"int{node.bits}"
    if node.allowed:
        schema["enum"] = list(node.allowed)
    return schema


def _extensions(node: SchemaNode) -> Document:
    """List types for server-side apply, patch strategies for strategic merge patch."""
    extensions: Document = {}
    if node.shape == "list":
        extensions["x-kubernetes-list-type"] = node.list_type or "atomic"
        if node.keys:
            extensions["x-kubernetes-list-map-keys"] = list(node.keys)
    elif node.atomic and not node.type_name:
        extensions["x-kubernetes-map-type"] = "atomic"
    strategies = [
        name
        for name, holds in (
            ("merge", node.merges),
            ("retainKeys", node.retain_keys),
            ("replace", node.replaces),
        )
        if holds
    ]
    if strategies:
        extensions["x-kubernetes-patch-strategy"] = ",".join(strategies)
    if node.merge_key:
        extensions["x-kubernetes-patch-merge-key"] = node.merge_key
    return extensions
