"""What the page keeps of each object: a few numbers and interned strings."""

from collections.abc import Callable
from datetime import datetime
from sys import intern
from typing import Any, NamedTuple

from reprieve.explain import in_plain_words
from reprieve.objects import (
    Object,
    amount,
    core,
    devices,
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
    gpus: float
    """Asked for as a resource; what claims hold is counted by `devices`."""
    claims: tuple[str, ...] = ()
    """Keys of the ResourceClaims that hold its devices."""


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


DeviceId = tuple[str, str, str]
"""(driver, pool, device)."""
Asks = tuple[tuple[str, int], ...]
"""(device class, count) of each request of a claim."""


class SliceRecord(NamedTuple):
    driver: str
    pool: str
    generation: int
    node: str
    """Empty: its devices are reached from several nodes."""
    devices: dict[str, tuple[str, ...]]
    """What each device is a part of: itself, or whatever it shares the counters of."""


class ClaimRecord(NamedTuple):
    devices: tuple[DeviceId, ...]
    """Those it holds."""
    asks: Asks
    sharers: int
    """How many pods use it, at least one."""
    stands_for: str = ""
    """The pod that asks for these devices as a resource and gets them by this claim."""


class ClassRecord(NamedTuple):
    name: str
    expressions: str

    def names(self, driver: str) -> bool:
        """Whether its selectors name this driver."""
        return any(f"{quote}{driver}{quote}" in self.expressions for quote in "'\"")


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
    """`nvidia.com/gpu`, `amd.com/gpu`, shares of one such as `nvidia.com/mig-1g.5gb.gpu`, and names of
    drivers or device classes such as `gpu.nvidia.com`."""
    return "gpu" in (resource.partition("/")[2] or resource)


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
        why_pending=in_plain_words(scheduled.message) if scheduled and scheduled.status == "False" else "",
        priority_class=intern(pod.spec.priority_class_name),
        owner=intern(owner_of(pod)),
        team=intern(team_of(pod.metadata.labels)),
        gpus=gpus_in(requests),
        claims=_claim_keys(pod) if pod.spec.resource_claims else (),
    )


def _claim_keys(pod: core.Pod) -> tuple[str, ...]:
    """Claims that it names, and those that were made for it."""
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    names = (each.resource_claim_name or made.get(each.name) for each in pod.spec.resource_claims)
    return tuple(f"{pod.namespace}/{name}" for name in names if name)


def slice_record(slice_: devices.ResourceSlice) -> SliceRecord:
    spec = slice_.spec
    return SliceRecord(
        driver=intern(spec.driver),
        pool=intern(spec.pool.name),
        generation=spec.pool.generation,
        node=intern(spec.node_name),
        devices={
            each.name: tuple(f"counters {use.counter_set}" for use in each.consumes_counters) or (each.name,)
            for each in spec.devices
        },
    )


def claim_record(claim: devices.ResourceClaim) -> ClaimRecord:
    """Without devices for administrators, which are nobody's."""
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    held = tuple(
        (intern(each.driver), intern(each.pool), each.device) for each in results if not each.admin_access
    )
    extended = devices.EXTENDED_CLAIM in claim.metadata.annotations
    owner = next((each.name for each in claim.metadata.owner_references), "") if extended else ""
    return ClaimRecord(
        devices=held,
        asks=_asks(claim.spec),
        sharers=max(1, len(claim.status.reserved_for)),
        stands_for=f"{claim.namespace}/{owner}" if owner else "",
    )


def _asks(spec: devices.ResourceClaimSpec) -> Asks:
    """Of a choice the first; where all devices are asked for, at least one."""
    exact = [each.exactly for each in spec.devices.requests if each.exactly and not each.exactly.admin_access]
    first = [each.first_available[0] for each in spec.devices.requests if each.first_available]
    return tuple(
        (each.device_class_name, 1 if each.allocation_mode == devices.ALL else each.count)
        for each in (*exact, *first)
    )


def template_record(template: devices.ResourceClaimTemplate) -> Asks:
    return _asks(template.spec.spec)


def class_record(found: devices.DeviceClass) -> ClassRecord:
    expressions = (each.cel.expression for each in found.spec.selectors if each.cel is not None)
    return ClassRecord(found.name, " ".join(expressions))


def group_record(group: scheduling.PodGroup) -> GroupRecord:
    condition = find_condition(group.status.conditions, well_known.POD_GROUP_SCHEDULED)
    return GroupRecord(
        **_any_group(group),
        min_count=group.min_count,
        gang=group.is_gang,
        condition=(condition.reason or condition.status) if condition else "",
        message=in_plain_words(condition.message) if condition else "",
        priority_class=intern(group.spec.priority_class_name),
    )


def composite_record(group: scheduling.CompositePodGroup) -> CompositeRecord:
    return CompositeRecord(**_any_group(group), min_groups=group.min_group_count)


def _any_group(group: scheduling.PodGroup | scheduling.CompositePodGroup) -> dict[str, Any]:
    return {
        "key": group.key,
        "priority": group.spec.priority or 0,
        "whole": group.disrupted_as_a_whole,
        "parent": group.parent_key,
        "topology": intern(group.topology_key),
        "created": group.metadata.creation_timestamp,
        "team": intern(team_of(group.metadata.labels)),
    }


SHOWN: dict[type[Object], tuple[str, Callable[[Any], Any] | None]] = {
    core.Pod: ("pods", pod_record),
    core.Node: ("nodes", node_record),
    scheduling.PodGroup: ("groups", group_record),
    scheduling.CompositePodGroup: ("composites", composite_record),
    devices.ResourceSlice: ("slices", slice_record),
    devices.ResourceClaim: ("claims", claim_record),
    devices.ResourceClaimTemplate: ("claim_templates", template_record),
    devices.DeviceClass: ("device_classes", class_record),
    kueue.ClusterQueue: ("cluster_queues", None),
    kueue.Cohort: ("cohorts", None),
    kueue.LocalQueue: ("local_queues", None),
    kueue.ResourceFlavor: ("flavors", None),
    kueue.AdmissionCheck: ("checks", None),
    kueue.Workload: ("workloads", None),
    kueue.MultiKueueCluster: ("clusters", None),
}
"""The table of a kind, and how its record is made; None keeps the view itself, for kinds with few objects."""
