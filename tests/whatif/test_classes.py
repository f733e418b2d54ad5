"""Priority classes in plans over manifests: named wrongly, Never, and those that every cluster has."""

import re

import pytest

import reprieve
from reprieve.objects import InvalidObject
from reprieve.whatif import compare, sentences
from tests.builders import gang, node, pod, pod_group, priority_class

NOW = "2026-01-02T00:00:00Z"


@pytest.mark.parametrize("target", ["PodGroup/default/gang", "Pod/default/gang-0"])
def test_a_group_whose_class_is_misspelt_gets_no_answer(target: str) -> None:
    objects = [node("n", 2), priority_class("high", 9), *gang(1, 2, "hihg")]
    with pytest.raises(InvalidObject, match=re.escape(sentences.no_priority_class("hihg", ["high"]))):
        reprieve.plan(objects, target, now=NOW)


def test_a_pod_whose_class_is_unknown_gets_no_answer() -> None:
    with pytest.raises(InvalidObject, match=re.escape(sentences.no_priority_class("high", []))):
        reprieve.plan([node("n", 2), pod("p", 1, "high")], "Pod/default/p", now=NOW)
    with pytest.raises(InvalidObject, match=re.escape(sentences.no_priority_class("high", []))):
        compare([node("n", 2), pod("p", 1, "high")], "Pod/default/p", now=NOW)


def test_a_class_of_a_job_is_told_with_the_field_of_the_job() -> None:
    """'Pod/ml/train-0: spec.priorityClassName' names a pod that nobody has written."""
    pods = {
        "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "i"}],
        "priorityClassName": "high",
    }
    metadata = {"name": "train", "namespace": "ml"}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": {"spec": pods}},
    }
    told = re.escape(sentences.no_priority_class("high", []))
    with pytest.raises(InvalidObject, match=f"^Job/ml/train: spec.template.spec.priorityClassName: {told}"):
        reprieve.plan([node("n", 2), job], "Job/ml/train", now=NOW)
    workers = {"replicas": 2, "template": {"spec": {"containers": pods["containers"]}}}
    policy = {"schedulingPolicy": {"priorityClass": "high"}}
    torch = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata}
    torch["spec"] = {"runPolicy": policy, "pytorchReplicaSpecs": {"Worker": workers}}
    field = "spec.runPolicy.schedulingPolicy.priorityClass"
    with pytest.raises(InvalidObject, match=f"^PyTorchJob/ml/train: {field}: {told}"):
        reprieve.plan([node("n", 2), torch], "PyTorchJob/ml/train", now=NOW)


def test_a_class_that_never_preempts_binds_the_group_without_being_repeated() -> None:
    calm = priority_class("calm", 100, preemptionPolicy="Never")
    objects = [node("n", 2), calm, pod("low", 2, 1, on="n"), *gang(1, 2, "calm")]
    plan = reprieve.plan(objects, "PodGroup/default/gang", now=NOW)
    assert plan.outcome == "unschedulable"
    assert "preemptionPolicy=Never" in plan.reasons[0]


@pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost", "kubernetes"])
def test_a_system_class_protects_without_being_among_the_manifests(algorithm: str) -> None:
    victim = [
        pod_group("old", 1, 1, preemptionPriorityClassName="system-cluster-critical"),
        pod("old-0", 2, 1, group="old", on="n"),
    ]
    plan = reprieve.plan(
        [node("n", 2), *victim, *gang(1, 2, 100)],
        "PodGroup/default/gang",
        now=NOW,
        config={"preemption": {"algorithm": algorithm}},
    )
    assert plan.outcome == "unschedulable"


def test_a_group_of_a_system_class_preempts_everybody_else() -> None:
    objects = [node("n", 2), pod("low", 2, 1_000_000_000, on="n"), *gang(1, 2, "system-node-critical")]
    plan = reprieve.plan(objects, "PodGroup/default/gang", now=NOW).to_dict()
    assert [each["pod"] for each in plan["victims"]] == ["default/low"]
