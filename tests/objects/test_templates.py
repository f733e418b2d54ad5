"""PodGroups that name their Workload's template: defaulted from it, and checked against it."""

from typing import Any

import pytest

import reprieve
from reprieve.objects import InvalidObject, Source, review
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    pod_group,
    priority_class,
    workload,
)
from tests.objects.door import CONTEXT, context, lines, stored
from tests.objects.samples import sample

TEMPLATE: dict[str, Any] = {
    "name": "workers",
    "schedulingPolicy": {"gang": {"minCount": 2, "disruptionMode": "PodGroup"}},
    "priorityClassName": "high",
}
WORKLOAD = {
    **sample("Workload", "scheduling.k8s.io"),
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {"podGroupTemplates": [TEMPLATE]},
}
REFERENCE = {"workloadName": "train", "templateName": "workers"}
HIGH, LOW = priority_class("high", 100), priority_class("low", 1)
AT = context(HIGH, LOW)._replace(workload=lambda _namespace, name: WORKLOAD if name == "train" else None)


def bare(**spec: Any) -> dict[str, Any]:
    made = pod_group("g", workloadRef=REFERENCE)
    made["spec"] = {"workloadRef": REFERENCE, **spec}
    return made


def test_what_the_group_leaves_out_comes_from_its_template() -> None:
    spec = stored(bare(), at=AT)["spec"]
    assert spec["schedulingPolicy"] == {"gang": {"minCount": 2}}
    assert spec["disruptionMode"] == {"all": {}}
    assert (spec["priorityClassName"], spec["priority"]) == ("high", 100)


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        ({"schedulingPolicy": {"basic": {}}}, "spec.schedulingPolicy: is {'basic': {}}, but its template"),
        (
            {"priorityClassName": "low"},
            "spec.priorityClassName: is 'low', but its template 'workers' says 'high'",
        ),
        ({"disruptionMode": "Pod"}, "spec.disruptionMode: is {'single': {}}, but its template"),
    ],
)
def test_a_group_that_contradicts_its_template_is_refused(own: dict[str, Any], problem: str) -> None:
    assert any(line.startswith(problem) for line in lines(bare(**own), at=AT))


def test_the_size_of_a_gang_may_differ() -> None:
    assert stored(bare(schedulingPolicy={"gang": {"minCount": 5}}), at=AT)["spec"]["priority"] == 100


def test_a_template_that_is_not_there_is_named_and_a_workload_may_come_later() -> None:
    lost = bare(workloadRef={"workloadName": "train", "templateName": "leader"})
    assert any("has no template 'leader'; it has: workers" in line for line in lines(lost, at=AT))
    later = pod_group("g", 2, workloadRef={"workloadName": "later", "templateName": "x"})
    assert lines(later, at=AT) == []


def test_a_plan_reads_the_template() -> None:
    old = pod("old", 2, 50, on="n")
    waiting = [pod(f"w-{i}", 1, group="g") for i in range(2)]
    objects = [node("n", 2), HIGH, WORKLOAD, bare(), old, *waiting]
    plan = reprieve.plan(objects, "PodGroup/default/g", now="2026-01-02T00:00:00Z").to_dict()
    assert [each["pod"] for each in plan["victims"]] == ["default/old"]
    assert "ignored" not in plan
    with pytest.raises(InvalidObject, match="its template 'workers' says 'high'"):
        reprieve.plan([*objects[:3], bare(priorityClassName="low"), *waiting], "PodGroup/default/g")


def test_validate_compares_them() -> None:
    sources = [
        Source("f.yaml", str(number), each)
        for number, each in enumerate([WORKLOAD, HIGH, LOW, bare(priorityClassName="low")], 1)
    ]
    [finding] = [each for each in review(sources, CONTEXT) if not each.warning]
    assert finding.where == "f.yaml:4"
    assert "its template 'workers' says 'high'" in finding.problem.message


def as_list(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": "List", "items": [*objects]}]


def test_a_plan_finds_templates_and_jobs_inside_a_list() -> None:
    """Whoever looks for an object by its kind must look into lists, too: all answers are the same."""
    waiting = [pod(f"w-{i}", 1, group="g") for i in range(2)]
    objects = [node("n", 2), HIGH, WORKLOAD, bare(), pod("old", 2, 50, on="n"), *waiting]
    answers = [
        reprieve.plan(given, "PodGroup/default/g", now="2026-01-02T00:00:00Z").to_dict()
        for given in (objects, as_list(*objects))
    ]
    assert answers[0] == answers[1]
    jobs = [node("n", 2), job("train", 1, count=2)]
    assert reprieve.plan(as_list(*jobs), "Job/default/train").outcome == "scheduled"


def test_quota_and_fleet_find_objects_inside_a_list() -> None:
    queued = [flavor(), cluster_queue("cq", "2"), local_queue(), job("train", 1, count=2, queue="main")]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    admitted = reprieve.admit([namespace, *queued], now="2026-01-01T00:00:00Z").to_dict()
    inside = reprieve.admit(as_list(namespace, *queued), now="2026-01-01T00:00:00Z").to_dict()
    assert inside == admitted
    assert admitted["admitted"]
    waiting = workload("urgent", 1)
    worker = [namespace, flavor(), cluster_queue("cq", "2"), local_queue()]
    assert reprieve.plan_fleet(waiting, {"eu": as_list(*worker)}).to_dict()["cluster"] == "eu"


def test_a_group_that_a_server_stored_is_completed_and_a_contradiction_is_a_note() -> None:
    """The server has filled in a priority of zero, since no class was named; the template names one."""
    stored_group = bare(schedulingPolicy={"gang": {"minCount": 2}}, priority=0)
    stored_group["metadata"]["uid"] = "1"
    waiting = [pod(f"w-{i}", 1, group="g") for i in range(2)]
    objects = [node("n", 2), HIGH, WORKLOAD, stored_group, pod("old", 2, 50, on="n"), *waiting]
    plan = reprieve.plan(objects, "PodGroup/default/g", now="2026-01-02T00:00:00Z").to_dict()
    assert [each["pod"] for each in plan["victims"]] == ["default/old"]
    stored_group["spec"]["disruptionMode"] = {"single": {}}
    plan = reprieve.plan(objects, "PodGroup/default/g", now="2026-01-02T00:00:00Z").to_dict()
    assert any(
        "spec.disruptionMode" in each and "what the group says counts" in each for each in plan["reasons"]
    )


def test_a_template_inside_a_composite_template_is_found() -> None:
    tree = {"name": "tree", "schedulingPolicy": {"basic": {}}, "podGroupTemplates": [TEMPLATE]}
    nested = {**WORKLOAD, "spec": {"compositePodGroupTemplates": [tree]}}
    at = AT._replace(workload=lambda *_: nested)
    assert stored(bare(), at=at)["spec"]["disruptionMode"] == {"all": {}}


def test_a_plan_for_a_pod_that_names_its_group_as_kubernetes_1_35_did_gets_no_answer() -> None:
    link = {"name": "train", "podGroup": "workers"}
    with pytest.raises(InvalidObject, match=r"name a PodGroup in spec\.schedulingGroup\.podGroupName"):
        reprieve.plan([node("n", 2), pod("a", 1, workloadRef=link)], "Pod/default/a")
    with pytest.raises(InvalidObject, match=r"name a PodGroup in spec\.schedulingGroup\.podGroupName"):
        reprieve.plan([node("n", 2), job("j", 1, pod={"workloadRef": link})], "Job/default/j")
