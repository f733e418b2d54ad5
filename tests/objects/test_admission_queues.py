"""Kueue's kinds at the door."""

from typing import Any

import pytest

from tests.objects.door import context, lines, paths, stored
from tests.objects.samples import edited, sample

QUEUE, COHORT, FLAVOR = sample("ClusterQueue"), sample("Cohort"), sample("ResourceFlavor")
LOCAL, CHECK = sample("LocalQueue"), sample("AdmissionCheck")
GROUP = QUEUE["spec"]["resourceGroups"][0]


def resource(name: str, **limits: str) -> dict[str, Any]:
    return {"name": name, "nominalQuota": "1", **limits}


def resource_group(resources: list[str], flavors: list[str]) -> dict[str, Any]:
    quotas = [resource(each) for each in resources]
    return {
        "coveredResources": resources,
        "flavors": [{"name": each, "resources": quotas} for each in flavors],
    }


def test_a_cluster_queue_gets_its_defaults() -> None:
    bare = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"}}
    admitted = stored({**bare, "spec": {"fairSharing": {}}})
    assert admitted["spec"] == {
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "withinClusterQueue": "Never",
            "reclaimWithinCohort": "Never",
            "borrowWithinCohort": {"policy": "Never"},
        },
        "fairSharing": {"weight": "1"},
    }
    assert admitted["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]


def test_v1beta1_is_stored_as_v1beta2() -> None:
    old = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ClusterQueue",
        "metadata": {"name": "q"},
        "spec": {"cohort": "c"},
    }
    admitted = stored(old)
    assert admitted["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    assert admitted["spec"]["cohortName"] == "c"


FIRST = "spec.resourceGroups.0.flavors.0"
AT_FIRST = "spec.resourceGroups[0].flavors[0]"


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("spec.cohortName", "Not_A_Name", "spec.cohortName"),
        ("spec.queueingStrategy", "LIFO", "spec.queueingStrategy"),
        ("spec.stopPolicy", "Stop", "spec.stopPolicy"),
        (
            "spec.namespaceSelector.matchExpressions.0.operator",
            "Gt",
            "spec.namespaceSelector.matchExpressions[0].operator",
        ),
        ("spec.flavorFungibility.whenCanBorrow", "Perhaps", "spec.flavorFungibility.whenCanBorrow"),
        ("spec.flavorFungibility.whenCanPreempt", "MayStopSearch", "spec.flavorFungibility.preference"),
        ("spec.flavorFungibility.preference", "Neither", "spec.flavorFungibility.preference"),
        ("spec.preemption.withinClusterQueue", "Any", "spec.preemption.withinClusterQueue"),
        ("spec.preemption.reclaimWithinCohort", "Never", "spec.preemption.borrowWithinCohort.policy"),
        ("spec.preemption.reclaimWithinCohort", "Sometimes", "spec.preemption.reclaimWithinCohort"),
        (
            "spec.preemption.borrowWithinCohort.maxPriorityThreshold",
            2**31,
            "spec.preemption.borrowWithinCohort.maxPriorityThreshold",
        ),
        ("spec.fairSharing.weight", "-1", "spec.fairSharing.weight"),
        ("spec.fairSharing.weight", "1n", "spec.fairSharing.weight"),
        ("spec.fairSharing.weight", "heavy", "spec.fairSharing.weight"),
        (f"{FIRST}.resources.0.nominalQuota", "-1", f"{AT_FIRST}.resources[0].nominalQuota"),
        (f"{FIRST}.resources.0.nominalQuota", "many", f"{AT_FIRST}.resources[0].nominalQuota"),
        (f"{FIRST}.resources.0.borrowingLimit", "-1", f"{AT_FIRST}.resources[0].borrowingLimit"),
        (f"{FIRST}.resources.0.lendingLimit", "41", f"{AT_FIRST}.resources[0].lendingLimit"),
        (f"{FIRST}.resources.0.nominalQuota", ..., f"{AT_FIRST}.resources[0].nominalQuota"),
        (f"{FIRST}.name", "Spot_1", f"{AT_FIRST}.name"),
        (f"{FIRST}.resources", [resource("memory"), resource("cpu")], f"{AT_FIRST}.resources"),
        (f"{FIRST}.resources", [resource("cpu")], f"{AT_FIRST}.resources"),
        (
            "spec.resourceGroups.0.coveredResources",
            ["cpu!", "memory"],
            "spec.resourceGroups[0].coveredResources[0]",
        ),
        ("spec.resourceGroups.0.flavors", [], "spec.resourceGroups[0].flavors"),
        (
            "spec.resourceGroups",
            [resource_group(["cpu"], ["spot"]), resource_group(["memory"], ["spot"])],
            "spec.resourceGroups[1].flavors[0].name",
        ),
        (
            "spec.resourceGroups",
            [resource_group(["cpu"], ["spot"]), resource_group(["cpu"], ["b"])],
            "spec.resourceGroups[1].coveredResources[0]",
        ),
        ("spec.admissionChecksStrategy.admissionChecks", [], "spec.admissionChecksStrategy.admissionChecks"),
        (
            "spec.admissionChecksStrategy.admissionChecks.0.onFlavors",
            ["no"],
            "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]",
        ),
        (
            "spec.admissionChecksStrategy.admissionChecks",
            [{"name": "a"}, {"name": "a"}],
            "spec.admissionChecksStrategy.admissionChecks[1].name",
        ),
        ("spec.admissionScope", {"admissionMode": "X"}, "spec.admissionScope.admissionMode"),
    ],
)
def test_a_broken_cluster_queue_is_refused_at_the_broken_place(path: str, value: Any, problem: str) -> None:
    assert problem in paths(edited(QUEUE, path, value))


def test_limits_mean_nothing_without_a_cohort() -> None:
    assert paths(edited(QUEUE, "spec.cohortName", ...)) == [
        f"{AT_FIRST}.resources[0].borrowingLimit",
        f"{AT_FIRST}.resources[0].lendingLimit",
    ]


def test_a_cohort_without_a_parent_has_no_limits_but_may_lend_more_than_its_own() -> None:
    stored(COHORT)
    assert paths(edited(COHORT, "spec.parentName", ...)) == [
        f"{AT_FIRST}.resources[0].borrowingLimit",
        f"{AT_FIRST}.resources[0].lendingLimit",
    ]


def test_a_cohort_is_not_its_own_parent() -> None:
    assert paths(edited(COHORT, "spec.parentName", "research")) == ["spec.parentName"]


@pytest.mark.parametrize(
    ("groups", "most"),
    [
        ([resource_group([f"r{n}"], [f"f{n}"]) for n in range(17)], "at most 16 entries, has 17"),
        ([resource_group(["cpu"], [f"f{n}" for n in range(65)])], "at most 64 entries, has 65"),
        ([resource_group([f"r{n}" for n in range(20)], [f"f{n}" for n in range(30)])], "at most 512 pairs"),
        (
            [resource_group([f"r{g}"], [f"f{g}-{n}" for n in range(60)]) for g in range(5)],
            "at most 256 entries, has 300",
        ),
    ],
)
def test_there_is_a_limit_to_everything(groups: list[dict[str, Any]], most: str) -> None:
    assert any(
        most in line
        for line in lines(
            edited(edited(QUEUE, "spec.resourceGroups", groups), "spec.admissionChecksStrategy", ...)
        )
    )


def test_checks_of_vanished_flavors_may_stay_but_not_come() -> None:
    other = edited(QUEUE, f"{FIRST}.name", "other")
    stored(other, old=QUEUE)
    assert paths(other) == ["spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]"]
    strict = context(config={"featureGates": {"RejectUpdatesToCQWithInvalidOnFlavors": True}})
    assert paths(other, at=strict, old=QUEUE) == [
        "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]"
    ]


def test_a_local_queue_keeps_its_cluster_queue() -> None:
    assert paths(edited(LOCAL, "spec.clusterQueue", "other"), old=LOCAL) == ["spec.clusterQueue"]
    stored(edited(LOCAL, "spec.stopPolicy", "Hold"), old=LOCAL)
    assert paths(edited(LOCAL, "spec.stopPolicy", "Off")) == ["spec.stopPolicy"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("spec.nodeLabels", {f"l{n}": "x" for n in range(9)}, "spec.nodeLabels"),
        ("spec.nodeLabels", {"bad key!": "x"}, "spec.nodeLabels[bad key!]"),
        ("spec.nodeTaints.0.effect", "Never", "spec.nodeTaints[0].effect"),
        ("spec.nodeTaints.0.effect", ..., "spec.nodeTaints[0].effect"),
        ("spec.nodeTaints", [{"key": "a", "effect": "NoSchedule"}] * 2, "spec.nodeTaints[1]"),
        ("spec.tolerations.0.operator", "Is", "spec.tolerations[0].operator"),
    ],
)
def test_a_broken_flavor_is_refused(path: str, value: Any, problem: str) -> None:
    assert paths(edited(FLAVOR, path, value)) == [problem]


def test_a_flavors_topology_stays_and_needs_a_label() -> None:
    with_topology = edited(FLAVOR, "spec.topologyName", "racks")
    stored(with_topology, old=FLAVOR)
    assert paths(edited(FLAVOR, "spec.topologyName", "other"), old=with_topology) == ["spec.topologyName"]
    assert paths(edited(with_topology, "spec.nodeLabels", {})) == ["spec.nodeLabels"]


def test_workload_priority_classes() -> None:
    document = sample("WorkloadPriorityClass")
    assert paths(edited(document, "value", ...)) == ["value"]
    assert paths(edited(document, "value", 2**31)) == ["value"]
    assert paths(edited(document, "description", "x" * 2049)) == ["description"]
    assert paths(edited(document, "value", 5), old=document) == ["value"]


@pytest.mark.parametrize(
    ("kind", "path", "value", "problem"),
    [
        ("AdmissionCheck", "spec.controllerName", "", "spec.controllerName"),
        ("AdmissionCheck", "spec.controllerName", "x" * 254, "spec.controllerName"),
        ("AdmissionCheck", "spec.parameters.name", ..., "spec.parameters.name"),
        ("MultiKueueConfig", "spec.clusters", [], "spec.clusters"),
        ("MultiKueueConfig", "spec.clusters", ["a", "a"], "spec.clusters[1]"),
        ("MultiKueueConfig", "spec.clusters", [""], "spec.clusters[0]"),
        ("MultiKueueConfig", "spec.clusters", [f"c{n}" for n in range(21)], "spec.clusters"),
        ("MultiKueueConfig", "spec.quotaManagement", "Auto", "spec.quotaManagement"),
        ("MultiKueueConfig", "spec.quotaManagement", "Automated", "spec.quotaManagement"),
        ("MultiKueueCluster", "spec.clusterSource", {}, "spec.clusterSource"),
        (
            "MultiKueueCluster",
            "spec.clusterSource.kubeConfig.location",
            "",
            "spec.clusterSource.kubeConfig.location",
        ),
        (
            "MultiKueueCluster",
            "spec.clusterSource.kubeConfig.locationType",
            "Url",
            "spec.clusterSource.kubeConfig.locationType",
        ),
        (
            "MultiKueueCluster",
            "spec.clusterSource.kubeConfig",
            {"location": "/etc/passwd", "locationType": "Path"},
            "spec.clusterSource.kubeConfig.location",
        ),
        (
            "MultiKueueCluster",
            "spec.clusterSource.kubeConfig",
            {"location": "/etc/multikueue/kubeconfigs/../x", "locationType": "Path"},
            "spec.clusterSource.kubeConfig.location",
        ),
        (
            "MultiKueueCluster",
            "spec.clusterSource",
            {"clusterProfileRef": {"name": "p"}},
            "spec.clusterSource.clusterProfileRef",
        ),
    ],
)
def test_fleet_kinds(kind: str, path: str, value: Any, problem: str) -> None:
    assert paths(edited(sample(kind), path, value)) == [problem]


def test_a_check_keeps_its_controller_and_gates_open_what_they_guard() -> None:
    assert paths(edited(CHECK, "spec.controllerName", "other"), old=CHECK) == ["spec.controllerName"]
    gates = {"MultiKueueManagerQuotaAutomation": True, "MultiKueueKubeConfigPathValidation": False}
    relaxed = context(config={"featureGates": gates})
    stored(edited(sample("MultiKueueConfig"), "spec.quotaManagement", "Automated"), at=relaxed)
    path = {"location": "/somewhere", "locationType": "Path"}
    stored(edited(sample("MultiKueueCluster"), "spec.clusterSource.kubeConfig", path), at=relaxed)


def test_a_cluster_source_is_a_secret_unless_said_otherwise() -> None:
    document = edited(sample("MultiKueueCluster"), "spec.clusterSource.kubeConfig.locationType", ...)
    assert stored(document)["spec"]["clusterSource"]["kubeConfig"]["locationType"] == "Secret"
