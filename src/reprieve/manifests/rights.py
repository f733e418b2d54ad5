"""The least rights each controller needs, one line for each thing it does."""

from collections.abc import Sequence
from typing import Any

from reprieve.jobs import RUNTIMES, JobKinds
from reprieve.objects import STAND_IN_GROUP, well_known

Rule = dict[str, Any]

FOLLOW = ("list", "watch")


def _rule(group: str, resources: Sequence[str], *verbs: str) -> Rule:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _jobs(*verbs: str) -> list[Rule]:
    """For every kind of job that is known and asks for quota, installed or not; of a job that makes such jobs
    it is only looked up whether it is there."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind in JobKinds():
        groups.setdefault((kind.group, ("get",) if kind.asks == "none" else verbs), []).append(kind.plural)
    return [_rule(group, plurals, *given) for (group, given), plurals in groups.items()]


def _runtimes() -> list[Rule]:
    return [_rule(group, [f"{kind.lower()}s"], *FOLLOW) for group, kind in sorted(RUNTIMES)]


SCHEDULING, KUEUE = well_known.SCHEDULING_API, well_known.KUEUE_API
STORAGE = well_known.STORAGE_API
STORAGE_RESOURCES = ("storageclasses", "csidrivers", "csinodes", "csistoragecapacities", "volumeattachments")
DEVICES = "resource.k8s.io"
EVENTS = _rule("", ["events"], "create", "patch")
"""For people; patch: the same thing happened again."""

_JOBS: dict[str, list[str]] = {}
for _kind in JobKinds():
    if _kind.suspend and _kind.kind != "CronJob":  # a CronJob's jobs ask for quota, not it
        _JOBS.setdefault(_kind.group, []).append(_kind.plural)
"""Kinds of jobs that can be suspended, by group. What cannot is held by its pods."""


RULES: dict[str, tuple[Rule, ...]] = {
    "scheduler": (
        EVENTS,
        _rule("", ["nodes", "namespaces"], *FOLLOW),
        _rule(
            "", ["pods"], *FOLLOW, "get", "delete"
        ),  # get: did a binding without an answer work? delete: victims
        _rule("", ["pods/binding"], "create"),
        _rule("", ["pods/status"], "patch"),  # conditions, nominations, marks
        _rule("policy", ["poddisruptionbudgets"], *FOLLOW),
        _rule("", ["persistentvolumes", "persistentvolumeclaims"], *FOLLOW, "patch"),  # bind volumes
        _rule(STORAGE, STORAGE_RESOURCES, *FOLLOW),
        _rule(DEVICES, ["deviceclasses", "resourceslices", "devicetaintrules"], *FOLLOW),
        _rule(
            DEVICES, ["resourceclaims"], *FOLLOW, "get", "patch", "create", "delete"
        ),  # patch: the finalizer; create, delete: those for extended resources
        _rule(DEVICES, ["resourceclaims/status", "resourceclaims/binding"], "patch"),  # allocate, reserve
        _rule(SCHEDULING, ["priorityclasses"], *FOLLOW),
        _rule(SCHEDULING, ["compositepodgroups", "workloads"], *FOLLOW),  # workloads: templates of groups
        _rule(STAND_IN_GROUP, ["workloads"], *FOLLOW),
        _rule(SCHEDULING, ["podgroups"], *FOLLOW, "get"),
        _rule(SCHEDULING, ["podgroups/status"], "update"),
        _rule(STAND_IN_GROUP, ["podgroups"], *FOLLOW, "get"),
        _rule(STAND_IN_GROUP, ["podgroups/status"], "update"),
        _rule("batch", ["jobs"], *FOLLOW),  # which pods belong to a queue
        _rule(KUEUE, ["workloads"], *FOLLOW),  # ... and which of them got quota
    ),
    "quota": (
        EVENTS,
        _rule("", ["namespaces", "limitranges", "nodes"], *FOLLOW),
        _rule(DEVICES, ["resourceclaimtemplates"], *FOLLOW),  # devices that quota counts
        _rule("", ["pods"], *FOLLOW, "patch", "delete"),  # a group's pods: their gate lifted, evicted
        *_jobs(*FOLLOW, "get", "patch"),  # suspend and resume, gate pods; get: what is above a job
        _rule("batch", ["jobs/status"], "patch"),
        *_runtimes(),
        _rule("node.k8s.io", ["runtimeclasses"], *FOLLOW),  # what pods need on top of what they ask for
        _rule(SCHEDULING, ["priorityclasses", "podgroups"], *FOLLOW),
        _rule(STAND_IN_GROUP, ["podgroups"], *FOLLOW),
        _rule(
            KUEUE,
            [
                "clusterqueues",
                "cohorts",
                "localqueues",
                "resourceflavors",
                "topologies",
                "workloadpriorityclasses",
                "admissionchecks",
            ],
            *FOLLOW,
        ),
        _rule(KUEUE, ["workloads"], *FOLLOW, "get", "create", "patch", "delete"),
        _rule(KUEUE, ["workloads/status", "clusterqueues/status", "localqueues/status"], "patch"),
    ),
    "fleet": (
        *(_rule(group, names, *FOLLOW, "get") for group, names in _JOBS.items()),
        *(_rule(group, [f"{name}/status" for name in names], "update") for group, names in _JOBS.items()),
        _rule("", ["pods"], *FOLLOW, "get"),
        _rule("", ["pods/status"], "update"),  # what the worker's pods say
        *(_rule(group, ["podgroups"], *FOLLOW) for group in (SCHEDULING, STAND_IN_GROUP)),
        *(_rule(group, ["workloads"], "get") for group in (SCHEDULING, STAND_IN_GROUP)),  # templates
        _rule(KUEUE, ["multikueueconfigs"], *FOLLOW),
        _rule(KUEUE, ["admissionchecks", "multikueueclusters"], *FOLLOW, "get"),
        _rule(KUEUE, ["workloads"], *FOLLOW, "get", "patch"),  # patch: the ledger of gates
        _rule(KUEUE, ["workloads/status", "admissionchecks/status", "multikueueclusters/status"], "update"),
    ),
}

DASHBOARD = (
    _rule("", ["nodes", "pods"], *FOLLOW),
    _rule("", ["namespaces", "limitranges", "events"], "list"),
    _rule("", ["persistentvolumes", "persistentvolumeclaims"], "list"),
    _rule("policy", ["poddisruptionbudgets"], "list"),
    _rule(STORAGE, STORAGE_RESOURCES, "list"),
    _rule(
        DEVICES,
        ["deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates"],
        *FOLLOW,  # GPUs that are no resource of their node
    ),
    _rule(DEVICES, ["devicetaintrules"], "list"),
    _rule(SCHEDULING, ["podgroups", "compositepodgroups"], *FOLLOW),
    _rule(SCHEDULING, ["priorityclasses"], "list"),
    _rule(STAND_IN_GROUP, ["podgroups"], *FOLLOW),
    _rule(
        KUEUE,
        [
            "clusterqueues",
            "cohorts",
            "localqueues",
            "resourceflavors",
            "workloads",
            "admissionchecks",
            "multikueueclusters",
        ],
        *FOLLOW,
    ),
    _rule(KUEUE, ["workloadpriorityclasses", "multikueueconfigs"], "list"),
)
"""What the page shows and, only listed, what its what-if form needs beside that."""

LEASE = (
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "resourceNames": ["reprieve"],
        "verbs": ["get", "update"],
    },
)
"""Only the one Lease, only in our own namespace; `create` cannot be limited by name."""


WEBHOOK_ACCESS = (
    {
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": ["mutatingwebhookconfigurations"],
        "resourceNames": ["reprieve"],
        "verbs": ["get", "patch"],
    },
)
"""The certificate of the webhook is written into its configuration."""

WEBHOOK_SECRET = (
    _rule("", ["secrets"], "create"),
    {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["reprieve-webhook"],
        "verbs": ["get", "patch"],
    },
)
"""... and kept for all replicas, in our own namespace."""

KUBECONFIGS = (_rule("", ["secrets"], "get"),)
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
    return [_rule(group, resources, *verbs) for (group, verbs), resources in together.items()]
