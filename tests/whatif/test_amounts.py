"""What a plan, an admission run and the page's what-if make of limits and of amounts nobody can hand out."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import reprieve
from reprieve.admission import sentences as admission
from reprieve.cli import main
from reprieve.objects import InvalidObject
from tests.builders import cluster_queue, flavor, local_queue, node, pod, workload

GPU = "nvidia.com/gpu"
HALF = f"resources.limits[{GPU}]: must be an integer, got '0.5': {GPU} is handed out in whole ones"


def gpus(amount: Any) -> list[dict[str, Any]]:
    """A container as most people write it: limits, no requests."""
    return [{"name": "c", "image": "i", "resources": {"limits": {GPU: amount}}}]


def test_limits_without_requests_do_not_fit_on_a_node_without_devices() -> None:
    plan = reprieve.plan([node("n1"), pod("train", containers=gpus(8))], "Pod/default/train")
    assert plan.outcome == "unschedulable"
    assert "Insufficient nvidia.com/gpu" in plan.to_dict()["message"]


def test_limits_without_requests_of_a_running_pod_are_taken() -> None:
    busy = pod("busy", on="n1", containers=gpus(6))
    plan = reprieve.plan(
        [node("n1", allocatable={GPU: "8"}), busy, pod("new", containers=gpus(4))], "Pod/default/new"
    )
    assert plan.outcome == "unschedulable"


def test_half_a_device_gets_no_plan_but_the_name_of_the_field() -> None:
    with pytest.raises(InvalidObject) as refused:
        reprieve.plan([node("n1"), pod("train", containers=gpus("0.5"))], "Pod/default/train")
    assert str(refused.value) == f"Pod/default/train: spec.containers[0].{HALF}"


def test_the_commands_refuse_half_a_device(tmp_path: Path) -> None:
    manifests = tmp_path / "pods.json"
    manifests.write_text(json.dumps([node("n1"), pod("train", containers=gpus("0.5"))]))
    for command in (["plan", "--for", "pod/default/train"], ["validate"]):
        answer = CliRunner().invoke(main, [*command, "-f", str(manifests)])
        assert answer.exit_code == 2
        assert f"spec.containers[0].{HALF}" in answer.output


def test_a_workload_for_half_a_device_gets_no_quota_but_the_name_of_the_field() -> None:
    asks = workload("w")
    asks["spec"]["podSets"][0]["template"]["spec"]["containers"] = gpus("0.5")
    objects = [flavor(), cluster_queue(), local_queue(), asks]
    path = f"spec.podSets[0].template.spec.containers[0].{HALF}"
    for ask in (reprieve.admit, lambda given: reprieve.plan(given, "Workload/default/w")):
        with pytest.raises(InvalidObject) as refused:
            ask(objects)
        assert str(refused.value) == f"Workload/default/w: {path}"


RUNTIME_CLASS = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "sandboxed"},
    "handler": "h",
    "overhead": {"podFixed": {"cpu": "2"}},
    "scheduling": {"nodeSelector": {"sandbox": "yes"}},
}


def test_the_overhead_of_a_runtime_class_counts_for_a_pod_and_its_selector_too() -> None:
    asks = pod("p", 3, runtimeClassName="sandboxed")
    nodes = [node("small", 4, labels={"sandbox": "yes"}), node("other", 8)]
    assert reprieve.plan([*nodes, asks, RUNTIME_CLASS], "Pod/default/p").outcome == "unschedulable"
    large = node("large", 5, labels={"sandbox": "yes"})
    plan = reprieve.plan([*nodes, large, asks, RUNTIME_CLASS], "Pod/default/p").to_dict()
    assert plan["placements"] == {"default/p": "large"}
    assert "ignored" not in plan
    plan = reprieve.plan([*nodes, asks], "Pod/default/p").to_dict()
    assert plan["reasons"][-1] == admission.runtime_classes_are_missing([("sandboxed", "Pod/default/p")])


def test_the_overhead_of_a_runtime_class_counts_for_a_workload_as_kueue_counts_it() -> None:
    asks = workload("w", 3)
    asks["spec"]["podSets"][0]["template"]["spec"]["runtimeClassName"] = "sandboxed"
    objects = [flavor(), cluster_queue("cq", 4), local_queue(), asks]
    assert reprieve.admit([*objects, RUNTIME_CLASS]).to_dict()["unadmitted"] == ["default/w"]
    without = reprieve.admit(objects)
    assert without.to_dict()["unadmitted"] == []
    missing = [("sandboxed", "Workload/default/w")]
    assert without.notes.sentences == (admission.runtime_classes_are_missing(missing),)


def test_limits_without_requests_count_in_the_pod_sets_of_a_workload() -> None:
    asks = workload("w")
    limited = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "5"}}}
    asks["spec"]["podSets"][0]["template"]["spec"]["containers"] = [limited]
    objects = [flavor(), cluster_queue("cq", 4), local_queue(), asks]
    assert reprieve.admit(objects).to_dict()["unadmitted"] == ["default/w"]
