"""Manifests as the projects' own documentation has them, and mistakes in them: what people are told."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.jobs import sentences as jobs
from reprieve.whatif import sentences
from tests import builders

Document = dict[str, Any]


def run(folder: Path, command: str, *documents: Document) -> tuple[int, str]:
    path = folder / "m.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    result = CliRunner().invoke(main, [command, "-f", str(path)])
    return result.exit_code, result.output.replace(str(path), "m.yaml")


def container(**more: Any) -> Document:
    return {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}, **more}


def job_of_kind(api_version: str, kind: str, spec: Document, **metadata: Any) -> Document:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it", **metadata}, "spec": spec}


def ray_cluster(spec: Document, **more: Any) -> Document:
    head = {"template": {"spec": spec}}
    return job_of_kind("ray.io/v1", "RayCluster", {"headGroupSpec": head, "workerGroupSpecs": [], **more})


def stateful_set() -> Document:
    mounts = [{"name": "www", "mountPath": "/data"}]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container(volumeMounts=mounts)]}}
    claim = {
        "metadata": {"name": "www"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    return job_of_kind("apps/v1", "StatefulSet", {
        "serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": template,
        "volumeClaimTemplates": [claim],
    })  # fmt: skip


def test_a_volume_that_a_stateful_set_claims_may_be_mounted(tmp_path: Path) -> None:
    assert run(tmp_path, "validate", stateful_set()) == (0, "1 document, 0 problems, 0 warnings\n")


def test_a_mount_without_any_volume_is_still_a_problem(tmp_path: Path) -> None:
    made = stateful_set()
    del made["spec"]["volumeClaimTemplates"]
    code, said = run(tmp_path, "validate", made)
    assert (code, "no volume of the pod is called 'www'" in said) == (2, True)


def in_one_line(text: str) -> str:
    """As before the table broke it into lines."""
    return " ".join(text.split())


def test_what_a_plan_does_not_look_at_is_said(tmp_path: Path) -> None:
    said = run(tmp_path, "plan", builders.node("node-1", 8), stateful_set())[1]
    claims = jobs.unread_field("spec.volumeClaimTemplates", jobs.VOLUMES)
    assert jobs.not_looked_at(claims) in in_one_line(said)
    scaled = ray_cluster({"containers": [container()]}, enableInTreeAutoscaling=True)
    said = run(tmp_path, "plan", builders.node("node-1", 8), scaled)[1]
    told = jobs.not_looked_at(jobs.unread_field("spec.enableInTreeAutoscaling", jobs.RESIZES))
    assert told in in_one_line(said)
    plain = run(tmp_path, "plan", builders.node("node-1", 8), ray_cluster({"containers": [container()]}))[1]
    assert "Note: " not in plain


def test_a_misspelt_field_in_a_template_is_said_by_plan_and_validate(tmp_path: Path) -> None:
    wrong = ray_cluster({"containers": [{"name": "c", "image": "i", "resource": {}}]})
    told = "m.yaml:1: spec.headGroupSpec.template.spec.containers[0].resource: unknown field"
    code, said = run(tmp_path, "validate", wrong)
    assert (code, told in said) == (2, True)
    said = run(tmp_path, "plan", wrong, builders.node("node-1", 8))[1].replace("\n  ", " ")
    assert f"fields that nobody reads: {told}" in said


def test_a_wrong_limit_is_told_once_where_it_was_written(tmp_path: Path) -> None:
    wrong = ray_cluster({"containers": [container(resources={"limits": {"cpu": "one"}})]})
    said = run(tmp_path, "validate", wrong)[1]
    assert "containers[0].resources.limits[cpu]: 'one' is not a quantity" in said
    assert "requests[cpu]" not in said
    both = {"limits": {"cpu": "one"}, "requests": {"cpu": "one"}}
    said = run(tmp_path, "validate", ray_cluster({"containers": [container(resources=both)]}))[1]
    assert "requests[cpu]" in said


def test_validate_says_which_part_of_a_job_of_another_project_it_checked(tmp_path: Path) -> None:
    code, said = run(tmp_path, "validate", ray_cluster({"containers": [container()]}))
    assert code == 0
    assert "RayCluster was checked in its pod templates only" in said


def test_jobs_that_are_planned_later_are_not_called_ignored(tmp_path: Path) -> None:
    template = {"template": {"spec": {"containers": [container()]}}}
    first, second = (job_of_kind("batch/v1", "Job", template) for _ in range(2))
    second["metadata"] = {"name": "second"}
    code, said = run(tmp_path, "plan", builders.node("node-1", 8), first, second)
    assert code == 0
    assert "ignored" not in said
    assert said.index("Job/default/it fits") < said.index("Job/default/second fits")


def test_a_kind_that_is_not_known_is_named_with_what_to_do(tmp_path: Path) -> None:
    tasks = [{"name": "t", "replicas": 2, "template": {"spec": {"containers": [container()]}}}]
    code, said = run(tmp_path, "plan", job_of_kind("batch.example.org/v1alpha1", "Job", {"tasks": tasks}))
    assert code == 2
    assert "Not known here: Job of batch.example.org/v1alpha1" in said
    assert "jobs.kinds" in said


def test_a_kind_without_a_template_is_named_too(tmp_path: Path) -> None:
    """Of a Workflow it was said that nothing waits for a node."""
    code, said = run(tmp_path, "plan", job_of_kind("example.org/v1alpha1", "Workflow", {"entrypoint": "a"}))
    assert (code, "Not known here: Workflow of example.org/v1alpha1" in said) == (2, True)


def test_a_daemon_set_is_no_kind_to_describe(tmp_path: Path) -> None:
    spec = {"template": {"spec": {"containers": [container()]}}}
    code, said = run(tmp_path, "plan", job_of_kind("apps/v1", "DaemonSet", spec))
    assert (code, "A DaemonSet puts a pod on every node: give one of its pods" in said) == (2, True)


def test_validate_does_not_say_that_a_kind_of_others_is_elsewhere(tmp_path: Path) -> None:
    said = run(tmp_path, "validate", job_of_kind("batch.example.org/v1alpha1", "Job", {}))[1]
    assert "there is no schema of it here; another Job is in batch/v1" in said


def test_a_job_without_its_cluster_hears_how_to_give_it(tmp_path: Path) -> None:
    """Only that its priority class is missing was said."""
    job = job_of_kind("batch/v1", "Job", {
        "template": {"spec": {"priorityClassName": "high", "containers": [container()]}},
    })  # fmt: skip
    code, said = run(tmp_path, "plan", job)
    assert code == 2
    assert sentences.no_priority_class("high", []) in in_one_line(said)
    assert "there is no Node in what was read; describe some with --nodes, give the cluster's" in said


def test_a_pod_in_a_queue_hears_of_its_quota(tmp_path: Path) -> None:
    pod = builders.pod("p", 1, labels={"kueue.x-k8s.io/queue-name": "main"})
    said = run(tmp_path, "plan", builders.node("node-1", 8), pod)[1]
    assert sentences.waits_for_quota("main", []) in in_one_line(said)


def test_one_run_of_a_cron_job_hears_of_its_queue(tmp_path: Path) -> None:
    labels = {"labels": {"kueue.x-k8s.io/queue-name": "main"}}
    run_ = {"metadata": labels, "spec": {"template": {"spec": {"containers": [container()]}}}}
    cron = job_of_kind("batch/v1", "CronJob", {"schedule": "0 * * * *", "jobTemplate": run_})
    said = run(tmp_path, "plan", builders.node("node-1", 8), cron)[1]
    assert sentences.waits_for_quota("main", []) in in_one_line(said)


def test_what_has_no_kind_is_told_with_its_place(tmp_path: Path) -> None:
    code, said = run(tmp_path, "plan", {"resources": ["a.yaml"]})
    assert (code, said) == (2, "error: m.yaml:1: apiVersion: is required\n")


def test_a_kind_in_the_wrong_case_hears_the_right_one(tmp_path: Path) -> None:
    said = run(tmp_path, "plan", {"apiVersion": "v1", "kind": "pod", "metadata": {"name": "p"}})[1]
    assert "Not known here: pod of v1; did you mean 'Pod'? Give its pods" in said


@pytest.mark.parametrize(
    ("api_version", "kind", "hint"),
    [
        ("postgresql.cnpg.io/v1", "Cluster", ""),
        ("example.org/v1", "RayCluster", ""),
        ("ray.io/v1", "RayClutser", "; did you mean 'RayCluster'?"),
        ("ray.oi/v1", "RayCluster", "; did you mean 'RayCluster of ray.io'?"),
        ("kubeflow.com/v1", "PyTorchJb", "; did you mean 'PyTorchJob of kubeflow.org'?"),
    ],
)
def test_a_kind_is_guessed_in_a_group_that_is_near(
    tmp_path: Path, api_version: str, kind: str, hint: str
) -> None:
    code, said = run(tmp_path, "plan", job_of_kind(api_version, kind, {}))
    assert (code, f"Not known here: {kind} of {api_version}{hint}" in said) == (2, True)
    assert ("did you mean" in said) == bool(hint)


def test_a_group_without_pods_says_what_it_lacks(tmp_path: Path) -> None:
    group = builders.pod_group("crew", 4, namespace="ml")
    for command in ("plan", "when"):
        code, said = run(tmp_path, command, group)
        assert (code, sentences.without_pods("PodGroup/ml/crew") in said) == (2, True)
