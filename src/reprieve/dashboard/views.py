"""JSON for the page, made from the inventory. Pure functions; nothing is decided or recomputed here.

The whole-cluster view is aggregated (a node is a handful of numbers); a node's pods come when somebody looks at it.
"""

import re
from collections import defaultdict
from datetime import datetime
from typing import Any

from reprieve.dashboard.inventory import GroupRecord, Inventory, NodeRecord, PodRecord
from reprieve.fleet.ledger import read_ledger
from reprieve.objects import kueue
from reprieve.objects.times import format_time

View = dict[str, Any]


def cluster_view(inventory: Inventory, preemptions: int, now: datetime) -> View:
    """Everything the page needs at once, except single pods, decisions and history."""
    on_node: dict[str, list[PodRecord]] = defaultdict(list)
    nominated: dict[str, int] = defaultdict(int)
    pending: list[PodRecord] = []
    for pod in inventory.pods.values():
        if pod.node:
            on_node[pod.node].append(pod)
        elif not pod.terminating:
            pending.append(pod)
            if pod.nominated:
                nominated[pod.nominated] += 1
    bands = sorted({pod.priority for pods in on_node.values() for pod in pods})
    step = {priority: i for i, priority in enumerate(bands)}
    return {
        "revision": inventory.revision,
        "time": format_time(now),
        "summary": {
            "nodes": len(inventory.nodes),
            "running": sum(map(len, on_node.values())),
            "pending": len(pending),
            "terminating": sum(pod.terminating for pods in on_node.values() for pod in pods),
            "preemptions": preemptions,
        },
        "bands": bands,
        "nodes": [
            _node_view(node, on_node.get(node.name, []), nominated.get(node.name, 0), step)
            for node in sorted(inventory.nodes.values(), key=_counting_order)
        ],
        "queue": _queue_view(pending, inventory.groups),
        "groups": _groups_view(inventory),
    }


def node_detail(inventory: Inventory, name: str) -> View | None:
    """One node with its pods and the pods that are promised to it; None when there is no such node."""
    node = inventory.nodes.get(name)
    if node is None:
        return None
    pods = [pod for pod in inventory.pods.values() if pod.node == name]
    promised = [pod for pod in inventory.pods.values() if pod.nominated == name and not pod.node]
    used = _used(pods)
    return {
        "name": name,
        "resources": [
            {"name": resource, "allocatable": total, "used": used.get(resource, 0)}
            for resource, total in sorted(node.allocatable.items())
        ],
        "pods": [
            {
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
            for pod in sorted(pods + promised, key=lambda p: (-p.priority, p.key))
        ],
    }


def _counting_order(node: NodeRecord) -> list[tuple[int, int, str]]:
    """`node-2` before `node-10`, as people count."""
    parts = re.split(r"(\d+)", node.name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _used(pods: list[PodRecord]) -> dict[str, int]:
    used: dict[str, int] = defaultdict(int)
    for pod in pods:
        for resource, n in pod.requests.items():
            used[resource] += n
    used["pods"] = len(pods)
    return used


def _dominant(node: NodeRecord, used: dict[str, int]) -> str:
    """The scarcest resource of a node: the one whose used share is highest."""
    shares = [(used.get(r, 0) / total, r) for r, total in node.allocatable.items() if total and r != "pods"]
    return max(shares)[1] if shares else "cpu"


def _node_view(node: NodeRecord, pods: list[PodRecord], nominated: int, step: dict[int, int]) -> View:
    resource = _dominant(node, _used(pods))
    total = node.allocatable.get(resource, 0) or 1
    bands = [0.0] * len(step)
    for pod in pods:
        bands[step[pod.priority]] += pod.requests.get(resource, 0) / total
    return {
        "name": node.name,
        "zone": node.zone,
        "ready": node.ready,
        "cordoned": node.unschedulable,
        "used": round(sum(bands), 4),
        "bands": [round(share, 4) for share in bands],
        "pods": len(pods),
        "terminating": sum(pod.terminating for pod in pods),
        "nominated": nominated,
    }


def _queue_view(pending: list[PodRecord], groups: dict[str, GroupRecord]) -> list[View]:
    """Waiting units in the order they are tried: priority, then age, then name."""
    units: dict[str, list[PodRecord]] = defaultdict(list)
    for pod in pending:
        units[f"PodGroup/{pod.group}" if pod.group else f"Pod/{pod.key}"].append(pod)

    def unit_view(unit: str, pods: list[PodRecord]) -> View:
        group = groups.get(pods[0].group)
        created = [pod.created for pod in pods if pod.created]
        return {
            "unit": unit,
            "priority": group.priority if group else pods[0].priority,
            "pods": len(pods),
            "since": format_time(min(created)) if created else None,
            "nominated": sorted({pod.nominated for pod in pods if pod.nominated}),
            "why": (group.message if group else "")
            or next((p.why_pending for p in pods if p.why_pending), ""),
        }

    views = [unit_view(unit, pods) for unit, pods in units.items()]
    return sorted(views, key=lambda u: (-u["priority"], u["since"] or "", u["unit"]))


def _groups_view(inventory: Inventory) -> list[View]:
    members: dict[str, list[PodRecord]] = defaultdict(list)
    for pod in inventory.pods.values():
        if pod.group:
            members[pod.group].append(pod)
    views = []
    for key, group in sorted(inventory.groups.items()):
        pods = members.get(key, [])
        views.append(
            {
                "group": key,
                "priority": group.priority,
                "minCount": group.min_count,
                "gang": group.gang,
                "whole": group.whole,
                "running": sum(1 for pod in pods if pod.node),
                "pending": sum(1 for pod in pods if not pod.node),
                "nodes": len({pod.node for pod in pods if pod.node}),
                "condition": group.condition,
                "message": group.message,
            }
        )
    return views


def fleet_view(inventory: Inventory) -> View:
    """Worker clusters with their connection, and the workloads sent to them with their gates."""
    clusters = []
    for name, cluster in sorted(inventory.clusters.items()):
        active = next((c for c in cluster.status.conditions if c.type == "Active"), None)
        clusters.append(
            {
                "name": name,
                "connected": active is not None and active.status == "True",
                "reason": active.reason if active else "",
                "message": active.message if active else "",
            }
        )
    workloads = [
        {
            "workload": key,
            "cluster": workload.status.cluster_name,
            "nominated": list(workload.status.nominated_cluster_names),
            "gates": _gates(workload),
        }
        for key, workload in sorted(inventory.workloads.items())
        if workload.status.cluster_name or workload.status.nominated_cluster_names
    ]
    return {"clusters": clusters, "workloads": workloads}


def _gates(workload: kueue.Workload) -> list[View]:
    """Whose turn it is to preempt, by the manager's own ledger; every other cluster's gate is closed."""
    turn = read_ledger({"metadata": {"annotations": workload.metadata.annotations}}).turn
    names = dict.fromkeys(workload.status.nominated_cluster_names)
    if turn is not None:
        names[turn.cluster] = None
    return [
        {"cluster": name, "position": "Open", "since": format_time(turn.since)}
        if turn is not None and name == turn.cluster
        else {"cluster": name, "position": "Closed", "since": None}
        for name in names
    ]
