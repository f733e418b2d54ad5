"""Every kind of the table: which pods a manifest means, and what a plan says of the job.

The manifests are those of examples/20-any-job, in the shape in which the kinds' own documentation has them.
"""

from pathlib import Path
from typing import Any

import pytest

import reprieve
from reprieve.config import Configuration
from reprieve.jobs import (
    HASH_LABEL,
    JobKind,
    JobKinds,
    expand,
    job_workloads,
    pod_sets,
    template_problems,
    workload_name,
)
from reprieve.objects import InvalidObject, decode, decode_all, kind_key, matches, read_documents
from reprieve.whatif import sentences, targets
from tests import builders, kinds_table
from tests.kinds_table import show

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"
KINDS = JobKinds()

PODS = {
    "appwrapper": ["crew-pods-0-0", "crew-pods-0-1"],
    "deployment": [f"inference-{n}" for n in range(6)],
    "disaggregatedset": [
        "answers-prefill-0",
        "answers-prefill-0-1",
        "answers-prefill-1",
        "answers-prefill-1-1",
        "answers-decode-0",
    ],
    "jaxjob": ["jax-worker-0", "jax-worker-1"],
    "job": ["train-0", "train-1", "train-2", "train-3"],
    "jobset": ["pretrain-driver-0-0", *(f"pretrain-workers-{j}-{p}" for j in range(2) for p in range(4))],
    "leaderworkerset": ["vllm-0", "vllm-0-1", "vllm-1", "vllm-1-1"],
    "mpijob": ["allreduce-launcher-0", *(f"allreduce-worker-{n}" for n in range(3))],
    "paddlejob": ["paddle-master-0", "paddle-worker-0", "paddle-worker-1"],
    "pytorchjob": ["finetune-master-0", *(f"finetune-worker-{n}" for n in range(3))],
    "raycronjob": ["nightly-head", *(f"nightly-workers-worker-{n}" for n in range(2)), "nightly-submitter"],
    "replicationcontroller": ["proxy-0", "proxy-1", "proxy-2"],
    "raycluster": ["shared-head", *(f"shared-gpu-worker-{n}" for n in range(4))],
    "rayjob": ["tune-head", *(f"tune-workers-worker-{n}" for n in range(8)), "tune-submitter"],
    "rayservice": ["chat-head", *(f"chat-replicas-worker-{n}" for n in range(4))],
    "sparkapplication": ["features-driver", *(f"features-exec-{n}" for n in range(1, 11))],
    "statefulset": ["vectors-0", "vectors-1", "vectors-2"],
    "tfjob": ["tf-ps-0", "tf-worker-0", "tf-worker-1"],
    "volcanojob": ["rendering-ps-0", "rendering-worker-0", "rendering-worker-1"],
    "workflow": ["etl-fit-0", "etl-fit-1", "etl-fit-2", "etl-load-0"],
    "trainjob": ["llm-node-0-0", "llm-node-0-1", "llm-node-0-2"],
    "xgboostjob": ["xgboost-master-0", "xgboost-worker-0", "xgboost-worker-1"],
}
GANGS = {
    "appwrapper": [2], "jaxjob": [2], "job": [4], "jobset": [9], "leaderworkerset": [2, 2], "mpijob": [4],
    "paddlejob": [3], "pytorchjob": [3], "tfjob": [3], "trainjob": [3], "volcanojob": [3],
    "xgboostjob": [3],
}  # fmt: skip
"""The least number of pods of each gang; the other kinds start with what they get."""
PARTIAL = {"deployment", "leaderworkerset", "pytorchjob", "raycluster", "rayjob"}


def documents(name: str) -> list[dict[str, Any]]:
    return [source.document for source in read_documents(FOLDER / f"{name}.yaml")]


def written(name: str) -> dict[str, Any]:
    return documents(name)[-1]


def kind_of(name: str) -> JobKind:
    found = KINDS.find(written(name))
    assert found is not None
    return found


ASKING = [name for name in PODS if kind_of(name).asks != "none"]
"""What the others make asks for itself."""


def test_every_kind_of_the_table_has_an_example() -> None:
    shown = {kind_key(written(path.stem)) for path in FOLDER.glob("*.yaml") if path.stem != "cluster"}
    assert {(each.group, each.kind) for each in KINDS} - shown == {
        ("batch", "CronJob"),
        ("apps", "ReplicaSet"),
    }
    assert set(PODS) == {path.stem for path in FOLDER.glob("*.yaml")} - {"cluster"}


@pytest.mark.parametrize("name", PODS)
def test_a_job_is_expanded_to_the_pods_that_its_controller_makes(name: str) -> None:
    expansion = expand(written(name), KINDS, documents(name))
    pods = [pod for each in expansion.pods.values() for pod in each]
    assert [pod["metadata"]["name"] for pod in pods] == PODS[name]
    assert {pod["metadata"]["namespace"] for pod in pods} == {"ml"}
    owner = expansion.between or written(name)
    assert {pod["metadata"]["ownerReferences"][0]["kind"] for pod in pods} == {owner["kind"]}


def test_the_pods_of_a_deployment_are_those_of_its_replica_set() -> None:
    expansion = expand(written("deployment"), KINDS)
    made = expansion.between
    assert made is not None
    assert made in expansion.documents
    assert made["metadata"]["ownerReferences"][0]["name"] == expansion.job.name
    selector = decode(made).spec.selector  # type: ignore[attr-defined]
    pods = [pod["metadata"] for each in expansion.pods.values() for pod in each]
    assert all(matches(selector, meta["labels"]) for meta in pods)
    assert {meta["ownerReferences"][0]["name"] for meta in pods} == {made["metadata"]["name"]}
    assert selector.match_labels.keys() - written("deployment")["spec"]["selector"]["matchLabels"].keys() == {
        HASH_LABEL
    }


@pytest.mark.parametrize("name", PODS)
def test_the_decoded_pods_of_a_job_are_its_pods(name: str) -> None:
    expansion = expand(written(name), KINDS, documents(name))
    assert expansion.views() == decode_all(pod for pods in expansion.pods.values() for pod in pods)


@pytest.mark.parametrize("name", PODS)
def test_the_gang_of_a_kind_is_inferred(name: str) -> None:
    groups = expand(written(name), KINDS, documents(name)).groups
    assert [each["spec"]["schedulingPolicy"]["gang"]["minCount"] for each in groups] == GANGS.get(name, [])


@pytest.mark.parametrize("name", PODS)
def test_a_plan_for_a_job_places_its_pods_and_speaks_of_the_job(name: str) -> None:
    given = [*documents("cluster"), *documents(name)]
    for_ = targets(given)
    assert [each.kind for each in for_] == [written(name)["kind"]]
    plan = reprieve.plan(given, str(for_[0]))
    assert plan.outcome == "partial" if name in PARTIAL else plan.outcome in ("scheduled", "preempts")
    assert plan.reasons[0].startswith(f"{written(name)['kind']}/ml/")
    assert not any("ignored" in reason for reason in plan.reasons)
    assert isinstance(plan, reprieve.JobPlan)
    assert sum(each.count for each in plan.pod_sets) == len(PODS[name])
    assert len(plan.placements) == sum(each.placed for each in plan.pod_sets)
    if name in ASKING:
        show(kind_of(name), "plan", "yes")


def test_the_table_of_the_docs_has_a_row_for_each_kind_that_asks_and_no_other() -> None:
    """Each cell is compared by the test that shows it."""
    rows = {kinds_table.title(each) for each in KINDS if each.asks != "none"}
    assert set(kinds_table.written()) == rows - {"ReplicaSet"}


@pytest.mark.parametrize("name", ASKING)
def test_a_job_in_a_queue_becomes_a_workload_with_its_pod_sets(name: str) -> None:
    queued = {**written(name)}
    queued["metadata"] = {**queued["metadata"], "labels": {"kueue.x-k8s.io/queue-name": "team"}}
    made = [each.workload for each in job_workloads(queued, KINDS, documents(name))]
    assert {each["spec"]["queueName"] for each in made} == {"team"}
    assert sum(one["count"] for each in made for one in each["spec"]["podSets"]) == len(PODS[name])
    for each in made:
        names = [one["name"] for one in each["spec"]["podSets"]]
        assert len(set(names)) == len(names)


def test_a_kind_of_ones_own_is_added_in_the_configuration() -> None:
    config = Configuration.load({"jobs": {"kinds": [{
        "group": "example.com", "versions": ["v1"], "kind": "Crew", "plural": "crews", "gang": True,
        "podSets": [{"at": "spec.roles[]", "name": "@role", "count": ["members"]}],
    }]}})  # fmt: skip
    template = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}
    crew = {
        "apiVersion": "example.com/v1", "kind": "Crew", "metadata": {"name": "c", "namespace": "ml"},
        "spec": {"roles": [
            {"role": "cook", "template": template}, {"role": "sailor", "members": 2, "template": template},
        ]},
    }  # fmt: skip
    plan = reprieve.plan([*documents("cluster"), crew], "crew/ml/c", config=config)
    assert isinstance(plan, reprieve.JobPlan)
    assert plan.outcome == "scheduled"
    assert set(plan.placements) == {"ml/c-cook-0", "ml/c-sailor-0", "ml/c-sailor-1"}


def test_an_added_kind_with_a_misspelt_field_is_refused_with_its_path() -> None:
    with pytest.raises(reprieve.ReprieveError, match=r"jobs\.kinds\[0\]"):
        Configuration.load(
            {"jobs": {"kinds": [{"group": "e.com", "versions": ["v1"], "kind": "C", "plurl": "c"}]}}
        )


@pytest.mark.parametrize(
    ("name", "path", "value", "place"),
    [
        ("pytorchjob", ("spec", "pytorchReplicaSpecs", "Worker", "replicas"), -1, "Worker.replicas"),
        ("pytorchjob", ("spec", "pytorchReplicaSpecs", "Worker", "template"), None, "Worker.template"),
        ("jobset", ("spec", "replicatedJobs"), {"a": 1}, "spec.replicatedJobs"),
        ("rayjob", ("spec", "rayClusterSpec", "workerGroupSpecs"), [3], "workerGroupSpecs[0]"),
        ("job", ("spec", "parallelism"), "four", "spec.parallelism"),
        ("job", ("spec", "parallelism"), 10**6, "spec"),
        ("trainjob", ("spec", "runtimeRef", "name"), "none", "spec.runtimeRef.name"),
        ("sparkapplication", ("spec", "driver", "memory"), "much", "spec.driver.memory"),
        ("sparkapplication", ("spec", "memoryOverheadFactor"), "-1", "spec.memoryOverheadFactor"),
        ("deployment", ("spec", "template", "spec", "containers"), 5, "spec.template.spec.containers"),
    ],
)
def test_a_mistake_is_told_with_its_path_in_the_job(
    name: str, path: tuple[str, ...], value: Any, place: str
) -> None:
    wrong = written(name)
    part = wrong
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    if name == "job":
        wrong["spec"].pop("completions")
    with pytest.raises(InvalidObject) as raised:
        expand(wrong, KINDS, documents(name)[:-1])
    assert place in raised.value.path


def test_spark_asks_for_the_heap_and_what_spark_adds_to_it() -> None:
    driver, executor = pod_sets(written("sparkapplication"), KINDS)
    memory = [
        each.template["spec"]["containers"][0]["resources"]["requests"]["memory"]
        for each in (driver, executor)
    ]
    assert memory == [f"{4096 + 1639}Mi", f"{(32 + 8) * 1024}Mi"]


def test_pods_that_name_their_group_get_no_other_one() -> None:
    own = written("job")
    own["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "mine"}
    assert expand(own, KINDS).groups == ()


def test_a_job_never_has_more_pods_than_completions_are_missing() -> None:
    few = written("job")
    few["spec"]["completions"] = 2
    assert len(expand(few, KINDS).pods["main"]) == 2


def test_workers_of_ray_that_are_suspended_are_asked_for_and_not_made() -> None:
    """KubeRay makes none, and Kueue counts them."""
    cluster = written("raycluster")
    cluster["spec"]["workerGroupSpecs"][0]["suspend"] = True
    sets = pod_sets(cluster, KINDS)
    assert [(each.name, each.count, each.requested[0]) for each in sets] == [("head", 1, 1), ("gpu", 0, 4)]


def test_a_ray_job_on_a_cluster_that_exists_has_a_submitter_only() -> None:
    ray = written("rayjob")
    del ray["spec"]["rayClusterSpec"]
    ray["spec"]["clusterSelector"] = {"ray.io/cluster": "shared"}
    assert [each.name for each in pod_sets(ray, KINDS)] == ["submitter"]


@pytest.mark.parametrize("name", PODS)
def test_validate_has_nothing_to_say_about_the_pods_of_the_examples(name: str) -> None:
    context = Configuration.load(None).admission_context()
    assert template_problems(written(name), KINDS, context, documents(name)) == []


def test_quota_that_no_node_could_serve_is_said_before_it_is_given() -> None:
    queue = [builders.flavor(), builders.cluster_queue("cq", 64), builders.local_queue()]
    small = [builders.node(f"n{number}", 4) for number in range(3)]
    job = builders.job("large", cpu=16, count=2, queue="main")
    answer = reprieve.admit([*queue, *small, job])
    assert list(answer.to_dict()["admitted"]) == [f"default/{workload_name('batch', 'Job', 'large')}"]
    [said] = answer.notes.sentences
    why = "no node could ever hold a pod"
    assert said.startswith(sentences.gets_quota_but("Job/default/large", why).removesuffix("."))
    fits = reprieve.admit([*queue, *small, builders.node("large", 16), job])
    assert fits.notes.sentences == ()


@pytest.mark.parametrize("name", ASKING)
def test_quota_that_no_node_could_serve_is_said_of_every_kind_by_its_name(name: str) -> None:
    lots = builders.cluster_queue("cq", 1000)
    lots["spec"]["resourceGroups"][0]["coveredResources"] = ["pods"]
    lots["spec"]["resourceGroups"][0]["flavors"][0]["resources"] = [{"name": "pods", "nominalQuota": "99"}]
    queue = [builders.flavor(nodeLabels={"pool": "gpu"}), lots, builders.local_queue(namespace="ml")]
    job = written(name)
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    config = Configuration.load({"quota": {"quotaCheckStrategy": "IgnoreUndeclared"}})
    classes = [each for each in documents("cluster") if each["kind"] == "PriorityClass"]
    given = [*queue, *classes, builders.node("elsewhere", 64), *documents(name)[:-1], job]
    answer = reprieve.admit(given, config=config)
    said = [each for each in answer.notes.sentences if "no node could ever hold" in each]
    assert len(said) == len(answer.to_dict()["admitted"]) > 0
    assert all(each.startswith(f"Warning: {job['kind']}/ml/{job['metadata']['name']}") for each in said)
