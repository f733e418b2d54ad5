"""Holds a document against a JSON Schema, as far as our schemas go, and demands that it names every field.

The schemas themselves allow fields that they do not name; a test that let those pass would not see a field
that somebody forgot to describe.
"""

from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list, tuple),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
}
KNOWN = {
    "$ref",
    "$defs",
    "$schema",
    "$id",
    "title",
    "description",
    "default",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "enum",
    "const",
    "format",
    "discriminator",
    "mapping",
    "propertyName",
}


def misfits(value: Any, schema: dict[str, Any], whole: dict[str, Any], path: str = "$") -> Iterator[str]:
    """Where the value is not what the schema says."""
    assert set(schema) <= KNOWN, f"this check does not know {set(schema) - KNOWN}"
    if "$ref" in schema:
        yield from misfits(value, whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, path)
        return
    if "anyOf" in schema:
        tries = [list(misfits(value, each, whole, path)) for each in schema["anyOf"]]
        if all(tries):
            yield from min(tries, key=len)
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if "type" in schema and not _is(value, schema["type"]):
        yield f"{path}: {value!r} is no {schema['type']}"
        return
    if isinstance(value, dict):
        yield from _fields(value, schema, whole, path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from misfits(item, schema.get("items", {}), whole, f"{path}[{number}]")


def _fields(value: dict[str, Any], schema: dict[str, Any], whole: dict[str, Any], path: str) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}: {name} is missing"
    named = schema.get("properties", {})
    others = schema.get("additionalProperties")
    for name, each in value.items():
        if name in named:
            yield from misfits(each, named[name], whole, f"{path}.{name}")
        elif isinstance(others, dict):
            yield from misfits(each, others, whole, f"{path}.{name}")
        elif named or others is False:
            yield f"{path}: the schema does not name {name}"


def _is(value: Any, kind: str | list[str]) -> bool:
    if isinstance(kind, list):
        return any(_is(value, each) for each in kind)
    if kind in ("integer", "number"):
        return type(value) is int or (kind == "number" and type(value) is float)
    return isinstance(value, TYPES[kind])
