"""One unit's page: what it is, its pods, its queue, its place in a fleet, and whom it is related to.

A pod, a pod group or a tree of them, a Kueue workload, or what created any of these (a Job, a RayJob, ...).
"""

from collections.abc import Container, Iterator
from datetime import datetime
from typing import Any

from reprieve.dashboard.compact import GroupRecord, PodRecord, workload_team
from reprieve.dashboard.inventory import Inventory, has_quota
from reprieve.dashboard.naming import counting_order
from reprieve.dashboard.tree_views import Trees
from reprieve.dashboard.views import pod_view
from reprieve.objects import find_condition, format_time, kueue, well_known

View = dict[str, Any]

MOST_PODS = 500
MOST_WORKLOADS = 500
PLACES = {
    "Node": "nodes",
    "ClusterQueue": "cluster_queues",
    "LocalQueue": "local_queues",
    "Cohort": "cohorts",
    "MultiKueueCluster": "clusters",
}
"""Kinds that hold others' pods and workloads, and their tables: they have no life of their own here."""
WITH_WORKLOADS = ("ClusterQueue", "LocalQueue", "MultiKueueCluster")
MOMENTS = {
    well_known.QUOTA_RESERVED: ("got quota", "waits for quota"),
    well_known.ADMITTED: ("was admitted", ""),
    well_known.EVICTED: ("lost its quota", ""),
    well_known.REQUEUED: ("was queued again", ""),
    well_known.FINISHED: ("finished", ""),
}
"""What the conditions of a workload say when they are true, and when they are not; in the order in which they
come true."""


class Unit:
    """One unit as the inventory has it at this moment. `name` is KIND/NAMESPACE/NAME."""

    def __init__(self, name: str, inventory: Inventory) -> None:
        self.name = name
        self._kind, _, self._key = name.partition("/")
        self._inventory = inventory
        self._pods = list(self._members())
        self._workload = self._find_workload()

    def _members(self) -> Iterator[PodRecord]:
        inventory = self._inventory
        if self._kind == "Pod":
            if (pod := inventory.pods.get(self._key)) is not None:
                yield pod
        elif self._kind == "PodGroup":
            yield from inventory.members.on(self._key)
        elif self._kind == "Node":
            yield from inventory.on_node.on(self._key)
            yield from inventory.nominated.on(self._key)
        elif self._kind == "CompositePodGroup":
            for group in Trees(inventory).below(self._key):
                yield from inventory.members.on(group)
        elif self._kind == "Workload":
            if (held := inventory.workloads.get(self._key)) is not None:
                for owner in held.metadata.owner_references:
                    yield from Unit(f"{owner.kind}/{held.namespace}/{owner.name}", inventory)._pods
        else:
            yield from inventory.by_owner.on(self.name)

    def _find_workload(self) -> kueue.Workload | None:
        inventory = self._inventory
        if self._kind == "Workload":
            return inventory.workloads.get(self._key)
        if self._kind in PLACES:
            return None
        names = [self.name, *self._groups(), *(pod.owner for pod in self._pods[:1] if pod.owner)]
        keys = (inventory.workload_of.get(name) for name in names)
        return next((inventory.workloads[key] for key in keys if key in inventory.workloads), None)

    def _groups(self) -> set[str]:
        return {f"PodGroup/{pod.group}" for pod in self._pods if pod.group}

    def kin(self) -> set[str]:
        """Other names under which decisions may tell of it: the whole it is part of, what stands for it."""
        if self._kind in PLACES:
            return {self.name}
        names = {self.name, *self._groups()}
        if self._workload is not None:
            names.add(f"Workload/{self._workload.key}")
            owners = self._workload.metadata.owner_references
            names.update(f"{owner.kind}/{self._workload.namespace}/{owner.name}" for owner in owners)
        if self._kind != "Pod":
            names.update(pod.owner for pod in self._pods if pod.owner)
        elif isinstance(gone := self._inventory.departed.get(self.name), PodRecord) and gone.group:
            names.add(f"PodGroup/{gone.group}")
        return names

    def view(self) -> View:
        shown = sorted(self._pods, key=lambda pod: counting_order(pod.key))[:MOST_PODS]
        group = self._inventory.groups.get(self._key) if self._kind == "PodGroup" else None
        held = self._held_workloads()
        return {
            "unit": self.name,
            "known": bool(self._pods or self._workload or group) or self._key in self._place(),
            "place": self._kind in PLACES,
            "kin": sorted(self.kin() - {self.name}),
            **self._whose(group),
            "minCount": group.min_count if group and group.gang else None,
            "workloads": held[:MOST_WORKLOADS],
            "moreWorkloads": max(0, len(held) - MOST_WORKLOADS),
            "gpus": self._inventory.devices.gpus_of(self._pods),
            "pods": [{**pod_view(pod, self._inventory), "node": pod.node or pod.nominated} for pod in shown],
            "counts": {
                "running": sum(1 for pod in self._pods if pod.node and not pod.terminating),
                "waiting": sum(1 for pod in self._pods if not pod.node and not pod.terminating),
                "leaving": sum(pod.terminating for pod in self._pods),
            },
            "nominated": sorted({pod.nominated for pod in self._pods if pod.nominated and not pod.node}),
            "more": len(self._pods) - len(shown),
            "queue": self._queue(),
            "cluster": self._workload.status.cluster_name if self._workload else "",
        }

    def _place(self) -> Container[str]:
        """What there is of its kind, where that is no workload but what workloads are in."""
        return getattr(self._inventory, PLACES[self._kind]) if self._kind in PLACES else ()

    def _whose(self, group: GroupRecord | None) -> View:
        """How important it is and whose; of a node or a queue, which are many's, neither."""
        if self._kind in PLACES:
            return {"priority": None, "priorityClass": "", "team": ""}
        if group is not None:
            return {
                "priority": group.priority,
                "priorityClass": group.priority_class or self._class(),
                "team": group.team or self._team(),
            }
        first = max(self._pods, key=lambda pod: pod.priority, default=None)
        own = self._workload.spec.priority if self._workload else None
        return {
            "priority": first.priority if first else own,
            "priorityClass": self._class(),
            "team": self._team(),
        }

    def _class(self) -> str:
        return next((pod.priority_class for pod in self._pods if pod.priority_class), "")

    def _team(self) -> str:
        own = next((pod.team for pod in self._pods if pod.team), "")
        return own or (workload_team(self._workload) if self._workload else "")

    def _held_workloads(self) -> list[View]:
        """Who waits in a queue, most important first, then who holds its quota; of a cluster, those in it."""
        shown = [
            _workload_view(each, self._inventory)
            for each in (self._inventory.workloads.values() if self._kind in WITH_WORKLOADS else ())
            if self._holds(each) and not _finished(each)
        ]
        return sorted(shown, key=lambda each: (each["holds"], -each["priority"], each["workload"]))

    def _holds(self, workload: kueue.Workload) -> bool:
        local = f"{workload.namespace}/{workload.spec.queue_name}"
        if self._kind == "LocalQueue":
            return local == self._key
        if self._kind == "MultiKueueCluster":
            return workload.status.cluster_name == self._key
        if workload.status.admission is not None:
            return workload.status.admission.cluster_queue == self._key
        queue = self._inventory.local_queues.get(local)
        return queue is not None and queue.spec.cluster_queue == self._key

    def ran_through(self, moment: datetime) -> bool:
        """Whether some of its pods ran before this moment and do still."""
        return any(
            pod.node and not pod.terminating and pod.started and pod.started < moment for pod in self._pods
        )

    def _queue(self) -> View | None:
        if self._workload is None:
            return None
        local = f"{self._workload.namespace}/{self._workload.spec.queue_name}"
        held = self._inventory.local_queues.get(local)
        admission = self._workload.status.admission
        queue = admission.cluster_queue if admission else held.spec.cluster_queue if held else ""
        return {"local": local, "cluster": queue, "workload": f"Workload/{self._workload.key}"}

    def moments(self) -> Iterator[View]:
        """What the objects themselves say of its life."""
        if self._kind in PLACES:
            return
        if created := self._created():
            yield _moment(created, "created", "created")
        for type_, (is_so, is_not) in MOMENTS.items() if self._workload else ():
            condition = find_condition(self._workload.status.conditions if self._workload else (), type_)
            text = "" if condition is None else is_so if condition.status == "True" else is_not
            if condition is not None and text and condition.last_transition_time:
                yield {
                    **_moment(condition.last_transition_time, type_.lower(), text),
                    "sentence": condition.message,
                }
        started = [pod.started for pod in self._pods if pod.started and pod.node]
        if started:
            many = f"{len(started)} of {len(self._pods)} pods" if len(self._pods) > 1 else "its pod"
            yield _moment(max(started), "runs", f"{many} run" if len(self._pods) > 1 else f"{many} runs")

    def _created(self) -> datetime | None:
        groups, composites = self._inventory.groups, self._inventory.composites
        held = {"PodGroup": groups.get(self._key), "CompositePodGroup": composites.get(self._key)}
        if (group := held.get(self._kind)) is not None and group.created is not None:
            return group.created
        if self._workload is not None and self._workload.metadata.creation_timestamp:
            return self._workload.metadata.creation_timestamp
        return min((pod.created for pod in self._pods if pod.created), default=None)


def _finished(workload: kueue.Workload) -> bool:
    finished = find_condition(workload.status.conditions, well_known.FINISHED)
    return finished is not None and finished.status == "True"


def _workload_view(workload: kueue.Workload, inventory: Inventory) -> View:
    holds = has_quota(workload)
    reserved = find_condition(workload.status.conditions, well_known.QUOTA_RESERVED)
    since = reserved.last_transition_time if holds and reserved else workload.metadata.creation_timestamp
    return {
        "workload": workload.key,
        "priority": workload.spec.priority or 0,
        "gpus": inventory.devices.gpus_of_workload(workload),
        "holds": holds,
        "since": format_time(since) if since else None,
    }


def _moment(time: datetime, outcome: str, what: str) -> View:
    return {
        "time": format_time(time), "outcome": outcome, "role": "state", "what": what, "sentence": "",
        "others": [], "id": "",
    }  # fmt: skip


def priority_of_unit(name: str, inventory: Inventory) -> int | None:
    """How important a unit is, or was when it ran."""
    kind, _, key = name.partition("/")
    if kind == "Workload":
        workload = inventory.workloads.get(key)
        return workload.spec.priority if workload else None
    if kind == "PodGroup":
        return inventory.groups[key].priority if key in inventory.groups else None
    if kind == "CompositePodGroup":
        return inventory.composites[key].priority if key in inventory.composites else None
    found = inventory.pods.get(key) or inventory.departed.get(name)
    return found.priority if isinstance(found, PodRecord) else None


def team_of_unit(name: str, inventory: Inventory) -> str:
    """Whose a unit is, or was when it ran."""
    kind, _, key = name.partition("/")
    if kind == "PodGroup":
        group, pods = inventory.groups.get(key), inventory.members.on(key)
        return (group.team if group else "") or next((pod.team for pod in pods if pod.team), "")
    if kind == "Workload":
        workload = inventory.workloads.get(key)
        return workload_team(workload) if workload else ""
    found = inventory.pods.get(key) or inventory.departed.get(name)
    return found.team if isinstance(found, PodRecord) else ""
