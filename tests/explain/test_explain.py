"""What people ask at three in the morning, and what they must be told."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from reprieve.explain import Evidence, explain
from reprieve.explain.sentences import advice, answers
from reprieve.objects.errors import ReprieveError
from tests import builders
from tests.builders import local_queue, node

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)


pod = partial(builders.pod, namespace="ml")


def decision(for_: str, victim: str, unit: str = "") -> dict[str, Any]:
    return {
        "id": "1",
        "time": "2026-11-15T20:59:00Z",
        "for": for_,
        "outcome": "preempts",
        "victims": [{"pod": victim, "unit": unit, "node": "n", "reason": "lowest priority"}],
        "cost": {"pods": 1},
        "alternatives": [{"title": "on node m", "victims": ["Pod/ml/y"]}],
    }


def scheduled_false(message: str) -> list[dict[str, Any]]:
    return [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]


def test_a_waiting_pod_gets_the_schedulers_reason_and_advice():
    objects = [
        node("n", "2"),
        pod("low", on="n", cpu="2"),
        pod(
            "high",
            cpu="2",
            priority=10,
            status={"conditions": scheduled_false("0/1 nodes are available: 1 Insufficient cpu.")},
        ),
    ]
    answer = explain("pod/ml/high", Evidence(objects), NOW)
    assert answer.state == "waiting"
    assert answer.sentence == answers.pod_waits("ml/high", "0/1 nodes are available: 1 Insufficient cpu.")
    assert answer.would_help[0] == advice.preemption_would_help(["ml/low"])


def test_a_preempted_pod_that_is_gone_names_preemptor_and_reason():
    answer = explain("Pod/ml/low", Evidence([], decisions=[decision("PodGroup/ml/train", "ml/low")]), NOW)
    assert answer.state == "preempted"
    assert answer.sentence == answers.pod_was_preempted("ml/low", "PodGroup/ml/train", "lowest priority")
    assert answer.preempted_by[0].alternatives == [answers.alternative("on node m", ["Pod/ml/y"])]


def test_without_a_record_the_condition_speaks_and_without_that_the_event():
    by_condition = pod(
        "low",
        on="n",
        metadata={"deletionTimestamp": "2026-11-15T20:59:00Z"},
        status={
            "conditions": [
                {
                    "type": "DisruptionTarget",
                    "status": "True",
                    "reason": "PreemptionByScheduler",
                    "message": "preempted by PodGroup ml/train",
                }
            ]
        },
    )
    event = {
        "reason": "Preempted",
        "note": "Preempted by pod 123 on node n",
        "regarding": {"kind": "Pod", "namespace": "ml", "name": "low"},
        "eventTime": "2026-11-15T20:58:00Z",
    }
    assert explain("Pod/ml/low", Evidence([by_condition], [event]), NOW).preempted_by[0].source == "condition"
    told = explain("Pod/ml/low", Evidence([], [event]), NOW)
    assert (told.state, told.preempted_by[0].source) == ("preempted", "event")


def test_a_deleted_pod_that_nobody_preempted_is_not_called_preempted():
    leaving = pod("a", on="n", metadata={"deletionTimestamp": "2026-11-15T20:59:00Z"})
    answer = explain("Pod/ml/a", Evidence([leaving]), NOW)
    assert answer.state == "leaving"
    assert answer.sentence == answers.pod_leaves_deleted("ml/a")


def test_a_gated_pod_names_its_gate():
    gated = pod("a", schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])
    answer = explain("Pod/ml/a", Evidence([gated, node("n", "2")]), NOW)
    held = answers.held_by_gates(["kueue.x-k8s.io/admission"])
    assert answer.sentence == answers.pod_waits("ml/a", held)


def test_a_pod_that_waits_for_quota_is_not_told_that_it_fits():
    why = "waits for quota: Job ml/j is in LocalQueue main and has no Workload yet"
    told = {**scheduled_false(why)[0], "reason": "WaitingForQuota"}
    answer = explain("Pod/ml/a", Evidence([node("n", "2"), pod("a", status={"conditions": [told]})]), NOW)
    assert answer.sentence == answers.pod_waits("ml/a", why)
    assert answer.would_help == [advice.QUOTA_FIRST]


def test_a_group_counts_its_waiting_pods_and_lists_its_victims():
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 10},
    }
    objects = [
        node("n", "1"),
        group,
        pod("t-0", group="train", priority=10),
        pod("t-1", group="train", priority=10),
    ]
    answer = explain(
        "podgroup/ml/train", Evidence(objects, decisions=[decision("PodGroup/ml/train", "ml/x")]), NOW
    )
    assert answer.sentence == answers.group_waits("ml/train", 2, 2, 2, 0)
    assert [e.victim for e in answer.preempted] == ["ml/x"]


def test_a_group_evicted_as_a_whole_names_its_preemptor():
    record = decision("Pod/ml/urgent", "ml/t-0", unit="PodGroup/ml/train")
    answer = explain("podgroup/ml/train", Evidence([], decisions=[record]), NOW)
    said = answers.group_was_preempted("ml/train", "Pod/ml/urgent", "lowest priority")
    assert answer.sentence == said


workload = partial(builders.workload, namespace="ml")


def test_a_waiting_workload_repeats_the_reason_of_its_condition_and_its_gate():
    waiting = workload(
        "w",
        status={
            "conditions": [
                {"type": "QuotaReserved", "status": "False", "message": "insufficient unused quota for cpu"},
                {"type": "BlockedOnPreemptionGates", "status": "True", "message": "it's gated"},
            ]
        },
    )
    answer = explain("workload/ml/w", Evidence([waiting]), NOW)
    named, why = answers.workload_named("ml/w"), "insufficient unused quota for cpu"
    assert answer.sentence == answers.workload_waits_for_quota(named, why)
    assert answer.waits_for == [answers.waits_for_gate("it's gated")]


def test_a_queue_lists_its_waiting_workloads_most_important_first():
    queue = local_queue("main", namespace="ml")
    answer = explain("lq/ml/main", Evidence([queue, workload("low"), workload("high", 1, 5)]), NOW)
    assert answer.waits_for == [answers.about(name, answers.NOT_LOOKED_AT) for name in ("ml/high", "ml/low")]


def test_a_node_lists_the_evictions_on_it():
    answer = explain("node/n", Evidence([node("n", "2")], decisions=[decision("Pod/ml/a", "ml/b")]), NOW)
    assert answer.sentence == answers.node_runs("n", 0, 0, 0)
    assert answer.preempted_by[0].victim == "ml/b"


@pytest.mark.parametrize("target", ["", "pod", "pod//x", "pod/a/b/c", "unicorn/a/b"])
def test_a_target_that_names_nothing_is_refused_with_the_form_to_use(target: str):
    with pytest.raises(ReprieveError, match="KIND/NAMESPACE/NAME"):
        explain(target, Evidence([]), NOW)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("pod/a/b", answers.no_such_pod("a/b")),
        ("podgroup/a/b", answers.no_such_group("a/b")),
        ("workload/a/b", answers.no_such_workload("a/b")),
        ("cq/b", answers.there_is_no("ClusterQueue", "b")),
        ("lq/a/b", answers.there_is_no("LocalQueue", "a/b")),
        ("node/b", answers.no_such_node("b")),
    ],
)
def test_an_object_that_does_not_exist_is_reported_missing(target: str, sentence: str):
    assert explain(target, Evidence([]), NOW).sentence == sentence


def test_what_may_not_be_seen_is_listed():
    hidden = [answers.may_not_list("pods", "")]
    answer = explain("node/n", Evidence([node("n", "2")], not_shown=hidden), NOW)
    assert answer.to_dict()["notShown"] == hidden
