"""CustomResourceDefinitions: names, versions and structural schemas, as kube-apiserver demands them."""

import hashlib
from functools import lru_cache
from typing import Any

import msgspec

from reprieve.objects import labels
from reprieve.objects.jsonpath import InvalidPath, JsonPath
from reprieve.objects.meta import Document
from reprieve.objects.raw import at, items
from reprieve.objects.structure import FORBIDDEN, REQUIRED, UNSUPPORTED, Problem
from reprieve.objects.validation.checks import At, Problems, required

PRESERVE = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
_APPROVAL = "api-approved.kubernetes.io"
_PROTECTED = (".k8s.io", ".kubernetes.io")
_COLUMN_TYPES = ("integer", "number", "string", "boolean", "date")
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_ONE_STORED = "must have exactly one version marked as storage version"
_MAX_DEPTH = 64
_DATA = ("default", "enum", "example")
"""Members of a schema that hold values instead of schemas."""
_MOST_SOUND = 512
_sound: set[bytes] = set()
"""Digests of schemas in which nothing is wrong. A definition is looked at again with each write of its labels
or status, several times; the largest schemas take half a second."""


def definition(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from required(spec)
    if not spec.value:
        return
    try:
        msgspec.convert(spec.value, _Spec)
    except (msgspec.ValidationError, UnicodeError) as error:
        yield Problem("spec", "", str(error))
        return
    yield from _naming(new)
    versions = spec.field("versions")
    if not versions.value:
        yield Problem("spec.versions", None, _ONE_STORED, REQUIRED)
    elif sum(1 for each in versions.value if each["storage"]) != 1:
        yield Problem("spec.versions", [each["name"] for each in versions.value], _ONE_STORED)
    for version in versions.items():
        yield from _version(version, bool(spec.field("preserveUnknownFields").value))
    if old is not None and spec.field("scope").value != old.field("spec", "scope").value:
        yield spec.field("scope").problem("field is immutable")


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


def _naming(new: At) -> Problems:
    spec, name = new.field("spec"), new.field("metadata", "name")
    group, plural, kind, scope = (
        spec.field("group"), spec.field("names", "plural"), spec.field("names", "kind"), spec.field("scope"),
    )  # fmt: skip
    wanted = f"{plural.text}.{group.text}"
    if name.text != wanted:
        yield name.problem(f'must be spec.names.plural+"."+spec.group: "{wanted}"')
    if labels.dns_subdomain(group.text) is not None or "." not in group.text:
        yield group.problem("should be a domain with at least one dot")
    if labels.dns_label(plural.text) is not None:
        yield plural.problem("must be a lower case DNS label")
    if not kind.text or labels.dns_label(kind.text.lower()) is not None:
        yield kind.problem("may have mixed case, but should otherwise be a DNS label")
    if scope.text not in ("Cluster", "Namespaced"):
        yield scope.problem("expected one of Cluster, Namespaced", UNSUPPORTED)
    protected = group.text.endswith(_PROTECTED) and not group.text.endswith(".x-k8s.io")
    if protected and not new.field("metadata", "annotations", _APPROVAL).is_set:
        text = f'protected groups must have approval annotation "{_APPROVAL}"'
        yield Problem(f"metadata.annotations[{_APPROVAL}]", None, text, REQUIRED)


def _version(version: At, open_ended: bool) -> Problems:
    if labels.dns_label(version.field("name").text) is not None:
        yield version.field("name").problem("must be a DNS label")
    schema = version.field("schema", "openAPIV3Schema")
    if isinstance(schema.value, dict):
        if schema.field("type").value != "object":
            yield schema.field("type").problem("must be object at the root")
        yield from _schema_problems(schema.value, schema.path)
    elif not open_ended:
        yield schema.problem("schemas are required", REQUIRED)
    for column in version.field("additionalPrinterColumns").items():
        if column.field("type").text not in _COLUMN_TYPES:
            yield column.field("type").problem(f"expected one of {', '.join(_COLUMN_TYPES)}", UNSUPPORTED)
        try:
            JsonPath(column.field("jsonPath").text)
        except InvalidPath as error:
            yield column.field("jsonPath").problem(str(error))
    scale = version.field("subresources", "scale")
    for name in ("specReplicasPath", "statusReplicasPath") if scale.is_set else ():
        yield from required(scale.field(name))


def learn_schemas(document: Document) -> None:
    """Look at the schemas of a definition beforehand: what is right is known when it is written."""
    for version in items(document, "spec", "versions"):
        schema = at(version, "schema", "openAPIV3Schema")
        if isinstance(schema, dict):
            _schema_problems(schema, "")


def _schema_problems(schema: Document, path: str) -> list[Problem]:
    try:
        digest = hashlib.sha256(msgspec.json.encode(schema)).digest()
    except (TypeError, UnicodeError) as error:  # in a file, where no JSON parser was before
        return [Problem(path, None, f"is no JSON: {error}")]
    if digest in _sound:
        return []
    found = [*_structural(schema, path, 0), *_patterns(schema, path)]
    if not found:
        if len(_sound) >= _MOST_SOUND:
            _sound.clear()
        _sound.add(digest)
    return found


def _structural(schema: Any, path: str, depth: int) -> Problems:
    """Everything has a type, lists and maps declare their items."""
    if not isinstance(schema, dict):
        yield Problem(path, schema, "must be a schema")
        return
    if depth > _MAX_DEPTH:
        yield Problem(path, "", f"schemas may be nested {_MAX_DEPTH} levels deep")
        return
    kind = schema.get("type")
    if not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        yield Problem(f"{path}.type", None, "must not be empty for specified object fields", REQUIRED)
    elif kind and kind not in _TYPES:
        yield Problem(f"{path}.type", kind, f"expected one of {', '.join(_TYPES)}", UNSUPPORTED)
    properties, extra = schema.get("properties"), schema.get("additionalProperties")
    if properties and isinstance(extra, dict):
        yield Problem(path, None, "additionalProperties and properties are mutual exclusive", FORBIDDEN)
    if kind == "array" and not isinstance(schema.get("items"), dict):
        yield Problem(f"{path}.items", None, "must be specified", REQUIRED)
    if isinstance(properties, dict):
        for name, child in properties.items():
            yield from _structural(child, f"{path}.properties[{name}]", depth + 1)
    elif properties is not None:
        yield Problem(f"{path}.properties", properties, "must be an object")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from _structural(schema[name], f"{path}.{name}", depth + 1)


def _patterns(schema: Document, path: str) -> Problems:
    """Patterns anywhere in a schema, in its combinations too, that RE2 cannot read."""
    left: list[tuple[Any, str]] = [(schema, path)]
    while left:
        part, where = left.pop()
        if isinstance(part, list):
            left += [(each, f"{where}[{index}]") for index, each in enumerate(part)]
        elif isinstance(part, dict):
            left += [(each, f"{where}.{name}") for name, each in part.items() if name not in _DATA]
            if isinstance(part.get("pattern"), str):
                try:
                    compiled(part["pattern"])
                except ValueError as error:
                    text = f"must be a valid regular expression, but isn't: {error}"
                    yield Problem(f"{where}.pattern", part["pattern"], text)


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """By RE2, whose syntax is Go's and whose time is linear in the text: any client may write a definition.

    Raises ValueError with the reason.
    """
    import re2  # only who reads definitions needs it

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise ValueError(error.args[0].decode() if error.args else "") from None
