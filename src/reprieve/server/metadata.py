"""`metadata`, the part all kinds share: types, syntax, what the server fills in and what nobody may change.

Works on raw documents in place. Knows no storage.
"""

import os
import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from reprieve.objects import Document, label_key, label_value
from reprieve.server.errors import (
    ApiError,
    Cause,
    bad_request,
    forbidden_field,
    invalid_value,
    required,
    too_long,
)
from reprieve.server.registry import ResourceInfo

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_MAX_GENERATED_BASE = 58
_MAX_ANNOTATIONS = 256 * 1024
_LONGEST_NAME = 512
_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


class _Owner(msgspec.Struct):
    apiVersion: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    blockOwnerDeletion: bool | None = None


class _Metadata(msgspec.Struct):
    """The types of the wire; null counts as absent."""

    name: str | None = None
    generateName: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resourceVersion: str | None = None
    selfLink: str | None = None
    generation: int | None = None
    creationTimestamp: str | None = None
    deletionTimestamp: str | None = None
    deletionGracePeriodSeconds: int | None = None
    labels: dict[str, str | None] | None = None
    annotations: dict[str, str | None] | None = None
    finalizers: list[str] | None = None
    ownerReferences: list[_Owner] | None = None
    managedFields: list[dict[str, Any]] | None = None


_KNOWN = frozenset(f.name for f in msgspec.structs.fields(_Metadata))


def check_shape(resource: ResourceInfo, document: Document) -> Document:
    """Check the types of `metadata`, drop its nulls and unknown members, and return it."""
    metadata = document.get("metadata")
    if metadata is None:
        metadata = document["metadata"] = {}
    try:
        msgspec.convert(metadata, _Metadata)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$")
        raise cannot_handle(resource, f"metadata{path.rstrip('`')}: {text}") from None
    for key in [key for key, value in metadata.items() if value is None or value == {} or value == []]:
        del metadata[key]
    for key in ("labels", "annotations"):
        if key in metadata and None in metadata[key].values():
            metadata[key] = {k: "" if v is None else v for k, v in metadata[key].items()}
    metadata.pop("selfLink", None)
    for key in [key for key in metadata if key not in _KNOWN]:
        del metadata[key]
    return metadata


def unknown_metadata(document: Document) -> list[str]:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return []
    # Directives of a strategic merge patch are no fields.
    return [f"metadata.{key}" for key in metadata if key not in _KNOWN and key[:1] != "$"]


def cannot_handle(resource: ResourceInfo, problem: str) -> ApiError:
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {problem}'
    )


def fill_new(metadata: Document, timestamp: str) -> None:
    """What only the server may set on a new object."""
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "generation"):
        metadata.pop(key, None)
    metadata["uid"] = new_uid()
    metadata["creationTimestamp"] = timestamp


def new_uid() -> str:
    """A random UUID (version 4); `uuid.uuid4` takes three times as long."""
    number = int.from_bytes(os.urandom(16), "big")
    number = number & ~(0xF000 << 64) & ~(0xC000 << 48) | (0x4000 << 64) | (0x8000 << 48)
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def generated_name(base: str) -> str:
    suffix = "".join(secrets.choice(_SUFFIX_ALPHABET) for _ in range(5))
    return base[:_MAX_GENERATED_BASE] + suffix


def keep_old(metadata: Document, old: Document) -> None:
    """Server-owned members keep their values whatever the client sent."""
    for key in (
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "namespace",
        "generateName",
    ):
        if key in old:
            metadata[key] = old[key]
        else:
            metadata.pop(key, None)


def _problem(check: Callable[[str], str | None], text: str) -> str | None:
    """The checks are cached; what is far too long for any name must not fill the cache."""
    return check(text) if len(text) <= _LONGEST_NAME else f"must be no more than {_LONGEST_NAME} characters"


def path_segment(name: str) -> str | None:
    """Names of RBAC objects are free, for instance `system:node`, except for what a path cannot hold."""
    if name in (".", ".."):
        return f"may not be '{name}'"
    return next((f"may not contain '{mark}'" for mark in "/%" if mark in name), None)


def validate_name(resource: ResourceInfo, metadata: Document) -> list[Cause]:
    name = metadata.get("name", "")
    if not name:
        return [required("metadata.name", "name or generateName is required")]
    check = resource.name_problem
    problem = _problem(check, name)
    if not problem:
        return []
    causes = [invalid_value("metadata.name", name, problem)]
    prefix = metadata.get("generateName", "")
    if prefix and (wrong := _problem(check, prefix.rstrip("-") + "x")):
        causes.insert(0, invalid_value("metadata.generateName", prefix, wrong))
    return causes


def validate(resource: ResourceInfo, metadata: Document) -> list[Cause]:
    """Syntax of everything a client may write."""
    causes = validate_name(resource, metadata)
    labels = metadata.get("labels")
    if labels:
        causes += _validate_labels(labels)
    annotations = metadata.get("annotations")
    if annotations:
        causes += _validate_annotations(annotations)
    for i, owner in enumerate(metadata.get("ownerReferences", ())):
        causes += [
            required(f"metadata.ownerReferences[{i}].{part}")
            for part in ("apiVersion", "kind", "name", "uid")
            if not owner.get(part)
        ]
    if sum(bool(o.get("controller")) for o in metadata.get("ownerReferences", ())) > 1:
        causes.append(
            invalid_value(
                "metadata.ownerReferences", "", "only one reference can have controller set to true"
            )
        )
    for i, finalizer in enumerate(metadata.get("finalizers", ())):
        problem = _problem(label_key, finalizer)
        if not problem and "/" not in finalizer and finalizer not in _FINALIZERS and _is_builtin(resource):
            problem = "is neither a standard finalizer name nor fully qualified (example.com/name)"
        if problem:
            causes.append(invalid_value(f"metadata.finalizers[{i}]", finalizer, problem))
    return causes


def _is_builtin(resource: ResourceInfo) -> bool:
    """Elsewhere Kueue's kinds are custom resources, too."""
    return not resource.custom and not resource.group.endswith(".x-k8s.io")


def _validate_labels(labels: dict[str, str]) -> list[Cause]:
    causes = []
    for key, value in labels.items():
        problem = _problem(label_key, key)
        if problem:
            causes.append(invalid_value("metadata.labels", key, problem))
        problem = _problem(label_value, value)
        if problem:
            causes.append(invalid_value("metadata.labels", value, problem))
    return causes


def _validate_annotations(annotations: dict[str, str]) -> list[Cause]:
    causes = []
    size = 0
    for key, value in annotations.items():
        problem = _problem(label_key, key.lower())
        if problem:
            causes.append(invalid_value("metadata.annotations", key, problem))
        size += len(key) + len(value)
    if size > _MAX_ANNOTATIONS:
        causes.append(too_long("metadata.annotations", _MAX_ANNOTATIONS, "bytes"))
    return causes


def validate_change(resource: ResourceInfo, metadata: Document, old: Document) -> list[Cause]:
    """What an update may not do to an object that is being deleted."""
    causes = validate(resource, metadata)
    if "deletionTimestamp" in old:
        added = set(metadata.get("finalizers", ())) - set(old.get("finalizers", ()))
        if added:
            message = "no new finalizers can be added if the object is being deleted, found new finalizers "
            causes.append(forbidden_field("metadata.finalizers", f"{message}{sorted(added)!r}"))
    return causes
