"""Documents by path: which fields they have, how two of them differ, merging, removing a field.

Everything follows the schema: atomic lists and maps are one field, sets and keyed lists have a field for
each item, what the schema does not know is a plain map or an atomic list.
"""

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from reprieve.objects import SchemaNode, schemas
from reprieve.server.apply.managed_fields import FieldSet, Path, field, key, value
from reprieve.server.errors import bad_request

_MISSING: Any = object()


def granular(document: Any, schema: SchemaNode) -> bool:
    """Whether the parts of a value can have different owners."""
    if schema.atomic:
        return False
    if isinstance(document, dict):
        return True
    return isinstance(document, list) and bool(schema.list_type)


def children(document: Any, schema: SchemaNode) -> Iterator[tuple[str, Any, SchemaNode]]:
    """The parts of a granular value: element, value and schema."""
    if isinstance(document, dict):
        for name, item in document.items():
            yield field(name), item, schema.child(name)
    else:
        for item in document:
            yield item_element(item, schema), item, schema.item_schema


def item_element(item: Any, schema: SchemaNode) -> str:
    if schema.list_type == "set":
        return value(item)
    if not isinstance(item, dict):
        raise bad_request(f"failed to create typed patch object: expected a map as list item, got {item!r}")
    keys: dict[str, Any] = {}
    for name in schema.keys:
        found = item.get(name, schema.key_defaults.get(name))
        if found is not None:
            keys[name] = found
    if not keys:
        names = ", ".join(f'"{name}"' for name in schema.keys)
        raise bad_request(f"associative list with keys has an element that omits key field {names}")
    return key(keys)


def check_unique(document: Any, schema: SchemaNode, path: str = "") -> None:
    """Items of one list must differ in their keys, or their fields would have two owners at once."""
    if not granular(document, schema):
        return
    seen: set[str] = set()
    for element, item, below in children(document, schema):
        if element in seen:
            shown = element.partition(":")[2]
            raise bad_request(
                f"failed to create typed patch object: {path}: duplicate entries for key {shown}"
            )
        seen.add(element)
        check_unique(item, below, f"{path}.{element.partition(':')[2]}")


def field_set(document: Any, schema: SchemaNode, path: Path = ()) -> FieldSet:
    """The fields that a document sets: leaves, items of lists, entries of maps, and empty values."""
    found: set[Path] = set()
    _collect(document, schema, path, found)
    return frozenset(found)


def _collect(document: Any, schema: SchemaNode, path: Path, found: set[Path]) -> None:
    if not granular(document, schema) or not document:
        if path:
            found.add(path)
        return
    declared = schema.fields if schema.shape == "object" else {}
    for element, item, below in children(document, schema):
        here = (*path, element)
        if isinstance(document, list) or element[2:] not in declared:
            found.add(here)
        _collect(item, below, here, found)


def differences(old: Any, new: Any, schema: SchemaNode) -> tuple[FieldSet, FieldSet]:
    """Fields that were added or changed, and fields that are gone."""
    changed: set[Path] = set()
    removed: set[Path] = set()
    _compare(old, new, schema, (), changed, removed)
    return frozenset(changed), frozenset(removed)


def _compare(
    old: Any, new: Any, schema: SchemaNode, path: Path, changed: set[Path], removed: set[Path]
) -> None:
    if old is _MISSING:
        changed |= field_set(new, schema, path)
    elif new is _MISSING:
        removed |= field_set(old, schema, path)
    elif old == new:
        return
    elif type(old) is type(new) and granular(old, schema) and granular(new, schema):
        before = {element: (item, below) for element, item, below in children(old, schema)}
        after = {element: (item, below) for element, item, below in children(new, schema)}
        for element in before.keys() | after.keys():
            was, below = before.get(element, (_MISSING, schemas.ANYTHING))
            now, below_now = after.get(element, (_MISSING, below))
            _compare(was, now, below_now, (*path, element), changed, removed)
        if path and not new:
            changed.add(path)  # an empty value is a field of its own
        if path and not old:
            removed.add(path)
    else:
        changed.add(path)


def merge(current: Any, applied: Any, schema: SchemaNode) -> Any:
    """The current value with everything of the applied one; neither is changed."""
    if type(current) is not type(applied) or not granular(current, schema):
        return copy.deepcopy(applied)
    if isinstance(applied, dict):
        merged = dict(current)
        for name, item in applied.items():
            below = schema.child(name)
            merged[name] = merge(merged[name], item, below) if name in merged else copy.deepcopy(item)
        return merged
    have = {element: item for element, item, _ in children(current, schema)}
    want = {element: item for element, item, _ in children(applied, schema)}
    items = dict(have)
    for element, item in want.items():
        items[element] = (
            merge(have[element], item, schema.item_schema) if element in have else copy.deepcopy(item)
        )
    return [items[element] for element in _in_order(have, want)]


def remove(document: Any, paths: Iterable[Path], schema: SchemaNode) -> Any:
    """The document without these fields, as far as it has them."""
    whole: set[str] = set()
    below: dict[str, list[Path]] = {}
    for element, *rest in paths:
        if rest:
            below.setdefault(element, []).append(tuple(rest))
        else:
            whole.add(element)
    if isinstance(document, dict):
        kept = ((name, item) for name, item in document.items() if field(name) not in whole)
        return {
            name: remove(item, below[field(name)], schema.child(name)) if field(name) in below else item
            for name, item in kept
        }
    if isinstance(document, list) and schema.list_type:
        return [
            remove(item, _but_keys(below[element], schema), schema.item_schema) if element in below else item
            for element, item, _ in children(document, schema)
            if element not in whole
        ]
    return document


def _but_keys(paths: list[Path], schema: SchemaNode) -> list[Path]:
    """An item needs its key."""
    return [path for path in paths if len(path) > 1 or path[0][2:] not in schema.keys]


def _in_order(before: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """All elements of both: `wanted` in its order, the others of `before` as early as that order allows."""
    known = set(wanted)
    result: dict[str, None] = {}
    upcoming = iter(wanted)
    for element in before:
        while element in known and element not in result:
            result[next(upcoming)] = None
        result[element] = None
    result.update(dict.fromkeys(wanted))
    return list(result)
