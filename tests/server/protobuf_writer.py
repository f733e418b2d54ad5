"""Documents into Kubernetes' protobuf encoding, as Go clients write it: for tests of the server's reader.

Like Go's encoder it writes every field that is not a pointer, set or not.
"""

import base64
import json
import struct
from datetime import UTC, datetime
from typing import Any

from reprieve.objects import SchemaNode, schemas

MAGIC = b"k8s\x00"
MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_ZERO = {"string": "", "integer": 0, "boolean": False}


def encode(document: dict[str, Any]) -> bytes:
    """The whole body of a request."""
    api_version, kind = document["apiVersion"], document["kind"]
    group, _, version = api_version.rpartition("/")
    node = (
        schemas.message("meta", "DeleteOptions")
        if kind == "DeleteOptions"
        else schemas.builtin_schema(group, version, kind)
    )
    assert node is not None, f"{api_version} {kind} has no schema"
    return envelope(api_version, kind, message(document, node))


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    type_meta = field(1, api_version.encode()) + field(2, kind.encode())
    return MAGIC + field(1, type_meta) + field(2, raw) + field(3, b"") + field(4, b"")


def varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: bytes | int | float) -> bytes:
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(document: dict[str, Any], node: SchemaNode) -> bytes:
    inlined: dict[int, bytes] = {}
    out = b""
    for name, child in node.fields.items():
        if not child.number:
            continue
        value = document.get(name)
        if value is None and child.shape == "scalar" and not child.says_zero:
            value = _ZERO.get(child.scalar)
        if value is None:
            continue
        *outer, number = child.number
        written = b"".join(field(number, each) for each in _values(value, child, name))
        for place in reversed(outer[1:]):
            written = field(place, written)
        if outer:
            inlined[outer[0]] = inlined.get(outer[0], b"") + written
        else:
            out += written
    return out + b"".join(field(number, raw) for number, raw in inlined.items())


def _values(value: Any, node: SchemaNode, name: str) -> list[bytes | int | float]:
    if node.shape == "list":
        return [one(each, node.item_schema, "") for each in value]
    if node.shape == "map":
        return [
            field(1, key.encode()) + field(2, one(each, node.item_schema, "")) for key, each in value.items()
        ]
    if name == "dependencies":
        return [field(1, key.encode()) + field(2, one(each, node, name)) for key, each in value.items()]
    return [one(value, node, name)]


def one(value: Any, node: SchemaNode, name: str) -> bytes | int | float:
    if node.shape == "object":
        return message(value, node)
    if node.shape == "list":
        return b"".join(field(1, one(each, node.item_schema, "")) for each in value)
    if node.shape == "any":
        return _union(value, name)
    if node.scalar in ("integer", "boolean"):
        return int(value)
    if node.scalar == "number":
        return float(value)
    if node.scalar == "bytes":
        return base64.b64decode(value)
    if node.scalar in ("time", "microtime"):
        since = datetime.fromisoformat(value) - datetime(1970, 1, 1, tzinfo=UTC)
        return field(1, since.days * 86400 + since.seconds) + field(2, since.microseconds * 1000)
    if node.scalar == "quantity":
        return field(1, str(value).encode())
    if node.scalar == "intOrString":
        number, words = (0, value) if isinstance(value, str) else (value, "")
        return field(1, int(bool(words))) + field(2, number) + field(3, words.encode())
    return str(value).encode()


def _union(value: Any, name: str) -> bytes:
    """A place of a JSON schema where one of several things may stand; elsewhere JSON in a message."""
    schema = schemas.message("apiextensions", "JSONSchemaProps")
    if name == "items":
        if isinstance(value, list):
            return b"".join(field(2, message(each, schema)) for each in value)
        return field(1, message(value, schema))
    if name in ("additionalProperties", "additionalItems"):
        if isinstance(value, bool):
            return field(1, int(value))
        return field(1, 1) + field(2, message(value, schema))
    if name == "dependencies":
        if isinstance(value, list):
            return b"".join(field(2, each.encode()) for each in value)
        return field(1, message(value, schema))
    return field(1, json.dumps(value).encode())
