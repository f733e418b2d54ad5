"""Which format the client wants, and how to read what it sent: media types, size, depth, number of values."""

import re
import zlib
from functools import lru_cache
from typing import Any

import msgspec

from reprieve.objects import UnreadableInput, parse_yaml, shown
from reprieve.server.documents import MAX_DEPTH, check_depth
from reprieve.server.errors import bad_request, not_acceptable, too_large, unsupported_media_type
from reprieve.server.http import protobuf

JSON = "application/json"
YAML = "application/yaml"
_READABLE = f"{JSON}, {YAML}"
"""Formats accepted for every kind; built-in kinds are also accepted in protobuf."""
_TWICE = re.compile(r"the key '([^']*)' is there twice")
"""What we say to people in Kubernetes' words, which programs look for."""
_decode_json = msgspec.json.Decoder().decode


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request, or all of them together, may use."""

    body: int = 3 * 1024 * 1024
    depth: int = MAX_DEPTH
    values: int = 200_000
    """How many values one body may hold."""
    fields: int = 10_000
    """How many fields and items one object may have: what follows its reading is one step of the loop. Only
    definitions of kinds may have as many as a body holds.
    """
    intricate: int = 4_000
    """The same where each field is looked at several times: pods, what makes pods, and what is applied."""
    objects: int = 2_000_000
    """How many objects are stored at most."""
    header: int = 16 * 1024
    body_seconds: float = 30.0
    """How long a client may take to send its body, or to take a part of its answer."""
    idle_seconds: float = 180.0
    """How long a connection may be silent, or in the middle of a request's head."""


class Output(msgspec.Struct, frozen=True):
    """`form` is json, yaml, table or partial (only the metadata)."""

    form: str = "json"
    table_version: str = "v1"


_JSON_OUTPUT = Output()


@lru_cache(maxsize=512)
def wanted_output(accept: str) -> Output:
    """The first form in the Accept header that the server has."""
    if not accept:
        return _JSON_OUTPUT
    for clause in accept.split(","):
        media, _, rest = clause.strip().partition(";")
        params = dict(p.strip().partition("=")[::2] for p in rest.split(";") if p.strip())
        if media in (JSON, "*/*", "application/*", "application/json-seq"):
            as_ = params.get("as", "")
            if as_ == "Table" and params.get("g", "meta.k8s.io") == "meta.k8s.io":
                if params.get("v", "v1") in ("v1", "v1beta1"):
                    return Output("table", params.get("v", "v1"))
            elif as_ in ("PartialObjectMetadata", "PartialObjectMetadataList"):
                return Output("partial")
            elif not as_:
                return _JSON_OUTPUT
        elif media in (YAML, "text/yaml") and not params.get("as"):
            return Output("yaml")
    raise not_acceptable(_READABLE)


def read_document(content_type: str, body: bytes, limits: Limits) -> Any:
    """The decoded body of a write."""
    media = content_type.partition(";")[0].strip().lower()
    if media in ("", JSON):
        return read_json(body, limits)
    if media in (YAML, "text/yaml", "application/x-yaml"):
        return read_yaml(body, limits)
    if media == protobuf.MEDIA_TYPE:
        document = protobuf.decode(body)
        check_depth(document, limits.depth)
        return document
    raise unsupported_media_type(_READABLE)


def read_json(body: bytes, limits: Limits) -> Any:
    values = body.count(b",") + body.count(b"{") + body.count(b"[")
    if values > limits.values:
        raise too_large(f"the body holds more than {limits.values} values")
    try:
        document = _decode_json(body)
    except RecursionError:
        raise bad_request(f"the body is nested deeper than {limits.depth} levels") from None
    except (msgspec.DecodeError, ValueError) as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    if body.count(b"{") + body.count(b"[") > limits.depth:
        check_depth(document, limits.depth)
    return document


def read_yaml(body: bytes, limits: Limits) -> Any:
    """YAML as manifests are read; aliases are refused, they are how small files become large ones."""
    if len(body) > limits.body // 4:
        raise too_large("YAML bodies are limited to a quarter of the size of JSON bodies")
    if sum(map(body.count, (b"\n", b",", b"{", b"[", b"- "))) > limits.values:
        raise too_large(f"the body holds more than {limits.values} values")
    try:
        documents = parse_yaml(body, aliases=False)
    except UnreadableInput as error:
        problem = _TWICE.sub(r'key "\1" already set in map', str(error))
        raise bad_request(f"error converting YAML to JSON: {problem}") from None
    if len(documents) > 1:
        raise bad_request("error converting YAML to JSON: the body holds more than one document")
    document = documents[0] if documents else None
    check_depth(document, limits.depth)
    return document


_WINDOWS = {"gzip": 31, "deflate": 15}


def unpacked(body: bytes, encoding: str, limit: int) -> bytes:
    """What was sent compressed; no more of it is unpacked than a body may have."""
    if encoding in ("", "identity"):
        return body
    if encoding not in _WINDOWS:
        raise bad_request(f"Content-Encoding: {shown(encoding)} is not understood: gzip and deflate are")
    unpacking = zlib.decompressobj(_WINDOWS[encoding])
    try:
        whole = unpacking.decompress(body, limit + 1)
    except zlib.error:
        raise bad_request("the body of the request cannot be read as its headers describe it") from None
    if len(whole) > limit:
        raise too_large(f"the body is larger than {limit} bytes")
    if not unpacking.eof:
        raise bad_request("the body of the request cannot be read as its headers describe it")
    return whole


def check_fields(document: dict[str, Any], limit: int) -> None:
    """Who manages which field is not counted as part of the object; it may take twice as much."""
    meta = document.get("metadata")
    if isinstance(meta, dict) and "managedFields" in meta:
        _count_fields(meta["managedFields"], 2 * limit)
        document = {**document, "metadata": {**meta, "managedFields": None}}
    _count_fields(document, limit)


def _count_fields(value: Any, limit: int) -> None:
    found, level = 0, [value]
    while level:
        containers = [value for value in level if isinstance(value, dict | list)]
        found += sum(map(len, containers))
        if found > limit:
            raise too_large(f"the object has more than {limit} fields and items")
        level = [
            child for each in containers for child in (each.values() if isinstance(each, dict) else each)
        ]
