"""Compact records (`compact`) of everything the page shows, changed one object at a time.

A record holds a few numbers and interned strings, so that 5,000 nodes with 50,000 pods fit in some tens of
megabytes and an event costs the same whatever the size of the cluster. No I/O here; `feed` delivers the
events.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from sys import intern
from typing import Any, NamedTuple

from reprieve.dashboard.compact import (
    SHOWN,
    Asks,
    ClaimRecord,
    ClassRecord,
    CompositeRecord,
    GroupRecord,
    NodeRecord,
    PodRecord,
    SliceRecord,
    gpus_in,
    workload_team,
)
from reprieve.dashboard.devices import Devices
from reprieve.objects import Object, core, find_condition, kueue, well_known

QUOTA_TABLES = frozenset({"cluster_queues", "cohorts", "local_queues", "flavors", "checks", "workloads"})

MOST_DEPARTED = 20_000


class QuotaTables(NamedTuple):
    """What quota and fleet are counted from, as it was at one moment: it can be read beside the loop."""

    cluster_queues: dict[str, kueue.ClusterQueue]
    cohorts: dict[str, kueue.Cohort]
    local_queues: dict[str, kueue.LocalQueue]
    flavors: dict[str, kueue.ResourceFlavor]
    checks: dict[str, kueue.AdmissionCheck]
    workloads: dict[str, kueue.Workload]
    clusters: dict[str, kueue.MultiKueueCluster]


class Inventory:
    """The present state. `revision` grows with every change, so that a view knows whether it is stale.

    Pods are also indexed by node and by group, and nodes and groups that changed are remembered until a view
    of them is made: a view costs what changed, not what there is.
    """

    def __init__(self) -> None:
        self.revision = 0
        self.quota_revision = 0
        self.nodes: dict[str, NodeRecord] = {}
        self.slices: dict[str, SliceRecord] = {}
        self.claims: dict[str, ClaimRecord] = {}
        self.claim_templates: dict[str, Asks] = {}
        self.devices = Devices(self.claims, self.claim_templates)
        self.device_classes: dict[str, ClassRecord] = {}
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
        """Waiting pods by what waits: their group, else whatever created them, else each for itself."""
        self.members = Shelves()
        """Pods by group."""
        self.leaving = 0
        self.priorities: Counter[int] = Counter()
        """Of pods on nodes."""
        self.waiting_classes: Counter[str] = Counter()
        """Waiting pods by their priority class."""
        self.gpus, self.cpus = Tally(), Tally()
        self.by_owner = Shelves()
        """Pods by what created them."""
        self.workload_of: dict[str, str] = {}
        """What a workload stands for (a job, a group, a pod), to its key."""
        self.departed = Departed()
        self.namespaces: Counter[str] = Counter()
        self.teams: Counter[str] = Counter()
        """Of pods and workloads."""
        self.stale_nodes: set[str] = set()
        self.stale_groups: set[str] = set()
        self.stale_waiting: set[str] = set()
        """Of what waits, or did until a moment ago."""

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

    def quota_tables(self) -> QuotaTables:
        return QuotaTables(*(dict(getattr(self, table)) for table in QuotaTables._fields))

    @property
    def running(self) -> int:
        return self.priorities.total()

    def _changed(self, table: str, key: str, old: Any, new: Any) -> None:
        self.revision += 1
        if table in QUOTA_TABLES:
            self.quota_revision += 1
        if table == "workloads":
            self._follow_workload(key, old, new)
        elif table == "nodes":
            self.stale_nodes.add(key)
            for node, step in ((old, -1), (new, +1)):
                if node is not None:
                    self.gpus.total += step * gpus_in(node.allocatable)
                    self.cpus.total += step * node.allocatable.get("cpu", 0)
        elif table == "groups":
            self.stale_groups.add(key)
            self.stale_waiting.add(f"PodGroup/{key}")
        elif table == "slices":
            self.stale_nodes |= self.devices.change_slice(key, old, new)
        elif table == "claims":
            self.stale_nodes |= self.devices.change_claim(old, new)
        elif table == "device_classes":
            self.devices.change_class(key, new)
        elif table == "pods":
            if old is not None:
                self._shelve(old, -1)
            if new is not None:
                self._shelve(new, +1)
            elif old is not None and old.node:
                # Its claims go with it: what they held is part of what is remembered.
                self.departed.add(f"Pod/{key}", old._replace(gpus=self.devices.gpus_of_pod(old), claims=()))

    def _belongs(self, key: str, team: str, step: int) -> None:
        self.namespaces[intern(key.partition("/")[0])] += step
        if team:
            self.teams[team] += step

    def _follow_workload(self, key: str, old: kueue.Workload | None, new: kueue.Workload | None) -> None:
        for workload in filter(None, (old, new)):
            self._belongs(key, workload_team(workload), 1 if workload is new else -1)
            for owner in workload.metadata.owner_references:
                name = f"{owner.kind}/{workload.namespace}/{owner.name}"
                if workload is new:
                    self.workload_of[name] = key
                elif self.workload_of.get(name) == key:
                    del self.workload_of[name]
        if old is not None and has_quota(old) and not (new is not None and has_quota(new)):
            self.departed.add(f"Workload/{key}", old)

    def _shelve(self, pod: PodRecord, step: int) -> None:
        """Put a pod where views look for it (+1), or take it away again (-1)."""
        move = Shelves.put if step > 0 else Shelves.take
        self._belongs(pod.key, pod.team, step)
        if pod.group:
            move(self.members, pod.group, pod)
            self.stale_groups.add(pod.group)
        if pod.owner:
            move(self.by_owner, pod.owner, pod)
        if pod.node:
            self.gpus.used += step * pod.gpus
            self.cpus.used += step * pod.requests.get("cpu", 0)
            move(self.on_node, pod.node, pod)
            self.stale_nodes.add(pod.node)
            self.leaving += step * pod.terminating
            self.priorities[pod.priority] += step
            if not self.priorities[pod.priority]:
                del self.priorities[pod.priority]
        elif not pod.terminating:
            unit = waiting_unit(pod)
            move(self.waiting, unit, pod)
            self.stale_waiting.add(unit)
            self.waiting_classes[pod.priority_class or f"priority {pod.priority}"] += step
            if pod.nominated:
                self.gpus.promised += step * pod.gpus
                self.cpus.promised += step * pod.requests.get("cpu", 0)
                move(self.nominated, pod.nominated, pod)
                self.stale_nodes.add(pod.nominated)


def waiting_unit(pod: PodRecord) -> str:
    """What people wait for: pods of one job are one."""
    return f"PodGroup/{pod.group}" if pod.group else pod.owner or f"Pod/{pod.key}"


def has_quota(workload: kueue.Workload) -> bool:
    reserved = find_condition(workload.status.conditions, well_known.QUOTA_RESERVED)
    return workload.status.admission is not None and reserved is not None and reserved.status == "True"


@dataclass
class Tally:
    """How much of something there is, what runs uses of it, and what is promised to those who wait."""

    total: int = 0
    used: float = 0
    promised: float = 0


class Departed:
    """What ran and runs no more, as it was last seen: decisions tell of its end a moment later."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, PodRecord | kueue.Workload] = OrderedDict()

    def add(self, unit: str, seen: PodRecord | kueue.Workload) -> None:
        self._last[unit] = seen
        self._last.move_to_end(unit)
        if len(self._last) > MOST_DEPARTED:
            self._last.popitem(last=False)

    def get(self, unit: str) -> PodRecord | kueue.Workload | None:
        return self._last.get(unit)


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
