"""Workloads and jobs as older versions left them: what runs with them runs on, and is put back exactly."""

from copy import deepcopy
from typing import Any

import msgspec
import pytest

from reprieve.controllers.quota.job_shape import as_it_runs, job_owner, same_demand, still_asks
from reprieve.jobs import (
    Additions,
    JobKind,
    JobKinds,
    PodSet,
    gate_additions,
    gated,
    job_workloads,
    pod_sets,
    requested_before,
    restored,
    started,
    suspended,
)
from reprieve.objects import decode_as, well_known
from reprieve.objects.kueue import ResourceFlavor, Workload
from tests import builders

Document = dict[str, Any]
KINDS = JobKinds()
QUEUE = {"kueue.x-k8s.io/queue-name": "main"}
FLAVORS = {"gpu": decode_as(builders.flavor("gpu", nodeLabels={"pool": "gpu"}), ResourceFlavor)}


def template(cpu: str = "1", **spec: Any) -> Document:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {"spec": {"containers": [container], **spec}}


def a_job(api_version: str, kind: str, spec: Document) -> Document:
    metadata = {"name": "it", "namespace": "ml", "uid": "u", "labels": QUEUE}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def ray(*groups: Document, **spec: Any) -> Document:
    head = {"template": template("2")}
    return a_job("ray.io/v1", "RayCluster", {"headGroupSpec": head, "workerGroupSpecs": [*groups], **spec})


def wrapper(*components: Document) -> Document:
    made = [{"template": each} for each in components]
    return a_job("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": made})


def inner(name: str) -> Document:
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {"parallelism": 2, "template": template()},
    }  # fmt: skip


def group(name: str, **more: Any) -> Document:
    return {"groupName": name, "replicas": 2, "template": template(), **more}


OLDER: dict[str, tuple[Document, list[str]]] = {
    "a group with capital letters": (ray(group("Group0")), ["head", "Group0"]),
    "a head without its autoscaler": (ray(group("w"), enableInTreeAutoscaling=True), ["head", "w"]),
    "a head without what Redis needs": (ray(group("w"), gcsFaultToleranceOptions={}), ["head", "w"]),
    "workers between their least and most": (ray(group("w", minReplicas=4)), ["head", "w"]),
    "workers that are suspended": (ray(group("v"), group("w", suspend=True)), ["head", "v", "w"]),
    "one component": (wrapper(inner("a")), ["main"]),
    "components that are alike": (wrapper(inner("a"), inner("b")), ["a-main", "b-main"]),
}


def read(name: str) -> tuple[Document, JobKind, list[PodSet], list[str]]:
    document, names = OLDER[name]
    kind = KINDS.find(document)
    assert kind is not None
    return document, kind, pod_sets(document, KINDS), names


def older_workload(name: str) -> Document:
    """With its names and counts, and without the pod sets that had no pods."""
    document, kind, sets, names = read(name)
    before = requested_before(document, kind, sets)
    held = [{**each, "name": old} for each, old in zip(before, names, strict=True) if each["count"]]
    assigned = [{"name": each["name"], "count": each["count"], "flavors": {"cpu": "gpu"}} for each in held]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {"name": "w", "namespace": "ml", "uid": "w"},
        "spec": {"queueName": "main", "podSets": held},
        "status": {"admission": {"clusterQueue": "cq", "podSetAssignments": assigned}},
    }  # fmt: skip


@pytest.mark.parametrize("name", OLDER)
def test_a_workload_from_before_is_kept(name: str) -> None:
    document, kind, sets, _ = read(name)
    held = older_workload(name)
    assert still_asks(document, kind, sets, held)
    other = deepcopy(held)
    other["spec"]["podSets"][-1]["count"] += 1
    assert not still_asks(document, kind, sets, other)


@pytest.mark.parametrize("name", OLDER)
def test_a_job_with_a_workload_from_before_starts_on_the_nodes_of_its_flavors(name: str) -> None:
    document, _, _, _ = read(name)
    workload = decode_as(older_workload(name), Workload)
    runs = as_it_runs(document, KINDS, (), workload, FLAVORS)
    running = [each for each in pod_sets(runs, KINDS) if each.count]
    assert [each.template["spec"].get("nodeSelector") for each in running] == [{"pool": "gpu"}] * len(running)


@pytest.mark.parametrize("name", OLDER)
def test_a_job_that_an_older_version_started_is_put_back_exactly(name: str) -> None:
    document, kind, sets, names = read(name)
    old = [msgspec.structs.replace(each, name=was) for each, was in zip(sets, names, strict=True)]
    added = Additions(node_selector={"pool": "gpu"}, labels={"a": "b"}, gates=["g"])
    runs = started(document, kind, old, dict.fromkeys(names, added))
    assert runs != document
    assert restored(runs, pod_sets(runs, KINDS)) == suspended(document, kind, hold=False)


def test_pods_that_are_done_are_told_under_the_names_of_the_workload() -> None:
    document = a_job(
        "kubeflow.org/v1", "PyTorchJob",
        {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": template()}}},
    )  # fmt: skip
    document["status"] = {"replicaStatuses": {"Worker": {"active": 1, "succeeded": 1}}}
    [asking] = job_workloads(document, KINDS)
    workload = decode_as(asking.workload, Workload)
    assert job_owner(document, KINDS, (), (), workload).done == {"worker": 1}


def leader_worker_set(size: int) -> Document:
    crew = {"size": size, "workerTemplate": template()}
    spec = {"replicas": 2, "leaderWorkerTemplate": crew}
    return a_job("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


@pytest.mark.parametrize("size", [1, 4])
def test_a_replica_that_asked_for_a_leader_and_workers_asks_for_the_same_pods(size: int) -> None:
    document = leader_worker_set(size)
    wanted = job_workloads(document, KINDS)[0].workload["spec"]["podSets"]
    held = [
        {"name": name, "count": count, "template": template()}
        for name, count in (("leader", 1), ("worker", size - 1))
        if count
    ]
    sets = pod_sets(document, KINDS)
    assert same_demand(wanted, {"spec": {"podSets": held}}, sets)
    held[0]["template"] = template("9")
    assert not same_demand(wanted, {"spec": {"podSets": held}}, sets)


def test_the_templates_of_a_leader_worker_set_keep_the_label_that_they_have() -> None:
    """Else its controller would replace all pods that run."""
    document = leader_worker_set(4)
    kind = KINDS.find(document)
    assert kind is not None

    def held(given: Document, name: str) -> Document:
        sets = pod_sets(given, KINDS)
        added = gate_additions(given, kind, sets)["main"]
        labels = {**added.labels, well_known.POD_SET_LABEL: name}
        named = [msgspec.structs.replace(each, name=name) for each in sets]
        return gated(given, named, {name: msgspec.structs.replace(added, labels=labels)})

    old = held(document, "worker")
    sets = pod_sets(old, KINDS)
    labels = gate_additions(old, kind, sets)["main"].labels
    assert labels[well_known.POD_SET_LABEL] == "worker"
    again = gated(old, sets, gate_additions(old, kind, sets))
    assert again["spec"] == old["spec"]
    assert restored(again, pod_sets(again, KINDS)) == document
    assert gate_additions(document, kind, pod_sets(document, KINDS))["main"].labels[
        well_known.POD_SET_LABEL
    ] == "main"  # fmt: skip


def test_the_template_of_workers_that_no_replica_has_stays_as_it_is() -> None:
    document = leader_worker_set(1)
    document["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = template()
    kind = KINDS.find(document)
    assert kind is not None
    assert [*gate_additions(document, kind, pod_sets(document, KINDS))] == ["leader"]
