"""The order of a list after a client that knew only some of its items has said how it should be."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def interleave(keys: Sequence[Key], before: Sequence[Key], wanted: Sequence[Key]) -> list[Key]:
    """`keys` in their new order.

    1. those in `wanted` come in that order;
    2. each of the others stands before the first of 1. that it preceded in `before`, else at the end.
    """
    rank = {key: position for position, key in enumerate(wanted)}
    place = {key: position for position, key in enumerate(before)}
    named = sorted((key for key in keys if key in rank), key=lambda key: rank[key])
    others = [key for key in keys if key not in rank]
    result: list[Key] = []
    taken = 0
    for key in named:
        while taken < len(others) and key in place and others[taken] in place:
            if place[others[taken]] > place[key]:
                break
            result.append(others[taken])
            taken += 1
        result.append(key)
    return result + others[taken:]


def append(before: Sequence[Key], wanted: Sequence[Key]) -> list[Key]:
    """All keys of both: `wanted` in its order, the others of `before` as early as their place there allows."""
    known = set(wanted)
    result: dict[Key, None] = {}
    upcoming = iter(wanted)
    for key in before:
        while key in known and key not in result:
            result[next(upcoming)] = None
        result[key] = None
    result.update(dict.fromkeys(wanted))
    return list(result)
