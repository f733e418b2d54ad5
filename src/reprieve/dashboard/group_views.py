"""Pod groups: how many of their pods run, wait and leave, and where. Made anew only for groups that changed."""

from typing import Any

from reprieve.dashboard.inventory import GroupRecord, Inventory, PodRecord

View = dict[str, Any]

SHOWN_NODES = 20


class GroupViews:
    """Keeps the view of every group of one inventory."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._views: dict[str, View] = {}
        inventory.stale_groups.update(inventory.groups)

    def all(self) -> list[View]:
        """Those that wait first, then by name."""
        inventory = self._inventory
        for key in inventory.stale_groups:
            group = inventory.groups.get(key)
            if group is None:
                self._views.pop(key, None)
            else:
                self._views[key] = _group_view(key, group, inventory.members.on(key))
        inventory.stale_groups.clear()
        return sorted(self._views.values(), key=lambda view: (not view["pending"], view["group"]))


def _group_view(key: str, group: GroupRecord, pods: list[PodRecord]) -> View:
    nodes = sorted({pod.node for pod in pods if pod.node})
    return {
        "group": key,
        "priority": group.priority,
        "minCount": group.min_count,
        "gang": group.gang,
        "whole": group.whole,
        "running": sum(1 for pod in pods if pod.node and not pod.terminating),
        "pending": sum(1 for pod in pods if not pod.node and not pod.terminating),
        "leaving": sum(1 for pod in pods if pod.terminating),
        "nodes": len(nodes),
        "nodeNames": nodes[:SHOWN_NODES],
        "condition": group.condition,
        "message": group.message,
    }
