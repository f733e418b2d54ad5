"""Waiting for quota: who holds it, what would help, and how much of it is used."""

from datetime import UTC, datetime
from typing import Any

from reprieve.explain import Evidence, explain

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)
KUEUE = "kueue.x-k8s.io/v1beta2"


def kueue(kind: str, name: str, namespace: str = "", **body: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": KUEUE, "kind": kind, "metadata": metadata, **body}


def workload(name: str, cpu: str, priority: int, admitted: bool) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    pods = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    status: dict[str, Any] = {}
    if admitted:
        usage = {"name": "main", "flavors": {"cpu": "default"}, "resourceUsage": {"cpu": cpu}, "count": 1}
        reserved = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": ""}
        status = {
            "conditions": [reserved],
            "admission": {"clusterQueue": "team", "podSetAssignments": [usage]},
        }
    spec = {"queueName": "main", "priority": priority, "podSets": [pods]}
    return kueue("Workload", name, "jobs", spec=spec, status=status)


FLAVOR = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "4"}]}
QUEUES = [
    kueue("ResourceFlavor", "default"),
    kueue(
        "ClusterQueue",
        "team",
        spec={
            "namespaceSelector": {},
            "preemption": {"withinClusterQueue": "LowerPriority"},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [FLAVOR]}],
        },
    ),
    kueue("LocalQueue", "main", "jobs", spec={"clusterQueue": "team"}),
]


def test_a_workload_waiting_for_quota_learns_the_holders_and_the_priority_that_would_do():
    objects = [*QUEUES, workload("big", "4", 1000, admitted=True), workload("small", "3", 0, admitted=False)]
    assert explain("workload/jobs/small", Evidence(objects), NOW).would_help[-2:] == [
        "With a priority above 1000 it would find quota: jobs/big would make way.",
        (
            "The quota of ClusterQueue team is held by jobs/big (priority 1000): it waits until one of them "
            "ends."
        ),
    ]


def test_a_queue_shows_how_much_of_its_quota_is_used():
    objects = [*QUEUES, workload("big", "3", 0, admitted=True)]
    assert explain("cq/team", Evidence(objects), NOW).details == ["cpu in flavor default: 3 of 4 used"]
    assert explain("cq/team", Evidence(objects, partial=True), NOW).details == []


def test_a_quota_preemptions_reason_is_a_sentence_and_not_a_code():
    record = {
        "for": "Workload/jobs/big",
        "outcome": "preempts",
        "victims": [{"workload": "jobs/a", "reason": "InClusterQueue"}],
    }
    answer = explain("workload/jobs/a", Evidence([], decisions=[record]), NOW)
    assert answer.preempted_by[0].reason == "due to prioritization in the ClusterQueue"
