"""ReplicaSets and ReplicationControllers: which pods are theirs, and which go first."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from reprieve.server.controllers.pods import Pod
from reprieve.server.controllers.replicas import first_to_go
from tests.server.rig import Rig, running

NODES = ("n=2:cpu=4",)
Doc = dict[str, Any]


def template() -> Doc:
    spec = {
        "nodeName": "n-0",
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "i"}],
    }
    return {"metadata": {"labels": {"app": "web"}}, "spec": spec}


def replica_set(replicas: int = 2) -> Doc:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template()},
    }


def names(rig: Rig) -> set[str]:
    return {p["metadata"]["name"] for p in rig.pods(lambda p: "deletionTimestamp" not in p["metadata"])}


async def test_a_pod_of_somebody_else_is_left_alone() -> None:
    async with running(NODES) as rig:
        await rig.create("replicasets.apps", replica_set(1))
        other = replica_set(1)
        other["metadata"]["name"] = "twin"
        await rig.create("replicasets.apps", other)
        assert len(names(rig)) == 2


async def test_the_pod_that_costs_least_to_delete_goes_first() -> None:
    async with running(NODES) as rig:
        await rig.create("replicasets.apps", replica_set(3))
        cheap = sorted(names(rig))[1]
        cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}}
        await rig.api.patch("pods", cheap, cost, "default")
        await rig.api.patch("replicasets.apps", "web", {"spec": {"replicas": 2}}, "default")
        await rig.settle()
        assert cheap not in names(rig)


async def test_pods_that_are_stopping_are_counted_apart() -> None:
    async with running(NODES) as rig:
        await rig.create("replicasets.apps", replica_set(2))
        await rig.api.patch("replicasets.apps", "web", {"spec": {"replicas": 0}}, "default")
        await rig.settle()
        status = rig.get("replicasets.apps", "web")["status"]
        assert (status["replicas"], status["terminatingReplicas"]) == (0, 2)


async def test_a_replication_controller_keeps_its_pods() -> None:
    async with running(NODES) as rig:
        older = {
            "apiVersion": "v1",
            "kind": "ReplicationController",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": 2, "selector": {"app": "web"}, "template": template()},
        }
        await rig.create("replicationcontrollers", older)
        assert len(names(rig)) == 2
        status = rig.get("replicationcontrollers", "web")["status"]
        assert (status["replicas"], status["readyReplicas"]) == (2, 2)


def controller(**spec: Any) -> Doc:
    return {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 2, "template": template(), **spec},
    }


async def test_a_replication_controller_without_a_selector_selects_its_own_pods() -> None:
    async with running(NODES) as rig:
        await rig.create("replicationcontrollers", controller())
        assert rig.get("replicationcontrollers", "web")["spec"]["selector"] == {"app": "web"}
        assert len(names(rig)) == 2


async def test_an_owner_that_would_not_know_its_own_pods_makes_none_and_says_so() -> None:
    """No server accepts one; it may be in a data directory that an older one left behind."""
    async with running(NODES) as rig:
        await rig.create("replicationcontrollers", controller(replicas=0))
        old = rig.get("replicationcontrollers", "web")
        old["spec"] |= {"replicas": 2, "selector": {"app": "other"}}
        rig.api.backend.store.put("replicationcontrollers", "default", "web", old)
        await rig.settle()
        assert names(rig) == set()
        assert [e["reason"] for e in rig.api.select("events")] == ["SelectorMismatch"]


NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
LONG, SHORT = "2026-01-01T00:00:00Z", "2026-01-01T00:59:00Z"


def reduced(name: str, **more: Any) -> Pod:
    usual: Doc = {
        "labels": {},
        "created": LONG,
        "deleting": False,
        "controller_uid": "u",
        "controller_kind": "ReplicaSet",
        "controller_name": "web",
        "finalizers": (),
        "node": "a",
        "group": "",
        "phase": "Running",
        "ready": True,
        "completion_index": None,
        "ready_since": LONG,
    }
    return Pod(namespace="default", name=name, uid=name, **{**usual, **more})


@pytest.mark.parametrize(
    "more",
    [
        {"node": ""},
        {"phase": "Pending"},
        {"ready": False, "ready_since": ""},
        {"deletion_cost": -1},
        {"node": "crowded"},
        {"ready_since": SHORT},
        {"restarts": 3},
        {"created": SHORT},
    ],
    ids=lambda more: next(iter(more)),
)
def test_the_order_in_which_pods_go(more: Doc) -> None:
    crowd = Counter({"a": 1, "crowded": 2})
    chosen = reduced("z-last-by-name", **more)
    assert first_to_go([reduced("a"), chosen, reduced("b")], crowd, NOW)[0] is chosen
