"""Bodies in Kubernetes' protobuf encoding, as `kubectl create job` and Go clients send them, into documents.

The envelope is four magic bytes and a `runtime.Unknown` (type, raw object). Inside, fields are identified by
the numbers in the schemas (`@4`); unknown numbers are skipped, as protobuf requires. The encoding writes most
fields even when nobody set them: a zero stays only where JSON would show it too (required fields, and `@4?`).
Only decoding: answers are JSON, which every such client accepts too. Never raises anything but `ApiError`.
"""

import base64
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import msgspec

from reprieve.objects import Document, SchemaNode, format_time, schemas
from reprieve.server.errors import bad_request, unsupported_media_type

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
MAX_DEPTH = 64

_UNIONS = {
    # field of JSONSchemaProps: numbers of its alternatives (one schema, several, a boolean, names)
    "items": (1, 2, 0, 0),
    "additionalItems": (2, 0, 1, 0),
    "additionalProperties": (2, 0, 1, 0),
    "dependencies": (1, 0, 0, 2),
}
"""JSON writes one of several things in these places; protobuf has a message with a field for each."""


class _Malformed(ValueError):
    pass


def decode(body: bytes) -> Document:
    """The document in a protobuf body; 400 if it is malformed, 415 for a kind whose encoding is not known."""
    if not body.startswith(MAGIC):
        raise bad_request("the body does not start as Kubernetes protobuf does")
    try:
        envelope = _members(body[len(MAGIC) :])
        type_meta = _members(_bytes(envelope.get(1, [b""])[-1]))
        api_version, kind = _text(type_meta, 1), _text(type_meta, 2)
        schema = _schema(api_version, kind)
        document = _object(_bytes(envelope.get(2, [b""])[-1]), schema, 0)
    except (_Malformed, UnicodeDecodeError, OverflowError) as problem:
        raise bad_request(f"the protobuf body cannot be read: {problem}") from None
    return {"apiVersion": api_version, "kind": kind, **document}


def _text(members: dict[int, list[int | bytes]], number: int) -> str:
    return _bytes(members.get(number, [b""])[-1]).decode()


def _schema(api_version: str, kind: str) -> SchemaNode:
    group, _, version = api_version.rpartition("/")
    node = (
        schemas.message("meta", kind)
        if kind == "DeleteOptions"
        else schemas.builtin_schema(group, version, kind)
    )
    numbered = (name for name, child in node.fields.items() if child.number) if node is not None else ()
    if node is None or set(numbered) <= {"metadata"}:
        raise unsupported_media_type("application/json, application/yaml")
    return node


# -- the wire ------------------------------------------------------------------------------------------------


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data) and shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, position
    raise _Malformed("a number is cut off")


def _read(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == 0:
            number, position = _varint(data, position)
            yield tag >> 3, number
            continue
        if kind == 2:
            length, position = _varint(data, position)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise _Malformed(f"wire type {kind} is not in use")
        if position + length > len(data):
            raise _Malformed("a field is cut off")
        yield tag >> 3, data[position : position + length]
        position += length


def _members(data: bytes) -> dict[int, list[int | bytes]]:
    found: dict[int, list[int | bytes]] = {}
    for number, value in _read(data):
        found.setdefault(number, []).append(value)
    return found


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise _Malformed("a number where a message should be")
    return value


# -- by schema -----------------------------------------------------------------------------------------------


@cache
def _by_number(schema: SchemaNode) -> dict[int, Any]:
    """Field number to (name, node), or to another such table for an inlined message."""
    table: dict[int, Any] = {}
    for name, child in schema.fields.items():
        place = table
        for number in child.number[:-1]:
            place = place.setdefault(number, {})
        if child.number:
            place[child.number[-1]] = (name, child)
    return table


def _object(data: bytes, schema: SchemaNode, depth: int) -> Document:
    if depth > MAX_DEPTH:
        raise _Malformed("nested too deep")
    if schema.shape != "object":
        return {}
    document: Document = {}
    _fill(document, data, _by_number(schema), depth)
    return document


def _fill(document: Document, data: bytes, table: dict[int, Any], depth: int) -> None:
    for number, value in _read(data):
        entry = table.get(number)
        if entry is None:
            continue
        if isinstance(entry, dict):
            _fill(document, _bytes(value), entry, depth + 1)
            continue
        name, node = entry
        if node.shape == "any" and name in _UNIONS:
            _put_union(document, name, _bytes(value), depth + 1)
        elif node.shape == "list":
            document.setdefault(name, []).append(_value(value, node.item, depth + 1))
        elif node.shape == "map":
            key, item = _entry(_bytes(value), node.item, depth + 1)
            document.setdefault(name, {})[key] = item
        else:
            decoded = _value(value, node, depth + 1)
            if decoded or node.says_zero or node.required or node.shape != "scalar":
                document[name] = decoded


def _entry(data: bytes, node: SchemaNode, depth: int) -> tuple[str, Any]:
    members = _members(data)
    value = members.get(2, [b""])[-1]
    return _text(members, 1), _value(value, node, depth)


def _put_union(document: Document, name: str, data: bytes, depth: int) -> None:
    numbers = _UNIONS[name]
    if name != "dependencies":
        document[name] = _union(data, numbers, depth)
        return
    members = _members(data)
    value = _union(_bytes(members.get(2, [b""])[-1]), numbers, depth)
    document.setdefault(name, {})[_text(members, 1)] = value


def _union(data: bytes, numbers: tuple[int, int, int, int], depth: int) -> Any:
    one, several, boolean, names = numbers
    members = _members(data)
    schema = schemas.message("apiextensions", "JSONSchemaProps")
    if one in members:
        return _object(_bytes(members[one][-1]), schema, depth)
    if several in members:
        return [_object(_bytes(each), schema, depth) for each in members[several]]
    if names in members:
        return [_bytes(each).decode() for each in members[names]]
    return bool(_number(members, boolean)) if boolean else []


def _json(data: bytes) -> Any:
    """What protobuf does not describe travels as JSON in a message of its own."""
    raw = _bytes(_members(data).get(1, [b""])[-1])
    try:
        return msgspec.json.decode(raw) if raw else None
    except (msgspec.DecodeError, RecursionError):
        raise _Malformed("a field that holds JSON does not hold JSON") from None


def _value(value: int | bytes, node: SchemaNode, depth: int) -> Any:
    if node.shape == "object":
        return _object(_bytes(value), node, depth)
    if node.shape == "any":
        return _json(_bytes(value))
    if node.shape == "list":  # a list that is the value of a map is a message with one repeated field
        each = node.item_schema
        return [_value(item, each, depth) for item in _members(_bytes(value)).get(1, ())]
    if node.shape != "scalar":
        return None
    if node.scalar in ("integer", "boolean") and isinstance(value, int):
        return bool(value) if node.scalar == "boolean" else _signed(value)
    if node.scalar == "number":
        data = _bytes(value)
        return _plain_number(struct.unpack("<d", data)[0]) if len(data) == 8 else None
    if node.scalar == "string":
        return _bytes(value).decode()
    if node.scalar == "bytes":
        return base64.b64encode(_bytes(value)).decode()
    if node.scalar in ("time", "microtime"):
        return _time(_members(_bytes(value)), node.scalar == "microtime")
    if node.scalar == "quantity":
        return _text(_members(_bytes(value)), 1)
    if node.scalar == "intOrString":
        members = _members(_bytes(value))
        return _text(members, 3) if _number(members, 1) == 1 else _number(members, 2)
    return None


def _plain_number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _number(members: dict[int, list[int | bytes]], number: int) -> int:
    value = members.get(number, [0])[-1]
    return _signed(value) if isinstance(value, int) else 0


def _time(members: dict[int, list[int | bytes]], micro: bool) -> str | None:
    """Seconds and nanoseconds; nothing at all is the zero time, which JSON writes as null."""
    seconds, nanos = _number(members, 1), _number(members, 2)
    if not members:
        return None
    try:
        instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise _Malformed(f"{seconds} seconds is no time") from None
    if micro:
        return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return format_time(instant)
