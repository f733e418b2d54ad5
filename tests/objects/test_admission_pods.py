"""Pods, nodes, budgets and jobs at the door."""

from typing import Any

import pytest

from tests.objects.door import context, paths, stored
from tests.objects.samples import edited, sample

POD = sample("Pod")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def test_limits_stand_in_for_requests_that_are_not_stated() -> None:
    limits = {"cpu": "2", "nvidia.com/gpu": "1"}
    container = stored(
        edited(POD, "spec.containers.0.resources", {"requests": {"cpu": "1"}, "limits": limits})
    )["spec"]["containers"][0]
    assert container["resources"]["requests"] == {"cpu": "1", "nvidia.com/gpu": "1"}


def test_without_the_gate_a_pod_belongs_to_no_group() -> None:
    off = context(config={"featureGates": {"GenericWorkload": False}})
    assert "schedulingGroup" not in stored(edited(POD, "spec.priorityClassName", ...), at=off)["spec"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("spec.schedulingGroup", {}, "spec.schedulingGroup"),
        ("spec.schedulingGroup.podGroupName", "A", "spec.schedulingGroup.podGroupName"),
        ("spec.evictionResponders", [], "spec.schedulingGroup"),
        ("spec.priority", 2**31, "spec.priority"),
        ("spec.preemptionPolicy", "Always", "spec.preemptionPolicy"),
        ("spec.restartPolicy", "Sometimes", "spec.restartPolicy"),
        ("spec.containers.0.resources.requests.cpu", "lots", "spec.containers[0].resources.requests[cpu]"),
        ("spec.containers.0.resources.requests.cpu", -1, "spec.containers[0].resources.requests[cpu]"),
        ("spec.containers.0.resources.limits.memory", "-1Gi", "spec.containers[0].resources.limits[memory]"),
        ("spec.overhead.cpu", "1 core", "spec.overhead[cpu]"),
        ("spec.containers.0.ports.0.hostPort", 70000, "spec.containers[0].ports[0].hostPort"),
        ("spec.containers.0.ports.0.protocol", "HTTP", "spec.containers[0].ports[0].protocol"),
        ("spec.initContainers.0.name", "main", "spec.initContainers[0].name"),
        ("spec.nodeSelector", {"bad key!": "x"}, "spec.nodeSelector[bad key!]"),
        ("spec.tolerations.0", {"operator": "Equal"}, "spec.tolerations[0].operator"),
        ("spec.tolerations.0", {"key": "a", "operator": "Exists", "value": "b"}, "spec.tolerations[0].value"),
        ("spec.tolerations.0", {"key": "a", "operator": "exists"}, "spec.tolerations[0].operator"),
        (
            "spec.tolerations.0",
            {"key": "a", "operator": "Exists", "effect": "No"},
            "spec.tolerations[0].effect",
        ),
        (
            "spec.tolerations.0",
            {"key": "a", "operator": "Exists", "tolerationSeconds": 5},
            "spec.tolerations[0].effect",
        ),
        ("spec.schedulingGates", [{"name": "a"}, {"name": "a"}], "spec.schedulingGates[1].name"),
        (
            f"spec.affinity.nodeAffinity.{REQUIRED}",
            {},
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
        ),
        (
            f"spec.affinity.nodeAffinity.{PREFERRED}.0.weight",
            0,
            f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight",
        ),
        (
            f"spec.affinity.podAntiAffinity.{REQUIRED}.0.topologyKey",
            "",
            f"spec.affinity.podAntiAffinity.{REQUIRED}[0].topologyKey",
        ),
        ("spec.topologySpreadConstraints.0.maxSkew", 0, "spec.topologySpreadConstraints[0].maxSkew"),
        (
            "spec.topologySpreadConstraints.0.whenUnsatisfiable",
            "No",
            "spec.topologySpreadConstraints[0].whenUnsatisfiable",
        ),
        (
            "spec.topologySpreadConstraints.0.whenUnsatisfiable",
            "ScheduleAnyway",
            "spec.topologySpreadConstraints[0].minDomains",
        ),
        ("status.phase", "Sleeping", "status.phase"),
    ],
)
def test_a_broken_pod_is_refused_at_the_broken_place(path: str, value: Any, problem: str) -> None:
    assert paths(edited(POD, path, value)) == [problem]


TERM = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


@pytest.mark.parametrize(
    ("expression", "broken"),
    [
        ({"key": "a", "operator": "In", "values": []}, "values"),
        ({"key": "a", "operator": "Exists", "values": ["b"]}, "values"),
        ({"key": "a", "operator": "Gt", "values": ["b"]}, "values"),
        ({"key": "a", "operator": "Lt", "values": ["1", "2"]}, "values"),
        ({"key": "a", "operator": "Like", "values": ["b"]}, "operator"),
        ({"key": "bad key!", "operator": "Exists"}, "key"),
    ],
)
def test_an_expression_kubernetes_cannot_parse_is_refused(expression: dict[str, Any], broken: str) -> None:
    assert paths(edited(POD, f"{TERM}.0.matchExpressions", [expression])) == [
        f"{TERM}[0].matchExpressions[0].{broken}"
    ]


@pytest.mark.parametrize(
    "field",
    [
        {"key": "metadata.uid", "operator": "In", "values": ["x"]},
        {"key": "metadata.name", "operator": "Exists", "values": ["x"]},
        {"key": "metadata.name", "operator": "In", "values": ["x", "y"]},
    ],
)
def test_a_field_expression_names_one_node(field: dict[str, Any]) -> None:
    (path,) = paths(edited(POD, f"{TERM}.0.matchFields", [field]))
    assert path.startswith(f"{TERM}[0].matchFields[0].")


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("spec.schedulingGroup.podGroupName", "other", "spec.schedulingGroup"),
        ("spec.priority", 5, "spec.priority"),
        ("spec.schedulerName", "other", "spec.schedulerName"),
        ("spec.schedulingGates", [{"name": "new"}], "spec.schedulingGates[0].name"),
    ],
)
def test_what_scheduling_relies_on_stays(path: str, value: Any, problem: str) -> None:
    assert paths(edited(POD, path, value), old=POD) == [problem]


def test_a_pod_gets_its_node_once() -> None:
    bound = edited(POD, "spec.nodeName", "node-1")
    stored(bound, old=POD)
    assert paths(edited(POD, "spec.nodeName", "node-2"), old=bound) == ["spec.nodeName"]
    assert paths(POD, old=bound) == ["spec.nodeName"]


def test_scheduling_gates_can_be_lifted() -> None:
    stored(POD, old=edited(POD, "spec.schedulingGates", [{"name": "a"}]))


@pytest.mark.parametrize(
    ("kind", "path", "value", "problem"),
    [
        ("Node", "spec.taints.0.effect", "No", "spec.taints[0].effect"),
        ("Node", "status.allocatable.cpu", "many", "status.allocatable[cpu]"),
        ("Node", "metadata.namespace", "ml", "metadata.namespace"),
        ("PodDisruptionBudget", "spec.minAvailable", 1, "spec"),
        ("PodDisruptionBudget", "spec.maxUnavailable", -1, "spec.maxUnavailable"),
        ("PodDisruptionBudget", "spec.maxUnavailable", "half", "spec.maxUnavailable"),
        ("PodDisruptionBudget", "spec.maxUnavailable", "101%", "spec.maxUnavailable"),
        ("PodDisruptionBudget", "spec.selector.matchLabels.app", "a b", "spec.selector.matchLabels[app]"),
        ("PodDisruptionBudget", "status.disruptionsAllowed", -1, "status.disruptionsAllowed"),
        ("Job", "spec.parallelism", -1, "spec.parallelism"),
        (
            "Job",
            "spec.template.spec.containers.0.resources.requests.cpu",
            "x",
            "spec.template.spec.containers[0].resources.requests[cpu]",
        ),
        ("LimitRange", "spec.limits.0.max.cpu", "x", "spec.limits[0].max[cpu]"),
    ],
)
def test_other_kinds(kind: str, path: str, value: Any, problem: str) -> None:
    assert paths(edited(sample(kind), path, value)) == [problem]


def test_a_budget_may_be_a_percentage() -> None:
    stored(edited(sample("PodDisruptionBudget"), "spec.maxUnavailable", "50%"))


def test_kinds_we_do_not_know_pass_unchecked() -> None:
    stored({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "NOT CHECKED"}})
