"""Sets of fields: as tuples of path elements in memory, as nested objects (`fieldsV1`) on the wire.

An element is spelled as on the wire: `f:name` a field, `k:{"name":"x"}` an item of a list by its keys, `v:"x"` a value of
a set. On the wire a member is an empty object, or one with the entry `.` when there are members below it.
"""

import json
from collections.abc import Iterable
from typing import Any

Path = tuple[str, ...]
FieldSet = frozenset[Path]


def parse(fields: Any) -> FieldSet:
    """The members of a `fieldsV1` object; what is not one counts as empty."""
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


def encode(paths: Iterable[Path]) -> dict[str, Any]:
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
    """`.spec.containers[name="a"].image`, as conflicts are told to people."""
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
