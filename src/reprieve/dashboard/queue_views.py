"""Who waits, as JSON: one row for a gang or a job, in the order in which they are tried.

What waits changes one unit at a time, so each unit's row and its place in the order are kept until one of its
pods or its group changes.
"""

from collections import Counter
from heapq import nsmallest
from typing import Any, NamedTuple

from reprieve.dashboard.compact import GroupRecord, PodRecord
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.naming import counting_order
from reprieve.objects import format_time

View = dict[str, Any]

SHOWN_UNITS = 500

Order = tuple[int, float, str]
"""Priority, then age, then name."""


class Row(NamedTuple):
    view: View
    claims: bool
    """Some of its pods ask for devices: how many GPUs these are depends on more than the unit."""


class QueueViews:
    """Keeps the row of every waiting unit that was shown of one inventory, and the order of all."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._order: dict[str, Order] = {}
        self._rows: dict[str, Row] = {}
        inventory.stale_waiting.update(inventory.waiting)

    def first(self) -> list[View]:
        """The first that wait."""
        inventory = self._inventory
        for unit in inventory.stale_waiting:
            self._rows.pop(unit, None)
            self._order.pop(unit, None)
            if unit in inventory.waiting:
                self._order[unit] = _order(unit, inventory)
        inventory.stale_waiting.clear()
        shown = nsmallest(SHOWN_UNITS, self._order.values())
        return [self._view(unit) for _, _, unit in shown]

    def _view(self, unit: str) -> View:
        row = self._rows.get(unit)
        if row is None:
            pods = self._inventory.waiting.on(unit)
            row = Row(_unit_view(unit, pods, self._inventory), any(pod.claims for pod in pods))
            self._rows[unit] = row
        if row.claims:
            return {**row.view, "gpus": self._inventory.devices.gpus_of(self._inventory.waiting.on(unit))}
        return row.view


def _order(unit: str, inventory: Inventory) -> Order:
    pods = list(inventory.waiting[unit].values())
    created = [pod.created.timestamp() for pod in pods if pod.created]
    return -_priority(pods, inventory.groups), min(created, default=0.0), unit


def _priority(pods: list[PodRecord], groups: dict[str, GroupRecord]) -> int:
    group = groups.get(pods[0].group)
    return group.priority if group else max(pod.priority for pod in pods)


def _unit_view(unit: str, pods: list[PodRecord], inventory: Inventory) -> View:
    group = inventory.groups.get(pods[0].group)
    created = [pod.created for pod in pods if pod.created]
    why, reasons = _why(pods)
    return {
        "unit": unit,
        "team": (group.team if group else "") or pods[0].team,
        "class": (group.priority_class if group else "") or pods[0].priority_class,
        "gpus": inventory.devices.gpus_of(pods),
        "priority": _priority(pods, inventory.groups),
        "pods": len(pods),
        "since": format_time(min(created)) if created else None,
        "nominated": sorted({pod.nominated for pod in pods if pod.nominated}),
        "why": (group.message if group else "") or why,
        "reasons": 1 if group and group.message else reasons,
    }


def _why(pods: list[PodRecord]) -> tuple[str, int]:
    """What most of them wait for, and how many reasons there are."""
    counted = Counter(pod.why_pending for pod in sorted(pods, key=lambda pod: pod.key) if pod.why_pending)
    return next(((why, len(counted)) for why, _ in counted.most_common(1)), ("", 0))


def waiting_pods(inventory: Inventory, unit: str) -> list[View]:
    """Each waiting pod of a row of the queue, as it is tried."""
    pods = sorted(inventory.waiting.on(unit), key=lambda pod: (-pod.priority, counting_order(pod.key)))
    return [
        {
            "pod": pod.key,
            "priority": pod.priority,
            "gpus": inventory.devices.gpus_of([pod]),
            "since": format_time(pod.created) if pod.created else None,
            "nominated": pod.nominated,
            "why": pod.why_pending,
        }
        for pod in pods[:SHOWN_UNITS]
    ]
