"""JSON for the page, made from the inventory. Nothing is decided or recomputed here.

The whole-cluster view is aggregated (a node is a handful of numbers); a node's pods come when somebody looks at it. Lists are cut
where nobody would read on; the summary has the true numbers.
"""

from datetime import datetime
from heapq import nsmallest
from typing import Any

from reprieve.dashboard.group_views import GroupViews
from reprieve.dashboard.inventory import GroupRecord, Inventory, PodRecord
from reprieve.dashboard.node_views import NodeViews
from reprieve.objects import format_time

View = dict[str, Any]

SHOWN_UNITS = 500
SHOWN_GROUPS = 500


class ClusterViews:
    """Everything the page needs at once, except single pods, decisions, quota, fleet and history."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._nodes = NodeViews(inventory)
        self._groups = GroupViews(inventory)

    def view(self, preemptions: int, now: datetime) -> View:
        inventory = self._inventory
        return {
            "revision": inventory.revision,
            "time": format_time(now),
            "summary": {
                "nodes": len(inventory.nodes),
                "running": inventory.running,
                "pending": sum(map(len, inventory.waiting.values())),
                "terminating": inventory.leaving,
                "preemptions": preemptions,
                "waitingUnits": len(inventory.waiting),
                "groups": len(inventory.groups),
            },
            "bands": sorted(inventory.priorities),
            "nodes": self._nodes.all(),
            "queue": queue_view(inventory),
            "groups": self._groups.all()[:SHOWN_GROUPS],
        }


def queue_view(inventory: Inventory) -> list[View]:
    """The first waiting units in the order they are tried: priority, then age, then name."""
    groups = inventory.groups

    def order(unit: str) -> tuple[int, float, str]:
        pods = list(inventory.waiting[unit].values())
        created = [pod.created.timestamp() for pod in pods if pod.created]
        return -_priority(pods, groups), min(created, default=0.0), unit

    first = nsmallest(SHOWN_UNITS, inventory.waiting, key=order)
    return [_unit_view(unit, inventory.waiting.on(unit), groups) for unit in first]


def _priority(pods: list[PodRecord], groups: dict[str, GroupRecord]) -> int:
    group = groups.get(pods[0].group)
    return group.priority if group else max(pod.priority for pod in pods)


def _unit_view(unit: str, pods: list[PodRecord], groups: dict[str, GroupRecord]) -> View:
    group = groups.get(pods[0].group)
    created = [pod.created for pod in pods if pod.created]
    return {
        "unit": unit,
        "priority": _priority(pods, groups),
        "pods": len(pods),
        "since": format_time(min(created)) if created else None,
        "nominated": sorted({pod.nominated for pod in pods if pod.nominated}),
        "why": (group.message if group else "")
        or next((pod.why_pending for pod in sorted(pods, key=lambda pod: pod.key) if pod.why_pending), ""),
    }
