"""Waiting for quota: who holds it, what would help, and how much of it is used."""

from datetime import UTC, datetime

from reprieve.explain import Evidence, explain
from reprieve.explain.sentences import advice, answers, changes
from reprieve.quota import DUE_TO
from tests.builders import Document, cluster_queue, flavor, local_queue, reserved, workload

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)


QUEUES = [
    flavor(),
    cluster_queue("team", 4, preemption={"withinClusterQueue": "LowerPriority"}),
    local_queue("main", "team", namespace="jobs"),
]


def holding(name: str, cpu: int, priority: int) -> Document:
    return reserved(workload(name, cpu, priority, namespace="jobs"), "team")


def test_a_workload_waiting_for_quota_learns_the_holders_and_the_priority_that_would_do():
    objects = [*QUEUES, holding("big", 4, 1000), workload("small", 3, 0, namespace="jobs")]
    answer = explain("workload/jobs/small", Evidence(objects), NOW)
    assert answer.details == [advice.quota_held_by([(1000, "jobs/big")])]
    assert answer.would_help == [
        advice.remedy([changes.set_priority(1001)], advice.gets_quota(["jobs/big"])),
        advice.remedy([changes.end_workloads(["jobs/big"])], advice.gets_quota([])),
        advice.remedy([changes.raise_quota("team", "default", "cpu", "4", "7")], advice.gets_quota([])),
    ]


def test_a_workload_larger_than_its_quota_will_ever_be_is_not_told_to_wait():
    """It used to hear that it waits until one of the others ends."""
    objects = [*QUEUES, holding("big", 4, 1000), workload("huge", 16, 0, namespace="jobs")]
    answer = explain("workload/jobs/huge", Evidence(objects), NOW)
    assert answer.details == [advice.never_enough_quota("main", "cpu", "16", "", "team", {"default": "4"})]
    assert answer.would_help == [
        advice.remedy([changes.raise_quota("team", "default", "cpu", "4", "20")], advice.gets_quota([]))
    ]


def test_pod_sets_that_are_too_large_together_are_counted_together():
    """'asks for 3 cpu; can never have more than 4' was said of the last one: nobody could see why."""
    both = workload("pair", 2, 0, namespace="jobs")
    (first,) = both["spec"]["podSets"]
    second = workload("other", 3)["spec"]["podSets"][0] | {"name": "second"}
    both["spec"]["podSets"] = [first, second]
    answer = explain("workload/jobs/pair", Evidence([*QUEUES, both]), NOW)
    assert answer.details == [advice.never_enough_quota("second", "cpu", "3", "2", "team", {"default": "4"})]


def test_a_queue_shows_how_much_of_its_quota_is_used():
    objects = [*QUEUES, holding("big", 3, 0)]
    used = answers.quota_used("cpu", "default", "3", "4", "0", "0")
    assert explain("cq/team", Evidence(objects), NOW).details == [used]
    assert explain("cq/team", Evidence(objects, partial=True), NOW).details == []


def test_a_quota_preemptions_reason_is_a_sentence_and_not_a_code():
    record = {
        "for": "Workload/jobs/big",
        "outcome": "preempts",
        "victims": [{"workload": "jobs/a", "reason": "InClusterQueue"}],
    }
    answer = explain("workload/jobs/a", Evidence([], decisions=[record]), NOW)
    assert answer.preempted_by[0].reason == answers.evicted_due_to(DUE_TO["InClusterQueue"])


def test_a_workload_that_has_its_quota_and_waits_for_a_check_is_not_told_to_get_quota():
    """It used to hear that it fits now, and that the next cycle places it."""
    held = holding("big", 4, 0)
    held["status"]["admissionChecks"] = [{"name": "budget", "state": "Pending", "message": "asking"}]
    answer = explain("workload/jobs/big", Evidence([*QUEUES, held]), NOW)
    assert answer.waits_for == [answers.waits_for_check("budget", "Pending", "asking")]
    assert answer.would_help == [advice.remedy([changes.pass_checks(["budget"])], advice.IS_ADMITTED)]


def test_a_deactivated_workload_hears_what_activates_it():
    answer = explain("wl/jobs/w", Evidence([*QUEUES, workload("w", 1, namespace="jobs", active=False)]), NOW)
    assert answer.state == "stopped"
    assert answer.would_help == [advice.remedy([changes.activate("jobs/w")], advice.gets_quota([]))]


def test_a_queue_that_cannot_admit_is_not_called_active():
    """Whatever its condition says, or where it has none: its flavor does not exist."""
    objects = [*QUEUES[1:], workload("w", 1, namespace="jobs")]
    answer = explain("cq/team", Evidence(objects), NOW)
    assert answer.state == "stopped"
    why = "Can't admit new workloads: references missing ResourceFlavor(s): default"
    assert answer.sentence == answers.queue_is_stopped("ClusterQueue", "team", why, 0, 1)
    created = advice.remedy([changes.create_flavors(["default"])], advice.gets_quota([]))
    assert answer.would_help == [answers.about("jobs/w", created)]
    local = explain("lq/jobs/main", Evidence(objects), NOW)
    assert local.state == "stopped"
    whole = answers.cluster_queue_stopped("team", why)
    assert local.sentence == answers.queue_is_stopped("LocalQueue", "jobs/main", whole, 0, 1)
    alone = explain("lq/jobs/main", Evidence(QUEUES[2:]), NOW)
    missing = answers.no_cluster_queue("team")
    assert alone.sentence == answers.queue_is_stopped("LocalQueue", "jobs/main", missing, 0, 0)
