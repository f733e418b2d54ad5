"""Pods with claims on the embedded server: volumes are written and waited for, then the pod is bound."""

from reprieve.kube import CLAIMS, STORAGE_KINDS, VOLUMES
from reprieve.placement.sentences import volumes
from reprieve.scheduler import sentences
from tests.scheduler.claims import claim, claiming, local_volume
from tests.scheduler.live import NODES, PODS, Live, cluster, pod, scheduling

STORAGE_CLASSES = next(each for each in STORAGE_KINDS if each.kind == "StorageClass")


LOCAL = {
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def node_of(live: Live) -> str:
    found = live.server.api.peek("pods", "p", "ns") or {}
    return str(found["spec"]["nodeName"])


def volume_of(live: Live, name: str) -> str:
    found = live.server.api.peek("persistentvolumeclaims", name, "ns")
    return str(found["spec"].get("volumeName", "")) if found else ""


async def test_a_claim_that_waits_for_its_consumer_is_provisioned_before_the_pod_is_bound() -> None:
    async with cluster(2) as live, scheduling(live) as scheduler:
        await live.create(CLAIMS, claim("data"))
        await live.create(PODS, claiming("p", "data"))
        await live.until(lambda: live.bound() == ["p"])
        found = live.server.api.peek("persistentvolumeclaims", "data", "ns")
        assert found is not None
        where = node_of(live)
        assert found["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == where
        assert found["status"]["phase"] == "Bound"
        await scheduler.shell.idle()
        assert not scheduler.core.cluster.storage.selected


async def test_a_local_volume_decides_where_the_pod_goes_and_is_kept_for_its_claim() -> None:
    async with cluster(3) as live, scheduling(live) as scheduler:
        for index in range(3):
            node = await live.client.get(NODES.raw(), f"n{index:03}")
            node["metadata"].setdefault("labels", {})["kubernetes.io/hostname"] = f"n{index:03}"
            await live.client.replace(NODES, f"n{index:03}", node)
        await live.create(STORAGE_CLASSES, LOCAL)
        await live.create(VOLUMES, local_volume("pv-2", "n002"))
        await live.create(CLAIMS, claim("data", "local"))
        await live.create(PODS, claiming("p", "data"))
        await live.until(lambda: live.bound() == ["p"])
        assert node_of(live) == "n002"
        assert volume_of(live, "data") == "pv-2"
        await scheduler.shell.idle()
        assert not scheduler.core.cluster.storage.taken


async def test_a_pod_waits_for_its_claim_and_goes_once_it_is_there() -> None:
    async with cluster(1) as live, scheduling(live):
        await live.create(PODS, claiming("p", "late"))
        await live.until(lambda: volumes.claim_not_found("late") in live.story())
        await live.create(CLAIMS, claim("late", "fake"))
        await live.until(lambda: live.bound() == ["p"])


async def test_an_ephemeral_volume_gets_a_claim_and_the_pod_follows_it() -> None:
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}}
    async with cluster(1) as live, scheduling(live):
        await live.create(PODS, pod("p", volumes=[scratch]))
        await live.until(lambda: live.bound() == ["p"])
        assert volume_of(live, "p-scratch")


async def test_a_provisioner_that_gives_up_puts_the_pod_back_and_nothing_stays_reserved() -> None:
    async with cluster(1) as live, scheduling(live) as scheduler:
        await live.create(
            STORAGE_CLASSES,
            {
                "metadata": {"name": "elsewhere"},
                "provisioner": "csi.example.com",
                "volumeBindingMode": "WaitForFirstConsumer",
            },
        )
        await live.create(CLAIMS, claim("data", "elsewhere"))
        await live.create(PODS, claiming("p", "data"))
        await live.until(lambda: selected(live, "data") == "n000")
        patch = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": None, "x": "y"}}}
        await live.client.patch(CLAIMS, "data", patch, "ns")
        await live.until(lambda: sentences.provisioning_failed("data") in live.story())
        await live.client.delete(PODS, "p", "ns")
        await live.until(lambda: not live.pods)
        await scheduler.shell.idle()
        assert not scheduler.core.cluster.storage.selected


async def test_pods_of_one_claim_that_only_one_may_use_run_one_after_the_other() -> None:
    async with cluster(2) as live, scheduling(live):
        await live.create(CLAIMS, claim("one", "fake", accessModes=["ReadWriteOncePod"]))
        await live.create(PODS, claiming("a", "one"))
        await live.until(lambda: live.bound() == ["a"])
        await live.create(PODS, claiming("b", "one"))
        await live.until(lambda: "ReadWriteOncePod" in live.story())
        await live.client.delete(PODS, "a", "ns")
        await live.until(lambda: live.bound() == ["b"])


def selected(live: Live, name: str) -> str:
    found = live.server.api.peek("persistentvolumeclaims", name, "ns") or {}
    notes = (found.get("metadata") or {}).get("annotations") or {}
    return str(notes.get("volume.kubernetes.io/selected-node", ""))
