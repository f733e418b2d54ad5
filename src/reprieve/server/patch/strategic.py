"""Strategic merge patch: a merge patch that knows which lists are really maps.

Directives, as kubectl sends them:

    $patch: delete | replace         on an object, or on an item of a list
    $retainKeys: [...]               every other key of the object is removed
    $deleteFromPrimitiveList/F: []   values to remove from the list F
    $setElementOrder/F: []           the final order of the list F; without it, that of the patch counts

A list without a merge strategy in the schema is replaced as a whole, as is everything the schema does not
know.
"""

import copy
from typing import Any

from reprieve.objects import SchemaNode

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList/"
ELEMENT_ORDER = "$setElementOrder/"
_GONE: Any = object()


class BadPatch(ValueError):
    """An item of a merged list lacks its merge key, or a directive is malformed."""


def strategic_merge(current: dict[str, Any], patch: dict[str, Any], schema: SchemaNode) -> dict[str, Any]:
    """A new document that shares the untouched parts of `current`; neither argument is changed."""
    return _merge_objects(current, patch, schema)


def _merge_objects(current: dict[str, Any], patch: dict[str, Any], schema: SchemaNode) -> dict[str, Any]:
    directive = patch.get(DIRECTIVE)
    if directive not in (None, "delete", "replace", "merge"):
        raise BadPatch(f"{DIRECTIVE}: {directive!r} is none of delete, replace and merge")
    if directive == "delete":
        return {}
    if directive == "replace":
        return {
            k: _without_directives(v) for k, v in patch.items() if not k.startswith("$") and v is not None
        }
    merged = dict(current)
    if RETAIN_KEYS in patch:
        kept = set(map(_hashable, _directive(patch, RETAIN_KEYS)))
        merged = {name: value for name, value in merged.items() if name in kept}
    for name, value in patch.items():
        if name.startswith("$"):
            continue
        if value is None:
            merged.pop(name, None)
        else:
            ordered = ELEMENT_ORDER + name
            order = _directive(patch, ordered) if ordered in patch else None
            merged[name] = _merge_values(merged.get(name), value, schema.child(name), order)
    _apply_list_directives(merged, patch, schema)
    return merged


def _apply_list_directives(merged: dict[str, Any], patch: dict[str, Any], schema: SchemaNode) -> None:
    """Deletions from primitive lists, and orders of lists that the patch itself does not otherwise touch."""
    for name in patch:
        if name.startswith(DELETE_FROM):
            field, gone = name.removeprefix(DELETE_FROM), set(map(_hashable, _directive(patch, name)))
            if isinstance(merged.get(field), list):
                merged[field] = [item for item in merged[field] if _hashable(item) not in gone]
        elif name.startswith(ELEMENT_ORDER):
            field, order = name.removeprefix(ELEMENT_ORDER), _directive(patch, name)
            if patch.get(field) is None and isinstance(merged.get(field), list):
                key = schema.child(field).merge_key
                merged[field] = _ordered(merged[field], merged[field], order, key)


def _directive(patch: dict[str, Any], name: str) -> list[Any]:
    value = patch[name]
    if not isinstance(value, list):
        raise BadPatch(f"{name} must be a list, got {value!r}")
    return value


def _merge_values(current: Any, value: Any, schema: SchemaNode, order: list[Any] | None) -> Any:
    if isinstance(value, dict):
        base = current if isinstance(current, dict) and not schema.replaces else {}
        return _merge_objects(base, value, schema)
    if isinstance(value, list) and schema.merges:
        base_list = current if isinstance(current, list) else []
        if schema.merge_key:
            return _merge_keyed(base_list, value, schema, order)
        return _merge_primitives(base_list, value, order)
    return copy.deepcopy(value) if isinstance(value, list) else value


def _merge_primitives(current: list[Any], added: list[Any], order: list[Any] | None) -> list[Any]:
    known = set(map(_hashable, current))
    merged = list(current) + [item for item in added if _hashable(item) not in known]
    return _ordered(merged, current, added if order is None else order, "")


def _merge_keyed(
    current: list[Any], patch: list[Any], schema: SchemaNode, order: list[Any] | None
) -> list[Any]:
    key = schema.merge_key
    item_schema = schema.item_schema
    replaces = any(isinstance(item, dict) and item.get(DIRECTIVE) == "replace" for item in patch)
    merged: list[Any] = [] if replaces else list(current)
    places: dict[Any, list[int]] = {}
    for position, item in enumerate(merged):
        places.setdefault(_hashable(_key_of(item, key)), []).append(position)
    for item in patch:
        if not isinstance(item, dict):
            raise BadPatch(f"expected an object with the merge key {key!r}, got {item!r}")
        directive = item.get(DIRECTIVE)
        if directive == "replace":
            continue
        if key not in item:
            raise BadPatch(f"an item of the patch does not contain its merge key {key!r}")
        value = _hashable(item[key])
        if directive == "delete":
            for position in places.pop(value, ()):
                merged[position] = _GONE
        elif value in places:
            position = places[value][0]
            merged[position] = _merge_objects(merged[position], item, item_schema)
        else:
            places[value] = [len(merged)]
            merged.append(_merge_objects({}, item, item_schema))
    merged = [item for item in merged if item is not _GONE]
    return _ordered(merged, current, patch if order is None else order, key)


def _ordered(merged: list[Any], current: list[Any], order: list[Any], key: str) -> list[Any]:
    by_key = {_hashable(_key_of(item, key)): item for item in merged}
    before = [_hashable(_key_of(item, key)) for item in current]
    wanted = [_hashable(_key_of(item, key)) for item in order]
    return [by_key[k] for k in _interleave(list(by_key), before, wanted)]


def _interleave(keys: list[Any], before: list[Any], wanted: list[Any]) -> list[Any]:
    """`keys` in the order of a client that knew only some of them.

    1. those in `wanted` come in that order;
    2. each of the others stands before the first of 1. that it preceded in `before`, else at the end.
    """
    rank = {key: position for position, key in enumerate(wanted)}
    place = {key: position for position, key in enumerate(before)}
    named = sorted((key for key in keys if key in rank), key=lambda key: rank[key])
    others = [key for key in keys if key not in rank]
    result: list[Any] = []
    taken = 0
    for key in named:
        while taken < len(others) and key in place and others[taken] in place:
            if place[others[taken]] > place[key]:
                break
            result.append(others[taken])
            taken += 1
        result.append(key)
    return result + others[taken:]


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, dict | list) else value


def _key_of(item: Any, key: str) -> Any:
    return item.get(key) if key and isinstance(item, dict) else item


def _without_directives(value: Any) -> Any:
    """What a patch would create from nothing: no nulls, no directives."""
    if isinstance(value, dict):
        return {
            k: _without_directives(v) for k, v in value.items() if not k.startswith("$") and v is not None
        }
    if isinstance(value, list):
        return [_without_directives(item) for item in value]
    return value
