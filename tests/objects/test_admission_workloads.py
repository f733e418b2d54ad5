"""Kueue's Workload at the door: what is asked, and what may change once quota is reserved."""

from typing import Any

import pytest

from tests.objects.door import context, paths, stored
from tests.objects.samples import edited, sample

RESERVED = sample("Workload", "kueue.x-k8s.io")
PENDING = {key: value for key, value in RESERVED.items() if key != "status"}
ADMITTED = edited(
    RESERVED,
    "status.conditions",
    [{"type": kind, "status": "True"} for kind in ("QuotaReserved", "Admitted")],
)
ASSIGNMENT = "status.admission.podSetAssignments"


def test_a_workload_gets_its_defaults() -> None:
    document = edited(edited(PENDING, "spec.active", ...), "spec.podSets.0", {"template": {}})
    spec = stored(document)["spec"]
    assert spec["active"] is True
    assert spec["podSets"] == [{"name": "main", "count": 1, "template": {}}]


def test_without_partial_admission_min_count_is_dropped() -> None:
    off = context(config={"featureGates": {"PartialAdmission": False}})
    assert "minCount" not in stored(PENDING, at=off)["spec"]["podSets"][0]


def pod_sets(*sets: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"template": {}, **each} for each in sets]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("spec.podSets", [], "spec.podSets"),
        ("spec.podSets", pod_sets(*({"name": f"p{n}"} for n in range(19))), "spec.podSets"),
        ("spec.podSets", pod_sets({"name": "a"}, {"name": "a"}), "spec.podSets[1].name"),
        ("spec.podSets.0.name", "x" * 64, "spec.podSets[0].name"),
        ("spec.podSets", pod_sets({"count": -1}), "spec.podSets[0].count"),
        ("spec.podSets.0.count", 2**31, "spec.podSets[0].count"),
        ("spec.podSets.0.minCount", 0, "spec.podSets[0].minCount"),
        ("spec.podSets.0.minCount", 5, "spec.podSets[0].minCount"),
        (
            "spec.podSets",
            pod_sets({"name": "a", "count": 2, "minCount": 1}, {"name": "b", "count": 2, "minCount": 1}),
            "spec.podSets[1].minCount",
        ),
        (
            "spec.podSets.0.template.spec.containers.0.resources.requests.pods",
            1,
            "spec.podSets[0].template.spec.containers[0].resources.requests.pods",
        ),
        (
            "spec.podSets.0.template.spec.containers.0.resources.requests.cpu",
            "-1",
            "spec.podSets[0].template.spec.containers[0].resources.requests[cpu]",
        ),
        ("spec.queueName", "A B", "spec.queueName"),
        ("spec.priority", 2**31, "spec.priority"),
        ("spec.priority", ..., "spec.priority"),
        ("spec.priorityClassRef.group", "x", "spec.priorityClassRef.group"),
        ("spec.priorityClassRef.kind", "PriorityClass", "spec.priorityClassRef.kind"),
        ("spec.priorityClassRef.name", "", "spec.priorityClassRef.name"),
        ("spec.maximumExecutionTimeSeconds", 0, "spec.maximumExecutionTimeSeconds"),
        ("spec.preemptionGates", [{"name": "a"}, {"name": "a"}], "spec.preemptionGates[1].name"),
        ("spec.preemptionGates", [{"name": f"g{n}"} for n in range(9)], "spec.preemptionGates"),
        ("spec.preemptionGates", [{"name": "x" * 64}], "spec.preemptionGates[0].name"),
        (
            "metadata.annotations",
            {"kueue.x-k8s.io/priority-boost": "much"},
            "metadata.annotations.kueue.x-k8s.io/priority-boost",
        ),
        (
            "metadata.annotations",
            {"kueue.x-k8s.io/priority-boost": ""},
            "metadata.annotations.kueue.x-k8s.io/priority-boost",
        ),
    ],
)
def test_a_broken_workload_is_refused_at_the_broken_place(path: str, value: Any, problem: str) -> None:
    assert paths(edited(PENDING, path, value)) == [problem]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("status.admission", ..., "status.admission"),
        ("status.admission.clusterQueue", "", "status.admission.clusterQueue"),
        (ASSIGNMENT, [], ASSIGNMENT),
        (f"{ASSIGNMENT}.0.name", "other", f"{ASSIGNMENT}[0].name"),
        (f"{ASSIGNMENT}.0.resourceUsage.cpu", "-8", f"{ASSIGNMENT}[0].resourceUsage[cpu]"),
        (f"{ASSIGNMENT}.0.resourceUsage.cpu", "8001m", f"{ASSIGNMENT}[0].resourceUsage[cpu]"),
        ("status.admissionChecks.0.state", "Done", "status.admissionChecks[0].state"),
        ("status.preemptionGates.0.position", "Ajar", "status.preemptionGates[0].position"),
        ("status.reclaimablePods.0.count", 5, "status.reclaimablePods[0].count"),
        ("status.reclaimablePods.0.name", "other", "status.reclaimablePods[0].name"),
        ("status.nominatedClusterNames", [f"c{n}" for n in range(21)], "status.nominatedClusterNames"),
    ],
)
def test_a_broken_status_is_refused_at_the_broken_place(path: str, value: Any, problem: str) -> None:
    assert paths(edited(RESERVED, path, value)) == [problem]


def test_a_cluster_is_chosen_or_nominated_but_not_both() -> None:
    both = edited(edited(RESERVED, "status.clusterName", "a"), "status.nominatedClusterNames", ["a"])
    assert paths(both) == ["status.clusterName"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("spec.queueName", "other", "spec.queueName"),
        ("spec.podSets.0.count", 5, "spec.podSets"),
        (
            "spec.priorityClassRef",
            {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"},
            "spec.priorityClassRef.group",
        ),
        ("status.reclaimablePods", [], "status.reclaimablePods"),
        ("status.admission.clusterQueue", "other", "status.admission"),
    ],
)
def test_while_quota_is_reserved_what_was_asked_stays(path: str, value: Any, problem: str) -> None:
    assert problem in paths(edited(RESERVED, path, value), old=RESERVED)


def test_before_quota_is_reserved_everything_may_change() -> None:
    stored(edited(PENDING, "spec.queueName", "other"), old=PENDING)
    stored(edited(PENDING, "spec.podSets.0.count", 5), old=PENDING)


def test_the_priority_may_change_within_kueues_own_class_but_not_a_pods_class() -> None:
    stored(edited(RESERVED, "spec.priorityClassRef.name", "higher"), old=RESERVED)
    of_pods = {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}
    old = edited(RESERVED, "spec.priorityClassRef", of_pods)
    assert paths(edited(old, "spec.priorityClassRef.name", "higher"), old=old) == [
        "spec.priorityClassRef.name"
    ]


def test_the_longest_run_is_fixed_once_admitted() -> None:
    longer = edited(ADMITTED, "spec.maximumExecutionTimeSeconds", 60)
    assert paths(longer, old=ADMITTED) == ["spec.maximumExecutionTimeSeconds"]
    stored(edited(RESERVED, "spec.maximumExecutionTimeSeconds", 60), old=RESERVED)


def test_an_admission_may_be_cleared_and_its_topology_filled_in() -> None:
    stored(edited(RESERVED, f"{ASSIGNMENT}.0.topologyAssignment", {"levels": ["rack"]}), old=RESERVED)
    evicted = edited(edited(RESERVED, "status.admission", ...), "status.conditions.0.status", "False")
    stored(evicted, old=RESERVED)


def test_a_chosen_cluster_was_nominated_and_stays() -> None:
    nominated = edited(RESERVED, "status.nominatedClusterNames", ["a", "b"])
    chosen = edited(RESERVED, "status.clusterName", "a")
    stored(chosen, old=nominated)
    assert paths(edited(RESERVED, "status.clusterName", "c"), old=nominated) == ["status.clusterName"]
    assert paths(edited(RESERVED, "status.clusterName", "b"), old=chosen) == ["status.clusterName"]
    stored(RESERVED, old=chosen)
