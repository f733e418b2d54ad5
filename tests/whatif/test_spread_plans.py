"""Replicas that say nothing about where they go: plans spread them as a live cluster does."""

from collections import Counter
from typing import Any

import pytest

import reprieve
from reprieve.whatif import plan_everything, targets
from tests.builders import Document, document, node, pod

NODES = [node(name) for name in "abc"]
SERVICE = document("Service", "web", "default", spec={"selector": {"app": "web"}})


def replicas(kind: str, api: str = "apps/v1", **spec: Any) -> Document:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "10m", "memory": "10Mi"}}}]
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


def by_node(*objects: Document, kind: str) -> dict[str, int]:
    plan: Any = reprieve.plan([*NODES, *objects], f"{kind}/default/web")
    return dict(Counter(plan.placements.values()))


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_each_replica_goes_to_a_node_of_its_own(kind: str) -> None:
    assert by_node(replicas(kind, replicas=3), kind=kind) == {"a": 1, "b": 1, "c": 1}
    assert by_node(replicas(kind, replicas=6), kind=kind) == {"a": 2, "b": 2, "c": 2}


def test_the_pods_of_a_job_are_spread_only_by_a_service() -> None:
    job = replicas("Job", "batch/v1", parallelism=3)
    del job["spec"]["selector"]
    job["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    assert by_node(job, kind="Job") == {"a": 3}
    assert by_node(job, SERVICE, kind="Job") == {"a": 1, "b": 1, "c": 1}


def test_a_deployment_is_spread_within_its_revision() -> None:
    """What an older ReplicaSet runs has the labels of the Deployment and of its Service, but another hash."""
    older = [
        pod(f"old-{n}", "10m", on="c", labels={"app": "web", "pod-template-hash": "1"}) for n in range(9)
    ]
    found = by_node(*older, SERVICE, replicas("Deployment", replicas=3), kind="Deployment")
    assert found == {"a": 1, "b": 1, "c": 1}


def test_what_is_planned_next_finds_the_replicas_and_what_they_are_spread_by() -> None:
    more = replicas("StatefulSet", replicas=3)
    other = {**replicas("Deployment", replicas=2), "metadata": {"name": "api", "namespace": "default"}}
    given = [*NODES, more, other, SERVICE]
    plans: list[Any] = [*plan_everything(given, targets(given))]
    nodes = [node for plan in plans for node in plan.placements.values()]
    assert len(plans) == 2
    assert Counter(nodes[:3]) == {"a": 1, "b": 1, "c": 1}
    assert len(set(nodes[3:])) == 2
