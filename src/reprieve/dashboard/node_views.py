"""Nodes for the map: what each one has, who uses it, by priority and group. Made anew only for nodes that changed."""

import re
from collections import defaultdict
from typing import Any

from reprieve.dashboard.inventory import Inventory, NodeRecord, PodRecord
from reprieve.objects import format_time

View = dict[str, Any]


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
            self._views[name] = node_view(
                node, inventory.on_node.on(name), len(inventory.promised.get(name, ()))
            )
        inventory.stale_nodes.clear()
        if changed:
            self._order = sorted(self._views, key=counting_order)
        return [self._views[name] for name in self._order]


def node_view(node: NodeRecord, pods: list[PodRecord], nominated: int) -> View:
    """`used` and `shares` are of the node's scarcest resource; `free` is what is left of all of them."""
    used = used_by(pods)
    resource = _scarcest(node, used)
    total = node.allocatable.get(resource, 0) or 1
    shares: dict[tuple[int, str], int] = defaultdict(int)
    for pod in pods:
        shares[pod.priority, pod.group] += pod.requests.get(resource, 0)
    return {
        "name": node.name,
        "zone": node.zone,
        "ready": node.ready,
        "cordoned": node.unschedulable,
        "resource": resource,
        "used": round(used.get(resource, 0) / total, 4),
        "shares": [[p, group, round(n / total, 4)] for (p, group), n in sorted(shares.items()) if n],
        "free": {r: max(0, n - used.get(r, 0)) for r, n in node.allocatable.items() if n and r != "pods"},
        "pods": len(pods),
        "terminating": sum(pod.terminating for pod in pods),
        "nominated": nominated,
    }


def node_detail(inventory: Inventory, name: str) -> View | None:
    """One node with its pods and the pods that are promised to it; None when there is no such node."""
    node = inventory.nodes.get(name)
    if node is None:
        return None
    pods, promised = inventory.on_node.on(name), inventory.promised.on(name)
    used = used_by(pods)
    return {
        "name": name,
        "zone": node.zone,
        "ready": node.ready,
        "cordoned": node.unschedulable,
        "resources": [
            {"name": resource, "allocatable": total, "used": used.get(resource, 0)}
            for resource, total in sorted(node.allocatable.items())
        ],
        "pods": [_pod_view(pod) for pod in sorted(pods + promised, key=lambda p: (-p.priority, p.key))],
    }


def _pod_view(pod: PodRecord) -> View:
    return {
        "pod": pod.key,
        "priority": pod.priority,
        "group": pod.group,
        "requests": {r: n for r, n in pod.requests.items() if n},
        "phase": pod.phase,
        "terminating": pod.terminating,
        "nominated": not pod.node,
        "started": format_time(pod.started) if pod.started else None,
        "created": format_time(pod.created) if pod.created else None,
    }


def counting_order(name: str) -> list[tuple[int, int, str]]:
    """`node-2` before `node-10`, as people count."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def used_by(pods: list[PodRecord]) -> dict[str, int]:
    used: dict[str, int] = defaultdict(int)
    for pod in pods:
        for resource, n in pod.requests.items():
            used[resource] += n
    used["pods"] = len(pods)
    return used


def _scarcest(node: NodeRecord, used: dict[str, int]) -> str:
    """The resource whose used share is highest."""
    shares = [(used.get(r, 0) / total, r) for r, total in node.allocatable.items() if total and r != "pods"]
    return max(shares)[1] if shares and max(shares)[0] else "cpu"
