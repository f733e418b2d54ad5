"""In the middle of a preemption and after it, with every kind of witness."""

from datetime import UTC, datetime
from typing import Any

import pytest

from reprieve.explain import Evidence, explain, render
from reprieve.explain.sentences import advice, answers, changes
from tests.builders import node, pod_group
from tests.explain.test_explain import decision, pod, scheduled_false, workload

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)
LEAVING = {"deletionTimestamp": "2026-11-15T20:59:00Z"}
GROUP = pod_group("train", 2, 10, namespace="ml")
FITS_ON_N = advice.it_fits(["n"], [])
MORE_IMPORTANT_THAN_BUSY = advice.remedy(
    [changes.set_priority(51)], advice.its_pods_fit(["n"], ["Pod/ml/busy"])
)


def mark(by: str) -> list[dict[str, Any]]:
    message = f"reprieve: preempting to accommodate a higher priority podgroup {by} (priority 1000): no room"
    return [
        {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": message}
    ]


def preempted_event(victim: str, by: str, note: str) -> dict[str, Any]:
    kind, namespace, name = by.split("/")
    return {
        "reason": "Preempted",
        "note": note,
        "regarding": {"kind": "Pod", "namespace": "ml", "name": victim},
        "related": {"kind": kind, "namespace": namespace, "name": name},
        "eventTime": "2026-11-15T20:58:00.123456Z",
    }


def test_a_group_whose_pods_are_all_leaving_does_not_run():
    pods = [
        pod(f"t-{i}", on="n", group="train", metadata=LEAVING, status={"conditions": mark("ml/big")})
        for i in range(2)
    ]
    answer = explain("podgroup/ml/train", Evidence([GROUP, *pods]), NOW)
    assert answer.state == "leaving"
    reason = mark("ml/big")[0]["message"]
    assert answer.sentence == answers.group_leaves_preempted("ml/train", 2, "PodGroup/ml/big", reason)
    assert [render.source for render in answer.preempted_by] == ["condition", "condition"]


def test_a_group_that_loses_one_pod_still_runs_and_reports_the_loss():
    pods = [pod("t-0", on="n", group="train"), pod("t-1", on="n", group="train", metadata=LEAVING)]
    answer = explain("podgroup/ml/train", Evidence([GROUP, *pods]), NOW)
    assert answer.state == "running"
    assert answer.sentence == answers.group_runs("ml/train", 1, 2, 1)


def test_a_group_that_is_done_has_ended():
    pods = [pod(f"t-{i}", on="n", group="train", status={"phase": "Succeeded"}) for i in range(2)]
    answer = explain("podgroup/ml/train", Evidence([GROUP, *pods]), NOW)
    assert (answer.state, answer.sentence) == ("finished", answers.group_has_ended("ml/train", 2))


def test_a_nominated_pod_waits_for_the_pods_that_still_have_to_leave():
    objects = [
        node("n", "2"),
        GROUP,
        pod("low", on="n", cpu="2", metadata=LEAVING),
        pod("t-0", group="train", cpu="1", priority=10, status={"nominatedNodeName": "n"}),
        pod("t-1", group="train", cpu="1", priority=10, status={"nominatedNodeName": "n"}),
    ]
    for target in ("podgroup/ml/train", "pod/ml/t-0"):
        answer = explain(target, Evidence(objects), NOW)
        assert answer.waits_for == [
            answers.waits_for_pod_to_leave("ml/low", "n", LEAVING["deletionTimestamp"])
        ]
        assert answer.would_help[0] == advice.VICTIMS_ARE_LEAVING


def test_an_event_alone_gives_preemptor_node_and_reason():
    note = "Preempted by podgroup ml/train (29ef-510b) on node n: it was the least important"
    answer = explain("pod/ml/low", Evidence([], [preempted_event("low", "PodGroup/ml/train", note)]), NOW)
    said = answers.pod_was_preempted("ml/low", "PodGroup/ml/train", "it was the least important")
    assert answer.sentence == said
    assert (answer.preempted_by[0].node, answer.preempted_by[0].source) == ("n", "event")


def test_an_event_of_kube_scheduler_names_no_reason_and_none_is_made_up():
    event = preempted_event("low", "Pod/ml/high", "Preempted by pod 29ef-510b on node n")
    answer = explain("pod/ml/low", Evidence([], [event]), NOW)
    assert answer.sentence == answers.pod_was_preempted("ml/low", "Pod/ml/high", "")


def test_without_records_events_tell_whom_a_unit_and_a_node_lost():
    event = preempted_event("low", "PodGroup/ml/train", "Preempted by podgroup ml/train (1) on node n: why")
    evidence = Evidence([GROUP, node("n", "2"), pod("t-0", on="n", group="train")], [event])
    for target in ("podgroup/ml/train", "pod/ml/t-0"):
        assert [each.victim for each in explain(target, evidence, NOW).preempted] == ["ml/low"]
    assert [each.victim for each in explain("node/n", evidence, NOW).preempted_by] == ["ml/low"]


def test_a_victim_in_a_record_and_an_event_is_listed_once():
    event = preempted_event("low", "PodGroup/ml/train", "Preempted by podgroup ml/train (1) on node n: why")
    evidence = Evidence([GROUP], [event], [decision("PodGroup/ml/train", "ml/low")])
    assert [each.source for each in explain("podgroup/ml/train", evidence, NOW).preempted] == ["record"]


def test_a_pod_too_large_for_every_node_gets_the_largest_node():
    huge = pod(
        "huge",
        cpu="64",
        priority=10,
        status={"conditions": scheduled_false("0/1 nodes are available: 1 Insufficient cpu.")},
    )
    answer = explain("pod/ml/huge", Evidence([node("n", "2"), huge]), NOW)
    assert answer.details == [advice.no_node_is_large_enough("64", "cpu", "2", "n")]
    assert answer.would_help == [
        advice.remedy([changes.ask_for_less("Pod", "cpu", "2")], FITS_ON_N),
        advice.remedy([changes.add_nodes(1, {"cpu": "64"}, {})], advice.it_fits([], [])),
    ]


def test_a_pod_that_can_preempt_nothing_gets_the_priority_that_would_do():
    objects = [
        node("n", "4"),
        pod("equal", on="n", cpu="3", priority=10),
        pod(
            "meek",
            cpu="2",
            priority=10,
            status={"conditions": scheduled_false("0/1 nodes are available: 1 Insufficient cpu.")},
        ),
    ]
    answer = explain("pod/ml/meek", Evidence(objects), NOW)
    assert answer.details == [advice.no_node_is_free_enough("2", "cpu", "1", "n")]
    assert answer.would_help == [
        advice.remedy([changes.set_priority(11)], advice.it_fits(["n"], ["Pod/ml/equal"])),
        advice.remedy([changes.free_on_node("n", {"cpu": "1"})], FITS_ON_N),
        advice.remedy([changes.ask_for_less("Pod", "cpu", "1")], FITS_ON_N),
        advice.remedy([changes.add_nodes(1, {"cpu": "2"}, {})], advice.it_fits([], [])),
    ]


def test_a_group_gets_the_priority_that_would_do():
    objects = [
        node("n", "2"),
        GROUP,
        pod("busy", on="n", cpu="2", priority=50),
        *(pod(f"t-{i}", group="train", cpu="1", priority=10) for i in range(2)),
    ]
    lines = explain("podgroup/ml/train", Evidence(objects), NOW).would_help
    assert MORE_IMPORTANT_THAN_BUSY in lines


@pytest.mark.parametrize(
    "joined",
    [
        {"group": "train"},
        {"labels": {"scheduling.x-k8s.io/pod-group": "train"}},
    ],
    ids=["field", "label"],
)
def test_a_group_learns_which_priority_would_do_however_its_pods_joined(joined: dict[str, Any]):
    objects = [
        node("n", "2"),
        GROUP,
        pod("busy", on="n", cpu="2", priority=50),
        *(pod(f"t-{i}", cpu="1", priority=10, preemptionPolicy="Never", **joined) for i in range(2)),
    ]
    lines = explain("podgroup/ml/train", Evidence(objects), NOW).would_help
    assert lines[0] == MORE_IMPORTANT_THAN_BUSY


def test_partial_rights_get_no_advice_that_could_be_wrong():
    alone = pod(
        "a", cpu="1", status={"conditions": scheduled_false("0/1 nodes are available: 1 Insufficient cpu.")}
    )
    answer = explain("pod/ml/a", Evidence([node("n", "2"), alone], partial=True), NOW)
    assert answer.would_help == [advice.BLIND]


def test_the_victims_of_one_decision_share_a_line():
    record = decision("PodGroup/ml/train", "ml/a")
    record["victims"] += [{**record["victims"][0], "pod": "ml/b", "node": "m"}]
    record["victims"] += [{**record["victims"][0], "pod": "ml/c", "reason": "in the way"}]
    record["time"] = "2026-11-15T20:59:00.936416Z"
    record["cost"] = {"budgetViolations": 0, "highestPriority": 10, "units": 2, "pods": 3}
    lines = render(explain("podgroup/ml/train", Evidence([], decisions=[record]), NOW).preempted, "victim")
    time = "2026-11-15T20:59:00Z"
    notes = [
        answers.eviction_cost({"highestPriority": 10, "units": 2, "pods": 3}),
        answers.instead(answers.alternative("on node m", ["Pod/ml/y"])),
    ]
    assert lines == [
        answers.evicted(["ml/a", "ml/b"], time, ["m", "n"], "lowest priority"),
        "\n      ".join([answers.evicted(["ml/c"], time, ["n"], "in the way"), *notes]),
    ]


def test_a_node_shows_victims_and_preemptors():
    answer = explain("node/n", Evidence([node("n", "2")], decisions=[decision("Pod/ml/a", "ml/b")]), NOW)
    first, *_ = render(answer.preempted_by, "both")[0].splitlines()
    assert first == answers.evicted_for(
        ["ml/b"], "Pod/ml/a", "2026-11-15T20:59:00Z", ["n"], "lowest priority"
    )


@pytest.mark.parametrize("known", [True, False])
def test_a_preempted_workload_names_its_preemptor_if_that_is_visible(known: bool):
    message = (
        "Preempted to accommodate a workload (UID: uid-big, JobUID: x) due to prioritization in the "
        "ClusterQueue"
    )
    preempted = {"type": "Preempted", "status": "True", "reason": "InClusterQueue", "message": message}
    small = workload("small", status={"conditions": [preempted]})
    objects = [small, *([workload("big", metadata={"uid": "uid-big"})] if known else [])]
    answer = explain("workload/ml/small", Evidence(objects, partial=True), NOW)
    assert answer.preempted_by[0].by == ("Workload/ml/big" if known else "")


def test_a_device_on_nodes_that_do_not_take_the_pod_is_not_a_wrong_name():
    """The usual taint of GPU nodes: "did you mean 'nvidia.com/gpu'?", of nvidia.com/gpu, was the answer."""
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    have = [node(name, "8", taints=[taint]) for name in ("gpu-0", "gpu-1")]
    for each in have:
        each["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    asks = [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]
    waits = pod(
        "p",
        status={"conditions": scheduled_false("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")},
        containers=asks,
    )
    answer = explain("pod/ml/p", Evidence([node("n", "8"), *have, waits]), NOW)
    assert answer.details == [advice.only_others_have("4", "nvidia.com/gpu", ["gpu-0", "gpu-1"])]
    tolerate = changes.tolerate("Pod", [taint])
    assert answer.would_help[0] == advice.remedy([tolerate], advice.it_fits(["gpu-0"], []))


def test_a_device_that_no_node_has_is_not_to_be_freed_and_its_name_is_doubted():
    """`nvidia.com/gpus`: "free 1 more on node n" was the advice, where there is none to free."""
    have = node("n", "8")
    have["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    asks = [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpus": "1"}}}]
    waits = pod(
        "p",
        status={"conditions": scheduled_false("0/1 nodes are available: 1 Insufficient cpu.")},
        containers=asks,
    )
    answer = explain("pod/ml/p", Evidence([have, waits]), NOW)
    assert answer.details == [advice.no_node_has("1", "nvidia.com/gpus", ["nvidia.com/gpu"])]
    add = changes.add_nodes(1, {"nvidia.com/gpus": "1"}, {})
    assert answer.would_help == [advice.remedy([add], advice.it_fits([], []))]
