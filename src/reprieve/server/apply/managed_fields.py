"""`metadata.managedFields`: who owns which fields, in memory and on the wire.

A field is a tuple of path elements, each spelled as on the wire: `f:name` a field, `k:{"name":"x"}` an item
of a list by its keys, `v:"x"` a value of a set. On the wire (`fieldsV1`) a set of fields is a tree of
objects: a member is an empty object, or one with the entry `.` when there are members below it.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from reprieve.objects import format_time

Path = tuple[str, ...]
FieldSet = frozenset[Path]

APPLY = "Apply"
UPDATE = "Update"
MAX_UPDATERS = 10
"""As upstream: the oldest of more updaters than this are folded into one, so that the list stays short."""
ANCIENT = "ancient-changes"


def parse_fields(fields: Any) -> FieldSet:
    """The members of a `fieldsV1` object; anything else counts as empty."""
    found: set[Path] = set()
    _collect(fields if isinstance(fields, dict) else {}, (), found)
    return frozenset(found)


def _collect(fields: dict[str, Any], path: Path, found: set[Path]) -> None:
    for element, below in fields.items():
        if element == ".":
            found.add(path)
            continue
        here = (*path, element)
        if isinstance(below, dict) and below:
            _collect(below, here, found)
        else:
            found.add(here)


def encode_fields(paths: Iterable[Path]) -> dict[str, Any]:
    """The `fieldsV1` form; sorted, so that equal sets have equal forms."""
    root: dict[str, Any] = {}
    for path in sorted(paths):
        node = root
        for element in path[:-1]:
            node = node.setdefault(element, {})
        node.setdefault(path[-1], {})
    members = set(paths)
    _mark(root, (), members)
    return root


def _mark(node: dict[str, Any], path: Path, members: set[Path]) -> None:
    for element, below in node.items():
        here = (*path, element)
        if below:
            _mark(below, here, members)
            if here in members:
                below["."] = {}


def display(path: Path) -> str:
    """`.spec.containers[name="a"].image`, as conflicts name it."""
    return "".join(_display_element(element) for element in path)


def _display_element(element: str) -> str:
    kind, _, rest = element.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        keys = json.loads(rest)
        return "[" + ",".join(f"{k}={json.dumps(v)}" for k, v in keys.items()) + "]"
    return f"[={rest}]" if kind == "v" else f"[{rest}]"


def field(name: str) -> str:
    return f"f:{name}"


def value(item: Any) -> str:
    return "v:" + json.dumps(item, sort_keys=True, separators=(",", ":"))


def key(keys: dict[str, Any]) -> str:
    return "k:" + json.dumps(keys, sort_keys=True, separators=(",", ":"))


def covers(paths: Iterable[Path]) -> frozenset[Path]:
    """The paths and everything above them."""
    return frozenset(path[:length] for path in paths for length in range(1, len(path) + 1))


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. `identity` distinguishes entries; a manager may own fields by applying and by updating."""

    manager: str
    operation: str
    api_version: str
    subresource: str = ""
    time: str = ""
    fields: FieldSet = frozenset()

    @property
    def identity(self) -> tuple[str, str, str, str]:
        version = self.api_version if self.operation == UPDATE else ""
        return self.manager, self.operation, self.subresource, version

    def describe(self) -> str:
        """As a conflict message names it."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        if self.operation == UPDATE:
            text += f" using {self.api_version}"
            if self.time:
                text += f" at {self.time}"
        return text

    def owning(self, fields: FieldSet) -> "Owner":
        return msgspec.structs.replace(self, fields=fields)

    def at(self, now: datetime) -> "Owner":
        return msgspec.structs.replace(self, time=stamp(now))


def stamp(now: datetime) -> str:
    return format_time(now.replace(microsecond=0))


def read_owners(metadata: dict[str, Any]) -> list[Owner]:
    """The owners in a document's metadata; malformed entries are dropped."""
    entries = metadata.get("managedFields")
    if not isinstance(entries, list):
        return []
    return [_owner(e) for e in entries if isinstance(e, dict) and e.get("operation") in (APPLY, UPDATE)]


def _owner(entry: dict[str, Any]) -> Owner:
    return Owner(
        manager=str(entry.get("manager", "")),
        operation=entry["operation"],
        api_version=str(entry.get("apiVersion", "")),
        subresource=str(entry.get("subresource", "")),
        time=str(entry.get("time", "")),
        fields=parse_fields(entry.get("fieldsV1")),
    )


def write_owners(owners: list[Owner]) -> list[dict[str, Any]]:
    """Entries in upstream's order: operation (Apply first), time, manager, subresource. No empty ones."""
    kept = _fold([owner for owner in owners if owner.fields])
    kept.sort(key=lambda o: (o.operation, o.time, o.manager, o.subresource))
    return [_entry(owner) for owner in kept]


def _fold(owners: list[Owner]) -> list[Owner]:
    updaters = sorted((o for o in owners if o.operation == UPDATE), key=lambda o: (o.time, o.manager))
    surplus = len(updaters) - MAX_UPDATERS
    if surplus <= 0:
        return owners
    oldest = updaters[: surplus + 1]
    fields = frozenset().union(*(o.fields for o in oldest))
    folded = msgspec.structs.replace(oldest[-1], manager=ANCIENT, subresource="", fields=fields)
    return [o for o in owners if o not in oldest] + [folded]


def _entry(owner: Owner) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owner.api_version,
    }
    if owner.time:
        entry["time"] = owner.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = encode_fields(owner.fields)
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry
