"""Jobs through `plan`, `compare` and `admit`: in order, once each, in the words of the job."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import reprieve
from reprieve.cli import main
from reprieve.jobs import sentences as jobs
from reprieve.jobs import workload_name
from reprieve.objects import Reference
from reprieve.whatif import plan_everything, sentences, targets
from tests import builders
from tests.builders import cluster_queue, flavor, local_queue, node

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"
pod = partial(builders.pod, namespace="ml")


def batch_job(name: str, cpu: int = 1, parallelism: int = 1, **metadata: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ml", **metadata},
        "spec": {"parallelism": parallelism, "template": {"spec": {"containers": [container]}}},
    }


def in_queue(name: str, **spec: Any) -> dict[str, Any]:
    return batch_job(name, labels={"kueue.x-k8s.io/queue-name": "team"}, **spec)


def test_several_jobs_are_planned_in_order_each_on_what_the_others_left() -> None:
    given = [node("n", 4), batch_job("a", cpu=3), batch_job("b", cpu=3), batch_job("c", cpu=1)]
    answers = plan_everything(given, targets(given))
    assert [answer.outcome for answer in answers] == ["scheduled", "unschedulable", "scheduled"]


def test_what_the_first_job_evicts_is_gone_for_the_second() -> None:
    first, second = batch_job("a", cpu=3), batch_job("b", cpu=1)
    for each in (first, second):
        each["spec"]["template"]["spec"]["priority"] = 10
    given = [node("n", 4), pod("old", 4, nodeName="n"), first, second]
    answers = plan_everything(given, targets(given))
    assert [answer.outcome for answer in answers] == ["preempts", "scheduled"]


def test_a_job_that_runs_is_not_planned_once_more() -> None:
    owner = {"kind": "Job", "name": "a", "controller": True}
    running = pod("a-x", 1, nodeName="n", metadata={"ownerReferences": [owner]})
    given = [node("n", 4), running, batch_job("a")]
    assert targets(given) == []
    told = sentences.job_has_pods_already(Reference("Job", "ml", "a"), Reference("Pod", "ml", "a-x"))
    with pytest.raises(reprieve.ReprieveError, match=re.escape(told)):
        reprieve.plan(given, "job/ml/a")


def test_pods_that_a_job_has_through_others_are_its_own() -> None:
    """A Deployment was planned once more on top of the pods of its ReplicaSet."""
    web = batch_job("web") | {"apiVersion": "apps/v1", "kind": "Deployment"}
    between = batch_job("web-1", ownerReferences=[{"kind": "Deployment", "name": "web", "controller": True}])
    between |= {"apiVersion": "apps/v1", "kind": "ReplicaSet"}
    owners = {"ownerReferences": [{"kind": "ReplicaSet", "name": "web-1", "controller": True}]}
    pods = [pod("web-1-a", 1, nodeName="n", metadata=owners), pod("web-1-b", 9, metadata=owners)]
    job, waiting = Reference("Deployment", "ml", "web"), Reference("Pod", "ml", "web-1-b")
    told = sentences.job_has_pods_already(job, waiting)
    with pytest.raises(reprieve.ReprieveError, match=re.escape(told)):
        reprieve.plan([node("n", 4), web, between, *pods], "deployment/ml/web")


def test_a_cron_job_is_planned_also_after_earlier_runs() -> None:
    nightly: dict[str, Any] = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "ml"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": batch_job("x")["spec"]}},
    }
    earlier = batch_job(
        "nightly-1", ownerReferences=[{"kind": "CronJob", "name": "nightly", "controller": True}]
    )
    owner = {"ownerReferences": [{"kind": "Job", "name": "nightly-1", "controller": True}]}
    given = [node("n", 4), nightly, earlier, pod("nightly-1-x", 1, nodeName="n", metadata=owner)]
    assert reprieve.plan(given, "cronjob/ml/nightly").outcome == "scheduled"


def test_a_job_inside_another_is_planned_with_it() -> None:
    inner = batch_job("a", ownerReferences=[{"kind": "JobSet", "name": "s", "controller": True}])
    assert targets([inner]) == []


def test_a_suspended_job_is_planned_for_the_moment_when_it_starts() -> None:
    suspended = batch_job("a")
    suspended["spec"]["suspend"] = True
    plan: Any = reprieve.plan([node("n", 4), suspended], "job/ml/a")
    assert plan.outcome == "gated"
    why = jobs.is_suspended("spec.suspend")
    assert plan.reasons[0] == sentences.does_not_start(Reference("Job", "ml", "a"), why)
    assert plan.placements
    assert sentences.ONCE_STARTED in plan.reasons


def test_a_wrong_amount_in_a_job_is_told_with_its_path_and_file(tmp_path: Path) -> None:
    text = (FOLDER / "jobset.yaml").read_text().replace('gpu: "4"', 'gpu: "0.5"')
    (tmp_path / "wrong.yaml").write_text(text)
    answer = CliRunner().invoke(
        main, ["plan", "-f", f"{FOLDER}/cluster.yaml", "-f", f"{tmp_path}/wrong.yaml"]
    )
    assert answer.exit_code == 2
    place = (
        "spec.replicatedJobs[1].template.spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]"
    )
    assert f"wrong.yaml:1: {place}: must be an integer" in answer.output


def test_algorithms_are_compared_for_a_job_that_is_a_gang() -> None:
    command = ["plan", "-f", f"{FOLDER}/cluster.yaml", "-f", f"{FOLDER}/job.yaml", "--compare"]
    answer = CliRunner().invoke(main, command)
    assert answer.exit_code == 0, answer.output
    assert "minimal-cost" in answer.output


def test_algorithms_are_not_compared_for_single_pods_of_a_job() -> None:
    command = ["plan", "-f", f"{FOLDER}/cluster.yaml", "-f", f"{FOLDER}/deployment.yaml", "--compare"]
    answer = CliRunner().invoke(main, command)
    assert answer.exit_code == 2
    told = sentences.no_single_gang(Reference("Deployment", "ml", "inference"), 0)
    assert told in " ".join(answer.output.split())


def test_jobs_in_a_queue_are_admitted_without_a_workload_of_their_own() -> None:
    queues = [flavor("default"), cluster_queue("cq", 4), local_queue("team", "cq", namespace="ml")]
    answer = reprieve.admit([*queues, in_queue("a", cpu=3), in_queue("b", cpu=3)]).to_dict()
    assert list(answer["admitted"]) == [f"ml/{workload_name('batch', 'Job', 'a')}"]
    assert answer["unadmitted"] == [f"ml/{workload_name('batch', 'Job', 'b')}"]
    assert "ignored" not in answer


def test_a_job_that_has_ended_asks_for_nothing() -> None:
    ended = in_queue("a", cpu=3)
    ended["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    queues = [flavor("default"), cluster_queue("cq", 4), local_queue("team", "cq", namespace="ml")]
    assert list(reprieve.admit([*queues, ended, in_queue("b", cpu=3)]).to_dict()["admitted"]) == [
        f"ml/{workload_name('batch', 'Job', 'b')}"
    ]


def foreign_group(api: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ml"}, "spec": spec}


@pytest.mark.parametrize(
    ("group", "link"),
    [
        (
            foreign_group("scheduling.x-k8s.io/v1alpha1", minMember=3),
            {"labels": {"scheduling.x-k8s.io/pod-group": "g"}},
        ),
        (
            foreign_group("scheduling.volcano.sh/v1beta1", minMember=3, queue="default"),
            {"annotations": {"scheduling.k8s.io/group-name": "g"}},
        ),
    ],
)
def test_pod_groups_of_other_schedulers_are_gangs(group: dict[str, Any], link: dict[str, Any]) -> None:
    pods = [pod(f"p{number}", 1, **link) for number in range(3)]
    fits = reprieve.plan([node("n", 3), group, *pods], "podgroup/ml/g")
    assert (fits.outcome, len(fits.placements)) == ("scheduled", 3)  # type: ignore[union-attr]
    assert reprieve.plan([node("n", 2), group, *pods], "podgroup/ml/g").outcome == "unschedulable"
    assert [str(each) for each in targets([group, *pods])] == ["PodGroup/ml/g"]
    assert any("spec.queue" in reason for reason in fits.reasons) == ("queue" in group["spec"])


@pytest.mark.parametrize("link", ["scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"])
def test_a_job_whose_pods_name_a_group_of_volcano_is_that_gang(link: str) -> None:
    """Only pods were read so: a Job was told to fit in part of which Volcano would start nothing."""
    group = foreign_group("scheduling.volcano.sh/v1beta1", minMember=3)
    crew = batch_job("crew", parallelism=3)
    crew["spec"]["template"]["metadata"] = {"annotations": {link: "g"}}
    assert reprieve.plan([node("n", 3), group, crew], "job/ml/crew").outcome == "scheduled"
    short = reprieve.plan([node("n", 2), group, crew], "job/ml/crew")
    assert (short.outcome, short.placements) == ("unschedulable", {})  # type: ignore[union-attr]
    alone = pod("p", 1, annotations={link: "g"})
    assert [str(each) for each in targets([group, alone])] == ["PodGroup/ml/g"]


def test_annotations_that_are_no_map_are_told_next_to_a_group_of_volcano() -> None:
    group, wrong = foreign_group("scheduling.volcano.sh/v1beta1", minMember=1), pod("p", 1)
    wrong["metadata"]["annotations"] = ["x"]
    with pytest.raises(
        reprieve.ReprieveError, match=r"metadata.annotations: expected an object, got list \['x'\]"
    ):
        reprieve.plan([node("n", 3), group, wrong], "pod/ml/p")


def test_what_is_nested_without_end_stops_no_plan_next_to_a_group_of_volcano() -> None:
    group, odd = foreign_group("scheduling.volcano.sh/v1beta1", minMember=1), node("odd", 1)
    deep: dict[str, Any] = {}
    for _ in range(2000):
        deep = {"in": deep}
    odd["spec"] = deep
    assert reprieve.plan([node("n", 3), odd, group, pod("p", 1)], "pod/ml/p").outcome == "scheduled"


def test_a_misspelt_priority_class_is_refused_for_a_job_and_in_a_comparison() -> None:
    wrong = batch_job("a")
    wrong["spec"]["template"]["spec"]["priorityClassName"] = "hgih"
    with pytest.raises(reprieve.ReprieveError, match="hgih"):
        reprieve.plan([node("n", 4), wrong], "job/ml/a")
    with pytest.raises(reprieve.ReprieveError, match="hgih"):
        reprieve.compare([node("n", 4), pod("p", 1, "hgih")], "pod/ml/p")
