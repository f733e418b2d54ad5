"""Documents against schemas: which fields are unknown (`fieldValidation`), which values have the wrong type.

Works for built-in kinds and, through the same `SchemaNode` tree, for custom ones.
"""

from functools import lru_cache
from typing import Any

from reprieve.objects import Document
from reprieve.server import schemas
from reprieve.server.errors import bad_request, invalid, not_supported
from reprieve.server.metadata import unknown_metadata
from reprieve.server.registry import ResourceInfo
from reprieve.server.schemas import ANYTHING, SchemaNode
from reprieve.server.storage.records import encode

_REMEMBERED = 2048
_LARGEST_REMEMBERED = 8192
_CHOICES = ("Ignore", "Warn", "Strict")


def schema_of(resource: ResourceInfo) -> SchemaNode:
    """The tree that describes a resource; one that allows everything when there is none."""
    if resource.schema is not None:
        return _custom(resource)
    return schemas.builtin_schema(resource.group, resource.version, resource.kind) or ANYTHING


def schema_of_kind(doc: dict[str, Any]) -> SchemaNode:
    """By a document's own `apiVersion` and `kind`; nothing is known of custom kinds this way."""
    group, _, version = str(doc.get("apiVersion", "")).rpartition("/")
    return schemas.builtin_schema(group, version, str(doc.get("kind", ""))) or ANYTHING


@lru_cache(maxsize=512)
def _custom(resource: ResourceInfo) -> SchemaNode:
    root = SchemaNode.from_openapi(resource.schema or {})
    if root.shape == "object":
        standard = {
            "apiVersion": SchemaNode("scalar", scalar="string"),
            "kind": SchemaNode("scalar", scalar="string"),
        }
        root.fields.update(standard | {"metadata": schemas.metadata()})
    return root


def validate_fields(resource: ResourceInfo, document: Document, mode: str) -> list[str]:
    """Warnings, one for each unknown field (at most ten); in strict mode a refusal instead."""
    mode = mode or "Warn"
    if mode not in _CHOICES:
        cause = not_supported("fieldValidation", mode, _CHOICES)
        raise invalid("meta.k8s.io", "CreateOptions", "", [cause])
    if mode == "Ignore":
        return []
    found = (
        resource.unknown(document)
        if resource.unknown is not None
        else _unknown_remembered(resource, document)
    )
    found = list(dict.fromkeys([*found, *unknown_metadata(document)]))
    problems = [f'unknown field "{path}"' for path in found]
    if problems and mode == "Strict":
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {', '.join(problems)}"
        )
    return problems[:10]


def _unknown_remembered(resource: ResourceInfo, document: Document) -> list[str]:
    """Bulk creation repeats its specs: one without unknown fields is not checked again."""
    spec = document.get("spec")
    if not isinstance(spec, dict):
        return unknown_fields(resource, document)
    key = (resource.api_version, resource.kind, encode(spec))
    if key not in _known_specs:
        found = unknown_fields(resource, {"spec": spec})
        if found:
            return unknown_fields(resource, document)
        if len(key[2]) <= _LARGEST_REMEMBERED:
            if len(_known_specs) >= _REMEMBERED:
                del _known_specs[next(iter(_known_specs))]
            _known_specs[key] = None
    return unknown_fields(resource, {k: v for k, v in document.items() if k != "spec"})


_known_specs: dict[tuple[str, str, bytes], None] = {}


def unknown_fields(resource: ResourceInfo, doc: dict[str, Any]) -> list[str]:
    """Paths of the fields that the schema does not have, as strict decoding names them: `spec.a[0].foo`."""
    found: list[str] = []
    _unknown(doc, schema_of(resource), "", found)
    return found


def _unknown(value: Any, schema: SchemaNode, path: str, found: list[str]) -> None:
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
    """(path, value, expected type) for every value that does not fit its field. Null fits everywhere."""
    found: list[tuple[str, Any, str]] = []
    _mistyped(doc, schema_of(resource), "", found)
    return found


def _mistyped(value: Any, schema: SchemaNode, path: str, found: list[tuple[str, Any, str]]) -> None:
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
