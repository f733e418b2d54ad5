"""The least rights each controller needs, one line for each thing it does."""

from collections.abc import Sequence
from typing import Any

from reprieve.objects.kinds import STAND_IN_GROUP

Rule = dict[str, Any]

READ = ("get", "list", "watch")


def _rule(group: str, resources: Sequence[str], *verbs: str) -> Rule:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


EVERYONE = (_rule("events.k8s.io", ["events"], "create", "patch"),)
"""Events for people."""

RULES: dict[str, tuple[Rule, ...]] = {
    "scheduler": (
        _rule("", ["nodes", "namespaces"], *READ),
        _rule("", ["pods"], *READ, "delete"),  # delete: victims
        _rule("", ["pods/binding"], "create"),
        _rule("", ["pods/status"], "patch"),  # conditions and nominations
        _rule("policy", ["poddisruptionbudgets"], *READ),
        _rule("scheduling.k8s.io", ["priorityclasses", "podgroups"], *READ),
        _rule(STAND_IN_GROUP, ["podgroups"], *READ),
        _rule("scheduling.k8s.io", ["podgroups/status"], "update"),
        _rule(STAND_IN_GROUP, ["podgroups/status"], "update"),
    ),
    "quota": (
        _rule("", ["namespaces", "limitranges"], *READ),
        _rule("", ["pods"], *READ, "patch", "delete"),  # a group's pods: their gate lifted, evicted
        _rule("batch", ["jobs"], *READ, "patch"),  # suspend and resume
        _rule("batch", ["jobs/status"], "patch"),
        _rule("scheduling.k8s.io", ["priorityclasses", "podgroups"], *READ),
        _rule(STAND_IN_GROUP, ["podgroups"], *READ),
        _rule(
            "kueue.x-k8s.io",
            [
                "clusterqueues",
                "cohorts",
                "localqueues",
                "resourceflavors",
                "workloadpriorityclasses",
                "admissionchecks",
            ],
            *READ,
        ),
        _rule("kueue.x-k8s.io", ["workloads"], *READ, "create", "patch", "delete"),
        _rule("kueue.x-k8s.io", ["workloads/status", "clusterqueues/status", "localqueues/status"], "patch"),
    ),
    "fleet": (
        _rule("batch", ["jobs"], *READ, "patch", "update"),
        _rule("batch", ["jobs/status"], "get", "patch", "update"),
        _rule(
            "kueue.x-k8s.io",
            ["clusterqueues", "localqueues", "admissionchecks", "multikueueconfigs", "multikueueclusters"],
            *READ,
        ),
        _rule("kueue.x-k8s.io", ["workloads"], *READ, "update", "patch"),
        _rule(
            "kueue.x-k8s.io",
            ["workloads/status", "admissionchecks/status", "multikueueclusters/status"],
            "get",
            "update",
            "patch",
        ),
    ),
}

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


KUBECONFIGS = (_rule("", ["secrets"], "get"),)
"""The workers' kubeconfigs, for the fleet; only in the namespace that holds them."""


def rules(controllers: Sequence[str]) -> list[Rule]:
    """What these controllers together may do: verbs for the same resources are merged, nothing is listed twice."""
    merged: dict[tuple[str, str], dict[str, None]] = {}
    for rule in [*EVERYONE, *(rule for name in controllers for rule in RULES[name])]:
        for resource in rule["resources"]:
            verbs = merged.setdefault((rule["apiGroups"][0], resource), {})
            verbs.update(dict.fromkeys(rule["verbs"]))
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), verbs in merged.items():
        together.setdefault((group, tuple(verbs)), []).append(resource)
    return [_rule(group, resources, *verbs) for (group, verbs), resources in together.items()]
