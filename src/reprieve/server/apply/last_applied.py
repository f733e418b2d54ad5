"""`kubectl apply` notes what it applied; `kubectl apply --server-side` takes over from there.

Only for the manager `kubectl`: who wants no such thing names another one.
"""

import json

import msgspec

from reprieve.objects import Document, SchemaNode
from reprieve.server.apply.document import differences, field_set
from reprieve.server.apply.managed_fields import FieldSet
from reprieve.server.errors import ApiError

KUBECTL = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def unchanged_since(current: Document, schema: SchemaNode) -> FieldSet:
    """The fields that kubectl applied from the client's side and that still say what it said."""
    text = _note(current)
    if not text:
        return frozenset()
    try:
        applied = msgspec.json.decode(text)
        if not isinstance(applied, dict) or applied.get("apiVersion") != current.get("apiVersion"):
            return frozenset()
        changed, removed = differences(applied, current, schema)
        return field_set(applied, schema) - changed - removed
    except (msgspec.DecodeError, RecursionError, TypeError, ApiError):
        return frozenset()


def noted(current: Document, merged: Document, applied: Document) -> Document:
    """With the annotation brought up to date, if the object has one: the client's side must not undo this."""
    if not _note(current):
        return merged
    metadata = merged["metadata"]
    annotations = {**(metadata.get("annotations") or {}), ANNOTATION: _written(applied)}
    return {**merged, "metadata": {**metadata, "annotations": annotations}}


def _note(document: Document) -> str:
    text = (document["metadata"].get("annotations") or {}).get(ANNOTATION)
    return text if isinstance(text, str) else ""


def _written(applied: Document) -> str:
    """As Go writes it: sorted, with the three characters escaped that HTML gives a meaning, and a newline."""
    metadata = dict(applied.get("metadata") or {})
    annotations = {k: v for k, v in (metadata.pop("annotations", None) or {}).items() if k != ANNOTATION}
    if annotations:
        metadata["annotations"] = annotations
    document = {**applied, "metadata": metadata}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for mark in "&<>":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text + "\n"
