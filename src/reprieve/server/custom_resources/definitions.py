"""CustomResourceDefinitions: from the document to resources that can be served.

`resources_of` turns a definition in which nothing is wrong (`objects.validation`) into one `ResourceInfo` for
each served version, with hooks that default, prune and validate. Versions differ in their schema only:
nothing is converted between them (strategy `None`; webhooks are accepted and not called).
"""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from reprieve.objects import Document, builtin_problems, definitions, schemas
from reprieve.server import errors
from reprieve.server.custom_resources import structural
from reprieve.server.documents import items
from reprieve.server.errors import ApiError, cause_of
from reprieve.server.registry import PrinterColumn, ResourceInfo, ScalePaths

GROUP = "apiextensions.k8s.io"


def resources_of(definition: Document) -> list[ResourceInfo]:
    """One resource for each served version; raises 422 for a definition that cannot be served."""
    problems = builtin_problems(definition, None)
    if problems:
        name = (definition.get("metadata") or {}).get("name", "")
        raise errors.invalid(GROUP, "CustomResourceDefinition", name, [cause_of(each) for each in problems])
    spec = definition["spec"]
    storage = next(v["name"] for v in spec["versions"] if v.get("storage"))
    return [_resource(spec, version, storage) for version in spec["versions"] if version.get("served")]


def _resource(spec: Document, version: Document, storage: str) -> ResourceInfo:
    names = spec["names"]
    subresources = version.get("subresources") or {}
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {
        "type": "object",
        definitions.PRESERVE: True,
    }
    scale = subresources.get("scale")
    open_ended = bool(spec.get("preserveUnknownFields"))
    fields = structural.fields_of(schema)
    return ResourceInfo(
        group=spec["group"],
        version=version["name"],
        storage_version=storage,
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular", ""),
        list_kind=names.get("listKind", ""),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        namespaced=spec["scope"] == "Namespaced",
        subresources=frozenset(name for name in ("status", "scale") if name in subresources),
        has_generation=True,
        custom=True,
        unconditional_update=False,
        schema=schema,
        printer_columns=msgspec.convert(
            version.get("additionalPrinterColumns") or (), tuple[PrinterColumn, ...]
        ),
        scale_paths=msgspec.convert(scale, ScalePaths) if scale else None,
        selectable=tuple(
            str(each.get("jsonPath", "")).removeprefix(".") for each in items(version, "selectableFields")
        ),
        default=lambda doc: structural.apply_defaults(doc, schema),
        downgrade=_defaulted(schema) if structural.has_defaults(schema) else None,
        prune=None if open_ended else lambda doc: schemas.drop_unknown(doc, fields),
        validate=lambda new, _old: structural.validate(new, schema),
        unknown=lambda doc: schemas.unknown_fields(doc, fields),
    )


def _defaulted(schema: Document) -> Callable[[Document], Document]:
    """An object that was stored before a default came to the schema is shown with it."""

    def show(document: Document) -> Document:
        with suppress(ApiError):  # more than can be added: as it was stored
            structural.apply_defaults(document, schema)
        return document

    return show
