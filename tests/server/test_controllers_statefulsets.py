"""StatefulSets: order, names, claims, updates and their history."""

from typing import Any

import pytest

from tests.server.rig import Rig, running

NODES = ("n=2:cpu=4",)
Doc = dict[str, Any]
SLOW = {"reprieve.dev/start-after": "10s"}


def stateful_set(replicas: int = 3, annotations: Doc | None = None, **spec: Any) -> Doc:
    containers = [{"name": "c", "image": "one"}]
    pod = {"nodeName": "n-0", "terminationGracePeriodSeconds": 1, "containers": containers}
    template = {"metadata": {"labels": {"app": "db"}, "annotations": annotations or {}}, "spec": pod}
    body = {"replicas": replicas, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {**body, "template": template, **spec},
    }


def names(rig: Rig) -> list[str]:
    return [p["metadata"]["name"] for p in rig.pods(lambda p: "deletionTimestamp" not in p["metadata"])]


def images(rig: Rig) -> dict[str, str]:
    return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"] for p in rig.pods()}


def status(rig: Rig) -> Doc:
    return rig.get("statefulsets.apps", "db")["status"]


async def patch(rig: Rig, **spec: Any) -> None:
    await rig.api.patch("statefulsets.apps", "db", {"spec": spec}, "default")
    await rig.settle()


def image(name: str) -> Doc:
    return {"spec": {"containers": [{"name": "c", "image": name}]}}


async def test_pods_come_one_after_the_other_and_go_in_the_opposite_order() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(annotations=SLOW))
        for there in (["db-0"], ["db-0", "db-1"], ["db-0", "db-1", "db-2"]):
            assert names(rig) == there
            await rig.advance(11)
        assert (status(rig)["replicas"], status(rig)["readyReplicas"]) == (3, 3)
        await patch(rig, replicas=1)
        assert names(rig) == ["db-0", "db-1"]
        await rig.advance(2)
        assert names(rig) == ["db-0"]


async def test_in_parallel_nobody_waits() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(annotations=SLOW, podManagementPolicy="Parallel"))
        assert names(rig) == ["db-0", "db-1", "db-2"]
        await patch(rig, replicas=0)
        assert names(rig) == []


async def test_a_pod_has_a_name_an_index_a_host_name_and_comes_back_as_the_same() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(2, ordinals={"start": 5}))
        assert names(rig) == ["db-5", "db-6"]
        pod = rig.get("pods", "db-6")
        labels = pod["metadata"]["labels"]
        assert labels["statefulset.kubernetes.io/pod-name"] == "db-6"
        assert labels["apps.kubernetes.io/pod-index"] == "6"
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-6", "db")
        await rig.api.delete("pods", "db-5", "default")
        await rig.advance(2)
        assert names(rig) == ["db-5", "db-6"]


async def test_a_pod_that_ended_is_made_anew() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(1))
        before = rig.get("pods", "db-0")["metadata"]["uid"]
        await rig.end("db-0", 1)
        await rig.advance(2)
        assert rig.get("pods", "db-0")["metadata"]["uid"] != before


async def test_an_update_goes_from_the_last_pod_down_and_waits_for_each() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(annotations=SLOW))
        for _ in range(4):
            await rig.advance(11)
        before = status(rig)["currentRevision"]
        await patch(rig, template=image("two"))
        await rig.advance(2)
        assert images(rig) == {"db-0": "one", "db-1": "one", "db-2": "two"}
        assert (status(rig)["currentReplicas"], status(rig)["updatedReplicas"]) == (2, 1)
        for _ in range(6):
            await rig.advance(11)
        assert set(images(rig).values()) == {"two"}
        assert status(rig)["currentRevision"] == status(rig)["updateRevision"] != before


async def test_pods_below_the_partition_keep_their_revision_even_when_they_are_lost() -> None:
    async with running(NODES) as rig:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
        await rig.create("statefulsets.apps", stateful_set(updateStrategy=strategy))
        await patch(rig, template=image("two"))
        for _ in range(3):
            await rig.advance(2)
        assert images(rig) == {"db-0": "one", "db-1": "one", "db-2": "two"}
        await rig.api.delete("pods", "db-0", "default")
        await rig.advance(2)
        assert images(rig)["db-0"] == "one"


async def test_on_delete_only_a_deleted_pod_gets_the_new_template() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(updateStrategy={"type": "OnDelete"}))
        await patch(rig, template=image("two"))
        await rig.advance(60)
        assert set(images(rig).values()) == {"one"}
        await rig.api.delete("pods", "db-1", "default")
        await rig.advance(2)
        assert images(rig) == {"db-0": "one", "db-1": "two", "db-2": "one"}


async def test_a_template_that_comes_back_is_the_old_revision_with_a_new_number() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(1, revisionHistoryLimit=1))
        first = status(rig)["updateRevision"]
        for name in ("two", "one"):
            await patch(rig, template=image(name))
            await rig.advance(2)
        found = {r["metadata"]["name"]: r["revision"] for r in rig.api.select("controllerrevisions.apps")}
        assert found[first] == 3
        assert status(rig)["currentRevision"] == first
        for name in ("three", "four", "five"):
            await patch(rig, template=image(name))
            await rig.advance(2)
        assert len(rig.api.select("controllerrevisions.apps")) == 2, "the one in use and one old one"


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def claims(rig: Rig) -> list[str]:
    return [c["metadata"]["name"] for c in rig.api.select("persistentvolumeclaims")]


async def test_every_pod_has_claims_of_its_own_and_finds_them_again() -> None:
    async with running(NODES) as rig:
        await rig.create("statefulsets.apps", stateful_set(2, volumeClaimTemplates=[CLAIM]))
        assert claims(rig) == ["data-db-0", "data-db-1"]
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}
        assert rig.get("pods", "db-1")["spec"]["volumes"] == [volume]
        assert rig.get("persistentvolumeclaims", "data-db-0")["metadata"]["labels"] == {"app": "db"}
        await patch(rig, replicas=0)
        await rig.advance(2)
        await rig.advance(2)
        assert (names(rig), claims(rig)) == ([], ["data-db-0", "data-db-1"])


@pytest.mark.parametrize("made", [{}, {"data": {}}, {"data": {"spec": []}, "revision": 7}])
async def test_a_revision_that_somebody_wrote_by_hand_stops_nobody(made: Doc) -> None:
    """It is adopted by its label, whatever it holds; a number that is missing is 0."""
    async with running(NODES) as rig:
        metadata = {"name": "by-hand", "namespace": "default", "labels": {"app": "db"}}
        await rig.create("controllerrevisions.apps", {"metadata": metadata, **made})
        await rig.create("statefulsets.apps", stateful_set(replicas=1))
        await rig.api.patch("statefulsets.apps", "db", {"status": {"currentRevision": "by-hand"}}, "default")
        await patch(rig, template=image("two"))
        await rig.advance(5)
        assert images(rig) == {"db-0": "two"}
