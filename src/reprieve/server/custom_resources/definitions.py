"""CustomResourceDefinitions: from the document to resources that can be served.

`problems` lists what is wrong with a definition (422 for its author), `resources_of` turns a good one into
one `ResourceInfo` for each served version, with hooks that default, prune and validate. Versions differ in
their schema only; nothing is converted between them (strategy `None`; webhooks are accepted and not called).
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from reprieve.objects import Document, dns_label, dns_subdomain, schemas
from reprieve.server import errors
from reprieve.server.custom_resources import structural
from reprieve.server.custom_resources.jsonpath import InvalidPath, JsonPath
from reprieve.server.documents import at, items
from reprieve.server.errors import ApiError, Cause, forbidden_field, invalid_value, not_supported, required
from reprieve.server.registry import PrinterColumn, ResourceInfo, ScalePaths

GROUP = "apiextensions.k8s.io"
_PROTECTED = (".k8s.io", ".kubernetes.io")
_COLUMN_TYPES = ("integer", "number", "string", "boolean", "date")


def resources_of(definition: Document) -> list[ResourceInfo]:
    """One resource for each served version; raises 422 for a definition that cannot be served."""
    causes = problems(definition)
    name = (definition.get("metadata") or {}).get("name", "")
    if causes:
        raise errors.invalid(GROUP, "CustomResourceDefinition", name, causes)
    spec = definition["spec"]
    storage = next(v["name"] for v in spec["versions"] if v.get("storage"))
    return [_resource(spec, version, storage) for version in spec["versions"] if version.get("served")]


def _resource(spec: Document, version: Document, storage: str) -> ResourceInfo:
    names = spec["names"]
    subresources = version.get("subresources") or {}
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {
        "type": "object",
        structural.PRESERVE: True,
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
        downgrade=_defaulted(schema) if _has_defaults(schema) else None,
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


def problems(definition: Document) -> list[Cause]:
    spec = definition.get("spec")
    if not isinstance(spec, dict):
        return [required("spec")]
    try:
        msgspec.convert(spec, _Spec)
    except msgspec.ValidationError as error:
        return [invalid_value("spec", "", str(error))]
    causes = _naming_problems(definition, spec)
    versions = spec.get("versions") or []
    if not versions:
        causes.append(required("spec.versions", "must have exactly one version marked as storage version"))
    elif sum(1 for v in versions if v.get("storage")) != 1:
        message = "must have exactly one version marked as storage version"
        causes.append(invalid_value("spec.versions", [v["name"] for v in versions], message))
    for index, version in enumerate(versions):
        causes += _version_problems(
            version, f"spec.versions[{index}]", bool(spec.get("preserveUnknownFields"))
        )
    return causes


class _Names(msgspec.Struct, rename="camel"):
    plural: str
    kind: str
    singular: str = ""
    list_kind: str = ""
    short_names: list[str] | None = None
    categories: list[str] | None = None


class _Column(msgspec.Struct, rename="camel"):
    name: str
    type: str
    json_path: str
    priority: int = 0
    format: str = ""
    description: str = ""


class _Version(msgspec.Struct, rename="camel"):
    name: str
    served: bool
    storage: bool
    schema: dict[str, Any] | None = None
    subresources: dict[str, Any] | None = None
    additional_printer_columns: list[_Column] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    """The shape that everything else relies on."""

    group: str
    scope: str
    names: _Names
    versions: list[_Version]


def _naming_problems(definition: Document, spec: Document) -> list[Cause]:
    causes = []
    names, name = spec["names"], (definition.get("metadata") or {}).get("name", "")
    wanted = f"{names['plural']}.{spec['group']}"
    if name != wanted:
        causes.append(
            invalid_value("metadata.name", name, f'must be spec.names.plural+"."+spec.group: "{wanted}"')
        )
    if dns_subdomain(spec["group"]) is not None or "." not in spec["group"]:
        causes.append(invalid_value("spec.group", spec["group"], "should be a domain with at least one dot"))
    if dns_label(names["plural"]) is not None:
        causes.append(invalid_value("spec.names.plural", names["plural"], "must be a lower case DNS label"))
    if not names["kind"] or dns_label(names["kind"].lower()) is not None:
        causes.append(
            invalid_value(
                "spec.names.kind", names["kind"], "may have mixed case, but should otherwise be a DNS label"
            )
        )
    if spec["scope"] not in ("Cluster", "Namespaced"):
        causes.append(not_supported("spec.scope", spec["scope"], ("Cluster", "Namespaced")))
    approved = "api-approved.kubernetes.io" in ((definition.get("metadata") or {}).get("annotations") or {})
    if spec["group"].endswith(_PROTECTED) and not spec["group"].endswith(".x-k8s.io") and not approved:
        message = 'protected groups must have approval annotation "api-approved.kubernetes.io"'
        causes.append(required("metadata.annotations[api-approved.kubernetes.io]", message))
    return causes


def _version_problems(version: Document, path: str, open_ended: bool) -> list[Cause]:
    causes = []
    if dns_label(version["name"]) is not None:
        causes.append(invalid_value(f"{path}.name", version["name"], "must be a DNS label"))
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if not isinstance(schema, dict):
        if not open_ended:
            causes.append(required(f"{path}.schema.openAPIV3Schema", "schemas are required"))
    else:
        where = f"{path}.schema.openAPIV3Schema"
        if schema.get("type") != "object":
            causes.append(
                invalid_value(f"{where}.type", schema.get("type", ""), "must be object at the root")
            )
        causes += _sound_problems(schema, where)
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        causes += _column_problems(column, f"{path}.additionalPrinterColumns[{index}]")
    scale = (version.get("subresources") or {}).get("scale")
    for field in ("specReplicasPath", "statusReplicasPath") if scale is not None else ():
        if not isinstance(scale, dict) or not scale.get(field):
            causes.append(required(f"{path}.subresources.scale.{field}"))
    return causes


_MOST_SOUND = 512
_sound: dict[bytes, bool] = {}
"""Digests of schemas in which nothing is wrong, and whether they have defaults. A definition is looked at
again with each write of its labels or status, several times; the largest schemas take half a second."""


def learn(definition: Document) -> None:
    """Look at its schemas beforehand, beside the loop: the write then finds them known if they are right."""
    for version in items(definition, "spec", "versions"):
        schema = at(version, "schema", "openAPIV3Schema")
        if isinstance(schema, dict):
            _sound_problems(schema, "")


def _sound_problems(schema: Document, where: str) -> list[Cause]:
    digest = _digest(schema)
    if digest in _sound:
        return []
    causes = _schema_problems(schema, where, 0) + _pattern_problems(schema, where)
    if not causes:
        defaults = structural.has_defaults(schema)
        if len(_sound) >= _MOST_SOUND:
            _sound.clear()
        _sound[digest] = defaults
    return causes


def _has_defaults(schema: Document) -> bool:
    known = _sound.get(_digest(schema))
    return structural.has_defaults(schema) if known is None else known


def _digest(schema: Document) -> bytes:
    return hashlib.sha256(msgspec.json.encode(schema)).digest()


def _column_problems(column: Document, path: str) -> list[Cause]:
    causes = []
    if column["type"] not in _COLUMN_TYPES:
        causes.append(not_supported(f"{path}.type", column["type"], _COLUMN_TYPES))
    try:
        JsonPath(column["jsonPath"])
    except InvalidPath as error:
        causes.append(invalid_value(f"{path}.jsonPath", column["jsonPath"], str(error)))
    return causes


_DATA = ("default", "enum", "example")
"""Members of a schema that hold values instead of schemas."""


def _pattern_problems(schema: Document, path: str) -> list[Cause]:
    """Patterns anywhere in a schema, in its combinations too, that RE2 cannot read."""
    causes = []
    left: list[tuple[Any, str]] = [(schema, path)]
    while left:
        part, where = left.pop()
        if isinstance(part, list):
            left += [(each, f"{where}[{index}]") for index, each in enumerate(part)]
        elif isinstance(part, dict):
            left += [(each, f"{where}.{name}") for name, each in part.items() if name not in _DATA]
            if isinstance(part.get("pattern"), str):
                try:
                    structural.compiled(part["pattern"])
                except ValueError as error:
                    message = f"must be a valid regular expression, but isn't: {error}"
                    causes.append(invalid_value(f"{where}.pattern", part["pattern"], message))
    return causes


_MAX_DEPTH = 64
_SCALARS = ("string", "integer", "number", "boolean")


def _schema_problems(schema: Any, path: str, depth: int) -> list[Cause]:
    """What makes a schema structural: everything has a type, lists and maps declare their items."""
    if not isinstance(schema, dict):
        return [invalid_value(path, schema, "must be a schema")]
    if depth > _MAX_DEPTH:
        return [invalid_value(path, "", f"schemas may be nested {_MAX_DEPTH} levels deep")]
    causes = []
    kind = schema.get("type")
    untyped = schema.get(structural.INT_OR_STRING) or schema.get(structural.PRESERVE)
    if not kind and not untyped:
        causes.append(required(f"{path}.type", "must not be empty for specified object fields"))
    elif kind and kind not in ("object", "array", *_SCALARS):
        causes.append(
            not_supported(f"{path}.type", kind, ("array", "boolean", "integer", "number", "object", "string"))
        )
    properties, extra = schema.get("properties"), schema.get("additionalProperties")
    if properties and isinstance(extra, dict):
        causes.append(forbidden_field(path, "additionalProperties and properties are mutual exclusive"))
    if kind == "array" and not isinstance(schema.get("items"), dict):
        causes.append(required(f"{path}.items", "must be specified"))
    if isinstance(properties, dict):
        for name, child in properties.items():
            causes += _schema_problems(child, f"{path}.properties[{name}]", depth + 1)
    elif properties is not None:
        causes.append(invalid_value(f"{path}.properties", properties, "must be an object"))
    if isinstance(schema.get("items"), dict):
        causes += _schema_problems(schema["items"], f"{path}.items", depth + 1)
    if isinstance(extra, dict):
        causes += _schema_problems(extra, f"{path}.additionalProperties", depth + 1)
    return causes
