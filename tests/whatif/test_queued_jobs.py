"""`reprieve admit` of what users have: every kind asks its queue as it would on a cluster, and the answer
speaks of what they wrote.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import reprieve
from reprieve.cli import main
from reprieve.jobs import sentences as jobs
from reprieve.objects import Reference
from reprieve.whatif import sentences
from tests import builders

Document = dict[str, Any]
QUEUE = {"kueue.x-k8s.io/queue-name": "main"}
QUEUES = [
    builders.flavor("default"),
    builders.cluster_queue("cq", 10),
    builders.local_queue("main", "cq", namespace="ml"),
]


def queued_pod(name: str, cpu: int = 1, group: str = "", total: int = 0, **labels: str) -> Document:
    made = builders.pod(name, cpu, namespace="ml")
    made["metadata"]["labels"] = {**QUEUE, **labels}
    if group:
        made["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"] = group
        made["metadata"]["annotations"] = {"kueue.x-k8s.io/pod-group-total-count": str(total)}
    return made


def template(cpu: int = 1) -> Document:
    return {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


def job_of_kind(api_version: str, kind: str, spec: Document, name: str = "it") -> Document:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml", "labels": dict(QUEUE)},
        "spec": spec,
    }


def asked(*documents: Document) -> dict[str, dict[str, int]]:
    """By what asks: the counts with which it was admitted."""
    answer = reprieve.admit([*QUEUES, *documents]).to_dict()
    return {answer["jobs"][key]: each["counts"] for key, each in answer["admitted"].items()}


def test_a_pod_with_a_queue_asks_for_itself() -> None:
    assert asked(queued_pod("alone")) == {"Pod/ml/alone": {"main": 1}}


def test_pods_of_one_group_ask_together_when_all_are_there() -> None:
    crew = [
        queued_pod("leader", 2, "crew", 3),
        queued_pod("w-0", 1, "crew", 3),
        queued_pod("w-1", 1, "crew", 3),
    ]
    answer = reprieve.admit([*QUEUES, *crew]).to_dict()
    [(key, held)] = answer["admitted"].items()
    assert (key, held["counts"]) == ("ml/crew", {"main": 2, "set-1": 1})
    assert answer["queues"]["cq"]["quota"][0]["used"] == "4"


def test_a_group_that_is_not_complete_asks_for_nothing_and_it_is_said() -> None:
    answer = reprieve.admit([*QUEUES, queued_pod("w-0", 1, "crew", 3)])
    assert not answer.to_dict()["admitted"]
    assert jobs.pod_group_is_incomplete("ml/crew", 1, 3) in answer.notes.sentences


def test_pods_that_run_or_that_a_job_makes_do_not_ask_again() -> None:
    running = queued_pod("running")
    running["spec"]["nodeName"] = "n1"
    made = queued_pod("made")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "controller": True, "uid": "u"}
    made["metadata"]["ownerReferences"] = [owner]
    over = queued_pod("over")
    over["status"] = {"phase": "Succeeded"}
    assert asked(running, made, over) == {}


def test_a_pod_group_with_a_queue_asks_for_its_pods() -> None:
    group = builders.pod_group("gang", 2, namespace="ml")
    group["metadata"]["labels"] = dict(QUEUE)
    pods = [builders.pod(f"g-{n}", 1, namespace="ml", group="gang") for n in range(2)]
    assert asked(group, *pods) == {"PodGroup/ml/gang": {"main": 2}}


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        (
            job_of_kind("apps/v1", "Deployment", {"replicas": 3, "template": template()}),
            {jobs.pod_of_job("Deployment/ml/it", n): {"main": 1} for n in range(3)},
        ),
        (
            job_of_kind("apps/v1", "StatefulSet", {"replicas": 3, "template": template()}),
            {"StatefulSet/ml/it": {"main": 3}},
        ),
        (
            job_of_kind(
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": template()}},
            ),
            {jobs.replica_of_job("LeaderWorkerSet/ml/it", n): {"main": 3} for n in range(2)},
        ),
        (
            job_of_kind("batch/v1", "Job", {"parallelism": 4, "template": template()}),
            {"Job/ml/it": {"main": 4}},
        ),
    ],
    ids=["Deployment", "StatefulSet", "LeaderWorkerSet", "Job"],
)
def test_each_kind_asks_as_it_does_on_a_cluster(document: Document, wanted: Any) -> None:
    assert asked(document) == wanted


def test_of_a_deployment_that_is_too_large_some_pods_get_quota() -> None:
    answer = reprieve.admit(
        [*QUEUES, job_of_kind("apps/v1", "Deployment", {"replicas": 3, "template": template(4)})]
    ).to_dict()
    assert (len(answer["admitted"]), len(answer["unadmitted"])) == (2, 1)


def test_one_run_of_a_cron_job_asks_in_the_queue_of_its_template() -> None:
    run = {"metadata": {"labels": dict(QUEUE)}, "spec": {"parallelism": 2, "template": template()}}
    cron = job_of_kind("batch/v1", "CronJob", {"schedule": "0 * * * *", "jobTemplate": run})
    del cron["metadata"]["labels"]
    assert asked(cron) == {"CronJob/ml/it": {"main": 2}}
    answer = reprieve.admit([*QUEUES, cron])
    assert not answer.notes.ignored


def test_a_cron_job_in_a_queue_is_not_told_that_nobody_asks(tmp_path: Path) -> None:
    run = {"metadata": {"labels": dict(QUEUE)}, "spec": {"template": template()}}
    cron = job_of_kind("batch/v1", "CronJob", {"schedule": "0 * * * *", "jobTemplate": run})
    del cron["metadata"]["labels"]
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all([*QUEUES, cron]))
    answer = CliRunner().invoke(main, ["admit", "-f", str(path)])
    assert "CronJob/ml/it gets quota" in answer.stdout
    assert answer.stderr == ""


def test_the_answer_in_a_terminal_speaks_of_the_job_that_the_user_wrote(tmp_path: Path) -> None:
    rayjob = job_of_kind("ray.io/v1", "RayJob", {
        "rayClusterSpec": {"headGroupSpec": {"template": template()}, "workerGroupSpecs": []},
        "submissionMode": "HTTPMode",
    }, "tune")  # fmt: skip
    big = deepcopy(rayjob)
    big["metadata"]["name"] = "big"
    big["spec"]["rayClusterSpec"]["headGroupSpec"]["template"] = template(100)
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all([*QUEUES, rayjob, big]))
    said = CliRunner().invoke(main, ["admit", "-f", str(path)]).output
    assert "RayJob/ml/tune gets quota" in said
    assert "RayJob/ml/big" in said
    assert "rayjob-tune" not in said


def test_a_job_without_a_name_of_its_own_is_planned_and_admitted() -> None:
    made = job_of_kind("batch/v1", "Job", {"parallelism": 2, "template": template()})
    made["metadata"]["generateName"] = "sample-"
    del made["metadata"]["name"]
    again = deepcopy(made)
    nodes = [builders.node("n1", 8)]
    found = reprieve.whatif.targets([*nodes, made, again])
    assert [str(each) for each in found] == ["Job/ml/sample-1", "Job/ml/sample-2"]
    plans = reprieve.whatif.plan_everything([*nodes, made, again], found)
    assert [each.outcome for each in plans] == ["scheduled", "scheduled"]
    assert set(asked(made, again)) == {"Job/ml/sample-1", "Job/ml/sample-2"}


IT = Reference("Job", "ml", "it")


def notes_of(*documents: Document, **quota: Any) -> str:
    return "\n".join(reprieve.admit([*QUEUES, *documents], config={"quota": quota}).notes.sentences)


@pytest.mark.parametrize(
    ("labels", "annotations", "told"),
    [
        ({"max-exec-time-seconds": "1h"}, {}, jobs.time_limit_is_no_number("1h")),
        ({"max-exec-time-seconds": "0"}, {}, jobs.time_limit_is_no_number("0")),
        ({"max-exec-time-seconds": "60"}, {}, ""),
        ({}, {"job-min-parallelism": "4"}, jobs.not_fewer_pods("4", 4)),
        ({}, {"job-min-parallelism": "3"}, ""),
        ({}, {"elastic-job": "true"}, jobs.not_resized(shrinks=True)),
        ({}, {"elastic-job": "false"}, ""),
    ],
)
def test_what_a_job_says_to_its_queue_in_vain_is_said(
    labels: dict[str, str], annotations: dict[str, str], told: str
) -> None:
    made = job_of_kind("batch/v1", "Job", {"parallelism": 4, "template": template()})
    made["metadata"]["labels"] |= {f"kueue.x-k8s.io/{key}": value for key, value in labels.items()}
    made["metadata"]["annotations"] = {f"kueue.x-k8s.io/{key}": value for key, value in annotations.items()}
    assert notes_of(made) == (sentences.not_heeded(IT, told) if told else "")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (job_of_kind("batch/v1", "Job", {"template": template()}), sentences.names_no_queue("")),
        (
            job_of_kind("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": []}),
            sentences.names_no_queue(""),
        ),
        (job_of_kind("apps/v1", "StatefulSet", {"template": template()}), sentences.names_no_queue("")),
        (
            job_of_kind("batch/v1", "CronJob", {"jobTemplate": {"spec": {"template": template()}}}),
            sentences.names_no_queue("spec.jobTemplate"),
        ),
    ],
    ids=lambda each: each["kind"] if isinstance(each, dict) else "",
)
def test_a_job_that_names_no_queue_is_told_how_to_name_one(made: Document, told: str) -> None:
    """Its Workload was asked for, or a row for its kind, which has one; the label is what was missing."""
    if made["kind"] != "CronJob":
        del made["metadata"]["labels"]
    assert f"({told})" in notes_of(made)


def test_only_a_job_can_start_with_fewer_pods() -> None:
    replicated = {"name": "w", "template": {"spec": {"parallelism": 4, "template": template()}}}
    made = job_of_kind("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [replicated]})
    made["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    said = sentences.not_heeded(Reference("JobSet", "ml", "it"), jobs.ONLY_JOBS_START_SMALLER)
    assert notes_of(made) == said


def test_autoscaling_gets_no_quota_and_that_is_said() -> None:
    made = job_of_kind("ray.io/v1", "RayCluster", {"headGroupSpec": {"template": template()}})
    assert notes_of(made) == ""
    made["spec"]["enableInTreeAutoscaling"] = True
    told = jobs.no_quota_for_more("spec.enableInTreeAutoscaling")
    assert notes_of(made) == sentences.not_heeded(Reference("RayCluster", "ml", "it"), told)


def test_a_job_that_another_one_in_a_queue_makes_does_not_ask_again() -> None:
    made = job_of_kind("batch/v1", "Job", {"template": template()})
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "s", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    assert asked(made) == {}


def test_a_job_without_a_queue_is_held_where_every_job_has_to_name_one() -> None:
    made = job_of_kind("batch/v1", "Job", {"template": template()})
    del made["metadata"]["labels"]
    held = sentences.held_without_queue(IT)
    assert held in notes_of(made, manageJobsWithoutQueueName=True)
    assert held not in notes_of(made)
    chosen: Document = {"manageJobsWithoutQueueName": True}
    chosen |= {"managedJobsNamespaceSelector": {"matchLabels": {"team": "a"}}}
    space: Document = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "ml", "labels": {"team": "a"}},
    }
    assert held in notes_of(space, made, **chosen)
    space["metadata"]["labels"] = {"team": "b"}
    assert held not in notes_of(space, made, **chosen)
