"""Manifests seen together: duplicates, references, cycles, several defaults."""

from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.objects.documents import Source
from reprieve.objects.errors import UnreadableInput
from reprieve.objects.review import review
from tests.objects.samples import SAMPLES, edited, sample


def said(*documents: Any) -> list[str]:
    sources = [Source("f.yaml", str(number), document) for number, document in enumerate(documents, 1)]
    return [str(finding) for finding in review(sources, Configuration.load(None).admission_context())]


def test_sound_manifests_get_no_problem() -> None:
    assert [line for line in said(*SAMPLES) if "warning" not in line] == []


def test_findings_come_in_the_order_of_the_documents() -> None:
    broken = UnreadableInput("f.yaml:1", "line 3: no")
    second = Source("f.yaml", "2", edited(sample("Node"), "metadata.name", "A"))
    context = Configuration.load(None).admission_context()
    assert [finding.where for finding in review([second, broken], context)] == ["f.yaml:2", "f.yaml:1"]


def test_the_second_object_of_a_name_is_the_problem() -> None:
    node = sample("Node")
    (line,) = said(node, sample("Namespace"), node)
    assert line == "f.yaml:3: metadata.name: Node/node-1 is already defined at f.yaml:1"


def test_the_namespace_default_may_be_written_or_not() -> None:
    budget = edited(sample("PodDisruptionBudget"), "metadata.namespace", ...)
    assert len(said(budget, edited(budget, "metadata.namespace", "default"))) == 1
    assert said(budget, edited(budget, "metadata.namespace", "other")) == []


def test_a_pod_of_a_group_that_is_not_there_is_a_warning() -> None:
    other = edited(sample("PodGroup"), "metadata.name", "other")
    (line,) = said(sample("Pod"), other)
    expected = "spec.schedulingGroup.podGroupName: PodGroup 'train-worker-0' is not among these manifests"
    assert line == f"f.yaml:1: warning: {expected}"


def test_where_there_are_no_groups_at_all_they_live_elsewhere() -> None:
    assert said(sample("Pod")) == []


def test_other_references_are_followed_too() -> None:
    lines = said(
        edited(sample("LocalQueue"), "spec.clusterQueue", "gone"),
        sample("ClusterQueue"),
        edited(sample("Workload", "kueue"), "spec.queueName", "gone"),
        edited(sample("ResourceFlavor"), "metadata.name", "other"),
        edited(sample("MultiKueueConfig"), "spec.clusters", ["gone"]),
        sample("MultiKueueCluster"),
    )
    assert [line.split(": ")[2] for line in lines] == [
        "spec.clusterQueue",
        "spec.resourceGroups[0].flavors[0].name",
        "spec.queueName",
        "spec.clusters[0]",
    ]


def test_a_cycle_of_cohorts_is_told_as_a_path() -> None:
    a = edited(edited(sample("Cohort"), "metadata.name", "a"), "spec.parentName", "b")
    b = edited(edited(sample("Cohort"), "metadata.name", "b"), "spec.parentName", "a")
    c = edited(edited(sample("Cohort"), "metadata.name", "c"), "spec.parentName", "a")
    assert said(a, b, c) == [
        "f.yaml:1: spec.parentName: a cycle of cohorts: a -> b -> a",
        "f.yaml:2: spec.parentName: a cycle of cohorts: b -> a -> b",
    ]


def test_several_default_classes_are_a_warning() -> None:
    one = edited(sample("PriorityClass"), "globalDefault", True)
    lines = said(one, edited(one, "metadata.name", "other"))
    assert len(lines) == 2
    assert "the one with the smallest value is taken" in lines[0]


def test_a_priority_that_contradicts_a_class_among_the_manifests_is_a_problem() -> None:
    (line,) = said(sample("PriorityClass"), edited(sample("PodGroup"), "spec.priority", 5))
    assert line == "f.yaml:2: spec.priority: is 5, but PriorityClass batch-high says 1000"


def test_a_document_without_kind_or_version_is_a_problem() -> None:
    assert said({"metadata": {}}) == ["f.yaml:1: apiVersion: is required", "f.yaml:1: kind: is required"]


def test_fields_that_only_others_read_are_no_typos() -> None:
    workload = edited(sample("Workload", "kueue"), "spec.podSets.0.template.spec.dnsPolicy", "None")
    assert said(edited(workload, "spec.maximumExecutionTimeSeconds", 60)) == []
    assert said(edited(sample("Pod"), "spec.serviceAccountName", "x")) == []


def test_a_job_in_a_queue_that_is_not_there_is_told() -> None:
    """The label is how most people name a queue; misspelt, the job waits for ever."""
    queue: dict[str, Any] = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "team"},
        "spec": {"clusterQueue": "c"},
    }

    def queued(name: str) -> dict[str, Any]:
        pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        labels = {"kueue.x-k8s.io/queue-name": name}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "labels": labels},
            "spec": {"template": {"spec": pod}},
        }

    elsewhere = {**queued("team"), "apiVersion": "ray.io/v1", "kind": "RayJob"}
    assert [each for each in said(queue, elsewhere) if "LocalQueue" in each] == []
    (found,) = said(queue, queued("team"), queued("taem"))
    told = "metadata.labels[kueue.x-k8s.io/queue-name]: LocalQueue 'taem' is not among these manifests"
    assert found == f"f.yaml:3: warning: {told}"


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        (
            {"labels": {"kueue.x-k8s.io/queue-nmae": "team"}},
            "labels[kueue.x-k8s.io/queue-nmae]: nobody reads it",
        ),
        ({"labels": {"kueue.x-k8s.io/queue": "team"}}, "labels[kueue.x-k8s.io/queue]: nobody reads it"),
        ({"labels": {"kueue.k8s.io/queue-name": "team"}}, "labels[kueue.k8s.io/queue-name]: nobody reads it"),
        ({"annotations": {"kueue.x-k8s.io/queue-name": "team"}}, "nobody reads the annotation"),
        ({"labels": {"kueue.x-k8s.io/priority-class": "high", "app": "queue-name"}}, ""),
        ({"labels": {"kueue.x-k8s.io/pod-group-name": "crew"}}, ""),
    ],
)
def test_a_job_that_almost_names_a_queue_is_told(metadata: dict[str, Any], told: str) -> None:
    """It was taken for a job without a queue, in silence: on a cluster it runs without quota."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": pod}}}
    found = said({**job, "metadata": {"name": "j", **metadata}})
    assert [told in each and "kueue.x-k8s.io/queue-name" in each for each in found] == [True] * bool(told)


def test_a_queue_that_nobody_may_use_is_told() -> None:
    """An empty selector means all namespaces, and none means none."""
    queue = edited(sample("ClusterQueue"), "spec.namespaceSelector", ...)
    told = "spec.namespaceSelector: is not set, so that no namespace may use the queue; {} lets all of them"
    assert f"f.yaml:1: warning: {told}" in said(queue)
    assert not any("namespaceSelector" in each for each in said(edited(queue, "spec.namespaceSelector", {})))


def test_memory_by_the_thousandth_of_a_byte_is_told() -> None:
    resources = {"requests": {"memory": "512m", "cpu": "500m"}}
    template = {"spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}
    job = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}}
    told = "containers[0].resources.requests[memory]: 512m is a part of a byte; 512Mi was perhaps meant"
    found = said({**job, "spec": {"headGroupSpec": {"template": template}}})
    assert f"f.yaml:1: warning: spec.headGroupSpec.template.spec.{told}" in found
    assert not any("cpu" in each for each in found)
