"""Documents against schemas: which fields nobody knows, which values have the wrong type.

Works for built-in kinds (`reprieve.server.schemas`) and, through the same `Node` tree, for custom ones.
"""

from functools import lru_cache
from typing import Any

from reprieve.server import schemas
from reprieve.server.registry import ResourceInfo
from reprieve.server.schemas import Node

_ANYTHING = Node("any")


def schema_of(resource: ResourceInfo) -> Node:
    """The tree that describes a resource; one that allows everything when there is none."""
    if resource.schema is not None:
        return _custom(resource)
    return schemas.builtin_schema(resource.group, resource.version, resource.kind) or _ANYTHING


def schema_of_kind(doc: dict[str, Any]) -> Node:
    """By what a document says it is; for custom kinds nothing is known this way."""
    group, _, version = str(doc.get("apiVersion", "")).rpartition("/")
    return schemas.builtin_schema(group, version, str(doc.get("kind", ""))) or _ANYTHING


@lru_cache(maxsize=512)
def _custom(resource: ResourceInfo) -> Node:
    root = Node.from_openapi(resource.schema or {})
    if root.shape == "object":
        standard = {"apiVersion": Node("scalar", scalar="string"), "kind": Node("scalar", scalar="string")}
        root.fields.update(standard | {"metadata": schemas.metadata()})
    return root


def unknown_fields(resource: ResourceInfo, doc: dict[str, Any]) -> list[str]:
    """Paths of the fields that the schema does not have, as strict decoding names them: `spec.containers[0].foo`."""
    found: list[str] = []
    _unknown(doc, schema_of(resource), "", found)
    return found


def _unknown(value: Any, schema: Node, path: str, found: list[str]) -> None:
    if schema.shape == "list" and isinstance(value, list) and schema.item is not None:
        for index, item in enumerate(value):
            _unknown(item, schema.item, f"{path}[{index}]", found)
    elif schema.shape == "map" and isinstance(value, dict) and schema.item is not None:
        if schema.item.shape != "scalar":
            for name, item in value.items():
                _unknown(item, schema.item, f"{path}.{name}", found)
    elif schema.shape == "object" and isinstance(value, dict):
        fields = schema.fields
        for name, item in value.items():
            child = fields.get(name)
            where = f"{path}.{name}" if path else name
            if child is not None:
                if child.shape != "scalar":
                    _unknown(item, child, where, found)
            elif not schema.open and name[:1] != "$":  # directives of a strategic merge patch are no fields
                found.append(where)


_ACCEPTED: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "time": (str,),
    "microtime": (str,),
    "bytes": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "quantity": (str, int, float),
    "intOrString": (int, str),
}


def wrong_types(resource: ResourceInfo, doc: dict[str, Any]) -> list[tuple[str, Any, str]]:
    """(path, value, expected type) for every value that cannot be decoded into its field. Null fits everywhere."""
    found: list[tuple[str, Any, str]] = []
    _mistyped(doc, schema_of(resource), "", found)
    return found


def _mistyped(value: Any, schema: Node, path: str, found: list[tuple[str, Any, str]]) -> None:
    if value is None or schema.shape == "any":
        return
    if schema.shape == "scalar":
        accepted = _ACCEPTED.get(schema.scalar, (object,))
        # A bool is an int to Python but not to Kubernetes.
        if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
            found.append((path, value, schema.scalar))
    elif schema.shape == "list":
        if not isinstance(value, list):
            found.append((path, value, "array"))
        elif schema.item is not None:
            for index, item in enumerate(value):
                _mistyped(item, schema.item, f"{path}[{index}]", found)
    elif not isinstance(value, dict):
        found.append((path, value, "object"))
    else:
        for name, item in value.items():
            child = schema.item if schema.shape == "map" else schema.fields.get(name)
            if child is not None:
                _mistyped(item, child, f"{path}.{name}" if path else name, found)
