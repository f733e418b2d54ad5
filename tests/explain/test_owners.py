"""What creates pods is explained as a whole: its workload, its pods, a common cause once, who evicted it."""

from functools import partial
from typing import Any

import pytest

from reprieve.explain import Evidence, explain
from reprieve.explain.sentences import advice, answers, changes
from tests import builders
from tests.builders import (
    Document,
    cluster_queue,
    document,
    flavor,
    job,
    local_queue,
    node,
    owned_by,
    reserved,
    workload,
)
from tests.strategies.quota import NOW

pod = partial(builders.pod, namespace="default")
REPORT = answers.owner_with_workload("Job", "default/report", "default/job-report-1")
ASK_FOR_LESS = advice.remedy([changes.ask_for_less("Workload", "cpu", "4")], advice.gets_quota([]))


def pods(kind: str, name: str, *, running: int, wanted: int, waiting: int = 0) -> str:
    return answers.owner_has_pods(
        kind, f"default/{name}", running=running, wanted=wanted, waiting=waiting, leaving=0, done=0
    )


def owned(kind: str, name: str, api: str = "apps/v1") -> Document:
    return {
        "metadata": {"ownerReferences": [{"apiVersion": api, "kind": kind, "name": name, "controller": True}]}
    }


def apps(kind: str, name: str, **spec: Any) -> Document:
    return document(kind, name, "default", spec=spec) | {"apiVersion": "apps/v1"}


def unschedulable(message: str) -> Document:
    return {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]}


REPLICAS = [
    apps("Deployment", "web", replicas=4),
    apps("ReplicaSet", "web-1a")
    | {"metadata": {"name": "web-1a", "namespace": "default", **owned("Deployment", "web")["metadata"]}},
    pod("web-1a-00000", 1, on="n", **owned("ReplicaSet", "web-1a")),
    *(
        pod(
            f"web-1a-0000{i}",
            1,
            **owned("ReplicaSet", "web-1a"),
            status=unschedulable("0/1 nodes are available."),
        )
        for i in (1, 2, 3)
    ),
]


def test_the_pods_of_a_deployment_that_wait_for_one_cause_hear_it_once() -> None:
    answer = explain("deploy/web", Evidence([node("n", 2), pod("other", 1, 9, on="n"), *REPLICAS]), NOW)
    assert answer.state == "waiting"
    assert answer.sentence == pods("Deployment", "web", running=1, wanted=4, waiting=3)
    names = [f"default/web-1a-0000{number}" for number in (1, 2, 3)]
    assert answer.waits_for == [answers.pods_wait_for(names, "0/1 nodes are available.")]
    free = advice.remedy([changes.free_on_node("n", {"cpu": "1"})], advice.it_fits(["n"], []))
    assert answers.about(names[0], free) in answer.would_help
    assert len(answer.would_help) == len(set(answer.would_help))


def test_a_deployment_whose_pods_all_run_runs() -> None:
    running = [apps("StatefulSet", "db", replicas=1), pod("db-0", on="n", **owned("StatefulSet", "db"))]
    answer = explain("sts/db", Evidence([node("n"), *running]), NOW)
    assert (answer.state, answer.sentence) == ("running", pods("StatefulSet", "db", running=1, wanted=1))


QUEUES = [flavor(), cluster_queue("cq", 4), local_queue("main", "cq")]


def queued_job(cpu: int) -> list[Document]:
    found = workload("job-report-1", cpu, metadata={"ownerReferences": [owned_by("Job", "report")]})
    return [job("report", cpu, queue="main", metadata={"uid": "u"}), found]


def test_a_job_in_a_queue_is_answered_by_its_workload() -> None:
    answer = explain("job/report", Evidence([*QUEUES, *queued_job(16)]), NOW)
    assert answer.state == "waiting"
    assert answer.sentence == answers.workload_waits_for_quota(REPORT, answers.NO_CYCLE_LOOKED)
    assert answer.would_help[0] == ASK_FOR_LESS
    assert answer.remedies


def test_a_job_on_a_manager_says_which_worker_runs_it() -> None:
    report, found = queued_job(1)
    admitted = reserved(found)
    admitted["status"]["clusterName"] = "worker-2"
    admitted["status"]["conditions"].append({"type": "Admitted", "status": "True"})
    answer = explain("job/report", Evidence([*QUEUES, report, admitted]), NOW)
    assert answer.sentence == answers.workload_is_admitted(REPORT, "cq", "worker-2")
    assert answer.state == "running"


def test_a_workload_that_no_worker_has_taken_names_those_it_was_offered_to() -> None:
    offered = workload("w", status={"nominatedClusterNames": ["east", "west"]})
    answer = explain("wl/default/w", Evidence([*QUEUES, offered]), NOW)
    assert answers.offered_to_workers(["east", "west"]) in answer.details


def test_the_pods_of_a_job_that_has_quota_are_what_it_waits_for() -> None:
    report, found = queued_job(1)
    admitted = reserved(found)
    admitted["status"]["conditions"].append({"type": "Admitted", "status": "True"})
    owner = {"ownerReferences": [owned_by("Job", "report")]}
    waiting = [pod(f"report-0000{i}", 1, metadata=owner, nodeSelector={"pool": "stable"}) for i in range(2)]
    answer = explain("job/report", Evidence([*QUEUES, node("n"), report, admitted, *waiting]), NOW)
    assert answer.sentence == pods("Job", "report", running=0, wanted=1, waiting=2)
    label = advice.remedy([changes.label_node("n", {"pool": "stable"}, [])], advice.it_fits(["n"], []))
    assert answer.would_help[0] == answers.about("default/report-00000", label)


def test_a_suspended_job_says_what_would_start_it() -> None:
    alone = job("report", suspend=True)
    said = answers.owner_is_suspended("Job", "default/report", "spec.suspend")
    assert explain("job/report", Evidence([alone]), NOW).sentence == said
    queued = job("report", queue="main")
    said = answers.owner_without_workload("Job", "default/report", "main")
    assert explain("job/report", Evidence([queued]), NOW).sentence == said


def test_the_gone_pods_of_a_job_tell_who_evicted_them() -> None:
    record = {
        "time": "2026-08-23T11:00:00Z",
        "for": "Pod/ml/urgent",
        "outcome": "preempts",
        "victims": [
            {"pod": "default/report-x7x2p", "node": "n", "reason": "no room"},
            {"pod": "default/reporter-x7x2p"},
        ],
    }
    answer = explain("job/report", Evidence([job("report")], decisions=[record]), NOW)
    assert [(each.victim, each.by) for each in answer.preempted_by] == [
        ("default/report-x7x2p", "Pod/ml/urgent")
    ]


def test_a_job_that_has_ended_is_not_waiting() -> None:
    done = job("report", metadata={"uid": "u"}) | {
        "status": {"conditions": [{"type": "Failed", "status": "True", "message": "BackoffLimitExceeded"}]}
    }
    answer = explain("job/report", Evidence([done]), NOW)
    assert (answer.state, answer.sentence) == (
        "finished",
        answers.owner_has_ended("Job", "default/report", "Failed", "BackoffLimitExceeded"),
    )


def test_a_cron_job_without_pods_shows_its_schedule() -> None:
    cron = document("CronJob", "nightly", "default", spec={"schedule": "0 3 * * *"}) | {
        "apiVersion": "batch/v1"
    }
    said = answers.owner_is_scheduled("CronJob", "default/nightly", "0 3 * * *")
    assert explain("cj/nightly", Evidence([cron]), NOW).sentence == said


def test_a_pod_that_waits_for_quota_gets_the_advice_for_its_workload() -> None:
    waiting = pod(
        "report-00000",
        16,
        metadata={"ownerReferences": [owned_by("Job", "report")]},
        status={
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "WaitingForQuota", "message": "m"}
            ]
        },
    )
    answer = explain("pod/report-00000", Evidence([*QUEUES, node("n", 64), *queued_job(16), waiting]), NOW)
    assert advice.waits_for_workload("default/job-report-1") in answer.would_help
    assert ASK_FOR_LESS in answer.would_help


def meant(target: str, *objects: Document) -> list[str]:
    """What is said about something that is not there."""
    return explain(target, Evidence(objects), NOW).details


def test_a_typing_error_is_answered_with_what_was_meant() -> None:
    assert meant("pod/web-O", pod("web-0"), pod("database")) == [answers.did_you_mean(["Pod/default/web-0"])]
    assert meant("pod/ml/web-0", pod("web-0")) == [answers.did_you_mean(["Pod/default/web-0"])]
    assert meant("pod/report", job("report")) == [answers.did_you_mean(["Job/default/report"])]
    assert meant("node/n1", node("n2"), node("n3")) == []
    assert meant("pg/default/trian", *builders.gang(1, name="train")) == [
        answers.did_you_mean(["PodGroup/default/train"])
    ]
    assert meant("pod/zebra", pod("web-0")) == []


RAY_TEMPLATE = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}


def ray(kind: str, name: str, owner: str = "", **spec: Any) -> Document:
    metadata = owned("RayJob", owner, "ray.io/v1")["metadata"] if owner else {}
    return document(kind, name, "default", metadata=metadata, spec=spec) | {"apiVersion": "ray.io/v1"}


def test_a_ray_job_answers_for_the_pods_of_the_cluster_that_it_made() -> None:
    shape = {
        "headGroupSpec": {"template": RAY_TEMPLATE},
        "workerGroupSpecs": [{"groupName": "w", "replicas": 2, "template": RAY_TEMPLATE}],
    }
    made = [
        ray("RayJob", "tune", rayClusterSpec=shape, submissionMode="HTTPMode"),
        ray("RayCluster", "tune-x1", "tune", **shape),
        pod("tune-x1-head", on="n", **owned("RayCluster", "tune-x1", "ray.io/v1")),
        pod("tune-x1-w-0", status=unschedulable("no"), **owned("RayCluster", "tune-x1", "ray.io/v1")),
    ]
    answer = explain("rayjob/tune", Evidence([node("n", 1), *made]), NOW)
    assert answer.sentence == pods("RayJob", "tune", running=1, wanted=3, waiting=1)
    assert len(answer.waits_for) == 1


def test_a_suspended_training_job_names_the_field_that_starts_it() -> None:
    training = document("PyTorchJob", "t", "default", spec={"runPolicy": {"suspend": True}})
    answer = explain("pytorchjob/t", Evidence([training | {"apiVersion": "kubeflow.org/v1"}]), NOW)
    assert answer.state == "stopped"
    said = answers.owner_is_suspended("PyTorchJob", "default/t", "spec.runPolicy.suspend")
    assert answer.sentence == said


def test_a_job_set_that_has_ended_says_how() -> None:
    over = document(
        "JobSet", "s", "default", spec={}, status={"conditions": [{"type": "Completed", "status": "True"}]}
    )
    answer = explain("jobset/s", Evidence([over | {"apiVersion": "jobset.x-k8s.io/v1alpha2"}]), NOW)
    assert (answer.state, answer.sentence) == (
        "finished",
        answers.owner_has_ended("JobSet", "default/s", "Completed", ""),
    )


@pytest.mark.parametrize("pods", [0, 1])
def test_a_job_that_has_quota_and_that_no_node_could_hold_is_told_so(pods: int) -> None:
    owner = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "large"}]}
    held = reserved(workload("w", 90, metadata=owner))
    said = (
        {"type": "Admitted", "status": "True"},
        {
            "type": "reprieve.dev/NoNodeFits",
            "status": "True",
            "message": "no node could ever hold a pod of pod set main",
        },
    )
    held["status"]["conditions"] = [*held["status"].get("conditions", ()), *said]
    waiting = [
        pod("large-0", 90, **owned("Job", "large", "batch/v1"), status=unschedulable("0/1 nodes."))
        for _ in range(pods)
    ]
    given = [node("n", 4), job("large", cpu=90, queue="main"), held, *waiting]
    answer = explain("job/large", Evidence(given), NOW)
    assert answers.has_quota_but("no node could ever hold a pod of pod set main") in answer.details
