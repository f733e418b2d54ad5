"""Nodes with devices, claims and pods that use them, for a live cluster; and a judge of who holds what."""

from collections import Counter
from typing import Any

from reprieve.kube import DEVICE_KINDS
from tests.scheduler.live import Live, pod

CLASSES = next(each for each in DEVICE_KINDS if each.kind == "DeviceClass")
SLICES = next(each for each in DEVICE_KINDS if each.kind == "ResourceSlice")
DRIVER = "gpu.example.com"


EXTENDED = "example.com/gpu"
CLAIMS = "resourceclaims.resource.k8s.io"


async def equip(live: Live, *numbers: int, **more: Any) -> None:
    """A class that also serves an extended resource, and so many devices on each node."""
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    body = {"selectors": [selector], "extendedResourceName": EXTENDED}
    await live.create(CLASSES, {"metadata": {"name": "gpu"}, "spec": body})
    for index, number in enumerate(numbers):
        name = f"n{index:03}"
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [{"name": f"gpu-{each}", **more} for each in range(number)]
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
    found = live.server.api.peek(CLAIMS, name, "ns")
    allocation = ((found or {}).get("status") or {}).get("allocation") or {"devices": {"results": []}}
    return [f"{each['pool']}/{each['device']}" for each in allocation["devices"]["results"]]


def users(live: Live, name: str) -> list[str]:
    found = live.server.api.peek(CLAIMS, name, "ns")
    return [each["name"] for each in ((found or {}).get("status") or {}).get("reservedFor") or ()]


def node_of(live: Live, name: str) -> str:
    found = live.server.api.peek("pods", name, "ns")
    return str(found["spec"].get("nodeName", "")) if found else ""


def asking(name: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """A pod that asks for devices as an extended resource."""
    made = pod(name, **more)
    resources = made["spec"]["containers"][0]["resources"]
    resources["requests"][EXTENDED] = resources.setdefault("limits", {})[EXTENDED] = str(number)
    return made


def left_for(live: Live, name: str) -> dict[str, Any]:
    """What an attempt that did not get far has left for a pod's extended resources."""
    uid = next(each["metadata"]["uid"] for each in live.pods if each["metadata"]["name"] == name)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}
    notes = {"resource.kubernetes.io/extended-resource-claim": "true"}
    left = {"name": f"{name}-left", "namespace": "ns", "annotations": notes, "ownerReferences": [owner]}
    return {"metadata": left, "spec": spec()}


def claims(live: Live) -> list[dict[str, Any]]:
    return live.server.api.select(CLAIMS)


class DeviceJudge:
    """Checks after every change of a claim: no device has two holders."""

    def __init__(self) -> None:
        self._held: dict[str, list[str]] = {}
        self.complaints: list[str] = []
        self.seen = 0

    async def watch(self, api: Any) -> None:
        async for event in api.watch(CLAIMS):
            self.hear(event.type, event.object)

    def hear(self, type: str, claim: dict[str, Any]) -> None:
        self.seen += 1
        allocation = (claim.get("status") or {}).get("allocation") or {"devices": {"results": []}}
        names = [f"{each['pool']}/{each['device']}" for each in allocation["devices"]["results"]]
        self._held[claim["metadata"]["uid"]] = [] if type == "DELETED" else names
        counts = Counter(name for names in self._held.values() for name in names)
        self.complaints += [
            f"{name} has {count} holders after {claim['metadata']['name']}"
            for name, count in counts.items()
            if count > 1
        ]

    def devices(self) -> list[str]:
        """Held at present."""
        return sorted(name for names in self._held.values() for name in names)
