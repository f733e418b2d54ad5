"""JSON for the page, made from the inventory. Nothing is decided or recomputed here.

The whole-cluster view is aggregated (a node is a handful of numbers); a node's pods are sent when a viewer
opens it. Views of nodes and groups are rebuilt only for those that changed. Long lists are cut; the summary
has the true numbers.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from heapq import nsmallest
from typing import Any

from reprieve.dashboard.compact import GroupRecord, NodeRecord, PodRecord
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.tree_views import Trees
from reprieve.objects import format_time

View = dict[str, Any]

SHOWN_UNITS = 500
SHOWN_GROUPS = 500
SHOWN_NODES = 20
SHOWN_CLASSES = 8
SHOWN_NAMES = 500


class ClusterViews:
    """Everything the page needs at once, except single pods, decisions, quota, fleet and history."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._nodes = NodeViews(inventory)
        self._groups = GroupViews(inventory)

    def view(self, preemptions: int, now: datetime) -> View:
        inventory = self._inventory
        groups, trees = self._groups.all(), Trees(inventory)
        alone = [group for group in groups if group["group"] not in trees.groups]
        return {
            "revision": inventory.revision,
            "time": format_time(now),
            "summary": {
                "nodes": len(inventory.nodes),
                "running": inventory.running,
                "pending": inventory.waiting_classes.total(),
                "terminating": inventory.leaving,
                "preemptions": preemptions,
                "waitingUnits": len(inventory.waiting),
                "groups": len(alone),
                "trees": len(trees),
                **_capacity(inventory),
                "waitingByClass": _most(inventory.waiting_classes, SHOWN_CLASSES),
            },
            "namespaces": sorted(_most(inventory.namespaces, SHOWN_NAMES)),
            "teams": sorted(_most(inventory.teams, SHOWN_NAMES)),
            "bands": sorted(inventory.priorities),
            "nodes": self._nodes.all(),
            "queue": _queue_view(inventory),
            "groups": alone[:SHOWN_GROUPS],
            "trees": trees.views({group["group"]: group for group in groups}) if len(trees) else [],
        }


def _capacity(inventory: Inventory) -> View:
    """Of what is scarce: GPUs, where there are any; a node offers them as a resource or as devices."""
    tally, devices = inventory.gpus, inventory.devices.gpus()
    if not tally.total + devices.total:
        cpus = inventory.cpus
        return {"resource": "cpu", "total": cpus.total, "used": cpus.used, "promised": cpus.promised}
    nominated = (pod for pods in inventory.nominated.values() for pod in pods.values())
    return {
        "resource": "gpu",
        "total": tally.total + devices.total,
        "used": tally.used + devices.used,
        "promised": tally.promised + inventory.devices.promised(nominated),
    }


def _most(counted: Counter[str], limit: int) -> dict[str, int]:
    """The most frequent ones; of equals, the first by name."""
    return dict(nsmallest(limit, (+counted).items(), key=lambda each: (-each[1], each[0])))


def _queue_view(inventory: Inventory) -> list[View]:
    """The first that wait, in the order in which they are tried: priority, then age, then name."""
    groups = inventory.groups

    def order(unit: str) -> tuple[int, float, str]:
        pods = list(inventory.waiting[unit].values())
        created = [pod.created.timestamp() for pod in pods if pod.created]
        return -_priority(pods, groups), min(created, default=0.0), unit

    first = nsmallest(SHOWN_UNITS, inventory.waiting, key=order)
    return [_unit_view(unit, inventory) for unit in first]


def _priority(pods: list[PodRecord], groups: dict[str, GroupRecord]) -> int:
    group = groups.get(pods[0].group)
    return group.priority if group else max(pod.priority for pod in pods)


def _unit_view(unit: str, inventory: Inventory) -> View:
    pods = inventory.waiting.on(unit)
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


class NodeViews:
    """Keeps the view of every node of one inventory."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._views: dict[str, View] = {}
        self._order: list[str] = []
        inventory.stale_nodes.update(inventory.nodes)

    def all(self) -> list[View]:
        """In the order in which people count."""
        inventory = self._inventory
        changed = False
        for name in inventory.stale_nodes:
            node = inventory.nodes.get(name)
            if node is None:
                changed |= self._views.pop(name, None) is not None
                continue
            changed |= name not in self._views
            self._views[name] = _node_view(node, inventory)
        inventory.stale_nodes.clear()
        if changed:
            self._order = sorted(self._views, key=counting_order)
        return [self._views[name] for name in self._order]


def _node_view(node: NodeRecord, inventory: Inventory) -> View:
    """`used` and `shares` are of the node's scarcest resource; `free` is what is left of all of them."""
    pods = inventory.on_node.on(node.name)
    requests = [_requests(pod, inventory) for pod in pods]
    allocatable, used = _allocatable(node, inventory), _used_by(requests)
    resource = _scarcest(allocatable, used)
    total = allocatable.get(resource, 0) or 1
    shares: dict[tuple[int, str], float] = defaultdict(float)
    for pod, asked in zip(pods, requests, strict=True):
        shares[pod.priority, pod.group] += asked.get(resource, 0)
    return {
        "name": node.name,
        "zone": node.zone,
        "rack": node.rack,
        "pool": node.pool,
        "namespaces": sorted({pod.key.partition("/")[0] for pod in pods}),
        "teams": sorted({pod.team for pod in pods if pod.team}),
        "ready": node.ready,
        "cordoned": node.unschedulable,
        "resource": resource,
        "used": round(used.get(resource, 0) / total, 4),
        "shares": [[p, group, round(n / total, 4)] for (p, group), n in sorted(shares.items()) if n],
        "free": {r: max(0, n - used.get(r, 0)) for r, n in allocatable.items() if n and r != "pods"},
        "pods": len(pods),
        "terminating": sum(pod.terminating for pod in pods),
        "nominated": len(inventory.nominated.get(node.name, ())),
    }


def _allocatable(node: NodeRecord, inventory: Inventory) -> dict[str, int]:
    """With its devices, each driver's as a resource of its name."""
    return {**node.allocatable, **inventory.devices.on_node(node.name)}


def _requests(pod: PodRecord, inventory: Inventory) -> Mapping[str, float]:
    """With the devices that its claims hold."""
    held = inventory.devices.of_pod(pod)
    return {**pod.requests, **held} if held else pod.requests


def node_detail(inventory: Inventory, name: str) -> View | None:
    """One node with its pods and the waiting pods nominated to it; None when there is no such node."""
    node = inventory.nodes.get(name)
    if node is None:
        return None
    pods, nominated = inventory.on_node.on(name), inventory.nominated.on(name)
    used = _used_by(_requests(pod, inventory) for pod in pods)
    return {
        "name": name,
        "zone": node.zone,
        "rack": node.rack,
        "pool": node.pool,
        "ready": node.ready,
        "cordoned": node.unschedulable,
        "resources": [
            {"name": resource, "allocatable": total, "used": used.get(resource, 0)}
            for resource, total in sorted(_allocatable(node, inventory).items())
        ],
        "pods": [
            pod_view(pod, inventory) for pod in sorted(pods + nominated, key=lambda p: (-p.priority, p.key))
        ],
    }


def pod_view(pod: PodRecord, inventory: Inventory) -> View:
    return {
        "pod": pod.key,
        "priority": pod.priority,
        "group": pod.group,
        "requests": {r: n for r, n in _requests(pod, inventory).items() if n},
        "phase": pod.phase,
        "terminating": pod.terminating,
        "nominated": bool(pod.nominated and not pod.node),
        "started": format_time(pod.started) if pod.started else None,
        "created": format_time(pod.created) if pod.created else None,
    }


def counting_order(name: str) -> list[tuple[int, int, str]]:
    """`node-2` before `node-10`, as people count."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _used_by(requests: Iterable[Mapping[str, float]]) -> dict[str, float]:
    used: dict[str, float] = defaultdict(int)
    for asked in requests:
        for resource, n in asked.items():
            used[resource] += n
        used["pods"] += 1
    return used


def _scarcest(allocatable: Mapping[str, int], used: Mapping[str, float]) -> str:
    """The resource whose used share is highest."""
    shares = [(used.get(r, 0) / total, r) for r, total in allocatable.items() if total and r != "pods"]
    return max(shares)[1] if shares and max(shares)[0] else "cpu"


class GroupViews:
    """Keeps the view of every group of one inventory."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._views: dict[str, View] = {}
        inventory.stale_groups.update(inventory.groups)

    def all(self) -> list[View]:
        """Waiting groups first, then by name."""
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
        "team": group.team or next((pod.team for pod in pods if pod.team), ""),
        "priority": group.priority,
        "minCount": group.min_count,
        "gang": group.gang,
        "whole": group.whole,
        "topology": group.topology,
        "running": sum(1 for pod in pods if pod.node and not pod.terminating),
        "pending": sum(1 for pod in pods if not pod.node and not pod.terminating),
        "leaving": sum(1 for pod in pods if pod.terminating),
        "nodes": len(nodes),
        "nodeNames": nodes[:SHOWN_NODES],
        "condition": group.condition,
        "message": group.message,
    }
