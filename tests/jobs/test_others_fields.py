"""Fields of other projects' kinds that change which pods there are, or where they may go."""

from typing import Any

import pytest

from reprieve.jobs import Expansion, JobKinds, expand, one_run, pod_sets, sentences
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


def asked(expansion: Expansion) -> dict[str, int]:
    """How many pods quota is asked for."""
    return {each.name: each.requested[0] for each in expansion.sets}


@pytest.mark.parametrize(
    ("worker", "expected"),
    [
        ({"minReplicas": 4}, 0),
        ({"replicas": 2, "minReplicas": 4}, 2),
        ({"replicas": 9, "maxReplicas": 8, "numOfHosts": 2}, 18),
        ({"replicas": 3, "suspend": True}, 3),
    ],
    ids=str,
)
def test_quota_is_asked_for_the_workers_that_are_written(worker: Document, expected: int) -> None:
    """Kueue: pkg/controller/jobs/raycluster/common.go, effectiveWorkerCount."""
    assert asked(ray(worker)) == {"head": 1, "w": expected}


def test_a_group_of_workers_has_its_own_name_on_its_pods_and_a_lower_case_one_in_the_workload() -> None:
    found = ray({"groupName": "Fast", "replicas": 1})
    assert [*found.pods] == ["head", "fast"]
    (pod,) = found.pods["fast"]
    assert pod["metadata"]["name"] == "it-Fast-worker-0"
    assert pod["metadata"]["labels"]["ray.io/group"] == "Fast"


def head(kind: str, spec: Document, **metadata: Any) -> tuple[Document, Document]:
    """Its containers' resources by name: of the pod, and those that quota is asked for."""
    found = made("ray.io/v1", kind, spec, **metadata)
    of_pod, (_, asked_for) = found.pods["head"][0], found.sets[0].requested
    return tuple(
        {each["name"]: each.get("resources", {}).get("requests") for each in pod["spec"]["containers"]}
        for pod in (of_pod, asked_for)
    )  # type: ignore[return-value]


RAY: Document = {"headGroupSpec": {"template": POD}}
SMALL = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"cpu": "500m", "memory": "512Mi"}),
        ({"autoscalerOptions": {"resources": {"requests": SMALL}}}, SMALL),
        ({"autoscalerOptions": {"resources": {}}}, None),
        ({"autoscalerOptions": {"idleTimeoutSeconds": 60}}, {"cpu": "500m", "memory": "512Mi"}),
    ],
    ids=str,
)
def test_the_autoscaler_of_ray_is_a_container_of_the_head(options: Document, expected: Any) -> None:
    of_pod, counted = head("RayCluster", {**RAY, "enableInTreeAutoscaling": True, **options})
    assert of_pod == counted == {"c": None, "autoscaler": expected}
    assert head("RayCluster", {**RAY, **options})[0] == {"c": None}
    service = {"rayClusterConfig": {**RAY, "enableInTreeAutoscaling": True, **options}}
    assert head("RayService", service)[1] == counted


def test_the_submitter_of_a_ray_job_is_a_pod_or_a_container_of_the_head_or_neither() -> None:
    def a_job(mode: str) -> list[str]:
        spec = {"submissionMode": mode, "rayClusterSpec": RAY}
        return [*head("RayJob", spec)[0], *made("ray.io/v1", "RayJob", spec).pods]

    assert a_job("K8sJobMode") == ["c", "head", "submitter"]
    assert a_job("SidecarMode") == ["c", "ray-job-submitter", "head"]
    assert a_job("HTTPMode") == a_job("InteractiveMode") == ["c", "head"]
    spec = {"submissionMode": "SidecarMode", "submitterPodTemplate": POD, "rayClusterSpec": RAY}
    of_pod, counted = head("RayJob", spec)
    assert of_pod == counted == {"c": None, "ray-job-submitter": {"cpu": "500m", "memory": "200Mi"}}


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        (None, {"cpu": "200m", "memory": "256Mi"}),
        ({"cpu": "100m", "memory": "1Gi"}, {"cpu": "200m", "memory": "1Gi"}),
        ({"cpu": "much"}, {"cpu": "much", "memory": "256Mi"}),
    ],
    ids=str,
)
def test_quota_is_asked_for_the_job_that_cleans_redis_up_if_that_is_more_than_the_head(
    requests: Document | None, expected: Document
) -> None:
    own = {"name": "c", "image": "i", **({"resources": {"requests": requests}} if requests else {})}
    spec = {"headGroupSpec": {"template": {"spec": {"containers": [own]}}}}
    options: Document = {**spec, "gcsFaultToleranceOptions": {"redisAddress": "redis:6379"}}
    document = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "it"}}
    for given in (
        {**document, "spec": options},
        {**document, "spec": spec, "metadata": {"name": "it", "annotations": {"ray.io/ft-enabled": "TRUE"}}},
    ):
        (found,) = pod_sets(given, KINDS)
        assert found.template == spec["headGroupSpec"]["template"], "the pod itself is as it is"
        (container,) = found.requested[1]["spec"]["containers"]
        assert container["resources"]["requests"] == expected


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


def crew(**template: Any) -> Expansion:
    spec = {"replicas": 2, "leaderWorkerTemplate": {"workerTemplate": POD, **template}}
    return made("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"size": 3}, {"main": 6}),
        ({}, {"main": 2}),
        ({"size": 3, "leaderTemplate": POD}, {"leader": 2, "worker": 4}),
        ({"size": 1, "leaderTemplate": POD}, {"leader": 2, "worker": 0}),
    ],
    ids=str,
)
def test_leaders_with_the_template_of_their_workers_are_one_pod_set_with_them(
    template: Document, expected: dict[str, int]
) -> None:
    found = crew(**template)
    assert asked(found) == expected
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    labels = {
        (pod["metadata"]["name"], pod["metadata"]["labels"][index])
        for pods in found.pods.values()
        for pod in pods
    }
    size = template.get("size", 1)
    names = {(f"it-{n}" if not m else f"it-{n}-{m}", str(m)) for n in range(2) for m in range(size)}
    assert labels == names


# --- AppWrapper ---------------------------------------------------------------------------------------------


def wrapped(*templates: Document, **component: Any) -> Expansion:
    components = [{"template": each, **component} for each in templates]
    return made("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": components})


def test_a_wrapped_kind_that_is_not_known_is_said() -> None:
    """Its pods counted as none, and the wrapper fitted everywhere."""
    quiet = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    strange = {"apiVersion": "example.com/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}}
    (said,) = wrapped(quiet, strange).unread
    assert said == sentences.unread_component("spec.components[1]", "Workflow", "example.com/v1alpha1")
    assert wrapped(strange, podSets=[]).unread == ()


def test_the_pod_sets_of_a_wrapper_are_numbered_through_all_components() -> None:
    """As AppWrapper's own library names them; pods keep the names that their components give them."""
    job = {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"template": POD}, "Worker": {"template": POD}}},
    }  # fmt: skip
    other = {**job, "metadata": {"name": "b"}}
    found = wrapped(job, other)
    assert [*found.pods] == ["it-0", "it-1", "it-2", "it-3"]
    assert [pods[0]["metadata"]["name"] for pods in found.pods.values()] == [
        "a-a-master-0", "a-a-worker-0", "b-b-master-0", "b-b-worker-0",
    ]  # fmt: skip


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


def test_quota_is_asked_for_no_executors_where_their_number_is_not_written() -> None:
    """Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_podset.go, numInitialExecutors."""
    assert asked(spark({})) == {"driver": 1, "executor": 0}
    assert counts(spark({})) == [1, 1]
    assert asked(spark({}, executor={"instances": 3})) == {"driver": 1, "executor": 3}


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


# --- Volcano ------------------------------------------------------------------------------------------------


def volcano(**spec: Any) -> Expansion:
    tasks = [{"name": "w", "replicas": 3, "template": POD}]
    return made("batch.volcano.sh/v1alpha1", "Job", {"tasks": tasks, **spec})


def least(expansion: Expansion) -> list[int]:
    return [each["spec"]["schedulingPolicy"]["gang"]["minCount"] for each in expansion.groups]


def test_a_job_of_volcano_starts_with_as_many_pods_as_it_says_or_with_all() -> None:
    """Volcano: pkg/webhooks/admission/jobs/mutate/mutate_job.go."""
    assert [least(volcano(**spec)) for spec in ({}, {"minAvailable": 0}, {"minAvailable": 2})] == [
        [3],
        [3],
        [2],
    ]


def test_pods_of_a_job_of_volcano_are_for_its_scheduler_unless_they_or_it_name_another() -> None:
    """Volcano: pkg/controllers/job/job_controller_util.go, createJobPod."""

    def scheduler(found: Expansion) -> str:
        return str(found.pods["w"][0]["spec"]["schedulerName"])

    assert scheduler(volcano()) == "volcano"
    assert scheduler(volcano(schedulerName="mine")) == "mine"
    own = {"spec": {**POD["spec"], "schedulerName": "own"}}
    assert scheduler(volcano(schedulerName="mine", tasks=[{"name": "w", "template": own}])) == "own"


# --- DisaggregatedSet ---------------------------------------------------------------------------------------


def test_every_slice_of_a_disaggregated_set_has_all_roles() -> None:
    crew = {"size": 2, "workerTemplate": POD}
    roles = [
        {"name": "prefill", "spec": {"replicas": 2, "leaderWorkerTemplate": {**crew, "leaderTemplate": POD}}},
        {"name": "decode", "spec": {"leaderWorkerTemplate": crew}},
    ]
    found = made("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", {"slices": 3, "roles": roles})
    assert asked(found) == {"prefill-leader": 6, "prefill-worker": 6, "decode": 6}
    names = [pod["metadata"]["name"] for pods in found.pods.values() for pod in pods]
    assert len(set(names)) == 18


# --- RayCronJob ---------------------------------------------------------------------------------------------


def test_one_run_of_a_ray_cron_job_is_a_ray_job() -> None:
    template = {"entrypoint": "x", "submissionMode": "HTTPMode", "rayClusterSpec": RAY}
    document = {
        "apiVersion": "ray.io/v1", "kind": "RayCronJob", "metadata": {"name": "it", "namespace": "ml"},
        "spec": {"schedule": "@daily", "jobTemplate": template},
    }  # fmt: skip
    run = one_run(document, KINDS)
    assert run is not None
    assert (run["apiVersion"], run["kind"], run["spec"]) == ("ray.io/v1", "RayJob", template)
    assert [*expand(document, KINDS).pods] == [*expand(run, KINDS).pods] == ["head"]


# --- Argo ---------------------------------------------------------------------------------------------------

LEAF: Document = {"name": "leaf", "container": {"image": "i"}}


def workflow(*templates: Document, **spec: Any) -> Expansion:
    body = {"entrypoint": "main", "templates": [*templates, LEAF], **spec}
    return made("argoproj.io/v1alpha1", "Workflow", body)


def steps(*groups: list[Document]) -> Document:
    named = [[{"name": "s", "template": "leaf", **each} for each in group] for group in groups]
    return {"name": "main", "steps": named}


def dag(*tasks: Document) -> Document:
    return {"name": "main", "dag": {"tasks": [{"template": "leaf", **each} for each in tasks]}}


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        (steps([{}], [{}, {}], [{}]), 2),
        (steps([{"withItems": [1, 2, 3]}]), 3),
        (steps([{"withSequence": {"count": "4"}}]), 4),
        (steps([{"withParam": "{{x}}"}], [{"when": "{{y}} == 1"}]), 1),
        (
            dag({"name": "a"}, {"name": "b", "dependencies": ["a"]}, {"name": "c", "depends": "a.Succeeded"}),
            2,
        ),
        (dag({"name": "a", "depends": "(b && !c.Failed)"}, {"name": "b"}, {"name": "c", "depends": "b"}), 1),
        (dag({"name": "a", "dependencies": ["b"]}, {"name": "b", "dependencies": ["a"]}), 1),
        (dag({"name": "a", "template": "main"}, {"name": "b"}), 1),
        ({"name": "main", "script": {"image": "i", "source": "x"}}, 1),
        ({"name": "main", "suspend": {}}, 0),
    ],
    ids=str,
)
def test_a_workflow_has_the_pods_of_its_widest_step(main: Document, expected: int) -> None:
    assert sum(counts(workflow(main))) == expected


def test_a_workflow_never_runs_more_pods_at_once_than_it_allows() -> None:
    assert counts(workflow(steps([{"withItems": [1, 2, 3]}]), parallelism=2)) == [2]


def test_what_only_the_workflow_knows_is_said() -> None:
    many, perhaps = steps([{"withParam": "{{x}}"}]), steps([{"when": "{{y}}"}])
    path = "spec.templates[0].steps[0][0]"
    assert workflow(many).unread == (sentences.unread_field(path, sentences.NUMBER_UNKNOWN),)
    assert workflow(perhaps).unread == (sentences.unread_field(f"{path}.when", sentences.MAY_NOT_RUN),)
    amount = {"image": "i", "resources": {"requests": {"cpu": "{{cpu}}", "memory": "1Gi"}}}
    found = workflow({"name": "main", "container": amount})
    (said,) = found.unread
    assert said.endswith(sentences.PARAMETER)
    (pod,) = found.pods["main"]
    assert pod["spec"]["containers"][0]["resources"] == {"requests": {"memory": "1Gi"}}


def test_pods_of_a_workflow_have_what_it_says_for_all_of_them() -> None:
    own = {**LEAF, "nodeSelector": {"zone": "b"}, "metadata": {"labels": {"a": "2"}}}
    body = {
        "entrypoint": "leaf", "templates": [own], "nodeSelector": {"zone": "a"}, "schedulerName": "mine",
        "podMetadata": {"labels": {"a": "1", "b": "1"}},
    }  # fmt: skip
    (pod,) = made("argoproj.io/v1alpha1", "Workflow", body).pods["leaf"]
    assert (pod["spec"]["nodeSelector"], pod["spec"]["schedulerName"]) == ({"zone": "b"}, "mine")
    assert {name: pod["metadata"]["labels"][name] for name in "ab"} == {"a": "2", "b": "1"}
