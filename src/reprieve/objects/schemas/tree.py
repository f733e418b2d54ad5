"""The tree that describes a kind: which fields exist, and how lists and maps merge.

Built-in kinds come from the YAML files of this folder (`builtin_schema`), custom ones from their
`openAPIV3Schema` (`SchemaNode.from_openapi`). Nothing here knows requests or storage.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, Literal

from reprieve.objects.schemas.files import file_of, load

Shape = Literal["object", "map", "list", "scalar", "any"]
SCALARS = ("string", "integer", "number", "boolean", "time", "microtime", "quantity", "bytes", "intOrString")


class SchemaNode:
    """A value somewhere in a document. The `fields` of an object are made on first use, since types may
    contain themselves."""

    def __init__(
        self,
        shape: Shape,
        *,
        scalar: str = "",
        item: SchemaNode | None = None,
        type_name: str = "",
        lines: dict[str, str] | None = None,
        package: str = "",
        about: str = "",
    ) -> None:
        self.shape: Shape = shape
        self.scalar = scalar
        self.item = item
        self.type_name = type_name
        """Full name of a named type, as OpenAPI references it."""
        self.about = about
        """Describes the type; `description` describes this field of it."""
        self.description = ""
        self.required = False
        self.bits = 0
        """Of an integer: 32 or 64; 0 where the schema does not say."""
        self.allowed: tuple[str, ...] = ()
        """Of a string: the only values it may have; none: any."""
        self.number: tuple[int, ...] = ()
        self.says_zero = False
        """In protobuf, zero is a value that was set; of other fields it is what nobody set."""
        self.list_type: Literal["", "set", "map"] = ""
        self.keys: tuple[str, ...] = ()
        self.atomic = False
        self.merges = False
        self.merge_key = ""
        self.retain_keys = False
        self.replaces = False
        self.open = shape == "any"
        """Fields that the schema does not name are kept and allowed."""
        self.key_defaults: dict[str, Any] = {}
        """What a key of a list of maps counts as when an item leaves it out."""
        self._lines = lines or {}
        self._package = package

    @cached_property
    def fields(self) -> dict[str, SchemaNode]:
        return {name: _parse(line, self._package) for name, line in self._lines.items()}

    @cached_property
    def with_quantities(self) -> dict[str, SchemaNode]:
        """The fields of an object that are quantities or have some inside."""
        return {name: child for name, child in self.fields.items() if child._has_quantities(())}

    def _has_quantities(self, above: tuple[str, ...]) -> bool:
        """`above`: the types around it, since a type may contain itself."""
        if self.shape == "object":
            if self.type_name and self.type_name in above:
                return False
            inner = (*above, self.type_name)
            return any(child._has_quantities(inner) for child in self.fields.values())
        if self.item is not None:
            return self.item._has_quantities(above)
        return self.scalar == "quantity"

    def flag(self, flags: list[str]) -> None:
        for flag in flags:
            name, _, value = flag.partition("=")
            if name == "set":
                self.list_type = "set"
            elif name == "map":
                self.list_type = "map"
                pairs = [key.partition("=") for key in value.split(",")]
                self.keys = tuple(key for key, _, _ in pairs)
                self.key_defaults = {key: default for key, has, default in pairs if has}
            elif name in ("atomic", "granular"):
                self.atomic = name == "atomic"
            elif name == "enum":
                (self.item or self).allowed = tuple(value.replace("_", " ").split(","))
            elif name == "merge":
                self.merges, self.merge_key = True, value
            elif name[0] == "@":
                self.number = tuple(int(part) for part in name[1:].rstrip("?").split("."))
                self.says_zero = name.endswith("?")
            elif name == "retainKeys":
                self.retain_keys = True
            elif name == "replace":
                self.replaces = True
            else:
                raise ValueError(f"unknown flag {flag!r} in a schema file")

    def child(self, name: str) -> SchemaNode:
        """The schema of one member of an object or map; `ANYTHING` where none is known."""
        if self.shape == "object":
            return self.fields.get(name, self.item_schema)
        return self.item_schema if self.shape == "map" else ANYTHING

    @property
    def item_schema(self) -> SchemaNode:
        """The schema of the items of a list, the values of a map, or unnamed fields of an object."""
        return self.item if self.item is not None else ANYTHING

    @classmethod
    def from_openapi(cls, schema: dict[str, Any]) -> SchemaNode:
        """The tree of a custom resource; unknown fields are open where the schema preserves them."""
        kind = schema.get("type", "")
        properties: dict[str, Any] = schema.get("properties") or {}
        extra = schema.get("additionalProperties")
        if kind == "array":
            node = _list_from_openapi(schema)
        elif kind == "object" and not properties and isinstance(extra, dict):
            node = cls("map", item=cls.from_openapi(extra))
        elif kind == "object":
            node = cls("object", item=cls.from_openapi(extra) if isinstance(extra, dict) else None)
            node.__dict__["fields"] = {name: cls.from_openapi(child) for name, child in properties.items()}
            for name in schema.get("required") or ():
                if name in properties:
                    node.fields[name].required = True
            node.open = bool(schema.get("x-kubernetes-preserve-unknown-fields")) or extra is True
            if schema.get("x-kubernetes-embedded-resource"):
                node.fields.setdefault("apiVersion", ANYTHING)
                node.fields.setdefault("kind", ANYTHING)
                node.fields["metadata"] = ANYTHING
        elif schema.get("x-kubernetes-int-or-string"):
            node = cls("scalar", scalar="intOrString")
        elif kind:
            node = cls("scalar", scalar=kind)
            node.allowed = tuple(each for each in schema.get("enum") or () if isinstance(each, str))
        else:
            node = cls("any")
        node.atomic = schema.get("x-kubernetes-map-type") == "atomic"
        node.description = schema.get("description", "")
        return node

    def __repr__(self) -> str:
        return f"<SchemaNode {self.shape} {self.type_name or self.scalar}>"


ANYTHING = SchemaNode("any")
"""Shared; not to be changed."""


def _list_from_openapi(schema: dict[str, Any]) -> SchemaNode:
    items: dict[str, Any] = schema.get("items") or {}
    node = SchemaNode("list", item=SchemaNode.from_openapi(items))
    list_type = schema.get("x-kubernetes-list-type", "atomic")
    if list_type == "map":
        node.flag(["map=" + ",".join(schema.get("x-kubernetes-list-map-keys") or ())])
    elif list_type == "set":
        node.flag(["set"])
    fields = items.get("properties") or {}
    node.key_defaults = {key: fields[key]["default"] for key in node.keys if "default" in fields.get(key, {})}
    return node


def _parse(line: str, package: str) -> SchemaNode:
    head, _, description = line.partition(" | ")
    spelled, *flags = head.split()
    required = spelled.endswith("!")
    node = _parse_type(spelled.removesuffix("!"), package)
    node.required = required
    node.description = description.strip()
    node.flag(flags)
    return node


def _parse_type(spelled: str, package: str) -> SchemaNode:
    if spelled == "{}":
        return SchemaNode("object")
    if spelled[0] == "[":
        return SchemaNode("list", item=_parse_type(spelled[1:-1], package))
    if spelled[0] == "{":
        return SchemaNode("map", item=_parse_type(spelled[1:-1], package))
    if spelled == "any":
        return SchemaNode("any")
    if spelled in SCALARS:
        return SchemaNode("scalar", scalar=spelled)
    if spelled in ("int32", "int64"):
        node = SchemaNode("scalar", scalar="integer")
        node.bits = int(spelled[3:])
        return node
    file, _, name = spelled.rpartition(".")
    return named(file or package, name)


def named(package: str, name: str) -> SchemaNode:
    """A fresh node for a type of one of the files; the caller may set flags on it."""
    document = load(package)
    lines = dict(document["types"][name])
    about = lines.pop("about", "")
    atomic = about == "atomic" or about.startswith("atomic | ")
    node = SchemaNode(
        "object",
        type_name=f"{document['package']}.{name}",
        lines=lines,
        package=package,
        about=about.removeprefix("atomic").removeprefix(" | "),
    )
    node.atomic = atomic
    if name in document["kinds"]:
        node._lines = {"apiVersion": "string", "kind": "string", "metadata": "meta.ObjectMeta @1"} | lines
    return node


@cache
def builtin_schema(group: str, version: str, kind: str) -> SchemaNode | None:
    """The root of a built-in kind, or None when no file describes it."""
    file = file_of(group, version)
    if not file or kind not in load(file)["kinds"]:
        return None
    return named(file, kind)


@cache
def message(file: str, name: str) -> SchemaNode:
    """A named type of a file, shared; not to be changed."""
    return named(file, name)


def metadata() -> SchemaNode:
    return named("meta", "ObjectMeta")


def custom_schema(openapi: dict[str, Any]) -> SchemaNode:
    """The root of a custom resource, from the `openAPIV3Schema` of its definition."""
    root = SchemaNode.from_openapi(openapi)
    if root.shape == "object":
        text = SchemaNode("scalar", scalar="string")
        root.fields.update({"apiVersion": text, "kind": text, "metadata": metadata()})
    return root
