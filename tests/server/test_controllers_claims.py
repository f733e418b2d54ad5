"""PersistentVolumeClaims: which volume they get, what they wait for, and what they say meanwhile."""

from typing import Any

import pytest

from reprieve.server.errors import ApiError
from tests.server.rig import Rig, pod, running

Doc = dict[str, Any]


def claim(name: str = "c", size: str = "1Gi", **spec: Any) -> Doc:
    body = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": body}


def volume(name: str, size: str, **spec: Any) -> Doc:
    body = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"},
        **spec,
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": body}


def storage_class(name: str, mode: str = "Immediate", provisioner: str = "reprieve.dev/fake") -> Doc:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def bound(rig: Rig, name: str = "c") -> str:
    found = rig.get("persistentvolumeclaims", name)
    assert (found["status"]["phase"] == "Bound") == bool(found["spec"].get("volumeName"))
    return found["spec"].get("volumeName", "")


def said(rig: Rig) -> list[tuple[str, str]]:
    return [(e["reason"], e["message"]) for e in rig.api.select("events")]


async def test_a_claim_without_a_class_gets_a_fake_volume_of_the_default_class() -> None:
    async with running() as rig:
        await rig.create("persistentvolumeclaims", claim())
        made = rig.get("persistentvolumes", bound(rig), "")
        assert (made["spec"]["storageClassName"], made["status"]["phase"]) == ("fake", "Bound")
        assert made["spec"]["claimRef"]["name"] == "c"
        found = rig.get("persistentvolumeclaims", "c")
        assert found["status"]["capacity"] == {"storage": "1Gi"}
        assert found["spec"]["storageClassName"] == "fake"
        await rig.api.delete("persistentvolumeclaims", "c", "default")
        await rig.settle()
        assert rig.gone("persistentvolumes", made["metadata"]["name"], "")


async def test_the_smallest_volume_that_fits_is_taken_and_released_afterwards() -> None:
    async with running() as rig:
        volumes = [volume("small", "1Gi"), volume("large", "9Gi"), volume("fits", "3Gi")]
        await rig.create("persistentvolumes", *volumes)
        assert rig.get("persistentvolumes", "fits", "")["status"]["phase"] == "Available"
        await rig.create("persistentvolumeclaims", claim(size="2Gi", storageClassName=""))
        assert bound(rig) == "fits"
        await rig.api.delete("persistentvolumeclaims", "c", "default")
        await rig.settle()
        assert rig.get("persistentvolumes", "fits", "")["status"]["phase"] == "Released"


async def test_a_claim_may_name_its_volume() -> None:
    async with running() as rig:
        await rig.create("persistentvolumes", volume("other", "2Gi"), volume("mine", "9Gi"))
        await rig.create("persistentvolumeclaims", claim(storageClassName="", volumeName="mine"))
        assert rig.get("persistentvolumeclaims", "c")["status"]["phase"] == "Bound"
        assert rig.get("persistentvolumes", "mine", "")["spec"]["claimRef"]["name"] == "c"


async def test_a_claim_waits_for_its_first_consumer() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await rig.create("storageclasses.storage.k8s.io", storage_class("late", "WaitForFirstConsumer"))
        await rig.create("persistentvolumeclaims", claim(storageClassName="late"))
        assert bound(rig) == ""
        assert ("WaitForFirstConsumer", "waiting for first consumer to be created before binding") in said(
            rig
        )
        uses = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
        await rig.create("pods", pod("p", volumes=uses))
        assert bound(rig) == ""
        await rig.api.bind("p", "default", "n-0")
        await rig.settle()
        assert bound(rig)


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("", "FailedBinding", "no storage class is set"),
        ("nowhere", "ProvisioningFailed", '"nowhere" not found'),
        ("cloud", "ExternalProvisioning", "provisioner 'ebs.csi.aws.com', which does not run here"),
    ],
)
async def test_a_claim_that_cannot_be_bound_says_why(name: str, reason: str, words: str) -> None:
    async with running() as rig:
        cloud = storage_class("cloud", provisioner="ebs.csi.aws.com")
        await rig.create("storageclasses.storage.k8s.io", cloud)
        await rig.create("persistentvolumeclaims", claim(storageClassName=name))
        assert rig.get("persistentvolumeclaims", "c")["status"]["phase"] == "Pending"
        assert any(r == reason and words in m for r, m in said(rig))


async def test_a_class_or_volume_that_comes_later_binds_what_waited() -> None:
    async with running() as rig:
        await rig.create(
            "persistentvolumeclaims", claim("a", storageClassName="later"), claim("b", storageClassName="")
        )
        await rig.create("storageclasses.storage.k8s.io", storage_class("later"))
        await rig.create("persistentvolumes", volume("v", "1Gi"))
        assert bound(rig, "a")
        assert bound(rig, "b") == "v"


async def using(rig: Rig, name: str = "p", *, node: str = "n-0") -> None:
    uses = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    await rig.create("pods", pod(name, volumes=uses, nodeName=node, terminationGracePeriodSeconds=5))


async def test_a_claim_in_use_stays_until_its_last_pod_is_gone() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await rig.create("persistentvolumeclaims", claim())
        made = bound(rig)
        await using(rig, "p")
        await using(rig, "q")
        await rig.api.delete("persistentvolumeclaims", "c", "default")
        await rig.settle()
        for name in ("p", "q"):
            found = rig.get("persistentvolumeclaims", "c")["metadata"]
            assert found["finalizers"] == ["kubernetes.io/pvc-protection"]
            assert found["deletionTimestamp"]
            assert rig.get("persistentvolumes", made, "")["status"]["phase"] == "Bound"
            await rig.api.delete("pods", name, "default", grace=0)
            await rig.settle()
        assert rig.gone("persistentvolumeclaims", "c")
        assert rig.gone("persistentvolumes", made, "")


async def test_a_finished_pod_still_uses_its_claim_and_a_pod_without_a_node_does_not() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await rig.create("persistentvolumeclaims", claim())
        await using(rig, "done")
        await rig.end("done")
        await using(rig, "waiting", node="")
        await rig.api.delete("persistentvolumeclaims", "c", "default")
        await rig.settle()
        assert not rig.gone("persistentvolumeclaims", "c")
        await rig.api.delete("pods", "done", "default")
        await rig.settle()
        assert rig.gone("persistentvolumeclaims", "c")


async def test_a_bound_volume_stays_until_its_claim_is_gone() -> None:
    async with running() as rig:
        await rig.create("persistentvolumes", volume("mine", "1Gi"))
        await rig.create("persistentvolumeclaims", claim(storageClassName=""))
        assert bound(rig) == "mine"
        await rig.api.delete("persistentvolumes", "mine")
        await rig.settle()
        assert rig.get("persistentvolumes", "mine", "")["metadata"]["deletionTimestamp"]
        assert bound(rig) == "mine"
        await rig.api.delete("persistentvolumeclaims", "c", "default")
        await rig.settle()
        assert rig.gone("persistentvolumes", "mine", "")


async def test_a_volume_that_nobody_uses_goes_at_once() -> None:
    async with running() as rig:
        await rig.create("persistentvolumes", volume("spare", "1Gi"))
        await rig.api.delete("persistentvolumes", "spare")
        await rig.settle()
        assert rig.gone("persistentvolumes", "spare", "")


async def test_the_claim_of_an_ephemeral_volume_goes_with_its_pod() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        scratch = {"name": "s", "ephemeral": {"volumeClaimTemplate": {"spec": claim()["spec"]}}}
        await rig.create("pods", pod("p", volumes=[scratch], nodeName="n-0", terminationGracePeriodSeconds=5))
        made = bound(rig, "p-s")
        assert made
        await rig.api.delete("pods", "p", "default")
        await rig.advance(10)
        assert rig.gone("pods", "p")
        assert rig.gone("persistentvolumeclaims", "p-s")
        assert rig.gone("persistentvolumes", made, "")


async def test_claims_and_volumes_of_an_older_server_get_their_protection() -> None:
    async with running() as rig:
        await rig.create("persistentvolumeclaims", claim())
        made = bound(rig)
        for resource, name, where in (
            ("persistentvolumeclaims", "c", "default"),
            ("persistentvolumes", made, ""),
        ):
            await rig.api.patch(resource, name, {"metadata": {"finalizers": None}}, where)
            await rig.settle()
            assert rig.get(resource, name, where)["metadata"]["finalizers"]


async def test_a_claim_whose_volume_was_removed_by_force_is_lost() -> None:
    async with running() as rig:
        await rig.create("persistentvolumeclaims", claim())
        made = bound(rig)
        await rig.api.delete("persistentvolumes", made)
        await rig.api.patch("persistentvolumes", made, {"metadata": {"finalizers": None}})
        await rig.settle()
        assert rig.get("persistentvolumeclaims", "c")["status"]["phase"] == "Lost"
        assert any(reason == "ClaimLost" for reason, _ in said(rig))


async def test_a_claim_is_told_once_what_it_waits_for_and_a_free_volume_goes_to_the_one_with_a_node() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await rig.create("storageclasses.storage.k8s.io", storage_class("late", "WaitForFirstConsumer"))
        await rig.create(
            "persistentvolumeclaims", *(claim(f"c{i}", storageClassName="late") for i in range(50))
        )
        before = [e["count"] for e in rig.api.select("events")]
        await rig.create("persistentvolumes", volume("v", "1Gi", storageClassName="late"))
        assert [e["count"] for e in rig.api.select("events")] == before  # nothing is said twice
        note = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n-0"}}}
        await rig.api.patch("persistentvolumeclaims", "c7", note, "default")
        await rig.settle()
        assert bound(rig, "c7") == "v"
        assert [name for name in range(50) if bound(rig, f"c{name}")] == [7]


@pytest.mark.parametrize("size", ["0", "-1Gi"])
async def test_a_size_that_nothing_can_have_is_refused_in_kubernetes_words(size: str) -> None:
    async with running() as rig:
        text = r"spec.resources\[storage\]: Invalid value: .*must be greater than zero"
        with pytest.raises(ApiError, match=text):
            await rig.create("persistentvolumeclaims", claim(size=size))
        with pytest.raises(ApiError, match=r"spec.capacity\[storage\]: .*must be greater than zero"):
            await rig.create("persistentvolumes", volume("v", size))
