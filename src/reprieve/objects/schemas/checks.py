"""Documents against schemas: which fields are unknown, which values have the wrong type."""

import re
from typing import Any

from reprieve.objects.meta import Document
from reprieve.objects.schemas.tree import SchemaNode


def unknown_fields(document: Document, schema: SchemaNode) -> list[str]:
    """Paths of the fields that the schema does not have, as strict decoding names them: `spec.a[0].foo`."""
    found: list[str] = []
    _unknown(document, schema, "", found)
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


def drop_unknown(value: Any, schema: SchemaNode) -> None:
    """Take out of the document, in place, the fields that the schema does not have."""
    if schema.shape in ("list", "map") and isinstance(value, list | dict) and schema.item is not None:
        if schema.item.shape != "scalar":
            for item in value.values() if isinstance(value, dict) else value:
                drop_unknown(item, schema.item)
    elif schema.shape == "object" and isinstance(value, dict):
        for name in [n for n in value if n not in schema.fields and not schema.open and n[:1] != "$"]:
            del value[name]
        for name, child in schema.fields.items():
            if child.shape != "scalar" and name in value:
                drop_unknown(value[name], child)


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


_MOMENT = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d%s([Zz]|[+-]\d\d:\d\d)"
_SPELLED = {
    "time": re.compile(_MOMENT % r"(\.\d+)?", re.ASCII),
    "microtime": re.compile(_MOMENT % r"\.\d{6}", re.ASCII),
}
_SPELLINGS = {
    "time": "time such as 2026-08-23T10:00:00Z",
    "microtime": "time with six digits such as 2026-08-23T10:00:00.000000Z",
}


def wrong_types(document: Document, schema: SchemaNode) -> list[tuple[str, Any, str]]:
    """(path, value, expected type) for every value that does not fit its field. Null fits everywhere."""
    found: list[tuple[str, Any, str]] = []
    _mistyped(document, schema, "", found)
    return found


def _mistyped(value: Any, schema: SchemaNode, path: str, found: list[tuple[str, Any, str]]) -> None:
    if value is None or schema.shape == "any":
        return
    if schema.shape == "scalar":
        accepted = _ACCEPTED.get(schema.scalar, (object,))
        # A bool is an int to Python but not to Kubernetes.
        if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
            found.append((path, value, schema.scalar))
        elif schema.scalar in _SPELLED and not _SPELLED[schema.scalar].fullmatch(str(value)):
            found.append((path, value, _SPELLINGS[schema.scalar]))
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
