"""Owners and dependents, namespaces, pod groups, events, lost nodes."""

from typing import Any

import pytest

from tests.server.rig import Rig, job, pod, running

Doc = dict[str, Any]


def config_map(name: str, *owners: Doc, block: bool = True) -> Doc:
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": o["metadata"]["name"],
            "uid": o["metadata"]["uid"],
            "blockOwnerDeletion": block,
        }
        for o in owners
    ]
    metadata: Doc = {"name": name, "namespace": "default"}
    if references:
        metadata["ownerReferences"] = references
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


async def make(rig: Rig, name: str, *owners: str, block: bool = True) -> None:
    documents = [rig.get("configmaps", owner) for owner in owners]
    await rig.create("configmaps", config_map(name, *documents, block=block))


async def test_in_the_background_dependents_follow_their_owner_down_the_line() -> None:
    async with running() as rig:
        await make(rig, "a")
        await make(rig, "b", "a")
        await make(rig, "c", "b")
        await rig.api.delete("configmaps", "a", "default", propagation="Background")
        assert rig.gone("configmaps", "a")
        await rig.settle()
        assert rig.gone("configmaps", "b")
        assert rig.gone("configmaps", "c")


async def test_a_dependent_with_another_living_owner_stays_and_forgets_the_dead_one() -> None:
    async with running() as rig:
        await make(rig, "a")
        await make(rig, "b")
        await make(rig, "c", "a", "b")
        await rig.api.delete("configmaps", "a", "default")
        await rig.settle()
        assert [o["name"] for o in rig.get("configmaps", "c")["metadata"]["ownerReferences"]] == ["b"]


async def test_in_the_foreground_the_owner_goes_last() -> None:
    async with running() as rig:
        await make(rig, "a")
        await make(rig, "b", "a")
        await rig.api.patch("configmaps", "b", {"metadata": {"finalizers": ["x.io/hold"]}}, "default")
        await rig.api.delete("configmaps", "a", "default", propagation="Foreground")
        await rig.settle()
        assert "deletionTimestamp" in rig.get("configmaps", "b")["metadata"]
        assert rig.get("configmaps", "a")["metadata"]["finalizers"] == ["foregroundDeletion"]
        await rig.api.patch("configmaps", "b", {"metadata": {"finalizers": None}}, "default")
        await rig.settle()
        assert rig.gone("configmaps", "a")
        assert rig.gone("configmaps", "b")


async def test_dependents_that_do_not_block_do_not_hold_their_owner() -> None:
    async with running() as rig:
        await make(rig, "a")
        await make(rig, "b", "a", block=False)
        await rig.api.patch("configmaps", "b", {"metadata": {"finalizers": ["x.io/hold"]}}, "default")
        await rig.api.delete("configmaps", "a", "default", propagation="Foreground")
        await rig.settle()
        assert rig.gone("configmaps", "a")


async def test_orphans_stay_and_forget_their_owner() -> None:
    async with running() as rig:
        await make(rig, "a")
        await make(rig, "b", "a")
        await rig.api.delete("configmaps", "a", "default", propagation="Orphan")
        await rig.settle()
        assert rig.gone("configmaps", "a")
        assert "ownerReferences" not in rig.get("configmaps", "b")["metadata"]


async def test_an_object_whose_owner_never_was_goes() -> None:
    async with running() as rig:
        ghost = {"metadata": {"name": "ghost", "uid": "no-such-uid"}}
        await rig.create("configmaps", config_map("b", ghost))
        assert rig.gone("configmaps", "b")


async def test_an_owner_of_the_same_name_but_another_uid_is_no_owner() -> None:
    async with running() as rig:
        await make(rig, "a")
        await make(rig, "b", "a")
        await rig.api.delete("configmaps", "a", "default")
        await rig.api.create("configmaps", config_map("a"))
        await rig.settle()
        assert rig.gone("configmaps", "b")
        assert not rig.gone("configmaps", "a")


async def test_a_namespace_gets_its_account_and_takes_everything_along() -> None:
    async with running() as rig:
        await rig.create(
            "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        )
        assert not rig.gone("serviceaccounts", "default", "team")
        await rig.create("pods", pod("p", namespace="team"))
        meta = {"name": "c", "namespace": "team", "finalizers": ["x.io/hold"]}
        held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
        await rig.create("configmaps", held)
        await rig.api.delete("namespaces", "team")
        await rig.settle()
        assert rig.get("namespaces", "team", "")["status"]["phase"] == "Terminating"
        assert rig.gone("pods", "p", "team")
        await rig.api.patch("configmaps", "c", {"metadata": {"finalizers": None}}, "team")
        await rig.advance(1)
        assert rig.gone("namespaces", "team", "")
        assert not rig.gone("serviceaccounts", "default", "default"), "other namespaces are left alone"


@pytest.mark.parametrize(
    "joined",
    [{"schedulingGroup": {"podGroupName": "g"}}, {"labels": {"scheduling.x-k8s.io/pod-group": "g"}}],
    ids=["field", "label"],
)
async def test_a_pod_group_stays_until_its_last_pod_has_ended(joined: dict[str, Any]) -> None:
    async with running(("n=1:cpu=4",)) as rig:
        group = {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {
                "name": "g",
                "namespace": "default",
                "finalizers": ["scheduling.k8s.io/podgroup-protection"],
            },
            "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}},
        }
        await rig.create("podgroups.scheduling.k8s.io", group)
        member = pod("p", on="n-0", annotations={"reprieve.dev/run-for": "9s"}, **joined)
        await rig.create("pods", member)
        await rig.api.delete("podgroups.scheduling.k8s.io", "g", "default")
        await rig.settle()
        assert not rig.gone("podgroups.scheduling.k8s.io", "g")
        await rig.advance(10)
        assert rig.gone("podgroups.scheduling.k8s.io", "g")


async def test_events_go_an_hour_after_they_were_seen_last() -> None:
    async with running() as rig:
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
            "lastTimestamp": "2026-01-01T00:30:00Z",
        }
        await rig.create("events", event)
        await rig.advance(3601)
        assert not rig.gone("events", "e")
        await rig.advance(1800)
        assert rig.gone("events", "e")


async def test_pods_of_a_deleted_node_go_at_once() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await rig.create("pods", pod("p", on="n-0"))
        await rig.api.delete("nodes", "n-0")
        await rig.settle()
        assert rig.gone("pods", "p")


async def test_owners_that_wait_for_each_other_in_a_circle_go() -> None:
    async with running() as rig:
        await make(rig, "a")
        await make(rig, "b", "a")
        await make(rig, "c", "b")
        last = rig.get("configmaps", "c")
        closing = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": last["metadata"]["uid"]}
        patch = {"metadata": {"ownerReferences": [{**closing, "blockOwnerDeletion": True}]}}
        await rig.api.patch("configmaps", "a", patch, "default")
        await rig.api.delete("configmaps", "a", "default", propagation="Foreground")
        await rig.advance(1)
        assert [c["metadata"]["name"] for c in rig.api.select("configmaps", "default")] == []


async def test_an_owner_in_another_namespace_is_no_owner() -> None:
    async with running() as rig:
        await make(rig, "a")
        other = config_map("b", rig.get("configmaps", "a"))
        other["metadata"]["namespace"] = "kube-public"
        await rig.create("configmaps", other)
        assert rig.gone("configmaps", "b", "kube-public")


async def test_an_object_without_a_namespace_keeps_an_owner_that_has_one_and_says_so() -> None:
    async with running() as rig:
        await make(rig, "a")
        owners = config_map("x", rig.get("configmaps", "a"))["metadata"]["ownerReferences"]
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "ownerReferences": owners}}
        await rig.create("nodes", node)
        assert not rig.gone("nodes", "n", "")
        assert [e["reason"] for e in rig.api.select("events")] == ["OwnerRefInvalidNamespace"]


async def test_a_plain_delete_of_a_job_leaves_its_pods_behind() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await rig.create("jobs.batch", job())
        await rig.api.delete("jobs.batch", "j", "default")
        await rig.advance(10)
        assert rig.gone("jobs.batch", "j")
        (left,) = rig.pods()
        assert not left["metadata"].get("ownerReferences")
        assert left["status"]["phase"] == "Running"
