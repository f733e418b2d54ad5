"""Which records a request means: label and field selectors as they stand in a query string.

A `Selection` is compiled once for a request and then called for every record, at a cost that does not grow
with the selector (a query string has room for thousands of terms). Labels are part of the record; fields
other than name and namespace are decoded from the stored bytes, only as far as the selectors need.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from reprieve.objects import Document
from reprieve.server.errors import bad_request
from reprieve.server.label_selection import parse_labels
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Record

_FALSE_BY_DEFAULT = {"spec.hostNetwork", "spec.unschedulable"}
_NUMBERS = {"status.replicas", "status.successful"}


class Selection:
    """What `labelSelector` and `fieldSelector` select. Empty selectors select everything."""

    __slots__ = ("_fields", "_labels", "name", "namespace")

    def __init__(self, resource: ResourceInfo, labels: str = "", fields: str = "") -> None:
        self._labels = parse_labels(labels) if labels else ()
        self.name: str | None = None
        """The only name that can match, if the selector requires one."""
        self.namespace: str | None = None
        self._fields: dict[str, _Field] = {}
        for path, equal, value in parse_fields(fields) if fields else ():
            self._add_field(resource, path, equal, value)

    def _add_field(self, resource: ResourceInfo, path: str, equal: bool, value: str) -> None:
        first, dot, rest = path.partition(".")
        path = resource.renames.get(first, first) + dot + rest
        if path == "metadata.name":
            self.name = value if equal else self.name
        elif path == "metadata.namespace":
            self.namespace = value if equal else self.namespace
        found = self._fields.get(path)
        if found is None:
            found = self._fields[path] = _Field(_reader_of(resource, path))
        (found.wanted if equal else found.unwanted).add(value)

    @property
    def everything(self) -> bool:
        return not self._labels and not self._fields

    def __call__(self, record: Record) -> bool:
        labels = record.labels
        for test in self._labels:
            if not test(labels):
                return False
        fields = self._fields
        return not fields or all(field.holds(record) for field in fields.values())


def format_selector(selector: Document) -> str:
    """A document's label selector in the form of a query string."""
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for requirement in selector.get("matchExpressions") or ():
        key, values = requirement.get("key", ""), ",".join(sorted(requirement.get("values") or ()))
        forms = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        terms.append(forms.get(requirement.get("operator", ""), ""))
    return ",".join(term for term in terms if term)


def parse_fields(text: str) -> list[tuple[str, bool, str]]:
    """`status.phase!=Failed,spec.nodeName=n1` as (path, equal, value); `\\` escapes `,`, `=` and itself."""
    terms = []
    for term in re.split(r"(?<!\\),", text):
        if not term.strip():
            continue
        match = re.fullmatch(r"\s*([A-Za-z0-9_.\-/\[\]]+)\s*(!=|==?)(.*)", term, re.DOTALL)
        if match is None:
            raise bad_request(f"invalid field selector: {term[:64]!r}: can't understand it")
        value = re.sub(r"\\([\\,=])", r"\1", match[3].strip())
        terms.append((match[1], match[2] != "!=", value))
    return terms


class _Field:
    """What must be true of one field, however often a selector speaks of it: it is read once."""

    __slots__ = ("read", "unwanted", "wanted")

    def __init__(self, read: Callable[[Record], str]) -> None:
        self.read = read
        self.wanted: set[str] = set()
        self.unwanted: set[str] = set()

    def holds(self, record: Record) -> bool:
        value, wanted = self.read(record), self.wanted
        return value not in self.unwanted and (not wanted or (value in wanted and len(wanted) == 1))


def _reader_of(resource: ResourceInfo, path: str) -> Callable[[Record], str]:
    if path == "metadata.name":
        return attrgetter("name")
    if path == "metadata.namespace":
        return attrgetter("namespace")
    if path in resource.selectable:
        return _event_source if path == "source" and not resource.custom else _reader(path)
    raise bad_request(f"field label not supported: {path}")


@lru_cache(maxsize=256)
def _reader(path: str) -> Callable[[Record], str]:
    """A function that reads one field of the stored bytes as a string."""
    parts = path.split(".")
    leaf: Any = Any
    for part in reversed(parts):
        leaf = msgspec.defstruct("Partial", [("value", leaf | None, None)], rename={"value": part}, gc=False)
    decode = msgspec.json.Decoder(leaf).decode
    absent = "false" if path in _FALSE_BY_DEFAULT else "0" if path in _NUMBERS else ""

    def read(record: Record) -> str:
        found: Any = None
        try:
            found = decode(record.raw)
            for _ in parts:
                found = found.value if found is not None else None
        except msgspec.ValidationError:
            return absent
        if found is None:
            return absent
        return str(found).lower() if isinstance(found, bool) else str(found)

    return read


def _event_source(record: Record) -> str:
    """Who wrote an event, under its old name or its new one."""
    return _reader("source.component")(record) or _reader("reportingComponent")(record)
