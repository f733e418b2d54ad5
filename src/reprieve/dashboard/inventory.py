"""Compact records of everything the page shows, changed one object at a time.

A record holds a few numbers and interned strings, so that 5,000 nodes with 50,000 pods fit in some tens of
megabytes and an event costs the same whatever the size of the cluster. No I/O here; `feed` delivers the
events.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from sys import intern
from typing import Any, NamedTuple

from reprieve.objects import Object, amount, core, find_condition, kueue, pod_requests, scheduling, well_known


class NodeRecord(NamedTuple):
    name: str
    zone: str
    rack: str
    allocatable: dict[str, int]
    unschedulable: bool
    ready: bool


class PodRecord(NamedTuple):
    key: str
    node: str
    nominated: str
    group: str
    priority: int
    requests: dict[str, int]
    phase: str
    started: datetime | None
    created: datetime | None
    terminating: bool
    why_pending: str


class GroupRecord(NamedTuple):
    key: str
    priority: int
    min_count: int
    gang: bool
    whole: bool
    condition: str
    message: str
    parent: str
    """The composite group above it."""
    topology: str
    """The label whose value all its pods share."""


class CompositeRecord(NamedTuple):
    key: str
    priority: int
    min_groups: int
    whole: bool
    parent: str
    topology: str


def node_record(node: core.Node) -> NodeRecord:
    ready = find_condition(node.status.conditions, well_known.READY)
    labels = node.metadata.labels
    return NodeRecord(
        name=intern(node.name),
        zone=intern(labels.get(well_known.ZONE_LABEL, "")),
        rack=intern(_rack(labels)),
        allocatable={r: amount(r, q) for r, q in (node.status.allocatable or node.status.capacity).items()},
        unschedulable=node.spec.unschedulable,
        ready=ready is None or ready.status == "True",
    )


def _rack(labels: dict[str, str]) -> str:
    """Whatever cloud or admin gave the label: `topology.kubernetes.io/rack`, `…/topology-rack` and so on."""
    return next((labels[key] for key in sorted(labels) if key.endswith(("/rack", "-rack"))), "")


def pod_record(pod: core.Pod) -> PodRecord:
    scheduled = find_condition(pod.status.conditions, well_known.POD_SCHEDULED)
    return PodRecord(
        key=pod.key,
        node=intern(pod.spec.node_name),
        nominated=intern(pod.status.nominated_node_name),
        group=intern(pod.group_key),
        priority=pod.spec.priority or 0,
        requests=pod_requests(pod.spec),
        phase=intern(pod.status.phase or "Pending"),
        started=pod.status.start_time,
        created=pod.metadata.creation_timestamp,
        terminating=pod.metadata.deletion_timestamp is not None,
        why_pending=scheduled.message if scheduled and scheduled.status == "False" else "",
    )


def group_record(group: scheduling.PodGroup) -> GroupRecord:
    condition = find_condition(group.status.conditions, well_known.POD_GROUP_SCHEDULED)
    return GroupRecord(
        key=group.key,
        priority=group.spec.priority or 0,
        min_count=group.min_count,
        gang=group.is_gang,
        whole=group.disrupted_as_a_whole,
        condition=(condition.reason or condition.status) if condition else "",
        message=condition.message if condition else "",
        parent=group.parent_key,
        topology=intern(group.topology_key),
    )


def composite_record(group: scheduling.CompositePodGroup) -> CompositeRecord:
    return CompositeRecord(
        key=group.key,
        priority=group.spec.priority or 0,
        min_groups=group.min_group_count,
        whole=group.disrupted_as_a_whole,
        parent=group.parent_key,
        topology=intern(group.topology_key),
    )


SHOWN: dict[type[Object], tuple[str, Callable[[Any], Any] | None]] = {
    core.Pod: ("pods", pod_record),
    core.Node: ("nodes", node_record),
    scheduling.PodGroup: ("groups", group_record),
    scheduling.CompositePodGroup: ("composites", composite_record),
    kueue.ClusterQueue: ("cluster_queues", None),
    kueue.Cohort: ("cohorts", None),
    kueue.LocalQueue: ("local_queues", None),
    kueue.ResourceFlavor: ("flavors", None),
    kueue.AdmissionCheck: ("checks", None),
    kueue.Workload: ("workloads", None),
    kueue.MultiKueueCluster: ("clusters", None),
}
"""The table of a kind, and how its record is made; None keeps the view itself, for kinds with few objects."""


QUOTA_TABLES = frozenset({"cluster_queues", "cohorts", "local_queues", "flavors", "checks", "workloads"})


class Inventory:
    """The present state. `revision` grows with every change, so that a view knows whether it is stale.

    Pods are also indexed by node and by group, and nodes and groups that changed are remembered until a view
    of them is made: a view costs what changed, not what there is.
    """

    def __init__(self) -> None:
        self.revision = 0
        self.quota_revision = 0
        self.nodes: dict[str, NodeRecord] = {}
        self.pods: dict[str, PodRecord] = {}
        self.groups: dict[str, GroupRecord] = {}
        self.composites: dict[str, CompositeRecord] = {}
        self.cluster_queues: dict[str, kueue.ClusterQueue] = {}
        self.cohorts: dict[str, kueue.Cohort] = {}
        self.local_queues: dict[str, kueue.LocalQueue] = {}
        self.flavors: dict[str, kueue.ResourceFlavor] = {}
        self.checks: dict[str, kueue.AdmissionCheck] = {}
        self.workloads: dict[str, kueue.Workload] = {}
        self.clusters: dict[str, kueue.MultiKueueCluster] = {}
        self.on_node = Shelves()
        self.nominated = Shelves()
        """Waiting pods by the node they are nominated to."""
        self.waiting = Shelves()
        """Waiting pods by unit."""
        self.members = Shelves()
        """Pods by group."""
        self.leaving = 0
        self.priorities: Counter[int] = Counter()
        """Of pods on nodes."""
        self.stale_nodes: set[str] = set()
        self.stale_groups: set[str] = set()

    def put(self, obj: Object) -> None:
        """Take over an added or changed object; kinds the page does not show are ignored."""
        if isinstance(obj, core.Pod) and obj.status.phase in well_known.TERMINAL_PHASES:
            self.remove(obj)
            return
        if type(obj) not in SHOWN:
            return
        table, make = SHOWN[type(obj)]
        old = getattr(self, table).get(obj.key)
        new = make(obj) if make else obj
        getattr(self, table)[obj.key] = new
        self._changed(table, obj.key, old, new)

    def remove(self, obj: Object) -> None:
        """Forget a deleted object."""
        if type(obj) not in SHOWN:
            return
        table, _ = SHOWN[type(obj)]
        old = getattr(self, table).pop(obj.key, None)
        if old is not None:
            self._changed(table, obj.key, old, None)

    @property
    def running(self) -> int:
        return self.priorities.total()

    def _changed(self, table: str, key: str, old: Any, new: Any) -> None:
        self.revision += 1
        if table in QUOTA_TABLES:
            self.quota_revision += 1
        elif table == "nodes":
            self.stale_nodes.add(key)
        elif table == "groups":
            self.stale_groups.add(key)
        elif table == "pods":
            if old is not None:
                self._shelve(old, -1)
            if new is not None:
                self._shelve(new, +1)

    def _shelve(self, pod: PodRecord, step: int) -> None:
        """Put a pod where views look for it (+1), or take it away again (-1)."""
        move = Shelves.put if step > 0 else Shelves.take
        if pod.group:
            move(self.members, pod.group, pod)
            self.stale_groups.add(pod.group)
        if pod.node:
            move(self.on_node, pod.node, pod)
            self.stale_nodes.add(pod.node)
            self.leaving += step * pod.terminating
            self.priorities[pod.priority] += step
            if not self.priorities[pod.priority]:
                del self.priorities[pod.priority]
        elif not pod.terminating:
            move(self.waiting, f"PodGroup/{pod.group}" if pod.group else f"Pod/{pod.key}", pod)
            if pod.nominated:
                move(self.nominated, pod.nominated, pod)
                self.stale_nodes.add(pod.nominated)


class Shelves(dict[str, dict[str, PodRecord]]):
    """Pods by some name, then by key; an empty shelf disappears."""

    def put(self, name: str, pod: PodRecord) -> None:
        self.setdefault(name, {})[pod.key] = pod

    def take(self, name: str, pod: PodRecord) -> None:
        shelf = self[name]
        del shelf[pod.key]
        if not shelf:
            del self[name]

    def on(self, name: str) -> list[PodRecord]:
        return list(self.get(name, {}).values())
