"""The shapes of the built-in kinds, written once: which fields exist, and how lists and maps merge.

The YAML files of this folder hold one line for each field: `type flags | description`.

    type    string integer number boolean time microtime quantity bytes intOrString any, `[T]` a list, `{T}` a map,
            `{}` an object without fields, `Name` a type of the same file, `file.Name` one of another; `!`: required
    flags   set, map=KEY,KEY=X  list type of server-side apply (a list without either is atomic); X: default of KEY
            atomic              a map or struct that has one owner as a whole
            merge, merge=KEY    strategic merge patch merges the list (by KEY); without it the patch replaces it
            retainKeys, replace other patch strategies
            @4, @2.7            number of the field in protobuf; 2.7: field 7 of the message inlined as field 2

Server-side apply, strategic merge patch, strict field validation and OpenAPI all read the same `Node` tree; a custom
resource gives the same tree from its `openAPIV3Schema` (`Node.from_openapi`). Nothing here knows requests or storage.
"""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import yaml

Shape = Literal["object", "map", "list", "scalar", "any"]
SCALARS = ("string", "integer", "number", "boolean", "time", "microtime", "quantity", "bytes", "intOrString")


class Node:
    """One place in a schema. `fields` of an object and `item` of a list or map are made when first asked for, since
    types may contain themselves."""

    def __init__(
        self,
        shape: Shape,
        *,
        scalar: str = "",
        item: Node | None = None,
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
        """What the type is; `description` says what this field of the type is for."""
        self.description = ""
        self.required = False
        self.number: tuple[int, ...] = ()
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
    def fields(self) -> dict[str, Node]:
        return {name: _parse(line, self._package) for name, line in self._lines.items()}

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
            elif name == "atomic":
                self.atomic = True
            elif name == "merge":
                self.merges, self.merge_key = True, value
            elif name[0] == "@":
                self.number = tuple(int(part) for part in name[1:].split("."))
            elif name == "retainKeys":
                self.retain_keys = True
            elif name == "replace":
                self.replaces = True
            else:
                raise ValueError(f"unknown flag {flag!r} in a schema file")

    @staticmethod
    def from_openapi(schema: dict[str, Any]) -> Node:
        """The tree of a custom resource; its unknown fields are open where the schema says so."""
        return _from_openapi(schema)

    def __repr__(self) -> str:
        return f"<Node {self.shape} {self.type_name or self.scalar}>"


def _parse(line: str, package: str) -> Node:
    head, _, description = line.partition(" | ")
    spelled, *flags = head.split()
    required = spelled.endswith("!")
    node = _parse_type(spelled.removesuffix("!"), package)
    node.required = required
    node.description = description.strip()
    node.flag(flags)
    return node


def _parse_type(spelled: str, package: str) -> Node:
    if spelled == "{}":
        return Node("object")
    if spelled[0] == "[":
        return Node("list", item=_parse_type(spelled[1:-1], package))
    if spelled[0] == "{":
        return Node("map", item=_parse_type(spelled[1:-1], package))
    if spelled == "any":
        return Node("any")
    if spelled in SCALARS:
        return Node("scalar", scalar=spelled)
    file, _, name = spelled.rpartition(".")
    return named(file or package, name)


def named(package: str, name: str) -> Node:
    """A fresh node for a type of one of the files; the caller may set flags on it."""
    document = load(package)
    lines = dict(document["types"][name])
    about = lines.pop("about", "")
    atomic = about == "atomic" or about.startswith("atomic | ")
    node = Node(
        "object",
        type_name=f"{document['package']}.{name}",
        lines=lines,
        package=package,
        about=about.removeprefix("atomic").removeprefix(" | "),
    )
    node.atomic = atomic
    if name in document.get("kinds", ()):
        node._lines = {"apiVersion": "string", "kind": "string", "metadata": "meta.ObjectMeta @1"} | lines
    return node


_FOLDER = Path(__file__).parent


@cache
def load(file: str) -> dict[str, Any]:
    text = (_FOLDER / f"{file}.yaml").read_text()
    document: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return document


_FILE_OF_GROUP: dict[tuple[str, str], str] = {
    ("", "v1"): "core",
    ("apps", "v1"): "apps",
    ("authentication.k8s.io", "v1"): "authentication",
    ("authorization.k8s.io", "v1"): "authorization",
    ("autoscaling", "v1"): "autoscaling",
    ("batch", "v1"): "batch",
    ("networking.k8s.io", "v1"): "networking",
    ("policy", "v1"): "policy",
    ("rbac.authorization.k8s.io", "v1"): "rbac",
    ("scheduling.k8s.io", "v1"): "scheduling",
    ("scheduling.k8s.io", "v1beta1"): "groups",
    ("coordination.k8s.io", "v1"): "coordination",
    ("events.k8s.io", "v1"): "events",
    ("apiextensions.k8s.io", "v1"): "apiextensions",
    ("kueue.x-k8s.io", "v1beta2"): "kueue",
    ("kueue.x-k8s.io", "v1beta1"): "kueue",
}


@cache
def builtin_schema(group: str, version: str, kind: str) -> Node | None:
    """The root of a built-in kind, or None when no file describes it."""
    file = _FILE_OF_GROUP.get((group, version))
    if file is None or kind not in load(file).get("kinds", ()):
        return None
    return named(file, kind)


@cache
def message(file: str, name: str) -> Node:
    """A named type of a file, shared; not to be changed."""
    return named(file, name)


def metadata() -> Node:
    return named("meta", "ObjectMeta")


def _from_openapi(schema: dict[str, Any]) -> Node:
    kind = schema.get("type", "")
    properties: dict[str, Any] = schema.get("properties") or {}
    extra = schema.get("additionalProperties")
    if kind == "array":
        node = Node("list", item=_from_openapi(schema.get("items") or {}))
        node.flag(_list_flags(schema))
        item_fields = (schema.get("items") or {}).get("properties") or {}
        node.key_defaults = {
            k: item_fields[k]["default"] for k in node.keys if "default" in item_fields.get(k, {})
        }
    elif kind == "object" and not properties and isinstance(extra, dict):
        node = Node("map", item=_from_openapi(extra))
    elif kind == "object":
        node = Node("object")
        node.__dict__["fields"] = {name: _from_openapi(child) for name, child in properties.items()}
        node.open = bool(schema.get("x-kubernetes-preserve-unknown-fields")) or extra is True
    elif schema.get("x-kubernetes-int-or-string"):
        node = Node("scalar", scalar="intOrString")
    elif kind:
        node = Node("scalar", scalar=kind)
    else:
        node = Node("any")
    node.atomic = schema.get("x-kubernetes-map-type") == "atomic"
    node.description = schema.get("description", "")
    return node


def _list_flags(schema: dict[str, Any]) -> list[str]:
    list_type = schema.get("x-kubernetes-list-type", "atomic")
    if list_type == "map":
        return ["map=" + ",".join(schema.get("x-kubernetes-list-map-keys") or ())]
    return ["set"] if list_type == "set" else []
