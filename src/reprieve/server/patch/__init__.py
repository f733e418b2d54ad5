"""The patches that change a document by instruction: JSON patch, merge patch, strategic merge patch.

Pure functions: the current document is never changed, the patched one is returned. What a patch may not do
(rename an object, change its namespace, skip a resourceVersion) is for the caller to check; server-side
apply lives in `reprieve.server.apply`.
"""

import copy
from collections.abc import Callable
from typing import Any

import jsonpatch
import jsonpointer
import msgspec

from reprieve.objects import Document
from reprieve.server import errors
from reprieve.server.documents import MAX_DEPTH, check_depth
from reprieve.server.field_validation import schema_of
from reprieve.server.patch.strategic import BadPatch, strategic_merge
from reprieve.server.registry import ResourceInfo

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

_STEP = ("op", "path", "from")
MAX_OPERATIONS = 10_000
"""kube-apiserver's own limit on the length of a JSON patch."""
MAX_COPIED = 3 * 1024 * 1024
"""Bytes that all `copy` operations of a JSON patch may add: as many as a body may have."""


def apply_patch(content_type: str, current: Document, patch: Any, resource: ResourceInfo) -> Document:
    """The document after the patch. Raises `ApiError` with the code that kube-apiserver answers with."""
    try:
        apply = _PATCHES[content_type]
    except KeyError:
        raise errors.unsupported_media_type(_accepted(resource)) from None
    if apply is _strategic and _is_schemaless(resource):
        raise errors.unsupported_media_type(_accepted(resource))
    patched = apply(current, patch, resource)
    if not isinstance(patched, dict):
        raise errors.bad_request("the patch does not leave an object behind")
    return patched


def _is_schemaless(resource: ResourceInfo) -> bool:
    """Custom resources have no patch strategies; Kueue's kinds are custom ones on every other cluster."""
    return resource.custom or resource.group.endswith(".x-k8s.io")


def _accepted(resource: ResourceInfo) -> str:
    known = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
    if not _is_schemaless(resource):
        known.insert(2, STRATEGIC_MERGE_PATCH)
    return ", ".join(known)


def _json(current: Document, patch: Any, _: ResourceInfo) -> Any:
    if not isinstance(patch, list):
        raise errors.bad_request("error decoding patch: a JSON patch is a list of operations")
    if len(patch) > MAX_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        raise errors.too_large(message)
    for step in patch:
        if not isinstance(step, dict) or any(not isinstance(step.get(k, ""), str) for k in _STEP):
            raise errors.bad_request("error decoding patch: a step has op, path and from as text")
    try:
        jsonpatch.JsonPatch(patch)
    except jsonpatch.InvalidJsonPatch as problem:
        raise _unprocessable(problem) from None
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError) as problem:
        raise errors.bad_request(f"error decoding patch: {problem}") from None
    try:
        patched = _in_bounds(copy.deepcopy(current), patch)
    except RecursionError:
        raise errors.bad_request(f"the patched object is nested deeper than {MAX_DEPTH} levels") from None
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as problem:
        raise _unprocessable(problem) from None
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as problem:
        # A pointer that walks through a number or a string; the library lets Python's own errors out.
        raise _unprocessable(problem) from None
    # Other patches are as deep as what they leave behind; these can put one thing into another, step by step.
    check_depth(patched, what="patched object")
    return patched


def _in_bounds(document: Any, operations: list[Any]) -> Any:
    """A few copies of copies are larger than any memory: they are counted, as kube-apiserver does."""
    copied = 0
    for operation in operations:
        if operation["op"] == "copy":
            source = jsonpointer.resolve_pointer(document, operation["from"])
            copied += len(msgspec.json.encode(source))
            if copied > MAX_COPIED:
                raise errors.too_large(
                    "Unable to complete the copy, the accumulated size increase of copy is "
                    f"{copied}, exceeding the limit {MAX_COPIED}"
                )
        step = {**operation, "op": "add"} if _replaces_nothing(document, operation) else operation
        document = jsonpatch.JsonPatch([step]).apply(document, in_place=True)
    return document


def _replaces_nothing(document: Any, operation: Any) -> bool:
    """A member that is not there can be replaced: against the RFC, but kube-apiserver lets it pass."""
    if operation["op"] != "replace":
        return False
    pointer = jsonpointer.JsonPointer(operation["path"])
    if not pointer.parts:
        return False
    parent = jsonpointer.JsonPointer.from_parts(pointer.parts[:-1]).resolve(document, None)
    return isinstance(parent, dict) and pointer.parts[-1] not in parent


def _unprocessable(problem: Exception) -> errors.ApiError:
    message = f"the server rejected our request due to an error in our request: {problem}"
    return errors.ApiError(422, "Invalid", message, {})


def _merge(current: Document, patch: Any, _: ResourceInfo) -> Any:
    return merge_patch(current, _as_object(patch))


def _strategic(current: Document, patch: Any, resource: ResourceInfo) -> Any:
    try:
        return strategic_merge(current, _as_object(patch), schema_of(resource))
    except BadPatch as problem:
        raise errors.bad_request(str(problem)) from None


def _as_object(patch: Any) -> Document:
    if not isinstance(patch, dict):
        raise errors.bad_request("error decoding patch: the patch must be a JSON object")
    return patch


def merge_patch(current: Any, patch: Any) -> Any:
    """RFC 7386: objects merge, null removes, everything else replaces."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch) if isinstance(patch, list) else patch
    merged = dict(current) if isinstance(current, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


_PATCHES: dict[str, Callable[[Document, Any, ResourceInfo], Any]] = {
    JSON_PATCH: _json,
    MERGE_PATCH: _merge,
    STRATEGIC_MERGE_PATCH: _strategic,
}

__all__ = [
    "APPLY_PATCH",
    "JSON_PATCH",
    "MERGE_PATCH",
    "STRATEGIC_MERGE_PATCH",
    "apply_patch",
    "merge_patch",
]
