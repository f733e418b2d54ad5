"""What a request's document says against the schema of its resource, built in or custom: unknown fields
(`fieldValidation`), values of the wrong type."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from reprieve.objects import Document, SchemaNode, schemas
from reprieve.server.errors import ApiError, bad_request, invalid, not_supported
from reprieve.server.metadata import unknown_metadata
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage.records import encode

_REMEMBERED = 2048
_LARGEST_REMEMBERED = 8192
_ALWAYS_STATED = {
    "PodDisruptionBudget": ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"),
    "StatefulSet": ("availableReplicas",),
}
"""Numbers of a status that are written even if they are zero, though the schema does not ask for them."""
_CHOICES = ("Ignore", "Warn", "Strict")


def schema_of(resource: ResourceInfo) -> SchemaNode:
    """The tree that describes a resource; one that allows everything when there is none."""
    if resource.schema is not None:
        return _custom(resource)
    return schemas.builtin_schema(resource.group, resource.version, resource.kind) or schemas.ANYTHING


def schema_of_kind(doc: dict[str, Any]) -> SchemaNode:
    """By a document's own `apiVersion` and `kind`; nothing is known of custom kinds this way."""
    group, _, version = str(doc.get("apiVersion", "")).rpartition("/")
    return schemas.builtin_schema(group, version, str(doc.get("kind", ""))) or schemas.ANYTHING


@lru_cache(maxsize=512)
def _custom(resource: ResourceInfo) -> SchemaNode:
    return schemas.custom_schema(resource.schema or {})


def validate_fields(
    resource: ResourceInfo, document: Document, mode: str, duplicates: Sequence[str] = ()
) -> list[str]:
    """Warnings, one for each unknown or repeated field (at most ten); in strict mode a refusal instead.
    Unknown fields are taken out of the document: who reads it as a typed object would not give them back.
    """
    mode = mode or "Warn"
    if mode not in _CHOICES:
        cause = not_supported("fieldValidation", mode, _CHOICES)
        raise invalid("meta.k8s.io", "CreateOptions", "", [cause])
    unknown = _unknown(resource, document)
    problems = [*(f'unknown field "{path}"' for path in unknown), *duplicates]
    if problems and mode == "Strict":
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {', '.join(problems)}"
        )
    if unknown:
        _drop_unknown(resource, document)
    return problems[:10] if mode == "Warn" else []


def _drop_unknown(resource: ResourceInfo, document: Document) -> None:
    """Custom resources are pruned by their own schema, when they are admitted."""
    if resource.unknown is None:
        schemas.drop_unknown(document, schema_of(resource))
    for path in unknown_metadata(document):
        del document["metadata"][path.removeprefix("metadata.")]


def check_applied(resource: ResourceInfo, document: Document) -> None:
    """Server-side apply cannot own a field that the kind does not have, whatever validation was asked for."""
    found = [f".{path}: field not declared in schema" for path in _unknown(resource, document)]
    if found:
        meta = document.get("metadata") or {}
        name = "/".join(filter(None, (meta.get("namespace"), meta.get("name"))))
        text = found[0] if len(found) == 1 else "errors:" + "".join(f"\n  {each}" for each in found)
        what = f"{name}; {resource.api_version}, Kind={resource.kind}"
        raise ApiError(500, "", f"failed to create typed patch object ({what}): {text}")


def _unknown(resource: ResourceInfo, document: Document) -> list[str]:
    found = (
        resource.unknown(document)
        if resource.unknown is not None
        else _unknown_remembered(resource, document)
    )
    return list(dict.fromkeys([*found, *unknown_metadata(document)]))


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


def unknown_fields(resource: ResourceInfo, document: Document) -> list[str]:
    return schemas.unknown_fields(document, schema_of(resource))


def wrong_types(resource: ResourceInfo, document: Document) -> list[tuple[str, Any, str]]:
    return schemas.wrong_types(document, schema_of(resource))


@lru_cache(maxsize=512)
def _zeros(resource: ResourceInfo) -> dict[str, int]:
    fields = schema_of(resource).child("status").fields.items()
    always = [name for name, field in fields if field.required and field.scalar == "integer"]
    return dict.fromkeys([*always, *_ALWAYS_STATED.get(resource.kind, ())], 0)


def empty_status(resource: ResourceInfo) -> Document:
    """Of a new object: the numbers that its kind always states, all zero."""
    return dict(_zeros(resource))


def spell_quantities(resource: ResourceInfo, document: Document) -> list[tuple[str, Any]]:
    """One spelling for quantities, as kube-apiserver writes them back. Of custom resources, and Kueue's are
    such everywhere else, what was written stays.
    """
    if resource.custom or resource.group.endswith(".x-k8s.io"):
        return []
    return schemas.spell_quantities(document, schema_of(resource))
