"""How long devices take: the shapes of kube-scheduler's recorded times, and a gang that preempts for devices.

    python bench/devices.py [--quick] [--no-live]

The live row is the scheduler on the embedded server (a process of its own) with 100 nodes of 8 devices, pods
with a claim template each: pods bound a second, from the moment the scheduler starts on a full queue.

Cluster: N nodes, one pool and one slice a node, 8 devices with an attribute and a capacity; the class selects
by driver, model and memory. Ratios are CPU time against CPU time; absolute numbers depend on the machine.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import uvloop

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import DEVICE_KINDS, PODS, Client, Informer, Resource
from reprieve.objects import Reference, ResourceClaim, ResourceSlice, decode
from reprieve.placement import PodFilters
from reprieve.preemption import decide

UPSTREAM = {
    (100, "free"): 0.0044,
    (500, "free"): 0.0190,
    (5000, "free"): 0.146,
    (100, "taken"): 0.0015,
    (500, "taken"): 0.0055,
    (5000, "taken"): 0.082,
}
"""CPU seconds of kube-scheduler's allocator for one pod against every node; the middle of what was seen."""
DRIVER = "gpu.example.com"
SLICES = next(each for each in DEVICE_KINDS if each.kind == "ResourceSlice")
TEMPLATES = Resource("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates")
SELECTOR = (
    f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].model == "H100" && '
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small clusters only")
    parser.add_argument("--no-live", action="store_true", help="without the embedded server")
    options = parser.parse_args()
    quick = options.quick
    print("one pod, one device, against every node (CPU ms; fresh: devices have just changed hands)")
    for nodes in (100, 500) if quick else (100, 500, 5000):
        for state in ("free", "taken"):
            one_pod(nodes, state)
    print("gang that preempts for devices, 8 a pod (CPU ms)")
    for nodes, size in ((100, 10),) if quick else ((100, 10), (1000, 100)):
        gang(nodes, size)
    if not options.no_live:
        count = 200 if quick else 800
        wall, cpu = uvloop.run(live(count))
        served = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"live, {count} pods with a claim each: {count / wall:.0f} pods a second (upstream aims at 56)")
        print(f"  CPU ms a pod: {cpu / count * 1e3:.2f} of the scheduler,", end=" ")
        print(f"{(served.ru_utime + served.ru_stime) / count * 1e3:.2f} of the server from start to end")


def one_pod(nodes: int, state: str) -> None:
    cluster = Cluster()
    equip(cluster, nodes)
    if state == "taken":
        for number in range(nodes):
            hold(cluster, f"n{number}", 8, 0)
    wait(cluster, "p", 1)
    row = cluster.pods.row_of["default/p"]

    def verdict() -> None:
        filters = PodFilters(cluster, row)
        assert filters.devices is not None
        assert filters.devices.verdict(cluster.nodes.known).fits.any() == (state == "free")

    cold = timed(verdict)
    warm = min(timed(verdict) for _ in range(5))
    if state == "free":
        hold(cluster, "n0", 1, 0)
    fresh = timed(verdict)
    upstream = UPSTREAM[nodes, state]
    print(
        f"  {nodes:5} nodes {state:5}: first {cold * 1e3:8.2f}  again {warm * 1e3:6.2f}"
        f"  fresh {fresh * 1e3:6.2f}"
        f"  kube-scheduler {upstream * 1e3:6.1f}  ratio {upstream / warm:6.1f} (fresh {upstream / fresh:.1f})"
    )


def gang(nodes: int, size: int) -> None:
    cluster = Cluster()
    equip(cluster, nodes)
    for number in range(nodes):
        for device in range(8):
            hold(cluster, f"n{number}", 1, device)
    group = {"schedulingPolicy": {"gang": {"minCount": size}}, "priority": 1000}
    put(cluster, "scheduling.k8s.io/v1beta1", "PodGroup", "gang", group)
    for number in range(size):
        wait(cluster, f"gang-{number}", 8, "gang")
    config = Configuration.load({"preemption": {"algorithm": "kep-5710"}})
    target = Reference.parse("PodGroup/default/gang")

    def plan() -> None:
        found = decide(cluster, target, config, 0)
        assert found.outcome == "preempts", found.message
        assert len(found.victims) == 8 * size

    plan()
    best = min(timed(plan) for _ in range(3))
    print(f"  {nodes:5} nodes, {size:3} pods, {8 * size} victims: {best * 1e3:8.1f}")


def timed(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


# --- live ---------------------------------------------------------------------------------------------------


async def live(count: int) -> tuple[float, float]:
    """(seconds, CPU seconds of the scheduler) to allocate for and bind so many pods."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kubeconfig"
        nodes = "n=100:cpu=96,memory=1Ti;devices=gpu:8:model=H100,memory=80Gi"
        code = "from reprieve.cli import main; main()"
        up = [sys.executable, "-c", code, "up", "--controllers", "none", "--run-for", "0s"]
        process = await asyncio.create_subprocess_exec(
            *up, "--nodes", nodes, "--kubeconfig", str(path), stdout=asyncio.subprocess.DEVNULL
        )
        try:
            while not path.exists():
                await asyncio.sleep(0.05)
            async with Client.from_kubeconfig(path) as client:
                return await bind_all(client, count)
        finally:
            process.terminate()
            await process.wait()


async def bind_all(client: Client, count: int) -> tuple[float, float]:
    template = {"metadata": {"name": "t", "namespace": "default"}, "spec": {"spec": request(1)}}
    while len((await client.listing(SLICES)).items) < 100:
        await asyncio.sleep(0.1)
    await client.create(TEMPLATES, template)
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    claims = [{"name": "c", "resourceClaimTemplateName": "t"}]
    spec = {"schedulerName": "reprieve", "containers": [container], "resourceClaims": claims}
    for number in range(count):
        await client.create(PODS, {"metadata": {"name": f"p{number}", "namespace": "default"}, "spec": spec})
    async with Informer(client, PODS) as pods:
        while sum(bool(each.status.resource_claim_statuses) for each in pods) < count:
            await asyncio.sleep(0.05)
        scheduler = LiveScheduler(client, Configuration.load(None))
        async with scheduler.following():
            start = time.perf_counter(), time.process_time()
            running = asyncio.create_task(scheduler.schedule())
            while sum(bool(each.spec.node_name) for each in pods) < count:
                await asyncio.sleep(0.02)
            took = time.perf_counter() - start[0], time.process_time() - start[1]
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    return took


# --- objects ------------------------------------------------------------------------------------------------


def put(cluster: Cluster, version: str, kind: str, name: str, spec: object, **more: object) -> None:
    metadata = {"name": name, "namespace": "default", "uid": name}
    cluster.set(decode({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec, **more}))


def equip(cluster: Cluster, nodes: int) -> None:
    expression = {"cel": {"expression": SELECTOR}}
    put(cluster, "resource.k8s.io/v1", "DeviceClass", "gpu", {"selectors": [expression]})
    devices = [
        {
            "name": f"gpu-{number}",
            "attributes": {"model": {"string": "H100"}},
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for number in range(8)
    ]
    for number in range(nodes):
        name = f"n{number}"
        allocatable = {"cpu": "96", "memory": "1Ti", "pods": "110"}
        put(cluster, "v1", "Node", name, {}, status={"allocatable": allocatable})
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
        put(cluster, "resource.k8s.io/v1", ResourceSlice.__name__, name, spec)


def request(count: int) -> dict[str, object]:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


def hold(cluster: Cluster, node: str, count: int, first: int) -> None:
    """A pod on the node that holds devices."""
    name = f"{node}-{first}"
    results = [
        {"request": "r", "driver": DRIVER, "pool": node, "device": f"gpu-{first + number}"}
        for number in range(count)
    ]
    only = {"key": "metadata.name", "operator": "In", "values": [node]}
    selector = {"nodeSelectorTerms": [{"matchFields": [only]}]}
    status = {
        "allocation": {"devices": {"results": results}, "nodeSelector": selector},
        "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
    }
    put(cluster, "resource.k8s.io/v1", ResourceClaim.__name__, name, request(count), status=status)
    pod(cluster, name, 0, nodeName=node)


def wait(cluster: Cluster, name: str, count: int, group: str = "") -> None:
    put(cluster, "resource.k8s.io/v1", ResourceClaim.__name__, name, request(count))
    pod(cluster, name, 1000, **({"schedulingGroup": {"podGroupName": group}} if group else {}))


def pod(cluster: Cluster, name: str, priority: int, **spec: object) -> None:
    container = {"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    claims = [{"name": "c", "resourceClaimName": name}]
    full = {"priority": priority, "containers": [container], "resourceClaims": claims, **spec}
    put(cluster, "v1", "Pod", name, full)


if __name__ == "__main__":
    main()
