"""The least rights each controller needs, one line for each thing it does."""

from collections.abc import Sequence
from typing import Any

from reprieve.jobs import RUNTIMES, JobKinds
from reprieve.objects import STAND_IN_GROUP, resource_name, selecting, well_known

Rule = dict[str, Any]

FOLLOW = ("list", "watch")


def _rule(group: str, kinds: Sequence[str], *verbs: str, **more: list[str]) -> Rule:
    """`kinds` as `Pod` or `Pod/status`."""
    return _may(group, [resource_name(group, kind) for kind in kinds], *verbs, **more)


def _may(group: str, resources: Sequence[str], *verbs: str, **more: list[str]) -> Rule:
    """`resources` as roles have them."""
    return {"apiGroups": [group], "resources": [*resources], **more, "verbs": [*verbs]}


def _jobs(*verbs: str) -> list[Rule]:
    """For every kind of job that is known and asks for quota, installed or not; of a job that makes such jobs
    it is only looked up whether it is there."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind in JobKinds():
        groups.setdefault((kind.group, ("get",) if kind.asks == "none" else verbs), []).append(kind.plural)
    return [_may(group, plurals, *given) for (group, given), plurals in groups.items()]


def _runtimes() -> list[Rule]:
    return [_may(group, [f"{kind.lower()}s"], *FOLLOW) for group, kind in sorted(RUNTIMES)]


SCHEDULING, KUEUE = well_known.SCHEDULING_API, well_known.KUEUE_API
STORAGE = well_known.STORAGE_API
STORAGE_KINDS = ("StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment")
DEVICES = well_known.DEVICE_API
SPREAD_BY: dict[str, list[str]] = {}
for _group, _name in selecting.SELECTING:
    SPREAD_BY.setdefault(_group, []).append(_name)
"""What default spreading counts the pods of, by group."""
EVENTS = _rule("", ["Event"], "create", "patch")
"""For people; patch: the same thing happened again."""

_JOBS: dict[str, list[str]] = {}
for _kind in JobKinds():
    if _kind.asks == "job":
        _JOBS.setdefault(_kind.group, []).append(_kind.plural)
"""Kinds of jobs that can be suspended, by group. What cannot is held by its pods."""


RULES: dict[str, tuple[Rule, ...]] = {
    "scheduler": (
        EVENTS,
        _rule("", ["Node", "Namespace"], *FOLLOW),
        _rule(
            "", ["Pod"], *FOLLOW, "get", "delete"
        ),  # get: did a binding without an answer work? delete: victims
        _rule("", ["Pod/binding"], "create"),
        _rule("", ["Pod/status"], "patch"),  # conditions, nominations, marks
        _rule("policy", ["PodDisruptionBudget"], *FOLLOW),
        *(_rule(group, kinds, *FOLLOW) for group, kinds in SPREAD_BY.items()),  # by their selectors
        _rule("", ["PersistentVolume", "PersistentVolumeClaim"], *FOLLOW, "patch"),  # bind volumes
        _rule(STORAGE, STORAGE_KINDS, *FOLLOW),
        _rule(DEVICES, ["DeviceClass", "ResourceSlice", "DeviceTaintRule"], *FOLLOW),
        _rule(
            DEVICES, ["ResourceClaim"], *FOLLOW, "get", "patch", "create", "delete"
        ),  # patch: the finalizer; create, delete: those for extended resources
        _rule(DEVICES, ["ResourceClaim/status", "ResourceClaim/binding"], "patch"),  # allocate, reserve
        _rule(SCHEDULING, ["PriorityClass"], *FOLLOW),
        _rule(SCHEDULING, ["CompositePodGroup", "Workload"], *FOLLOW),  # workloads: templates of groups
        _rule(STAND_IN_GROUP, ["Workload"], *FOLLOW),
        _rule(SCHEDULING, ["PodGroup"], *FOLLOW, "get"),
        _rule(SCHEDULING, ["PodGroup/status"], "update"),
        _rule(STAND_IN_GROUP, ["PodGroup"], *FOLLOW, "get"),
        _rule(STAND_IN_GROUP, ["PodGroup/status"], "update"),
        _rule("batch", ["Job"], *FOLLOW),  # which pods belong to a queue
        _rule(KUEUE, ["Workload"], *FOLLOW),  # ... and which of them got quota
    ),
    "quota": (
        EVENTS,
        _rule("", ["Namespace", "LimitRange", "Node"], *FOLLOW),
        _rule(DEVICES, ["ResourceClaimTemplate"], *FOLLOW),  # devices that quota counts
        _rule("", ["Pod"], *FOLLOW, "patch", "delete"),  # a group's pods: their gate lifted, evicted
        *_jobs(*FOLLOW, "get", "patch"),  # suspend and resume, gate pods; get: what is above a job
        _rule("batch", ["Job/status"], "patch"),
        *_runtimes(),
        _rule("node.k8s.io", ["RuntimeClass"], *FOLLOW),  # what pods need on top of what they ask for
        _rule(SCHEDULING, ["PriorityClass", "PodGroup"], *FOLLOW),
        _rule(STAND_IN_GROUP, ["PodGroup"], *FOLLOW),
        _rule(
            KUEUE,
            [
                "ClusterQueue",
                "Cohort",
                "LocalQueue",
                "ResourceFlavor",
                "Topology",
                "WorkloadPriorityClass",
                "AdmissionCheck",
            ],
            *FOLLOW,
        ),
        _rule(KUEUE, ["Workload"], *FOLLOW, "get", "create", "patch", "delete"),
        _rule(KUEUE, ["Workload/status", "ClusterQueue/status", "LocalQueue/status"], "patch"),
    ),
    "fleet": (
        *(_may(group, names, *FOLLOW, "get") for group, names in _JOBS.items()),
        *(_may(group, [f"{name}/status" for name in names], "update") for group, names in _JOBS.items()),
        _rule("", ["Pod"], *FOLLOW, "get"),
        _rule("", ["Pod/status"], "update"),  # what the worker's pods say
        *(_rule(group, ["PodGroup"], *FOLLOW) for group in (SCHEDULING, STAND_IN_GROUP)),
        *(_rule(group, ["Workload"], "get") for group in (SCHEDULING, STAND_IN_GROUP)),  # templates
        _rule(KUEUE, ["MultiKueueConfig"], *FOLLOW),
        _rule(KUEUE, ["AdmissionCheck", "MultiKueueCluster"], *FOLLOW, "get"),
        _rule(KUEUE, ["Workload"], *FOLLOW, "get", "patch"),  # patch: the ledger of gates
        _rule(KUEUE, ["Workload/status", "AdmissionCheck/status", "MultiKueueCluster/status"], "update"),
    ),
}

DASHBOARD = (
    _rule("", ["Node", "Pod"], *FOLLOW),
    _rule("", ["Namespace", "LimitRange", "ResourceQuota", "Event"], "list"),
    _rule("node.k8s.io", ["RuntimeClass"], "list"),
    _rule("", ["PersistentVolume", "PersistentVolumeClaim"], "list"),
    _rule("policy", ["PodDisruptionBudget"], "list"),
    *(_rule(group, kinds, "list") for group, kinds in SPREAD_BY.items()),
    _rule(STORAGE, STORAGE_KINDS, "list"),
    _rule(
        DEVICES,
        ["DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"],
        *FOLLOW,  # GPUs that are no resource of their node
    ),
    _rule(DEVICES, ["DeviceTaintRule"], "list"),
    _rule(SCHEDULING, ["PodGroup", "CompositePodGroup"], *FOLLOW),
    _rule(SCHEDULING, ["PriorityClass"], "list"),
    _rule(STAND_IN_GROUP, ["PodGroup"], *FOLLOW),
    _rule(
        KUEUE,
        [
            "ClusterQueue",
            "Cohort",
            "LocalQueue",
            "ResourceFlavor",
            "Workload",
            "AdmissionCheck",
            "MultiKueueCluster",
        ],
        *FOLLOW,
    ),
    _rule(KUEUE, ["WorkloadPriorityClass", "MultiKueueConfig"], "list"),
)
"""What the page shows and, only listed, what its what-if form needs beside that."""

LEASE = (
    _rule("coordination.k8s.io", ["Lease"], "create"),
    _rule("coordination.k8s.io", ["Lease"], "get", "update", resourceNames=["reprieve"]),
)
"""Only the one Lease, only in our own namespace; `create` cannot be limited by name."""


WEBHOOK_ACCESS = (
    _rule(
        "admissionregistration.k8s.io",
        ["MutatingWebhookConfiguration"],
        "get",
        "patch",
        resourceNames=["reprieve"],
    ),
)
"""The certificate of the webhook is written into its configuration."""

WEBHOOK_SECRET = (
    _rule("", ["Secret"], "create"),
    _rule("", ["Secret"], "get", "patch", resourceNames=["reprieve-webhook"]),
)
"""... and kept for all replicas, in our own namespace."""

KUBECONFIGS = (_rule("", ["Secret"], "get"),)
"""The workers' kubeconfigs, for the fleet; only in the namespace that holds them."""


def rules(controllers: Sequence[str], dashboard: bool = False) -> list[Rule]:
    """What these controllers may do together; verbs for the same resources are merged."""
    merged: dict[tuple[str, str], dict[str, None]] = {}
    for rule in [*(rule for name in controllers for rule in RULES[name]), *(DASHBOARD if dashboard else ())]:
        for resource in rule["resources"]:
            verbs = merged.setdefault((rule["apiGroups"][0], resource), {})
            verbs.update(dict.fromkeys(rule["verbs"]))
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), verbs in merged.items():
        together.setdefault((group, tuple(verbs)), []).append(resource)
    return [_may(group, resources, *verbs) for (group, verbs), resources in together.items()]
