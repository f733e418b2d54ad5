"""The API server's own account of who asked for what: the proof that rights are enough, and none too many."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.real_cluster.control_plane import NATIVE_GROUPS

from reprieve.objects import STAND_IN_GROUP, well_known

STREAMING_LISTS = (1, 32)
"""From here on a watch can begin with a list."""

GROUP_KINDS = ("podgroups", "compositepodgroups", "workloads")
"""What a server has in one of two API groups."""

Right = tuple[str, str, str]
"""Group, resource (with its subresource), verb."""


def entries(log: Path, user: str, since: int = 0) -> Iterator[dict[str, Any]]:
    """What this user asked for, from this byte of the log on."""
    with log.open("rb") as file:
        file.seek(since)
        for line in file:
            entry = json.loads(line)
            if entry["user"].get("username") == user:
                yield entry


def used(found: Iterable[dict[str, Any]]) -> set[Right]:
    """The rights that these requests needed."""
    return {right for entry in found if (right := _right(entry)) is not None}


def _right(entry: dict[str, Any]) -> Right | None:
    what = entry.get("objectRef")
    if not what or not what.get("resource"):
        return None  # discovery and health: everybody who is known may ask
    resource = "/".join(part for part in (what["resource"], what.get("subresource")) if part)
    return what.get("apiGroup", ""), resource, entry["verb"]


def unneeded(
    rules: Iterable[dict[str, Any]], found: Iterable[dict[str, Any]], version: tuple[int, int]
) -> set[Right]:
    """Rights that were given and not used, but for those that other versions need: groups and their
    templates are native or of our own definition, and a server that streams lists is not asked for plain
    ones. What is only looked up when an answer was lost (`get`) is not counted either.
    """
    other = STAND_IN_GROUP if version >= NATIVE_GROUPS else well_known.SCHEDULING_API
    unused = granted(rules) - used(found)
    return {
        right
        for right in unused
        if (right[0], right[1].partition("/")[0]) not in {(other, kind) for kind in GROUP_KINDS}
        and right[2] != "get"
        and not (right[2] == "list" and version >= STREAMING_LISTS)
    }


def codes(found: Iterable[dict[str, Any]]) -> Counter[int]:
    """How the requests ended, by HTTP code."""
    return Counter((entry.get("responseStatus") or {}).get("code", 0) for entry in found)


def granted(rules: Iterable[dict[str, Any]]) -> set[Right]:
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
