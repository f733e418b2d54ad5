"""Trees of groups for the page: one row each, and what it unfolds to."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from reprieve.dashboard.inventory import Inventory

View = dict[str, Any]

SHOWN_TREES = 200
SHOWN_ROWS = 100
"""Groups of one tree that are listed one by one."""
SHOWN_NODES = 20
SUMS = ("running", "pending", "leaving")


class Trees:
    """The trees of an inventory, at one moment; groups whose tree has no root here stand for themselves."""

    def __init__(self, inventory: Inventory) -> None:
        self._composites = inventory.composites
        self._members = inventory.members
        self._below: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        """Kind and key of the groups right below a composite group."""
        for kind, table in (("CompositePodGroup", inventory.composites), ("PodGroup", inventory.groups)):
            for key, group in table.items():
                if group.parent in inventory.composites:
                    self._below[group.parent].append((kind, key))
        roots = (key for key, group in inventory.composites.items() if not group.parent)
        self._rows = {root: list(self._walk(root, 0, set())) for root in sorted(roots)}
        self.groups = {key for rows in self._rows.values() for _, kind, key in rows if kind == "PodGroup"}
        """PodGroups in a tree."""

    def __len__(self) -> int:
        return len(self._rows)

    def views(self, groups: dict[str, View]) -> list[View]:
        """Waiting trees first, then by name; `groups` are the views of the PodGroups."""
        found = [self._view(root, groups) for root in self._rows]
        return sorted(found, key=lambda view: (not view["pending"], view["group"]))[:SHOWN_TREES]

    def below(self, root: str) -> list[str]:
        """Keys of the PodGroups under a composite group."""
        return [key for _, kind, key in self._walk(root, 0, set()) if kind == "PodGroup"]

    def _walk(self, key: str, depth: int, seen: set[str]) -> Iterator[tuple[int, str, str]]:
        """(depth, kind, key) of all groups below, depth first."""
        if key in seen:
            return
        seen.add(key)
        for kind, child in sorted(self._below[key]):
            yield depth + 1, kind, child
            if kind == "CompositePodGroup":
                yield from self._walk(child, depth + 1, seen)

    def _view(self, root: str, groups: dict[str, View]) -> View:
        rows = self._rows[root]
        leaves = [groups[key] for _, kind, key in rows if kind == "PodGroup" and key in groups]
        shown = [{**self._row(kind, key, groups), "depth": depth} for depth, kind, key in rows[:SHOWN_ROWS]]
        waiting = next((leaf for leaf in leaves if leaf["pending"] and leaf["message"]), None)
        return {
            **self._row("CompositePodGroup", root, groups),
            "depth": 0,
            "rows": shown,
            "hidden": len(rows) - len(shown),
            "condition": waiting["condition"] if waiting else "",
            "message": waiting["message"] if waiting else "",
        }

    def _row(self, kind: str, key: str, groups: dict[str, View]) -> View:
        if kind == "PodGroup":
            return {"kind": kind, **groups[key]}
        group = self._composites[key]
        keys = [leaf for _, each, leaf in self._walk(key, 0, set()) if each == "PodGroup" and leaf in groups]
        leaves = [groups[leaf] for leaf in keys]
        nodes = sorted({pod.node for leaf in keys for pod in self._members.on(leaf) if pod.node})
        return {
            "kind": kind,
            "group": key,
            "priority": group.priority,
            "minGroups": group.min_groups,
            "groups": len(self._below[key]),
            "whole": group.whole,
            "topology": group.topology,
            **{name: sum(leaf[name] for leaf in leaves) for name in SUMS},
            "nodes": len(nodes),
            "nodeNames": nodes[:SHOWN_NODES],
            "condition": "",
            "message": "",
        }
