"""What fake kubelets report about themselves and about the containers of their pods."""

from typing import Any

from tests.server.rig import pod, running

NODES = ("n=1:cpu=4",)


def with_helpers() -> dict[str, Any]:
    sidecar = {"name": "proxy", "image": "p", "restartPolicy": "Always"}
    setup = {"name": "setup", "image": "s"}
    told = {"reprieve.dev/run-for": "10s"}
    return pod("a", on="n-0", initContainers=[setup, sidecar], restartPolicy="Never", annotations=told)


def states(statuses: list[dict[str, Any]]) -> dict[str, tuple[str, bool]]:
    return {s["name"]: (next(iter(s["state"])), s["ready"]) for s in statuses}


async def test_sidecars_run_beside_the_containers_and_init_containers_are_done() -> None:
    async with running(NODES) as rig:
        await rig.create("pods", with_helpers())
        status = rig.get("pods", "a")["status"]
        assert states(status["initContainerStatuses"]) == {
            "setup": ("terminated", True),
            "proxy": ("running", True),
        }
        assert states(status["containerStatuses"]) == {"c": ("running", True)}
        await rig.advance(11)
        status = rig.get("pods", "a")["status"]
        assert status["phase"] == "Succeeded"
        assert states(status["initContainerStatuses"])["proxy"] == ("terminated", False)


async def test_a_node_says_what_a_kubelet_says() -> None:
    async with running(NODES) as rig:
        node = rig.get("nodes", "n-0", "")
        assert node["status"]["capacity"]["ephemeral-storage"] == "100Gi"
        assert all(node["status"]["nodeInfo"].values())
        assert {a["type"] for a in node["status"]["addresses"]} == {"InternalIP", "Hostname"}


async def test_heartbeats_do_not_touch_the_node_object() -> None:
    async with running(NODES) as rig:
        before = rig.get("nodes", "n-0", "")
        for _ in range(70):
            await rig.advance(10)
        before["metadata"]["labels"]["mine"] = "yes"
        await rig.api.update("nodes", before)
        lease = rig.get("leases.coordination.k8s.io", "n-0", "kube-node-lease")
        assert lease["metadata"]["ownerReferences"][0]["name"] == "n-0"


async def test_the_lease_goes_with_its_node() -> None:
    async with running(NODES) as rig:
        await rig.api.delete("nodes", "n-0")
        await rig.settle()
        assert rig.gone("leases.coordination.k8s.io", "n-0", "kube-node-lease")
