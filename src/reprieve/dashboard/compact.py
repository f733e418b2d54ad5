"""What the page keeps of each object: a few numbers and interned strings."""

from collections.abc import Callable
from datetime import datetime
from sys import intern
from typing import Any, NamedTuple

from reprieve.objects import (
    Object,
    amount,
    core,
    find_condition,
    kueue,
    pod_requests,
    scheduling,
    well_known,
)


class NodeRecord(NamedTuple):
    name: str
    zone: str
    rack: str
    pool: str
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
    priority_class: str
    owner: str
    """What created it, as KIND/NAMESPACE/NAME."""
    team: str
    gpus: int


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
    priority_class: str
    created: datetime | None
    team: str


class CompositeRecord(NamedTuple):
    key: str
    priority: int
    min_groups: int
    whole: bool
    parent: str
    topology: str
    created: datetime | None
    team: str


def node_record(node: core.Node) -> NodeRecord:
    ready = find_condition(node.status.conditions, well_known.READY)
    labels = node.metadata.labels
    return NodeRecord(
        name=intern(node.name),
        zone=intern(labels.get(well_known.ZONE_LABEL, "")),
        rack=intern(_labelled(labels, RACK_KEYS)),
        pool=intern(_labelled(labels, POOL_KEYS)),
        allocatable={r: amount(r, q) for r, q in (node.status.allocatable or node.status.capacity).items()},
        unschedulable=node.spec.unschedulable,
        ready=ready is None or ready.status == "True",
    )


RACK_KEYS = ("/rack", "-rack")
POOL_KEYS = ("nodepool", "node-pool", "nodegroup", "agentpool", "/pool")
"""Ends of labels: each cloud has its own, and administrators add theirs."""
TEAM_KEYS = ("/team",)


def _labelled(labels: dict[str, str], ends: tuple[str, ...]) -> str:
    """The value of the first label that ends so, or is called so: `rack`, `example.com/rack`."""
    bare = tuple(end.lstrip("/-") for end in ends)
    return next((labels[key] for key in sorted(labels) if key.endswith(ends) or key in bare), "")


def team_of(labels: dict[str, str]) -> str:
    """Whose it is: the label `team` under any domain, else the queue it was sent to."""
    return _labelled(labels, TEAM_KEYS) or labels.get(well_known.QUEUE_LABEL, "")


def workload_team(workload: kueue.Workload) -> str:
    return team_of(workload.metadata.labels) or workload.spec.queue_name


def is_gpu(resource: str) -> bool:
    """`nvidia.com/gpu`, `amd.com/gpu`, and shares of one such as `nvidia.com/mig-1g.5gb.gpu`."""
    return "gpu" in resource.partition("/")[2]


def gpus_in(amounts: dict[str, int]) -> int:
    return sum(n for resource, n in amounts.items() if is_gpu(resource))


def owner_of(obj: Object) -> str:
    """The controller that created it."""
    for owner in obj.metadata.owner_references:
        if owner.controller:
            return f"{owner.kind}/{obj.namespace}/{owner.name}"
    return ""


def pod_record(pod: core.Pod) -> PodRecord:
    scheduled = find_condition(pod.status.conditions, well_known.POD_SCHEDULED)
    requests = pod_requests(pod.spec)
    return PodRecord(
        key=pod.key,
        node=intern(pod.spec.node_name),
        nominated=intern(pod.status.nominated_node_name),
        group=intern(pod.group_key),
        priority=pod.spec.priority or 0,
        requests=requests,
        phase=intern(pod.status.phase or "Pending"),
        started=pod.status.start_time,
        created=pod.metadata.creation_timestamp,
        terminating=pod.metadata.deletion_timestamp is not None,
        why_pending=scheduled.message if scheduled and scheduled.status == "False" else "",
        priority_class=intern(pod.spec.priority_class_name),
        owner=intern(owner_of(pod)),
        team=intern(team_of(pod.metadata.labels)),
        gpus=gpus_in(requests),
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
        priority_class=intern(group.spec.priority_class_name),
        created=group.metadata.creation_timestamp,
        team=intern(team_of(group.metadata.labels)),
    )


def composite_record(group: scheduling.CompositePodGroup) -> CompositeRecord:
    return CompositeRecord(
        key=group.key,
        priority=group.spec.priority or 0,
        min_groups=group.min_group_count,
        whole=group.disrupted_as_a_whole,
        parent=group.parent_key,
        topology=intern(group.topology_key),
        created=group.metadata.creation_timestamp,
        team=intern(team_of(group.metadata.labels)),
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
