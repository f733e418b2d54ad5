"""JSON for the page, made from the inventory. Nothing is decided or recomputed here.

The whole-cluster view is aggregated (a node is a handful of numbers); a node's pods are sent when a viewer
opens it. Views of nodes and groups are rebuilt only for those that changed. Long lists are cut; the summary
has the true numbers.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from heapq import nsmallest
from typing import Any

from reprieve.dashboard.compact import GroupRecord, NodeRecord, PodRecord
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.naming import counting_order
from reprieve.dashboard.queue_views import QueueViews
from reprieve.dashboard.tree_views import Trees
from reprieve.objects import format_time

View = dict[str, Any]

SHOWN_GROUPS = 500
NODES_AT_ONCE = 100
"""That are looked at again before others get their turn: the controller shares this process."""
SHOWN_NODES = 20
SHOWN_CLASSES = 8
SHOWN_NAMES = 500


class ClusterViews:
    """Everything the page needs at once, except single pods, decisions, quota, fleet and history."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._nodes = NodeViews(inventory)
        self._queue = QueueViews(inventory)
        self._groups = GroupViews(inventory)

    def view(self, preemptions: int, now: datetime) -> View:
        return {name: each for part in self.parts(preemptions, now) for name, each in part.items()}

    def parts(self, preemptions: int, now: datetime) -> Iterator[View]:
        """One after the other, so that others have their turn in between."""
        inventory = self._inventory
        while self._nodes.refresh():
            yield {}
        yield {"revision": inventory.revision, "time": format_time(now), "nodes": self._nodes.all()}
        yield {"queue": self._queue.first()}
        groups, trees = self._groups.all(), Trees(inventory)
        alone = [group for group in groups if group["group"] not in trees.groups]
        yield {
            "groups": alone[:SHOWN_GROUPS],
            "trees": trees.views({group["group"]: group for group in groups}) if len(trees) else [],
        }
        yield {
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


class NodeViews:
    """Keeps the view of every node of one inventory."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._views: dict[str, View] = {}
        self._rank: dict[str, list[tuple[int, int, str]]] = {}
        """What the order of the nodes is told from."""
        self._order: list[str] | None = None
        inventory.stale_nodes.update(inventory.nodes)

    def refresh(self) -> bool:
        """Look again at some nodes that changed; false when there are none left."""
        inventory = self._inventory
        for _ in range(min(NODES_AT_ONCE, len(inventory.stale_nodes))):
            name = inventory.stale_nodes.pop()
            node = inventory.nodes.get(name)
            if (node is None) != (name not in self._views):
                self._order = None
            if node is None:
                self._views.pop(name, None)
                self._rank.pop(name, None)
            else:
                self._views[name] = _node_view(node, inventory)
                if name not in self._rank:
                    self._rank[name] = counting_order(name)
        return bool(inventory.stale_nodes)

    def all(self) -> list[View]:
        """In the order in which people count."""
        if self._order is None:
            self._order = sorted(self._views, key=self._rank.__getitem__)
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
