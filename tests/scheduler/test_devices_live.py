"""Pods with ResourceClaims on the embedded server: devices are allocated, written, and given back."""

from typing import Any

from reprieve.kube import DEVICE_KINDS, POD_GROUPS, PODS, RESOURCE_CLAIMS
from tests.scheduler.live import Live, cluster, pod, pod_group, scheduling

CLASSES = next(each for each in DEVICE_KINDS if each.kind == "DeviceClass")
SLICES = next(each for each in DEVICE_KINDS if each.kind == "ResourceSlice")
DRIVER = "gpu.example.com"


async def equip(live: Live, *numbers: int) -> None:
    """A class, and so many devices on each node."""
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    await live.create(CLASSES, {"metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}})
    for index, number in enumerate(numbers):
        name = f"n{index:03}"
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [{"name": f"gpu-{each}"} for each in range(number)]
        spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
        await live.create(SLICES, {"metadata": {"name": name}, "spec": spec})


def spec(count: int = 1) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


def claim(name: str, count: int = 1) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": spec(count)}


def using(name: str, claim: str, **more: Any) -> dict[str, Any]:
    return pod(name, resourceClaims=[{"name": "c", "resourceClaimName": claim}], **more)


def held(live: Live, name: str) -> list[str]:
    found = live.server.api.peek("resourceclaims.resource.k8s.io", name, "ns")
    allocation = ((found or {}).get("status") or {}).get("allocation") or {"devices": {"results": []}}
    return [f"{each['pool']}/{each['device']}" for each in allocation["devices"]["results"]]


def users(live: Live, name: str) -> list[str]:
    found = live.server.api.peek("resourceclaims.resource.k8s.io", name, "ns")
    return [each["name"] for each in ((found or {}).get("status") or {}).get("reservedFor") or ()]


def node_of(live: Live, name: str) -> str:
    found = live.server.api.peek("pods", name, "ns")
    return str(found["spec"].get("nodeName", "")) if found else ""


async def test_a_claim_is_allocated_and_reserved_before_the_pod_is_bound() -> None:
    async with cluster(2) as live, scheduling(live) as scheduler:
        await equip(live, 0, 2)
        await live.create(RESOURCE_CLAIMS, claim("a", 2))
        await live.create(PODS, using("p", "a"))
        await live.until(lambda: live.bound() == ["p"])
        assert (node_of(live, "p"), held(live, "a"), users(live, "a")) == (
            "n001", ["n001/gpu-0", "n001/gpu-1"], ["p"],
        )  # fmt: skip
        await scheduler.shell.idle()
        await live.until(lambda: not scheduler.core.cluster.devices.assumed)


async def test_no_device_is_given_twice_and_the_last_user_gives_it_back() -> None:
    async with cluster(1) as live, scheduling(live):
        await equip(live, 1)
        await live.create(RESOURCE_CLAIMS, claim("a"), claim("b"))
        await live.create(PODS, using("first", "a"))
        await live.until(lambda: live.bound() == ["first"])
        await live.create(PODS, using("second", "b"))
        await live.until(lambda: "cannot allocate all claims" in live.story())
        await live.client.delete(PODS, "first", "ns")
        await live.until(lambda: live.bound() == ["second"])
        assert (held(live, "a"), held(live, "b")) == ([], ["n000/gpu-0"])


async def test_a_claim_is_made_from_a_template_for_each_pod() -> None:
    templates = "resourceclaimtemplates.resource.k8s.io"
    async with cluster(1) as live, scheduling(live):
        await equip(live, 2)
        named = [{"name": "c", "resourceClaimTemplateName": "t"}]
        await live.create(PODS, pod("p", resourceClaims=named), pod("q", resourceClaims=named))
        await live.server.api.create(
            templates,
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaimTemplate",
                "metadata": {"name": "t", "namespace": "ns"},
                "spec": {"spec": spec()},
            },
        )
        await live.until(lambda: live.bound() == ["p", "q"])
        claims = live.server.api.select("resourceclaims.resource.k8s.io")
        names = [each["metadata"]["name"] for each in claims]
        assert sorted(name[:4] for name in names) == ["p-c-", "q-c-"]
        assert sorted(device for name in names for device in held(live, name)) == ["n000/gpu-0", "n000/gpu-1"]


async def test_a_gang_shares_a_claim_and_all_its_pods_use_it() -> None:
    async with cluster(2) as live, scheduling(live):
        await equip(live, 1, 1)
        await live.create(RESOURCE_CLAIMS, claim("shared"))
        await live.create(POD_GROUPS, pod_group("g", 3))
        await live.create(PODS, *(using(f"g-{n}", "shared", group="g") for n in range(3)))
        await live.until(lambda: len(live.bound()) == 3)
        assert sorted(users(live, "shared")) == ["g-0", "g-1", "g-2"]
        assert len({node_of(live, f"g-{n}") for n in range(3)}) == 1


async def test_a_more_important_pod_preempts_for_a_device() -> None:
    async with cluster(1) as live, scheduling(live):
        await equip(live, 2)
        await live.create(RESOURCE_CLAIMS, claim("a"), claim("b"), claim("c"))
        await live.create(PODS, using("low", "a", priority="low"), using("mid", "b", priority="mid"))
        await live.until(lambda: live.bound() == ["low", "mid"])
        await live.create(PODS, using("high", "c", priority="high"))
        await live.until(lambda: live.bound() == ["high", "mid"])
        assert held(live, "a") == []
        assert held(live, "b") != held(live, "c") != []
