"""One walk over a document and the schema of its kind; what a check looks for is a subclass.

Here: which fields are unknown, which values have the wrong type, in the words of an API server.
`validation.fields` says it to people.
"""

import re
from typing import Any

from reprieve.objects.meta import Document
from reprieve.objects.schemas.tree import SchemaNode


class Walk:
    """Nulls count as absent. Every method but `look` is for a subclass to say what it finds."""

    scalars = True
    """Whether values without anything inside are looked at: most of a document is that."""
    names_keys = False
    """Whether the path of a map's value is `path[key]`; otherwise it is `path.key`."""

    def look(self, value: Any, node: SchemaNode, path: str) -> None:
        shape, scalars = node.shape, self.scalars
        if value is None or shape == "any":
            return
        if shape == "object" and isinstance(value, dict):
            fields = node.fields
            for name, item in value.items():
                child = fields.get(name, node.item)
                if child is None:
                    if not node.open:
                        self.unknown(value, name, node, f"{path}.{name}" if path else str(name))
                elif scalars or child.shape != "scalar":
                    self.look(item, child, f"{path}.{name}" if path else name)
            self.members(value, node, path)
        elif shape == "scalar":
            self.scalar(value, node, path)
        elif shape == "list" and isinstance(value, list):
            if node.item is not None and (scalars or node.item.shape != "scalar"):
                for index, item in enumerate(value):
                    self.look(item, node.item, f"{path}[{index}]")
        elif shape == "list" or not isinstance(value, dict):
            self.misfit(value, "list" if shape == "list" else "object", path)
        elif node.item is not None and (scalars or node.item.shape != "scalar"):
            for key, item in value.items():
                self.look(item, node.item, f"{path}[{key}]" if self.names_keys else f"{path}.{key}")

    def scalar(self, value: Any, node: SchemaNode, path: str) -> None:
        """A value where one without anything inside belongs."""

    def misfit(self, value: Any, wanted: str, path: str) -> None:
        """`wanted`: list or object."""

    def unknown(self, holder: Document, name: str, node: SchemaNode, path: str) -> None:
        """A field of an object that its schema does not have."""

    def members(self, value: Document, node: SchemaNode, path: str) -> None:
        """An object, once its fields were looked at."""


class _Unknown(Walk):
    scalars = False

    def __init__(self) -> None:
        self.found: list[tuple[Document, str, str]] = []
        """(the object, the name of its field, the path)."""

    def unknown(self, holder: Document, name: str, node: SchemaNode, path: str) -> None:  # noqa: ARG002
        if name[:1] != "$":  # directives of a strategic merge patch are no fields
            self.found.append((holder, name, path))


def unknown_fields(document: Document, schema: SchemaNode) -> list[str]:
    """Paths of the fields that the schema does not have, as strict decoding names them: `spec.a[0].foo`."""
    walk = _Unknown()
    walk.look(document, schema, "")
    return [path for _, _, path in walk.found]


def drop_unknown(document: Document, schema: SchemaNode) -> None:
    """Take out of the document, in place, the fields that the schema does not have."""
    walk = _Unknown()
    walk.look(document, schema, "")
    for holder, name, _ in walk.found:
        del holder[name]


_ACCEPTED: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "time": (str,),
    "microtime": (str,),
    "bytes": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "quantity": (str, int, float),
    "intOrString": (int, str),
}


_MOMENT = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d%s([Zz]|[+-]\d\d:\d\d)"
_SPELLED = {
    "time": re.compile(_MOMENT % r"(\.\d+)?", re.ASCII),
    "microtime": re.compile(_MOMENT % r"\.\d{6}", re.ASCII),
}
_SPELLINGS = {
    "time": "time such as 2026-08-23T10:00:00Z",
    "microtime": "time with six digits such as 2026-08-23T10:00:00.000000Z",
}


class _Mistyped(Walk):
    def __init__(self) -> None:
        self.found: list[tuple[str, Any, str]] = []

    def scalar(self, value: Any, node: SchemaNode, path: str) -> None:
        accepted = _ACCEPTED.get(node.scalar, (object,))
        # A bool is an int to Python but not to Kubernetes.
        if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
            self.found.append((path, value, node.scalar))
        elif node.scalar in _SPELLED and not _SPELLED[node.scalar].fullmatch(str(value)):
            self.found.append((path, value, _SPELLINGS[node.scalar]))

    def misfit(self, value: Any, wanted: str, path: str) -> None:
        self.found.append((path, value, {"list": "array"}.get(wanted, wanted)))


def wrong_types(document: Document, schema: SchemaNode) -> list[tuple[str, Any, str]]:
    """(path, value, expected type) for every value that does not fit its field. Null fits everywhere."""
    walk = _Mistyped()
    walk.look(document, schema, "")
    return walk.found
