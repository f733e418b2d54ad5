"""Search over everything the page shows, by any part of a name."""

import asyncio
from heapq import nsmallest
from typing import Any

from reprieve.dashboard.inventory import Inventory

View = dict[str, Any]

MOST_EACH = 8
MOST = 40
SLICE = 4000
"""Names that are looked at before others get their turn: the controller shares this process."""
TABLES = (
    ("PodGroup", "groups"),
    ("CompositePodGroup", "composites"),
    ("Workload", "workloads"),
    ("Node", "nodes"),
    ("ClusterQueue", "cluster_queues"),
    ("LocalQueue", "local_queues"),
    ("Cohort", "cohorts"),
    ("MultiKueueCluster", "clusters"),
    ("Pod", "pods"),
)


async def search(text: str, inventory: Inventory) -> View:
    """The names that match best, and how many do: every word is somewhere in KIND/NAMESPACE/NAME."""
    words = text.lower().split()
    items: list[View] = []
    total = 0
    for kind, names in (
        *((kind, getattr(inventory, table)) for kind, table in TABLES),
        *_owners(inventory).items(),
    ):
        found = await _matches(words, kind, list(names))
        total += len(found)
        best = nsmallest(MOST_EACH, found, key=lambda name: (_rank(words, name), len(name), name))
        items += [{"kind": kind, "name": name} for name in best]
    items.sort(key=lambda item: _rank(words, item["name"]))
    return {"items": items[:MOST], "total": total}


def _owners(inventory: Inventory) -> dict[str, list[str]]:
    """Jobs and the like, which are known by their pods, by kind: a pod may name any."""
    found: dict[str, list[str]] = {}
    for owner in inventory.by_owner:
        kind, _, name = owner.partition("/")
        found.setdefault(kind, []).append(name)
    return found


async def _matches(words: list[str], kind: str, names: list[str]) -> list[str]:
    prefix, found = kind.lower(), []
    for start in range(0, len(names), SLICE):
        for name in names[start : start + SLICE]:
            whole = f"{prefix}/{name}"
            if all(word in whole for word in words):
                found.append(name)
        await asyncio.sleep(0)
    return found


def _rank(words: list[str], name: str) -> int:
    """Names that are the text, then those that begin with it, then those that hold it."""
    last = name.rpartition("/")[2]
    if not words or words[0] in (name, last):
        return 0
    return 1 if last.startswith(words[0]) or name.startswith(words[0]) else 2
