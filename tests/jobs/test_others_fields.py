"""Fields of other projects' kinds that change which pods there are, or where they may go."""

from typing import Any

import pytest

from reprieve.jobs import Expansion, JobKinds, expand, pod_sets, sentences
from reprieve.jobs.editing import Additions, restored, started

Document = dict[str, Any]
KINDS = JobKinds()
POD: Document = {"spec": {"containers": [{"name": "c", "image": "i"}]}}


def made(api_version: str, kind: str, spec: Document, *others: Document, **metadata: Any) -> Expansion:
    document = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it", **metadata}, "spec": spec}
    return expand(document, KINDS, others)


def counts(expansion: Expansion) -> list[int]:
    return [len(pods) for pods in expansion.pods.values()]


# --- Ray ----------------------------------------------------------------------------------------------------


def ray(worker: Document, **metadata: Any) -> Expansion:
    workers = [{"groupName": "w", "template": POD, **worker}]
    return made(
        "ray.io/v1",
        "RayCluster",
        {"headGroupSpec": {"template": POD}, "workerGroupSpecs": workers},
        **metadata,
    )


@pytest.mark.parametrize(
    ("worker", "expected"),
    [
        ({"minReplicas": 4, "maxReplicas": 8}, 4),
        ({"replicas": 2, "minReplicas": 4}, 4),
        ({"replicas": 9, "maxReplicas": 8}, 8),
        ({"replicas": 2, "numOfHosts": 4}, 8),
        ({"minReplicas": 1, "numOfHosts": 4}, 4),
        ({}, 0),
    ],
    ids=str,
)
def test_ray_keeps_workers_between_their_least_and_most(worker: Document, expected: int) -> None:
    """KubeRay: no `replicas` means none, and never fewer than `minReplicas`."""
    assert counts(ray(worker)) == [1, expected]


def test_a_ray_cluster_that_asks_its_scheduler_for_a_gang_hears_that_it_is_none() -> None:
    (said,) = ray({"replicas": 1}, labels={"ray.io/gang-scheduling-enabled": "true"}).unread
    assert said == sentences.unread_field("ray.io/gang-scheduling-enabled", sentences.STARTS_TOGETHER)


# --- Kubeflow -----------------------------------------------------------------------------------------------


def runtime() -> Document:
    step = {"name": "node", "template": {"spec": {"template": POD}}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"template": {"spec": {"replicatedJobs": [step]}}},
    }


AFFINITY: Document = {
    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}
}
PLACE: Document = {"nodeSelector": {"zone": "a"}, "affinity": AFFINITY, "priorityClassName": "high"}


@pytest.mark.parametrize(
    "written",
    [
        {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": PLACE}]},
        {
            "runtimePatches": [
                {
                    "manager": "me",
                    "trainingRuntimeSpec": {
                        "template": {
                            "spec": {
                                "replicatedJobs": [
                                    {"name": "node", "template": {"spec": {"template": {"spec": PLACE}}}}
                                ]
                            }
                        }
                    },
                }
            ]
        },
    ],
    ids=lambda written: next(iter(written)),
)
def test_what_a_train_job_changes_in_its_runtime_counts(written: Document) -> None:
    spec = {"runtimeRef": {"name": "torch"}, **written}
    (pod,) = made("trainer.kubeflow.org/v1alpha1", "TrainJob", spec, runtime()).pods["node"]
    assert {field: pod["spec"][field] for field in PLACE} == PLACE


TOLERATED, ADDED = {"key": "own", "operator": "Exists"}, {"key": "flavor", "operator": "Exists"}


def patched(step: str, **spec: Any) -> Document:
    """The part of a runtime patch that is about one step."""
    return {"name": step, "template": {"spec": {"template": {"spec": spec}}}}


def patch(manager: str, *steps: Document) -> Document:
    return {
        "manager": manager,
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [*steps]}}},
    }


def test_tolerations_of_a_patch_take_the_place_of_the_runtimes() -> None:
    """As in a strategic merge, which is what Trainer does with them."""
    base = runtime()
    step = base["spec"]["template"]["spec"]["replicatedJobs"][0]
    step["template"]["spec"]["template"] = {**POD, "spec": {**POD["spec"], "tolerations": [TOLERATED]}}
    patches = [patch("me", patched("node", tolerations=[ADDED]))]
    spec = {"runtimeRef": {"name": "torch"}, "runtimePatches": patches}
    (pod,) = made("trainer.kubeflow.org/v1alpha1", "TrainJob", spec, base).pods["node"]
    assert pod["spec"]["tolerations"] == [ADDED]


def test_a_train_job_is_started_by_one_patch_of_its_runtime() -> None:
    """Trainer 2.2 replaced podTemplateOverrides: an API server drops them, and the pods would run anywhere.
    Patches are keyed by who made them, and their tolerations are the whole list."""
    base = runtime()
    first = base["spec"]["template"]["spec"]["replicatedJobs"][0]
    pod = {**POD, "spec": {**POD["spec"], "tolerations": [TOLERATED]}}
    second = {"name": "data", "template": {"spec": {"template": pod}}}
    base["spec"]["template"]["spec"]["replicatedJobs"] = [second, first]
    theirs = patch("me", patched("node", nodeSelector={"zone": "a"}))
    job: Document = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t", "namespace": "ml"},
        "spec": {"runtimeRef": {"name": "torch"}, "suspend": True, "runtimePatches": [theirs]},
    }
    kind = KINDS.find(job)
    assert kind is not None
    added = Additions(node_selector={"pool": "stable"}, tolerations=[ADDED])
    sets = pod_sets(job, KINDS, [base])
    runs = started(job, kind, sets, {each.name: added for each in sets})
    mine = patch(
        "reprieve.dev/quota",
        patched("data", tolerations=[TOLERATED, ADDED], nodeSelector={"pool": "stable"}),
        patched("node", tolerations=[ADDED], nodeSelector={"pool": "stable"}),
    )
    assert runs["spec"]["runtimePatches"] == [theirs, mine]
    assert "podTemplateOverrides" not in runs["spec"]
    (node,) = [each for each in pod_sets(runs, KINDS, [base]) if each.name == "node"]
    assert node.template["spec"]["nodeSelector"] == {"zone": "a", "pool": "stable"}
    assert restored(runs, pod_sets(runs, KINDS, [base])) == {**job, "spec": {**job["spec"], "suspend": False}}


def test_elastic_training_is_not_looked_at() -> None:
    spec = {"elasticPolicy": {"minReplicas": 1}, "pytorchReplicaSpecs": {"Worker": {"template": POD}}}
    (said,) = made("kubeflow.org/v1", "PyTorchJob", spec).unread
    assert said == sentences.unread_field("spec.elasticPolicy", sentences.RESIZES)


# --- JobSet, LeaderWorkerSet --------------------------------------------------------------------------------


def job_set(**job: Any) -> Expansion:
    replicated = {"name": "w", "template": {"spec": {"template": POD}}, **job}
    return made("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [replicated]})


def test_jobs_of_a_set_that_wait_for_others_are_said() -> None:
    (said,) = job_set(dependsOn=[{"name": "driver", "status": "Complete"}]).unread
    assert said == sentences.unread_field("spec.replicatedJobs[].dependsOn", sentences.STARTS_IN_TURN)
    assert job_set().unread == ()


def test_exclusive_placement_is_said_wherever_it_is_written() -> None:
    notes = {"annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}}
    (said,) = job_set(template={"metadata": notes, "spec": {"template": POD}}).unread
    assert said.startswith("alpha.jobset.sigs.k8s.io/exclusive-topology, ")
    name = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
    spec = {"leaderWorkerTemplate": {"size": 4, "workerTemplate": POD}}
    (said,) = made("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, annotations={name: "rack"}).unread
    assert said.startswith(f"{name}, ")


# --- AppWrapper ---------------------------------------------------------------------------------------------


def wrapped(*templates: Document, **component: Any) -> Expansion:
    components = [{"template": each, **component} for each in templates]
    return made("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": components})


def test_a_wrapped_kind_that_is_not_known_is_said() -> None:
    """Its pods counted as none, and the wrapper fitted everywhere."""
    quiet = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    strange = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}}
    (said,) = wrapped(quiet, strange).unread
    assert said == sentences.unread_component("spec.components[1]", "Workflow", "argoproj.io/v1alpha1")
    assert wrapped(strange, podSets=[]).unread == ()


# --- Spark --------------------------------------------------------------------------------------------------


def spark(conf: dict[str, str], **spec: Any) -> Expansion:
    body = {"type": "Scala", "driver": {}, "executor": {}, "sparkConf": conf, **spec}
    return made("sparkoperator.k8s.io/v1beta2", "SparkApplication", body)


def requests(expansion: Expansion, role: str) -> dict[str, str]:
    asked: dict[str, str] = expansion.pods[role][0]["spec"]["containers"][0]["resources"]["requests"]
    return asked


def test_what_sparks_own_configuration_says_counts_where_the_fields_say_nothing() -> None:
    conf = {
        "spark.executor.instances": "3", "spark.executor.memory": "2g", "spark.driver.cores": "4",
        "spark.kubernetes.executor.request.cores": "1500m", "spark.executor.memoryOverhead": "1g",
    }  # fmt: skip
    found = spark(conf)
    assert counts(found) == [1, 3]
    assert requests(found, "executor") == {"cpu": "1500m", "memory": "3072Mi"}
    assert requests(found, "driver")["cpu"] == "4"
    fields = spark(
        conf, executor={"instances": 2, "memory": "1g", "coreRequest": "1", "memoryOverhead": "1g"}
    )
    assert counts(fields) == [1, 2]
    assert requests(fields, "executor") == {"cpu": "1", "memory": "2048Mi"}


@pytest.mark.parametrize(
    "key",
    [
        "spark.kubernetes.node.selector.zone",
        "spark.kubernetes.executor.node.selector.zone",
        "spark.kubernetes.executor.podTemplateFile",
        "spark.executor.resource.gpu.amount",
        "spark.dynamicAllocation.enabled",
        "spark.executor.pyspark.memory",
    ],
)
def test_what_else_it_says_about_pods_is_said(key: str) -> None:
    (said,) = spark({key: "1", "spark.eventLog.enabled": "true"}).unread
    assert said == sentences.unread_spark_setting(key)
