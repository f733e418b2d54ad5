"""OpenAPI version 2 in protobuf: the only form that kubectl before 1.27 can read.

The messages are those of gnostic's `openapi.v2`; the numbers below are their field numbers. Only what
kubectl reads is written: definitions with their extensions, and the parameters and kinds of PATCH operations.
"""

import json

from reprieve.objects import Document


def encode(document: Document) -> bytes:
    """A version 2 document (`openapi.v2_document`) as an `openapi.v2.Document`."""
    info = document["info"]
    paths = b"".join(
        _message(2, _text(1, path) + _message(2, _path_item(operations)))
        for path, operations in document["paths"].items()
        if "patch" in operations
    )
    definitions = _named_schemas(document["definitions"])
    return (
        _text(1, document["swagger"])
        + _message(2, _text(1, info["title"]) + _text(2, info["version"]))
        + _message(8, paths)
        + _message(9, definitions)
    )


def _path_item(operations: Document) -> bytes:
    operation = operations["patch"]
    return _message(8, _parameters(operation) + _extensions(13, operation))


def _parameters(operation: Document) -> bytes:
    """ParametersItem { Parameter { NonBodyParameter { QueryParameterSubSchema } } }"""
    encoded = b""
    for parameter in operation.get("parameters") or ():
        query = _text(2, "query") + _text(4, parameter["name"]) + _text(6, "string")
        encoded += _message(8, _message(1, _message(2, _message(3, query))))
    return encoded


def _named_schemas(schemas: Document) -> bytes:
    return b"".join(_message(1, _text(1, name) + _message(2, _schema(s))) for name, s in schemas.items())


def _schema(schema: Document) -> bytes:
    encoded = b""
    for key, number in (("$ref", 1), ("format", 2), ("description", 4)):
        if schema.get(key):
            encoded += _text(number, schema[key])
    for name in schema.get("required") or ():
        encoded += _text(19, name)
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        encoded += _message(21, _message(1, _schema(extra)))
    if schema.get("type"):
        encoded += _message(22, _text(1, schema["type"]))
    if isinstance(schema.get("items"), dict):
        encoded += _message(23, _message(1, _schema(schema["items"])))
    if schema.get("properties"):
        encoded += _message(25, _named_schemas(schema["properties"]))
    return encoded + _extensions(31, schema)


def _extensions(number: int, holder: Document) -> bytes:
    """NamedAny { name, Any { yaml } }; JSON is YAML too."""
    return b"".join(
        _message(number, _text(1, key) + _message(2, _text(2, json.dumps(value))))
        for key, value in holder.items()
        if key.startswith("x-")
    )


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _message(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode())
