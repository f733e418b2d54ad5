"""Which Workloads jobs, groups and pods become: their names, their owners, and who does not ask twice."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.jobs import JobKinds, job_workloads, sentences, workload_name, workloads_for
from reprieve.objects import Document, Reference, read_documents
from tests import builders
from tests.scale import examples

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"
KINDS = JobKinds()
QUEUE = "kueue.x-k8s.io/queue-name"
GROUP, TOTAL = "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"
TEMPLATE = {"spec": {"containers": [builders.container(1)]}}


def of_kind(api: str, kind: str, uid: str = "", **spec: Any) -> Document:
    meta = {"name": "it", "namespace": "ml", "uid": uid, "labels": {QUEUE: "main"}}
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": {"template": TEMPLATE, **spec}}


DEPLOYMENT = of_kind("apps/v1", "Deployment", "u", replicas=2)
STATEFUL_SET = of_kind("apps/v1", "StatefulSet", "u", replicas=2)
LEADERS = of_kind(
    "leaderworkerset.x-k8s.io/v1",
    "LeaderWorkerSet",
    "u",
    replicas=2,
    leaderWorkerTemplate={"size": 2, "workerTemplate": TEMPLATE},
)
JOB = of_kind("batch/v1", "Job", "u", parallelism=2)


def queued_pod(name: str, uid: str = "", group: str = "", total: int = 0, **more: Any) -> Document:
    labels = {QUEUE: "main", **({GROUP: group} if group else {})}
    made = builders.pod(name, 1, namespace="ml", labels=labels, **more)
    made["metadata"]["uid"] = uid
    if total:
        made["metadata"]["annotations"] = {TOTAL: str(total)}
    return made


def owned_by(child: Document, owner: Document) -> Document:
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
    child["metadata"]["ownerReferences"] = [{**reference, "uid": "", "controller": True}]
    return child


def asked(*documents: Document) -> list[Document]:
    return [each.workload for each in workloads_for(documents, KINDS).asking]


def digest(kind: str, group: str, name: str, uid: str) -> str:
    return hashlib.sha1(f"{kind}\n{group}\n{name}\n{uid}".encode()).hexdigest()[:5]


@examples(200)
@given(st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,300}[a-z0-9])?", fullmatch=True), st.uuids().map(str))
def test_a_workload_has_the_name_that_kueue_gives_it(name: str, uid: str) -> None:
    made = workload_name("batch", "Job", name, uid)
    assert len(made) <= 253
    assert made == f"{f'job-{name}'[:247]}-{digest('Job', 'batch', name, uid)}"


def test_names_differ_by_kind_group_and_uid() -> None:
    told = [("batch", "Job", ""), ("batch", "Job", "u"), ("x.io", "Job", ""), ("batch", "MPIJob", "")]
    assert len({workload_name(group, kind, "a", uid) for group, kind, uid in told}) == len(told)


@pytest.mark.parametrize(
    ("document", "names"),
    [
        (JOB, [workload_name("batch", "Job", "it", "u")]),
        (STATEFUL_SET, [workload_name("apps", "StatefulSet", "it", "u")]),
        (
            LEADERS,
            [workload_name("leaderworkerset.x-k8s.io", "LeaderWorkerSet", f"it-{n}", "u") for n in range(2)],
        ),
        (DEPLOYMENT, [workload_name("", "Pod", f"it-{n}") for n in range(2)]),
        (queued_pod("p", "u"), [workload_name("", "Pod", "p", "u")]),
    ],
    ids=lambda each: each["kind"] if isinstance(each, dict) else "",
)
def test_each_kind_asks_under_kueues_names(document: Document, names: list[str]) -> None:
    assert [each["metadata"]["name"] for each in asked(document)] == names


@pytest.mark.parametrize(
    ("document", "controls"), [(JOB, True), (STATEFUL_SET, False), (LEADERS, False), (queued_pod("p"), True)]
)
def test_what_asks_for_itself_controls_its_workload(document: Document, controls: bool) -> None:
    """What has pods that ask owns it only: so the workload goes with it."""
    for each in asked(document):
        [owner] = each["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"]) == (document["kind"], document["metadata"]["name"])
        assert bool(owner.get("controller")) is controls


def test_a_group_of_pods_owns_its_workload_together() -> None:
    [made] = asked(*(queued_pod(f"p{n}", f"u{n}", "crew", 2) for n in range(2)))
    assert made["metadata"]["name"] == "crew"
    assert [(each["uid"], each.get("controller")) for each in made["metadata"]["ownerReferences"]] == [
        ("u0", None),
        ("u1", None),
    ]


@pytest.mark.parametrize("name", sorted({path.stem for path in FOLDER.glob("*.yaml")} - {"cluster"}))
def test_what_has_its_workloads_does_not_ask_again(name: str) -> None:
    documents = [each.document for each in read_documents(FOLDER / f"{name}.yaml")]
    job = documents[-1]
    job["metadata"].setdefault("labels", {})[QUEUE] = "main"
    first = workloads_for(documents, KINDS)
    kind = KINDS.find(job)
    assert kind is not None
    assert bool(first.asking) == (kind.asks != "none")
    if kind.asks in ("pod", "none"):
        return  # what it makes would have them
    again = workloads_for([*documents, *(each.workload for each in first.asking)], KINDS)
    assert not again.asking
    assert Reference.read(job) in again.standing


def test_a_job_that_names_a_workload_which_is_there_does_not_ask_for_another() -> None:
    """A copy from a manager has no owner yet."""
    job = of_kind("batch/v1", "Job")
    job["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] = "mine"
    assert [each["metadata"]["name"] for each in asked(job)] == ["mine"]
    found = workloads_for([job, builders.workload("mine", namespace="ml")], KINDS)
    assert not found.asking
    assert found.standing == {Reference("Job", "ml", "it"): "ml/mine"}


def test_a_pod_that_came_later_to_a_group_with_a_workload_does_not_ask() -> None:
    assert asked(builders.workload("crew", namespace="ml"), queued_pod("late", "u", "crew", 1)) == []


@pytest.mark.parametrize("maker", [STATEFUL_SET, LEADERS], ids=["StatefulSet", "LeaderWorkerSet"])
def test_pods_of_a_job_that_asks_by_its_templates_do_not_ask_again(maker: Document) -> None:
    """They did, in `admit` and in `when`: the quota was taken twice."""
    pods = [owned_by(queued_pod(f"it-{n}", f"u{n}", "any", 1), maker) for n in range(2)]
    assert asked(maker, *pods) == asked(maker)


def test_pods_of_a_deployment_ask_in_its_place_once_they_are_there() -> None:
    """It asked with them, in `admit`: the quota was taken twice."""
    replica_set = owned_by(of_kind("apps/v1", "ReplicaSet", replicas=2), DEPLOYMENT)
    replica_set["metadata"]["name"] = "it-1"
    pods = [owned_by(queued_pod(f"it-1-{n}", f"u{n}"), replica_set) for n in range(2)]
    names = [workload_name("", "Pod", f"it-1-{n}", f"u{n}") for n in range(2)]
    assert [each["metadata"]["name"] for each in asked(DEPLOYMENT, replica_set, *pods)] == names


def test_a_job_asks_where_the_one_above_it_names_no_queue() -> None:
    """As the quota controller sees it: one above asks in its place only if it is in a queue."""
    above = {**of_kind("jobset.x-k8s.io/v1alpha2", "JobSet"), "spec": {"replicatedJobs": []}}
    below = owned_by(of_kind("batch/v1", "Job"), above)
    above["metadata"] = {"name": "it", "namespace": "ml"}
    assert len(asked(above, below)) == 1
    assert asked(below) == [], "what is not shown may ask"


def test_a_pod_in_a_group_of_no_queue_asks_for_itself() -> None:
    """It waits for quota by its own label, and nothing else would ask."""
    group = builders.pod_group("g", 1, namespace="ml")
    pod = queued_pod("p", group="")
    pod["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    assert [each["metadata"]["name"] for each in asked(group, pod)] == [workload_name("", "Pod", "p")]


def test_a_pod_set_without_pods_is_part_of_the_workload() -> None:
    """As in Kueue: an autoscaled group may get some later, and its place in the job is known."""
    counts = {"head": 1, "a": 0, "b": 2}
    groups = [{"groupName": name, "replicas": counts[name], "template": TEMPLATE} for name in ("a", "b")]
    head = {"template": TEMPLATE}
    [made] = asked(of_kind("ray.io/v1", "RayCluster", headGroupSpec=head, workerGroupSpecs=groups))
    assert {each["name"]: each["count"] for each in made["spec"]["podSets"]} == counts
    [made] = asked(of_kind("batch/v1", "Job", parallelism=0))
    assert [each["count"] for each in made["spec"]["podSets"]] == [0]


def test_the_first_pods_that_name_a_class_give_the_priority() -> None:
    """As in Kueue: often only the workers of a job name one, and its launcher does not."""
    named = {"spec": {**TEMPLATE["spec"], "priorityClassName": "high"}}
    groups = [
        {"groupName": name, "replicas": 1, "template": each} for name, each in (("a", TEMPLATE), ("b", named))
    ]
    head = {"template": TEMPLATE}
    [made] = asked(of_kind("ray.io/v1", "RayCluster", headGroupSpec=head, workerGroupSpecs=groups))
    assert made["spec"]["priorityClassRef"]["name"] == "high"
    crew = [queued_pod("a", "u0", "crew", 2), queued_pod("b", "u1", "crew", 2, priorityClassName="high")]
    [made] = asked(*crew)
    assert made["spec"]["priorityClassRef"]["name"] == "high"


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_what_is_scaled_to_nothing_asks_for_nothing(kind: str) -> None:
    assert asked(of_kind("apps/v1", kind, replicas=0)) == []


def test_a_job_that_cannot_be_read_is_named_with_what_is_wrong() -> None:
    broken = {**of_kind("batch/v1", "Job"), "spec": {"template": 3}}
    found = workloads_for([broken, JOB | {"metadata": {**JOB["metadata"], "name": "fine"}}], KINDS)
    [(given, error)] = found.refused.values()
    assert given is broken
    assert error.path == "spec.template"
    assert [str(each.owner) for each in found.asking] == ["Job/ml/fine"]


def test_a_group_that_is_not_complete_says_how_many_pods_it_has() -> None:
    found = workloads_for([queued_pod("p", "u", "crew", 3)], KINDS)
    assert (found.asking, found.notes) == ([], [sentences.pod_group_is_incomplete("ml/crew", 1, 3)])


def test_what_the_controller_wrote_into_templates_is_not_asked_for() -> None:
    job = of_kind("batch/v1", "Job", "u")
    job["spec"]["template"] = {
        **TEMPLATE,
        "metadata": {"labels": {"app": "x", "job-name": "it", "controller-uid": "u"}},
    }
    [made] = job_workloads(job, KINDS)
    assert made.workload["spec"]["podSets"][0]["template"]["metadata"] == {"labels": {"app": "x"}}
