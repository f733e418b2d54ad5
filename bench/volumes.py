"""How long a decision about a pod with claims takes, over the shapes of kube-scheduler's own measurements.

    python bench/volumes.py [--quick] [--live]

The cases and kube-scheduler's CPU seconds are those of a real kube-scheduler (v1.38.0-alpha.0) with its
default profile. It looks at a part of the nodes only (500 feasible ones of 5,000), we look at all of them.
`rate` is how many times as many decisions we make in the same CPU time; the target is 10.

The last row is live: pods with a WaitForFirstConsumer claim each, from a full queue to the last binding, and
plain pods on the same server, in the same run. Server and scheduler are processes of their own. On a busy
machine the clock says little: the busier process's CPU time for a pod says how many a second are possible.
The target is 300.
"""

import argparse
import asyncio
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import scheduler as plain

from reprieve.cluster import Cluster, ticks
from reprieve.config import Configuration
from reprieve.kube import CLAIMS, Client
from reprieve.objects import Reference, decode
from reprieve.preemption import Plan, decide

NOW = datetime(2026, 3, 20, tzinfo=UTC)
EPOCH = datetime(2026, 3, 1, tzinfo=UTC)
PROVISIONING, EMPTY_CLASS, CAPACITY, LOCAL, SLOT, SLOT_EMPTY_CLASS = (
    "2 claims, provisioned, volumes in the class",
    "2 claims, provisioned, class without volumes",
    "2 claims, a capacity for each node",
    "2 claims, 2 local volumes on each node",
    "a preemption frees a CSI slot",
    "a preemption frees a CSI slot, class without volumes",
)
UPSTREAM = {
    (PROVISIONING, 1000): 0.30, (PROVISIONING, 5000): 5.5, (EMPTY_CLASS, 1000): 0.023,
    (EMPTY_CLASS, 5000): 0.05, (CAPACITY, 1000): 1.4, (CAPACITY, 5000): 9.4, (LOCAL, 1000): 7.1,
    (SLOT, 1000): 0.46, (SLOT, 5000): 30.0, (SLOT_EMPTY_CLASS, 1000): 0.050, (SLOT_EMPTY_CLASS, 5000): 0.26,
}  # fmt: skip
"""The least CPU seconds that kube-scheduler needed."""
CLASS_OF = {
    PROVISIONING: "wait", EMPTY_CLASS: "wait2", CAPACITY: "capc", LOCAL: "static", SLOT: "wait",
    SLOT_EMPTY_CLASS: "wait2",
}  # fmt: skip
DRIVER = "csi.example.com"


def pod(name: str, cpu: str, memory: str, priority: int, claims: list[str], **more: Any) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": memory}
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    spec = {
        "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}],
        "priority": priority,
        "volumes": volumes,
        **more.pop("spec", {}),
    }
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, **more}


def claim(name: str, storage_class: str, volume: str = "") -> dict[str, Any]:
    notes = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "volumeName": volume,
        "resources": {"requests": {"storage": "20Gi"}},
    }
    meta = {"name": name, "namespace": "default", "uid": f"u-{name}", "annotations": notes}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def bound_volume(name: str, bound_to: str) -> dict[str, Any]:
    spec = {
        "capacity": {"storage": "20Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "wait",
        "csi": {"driver": DRIVER, "volumeHandle": name},
        "claimRef": {"namespace": "default", "name": bound_to, "uid": f"u-{bound_to}"},
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"phase": "Bound"},
    }


def local_volume(node: str, index: int, number: int) -> dict[str, Any]:
    hosts = [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]
    spec = {
        "capacity": {"storage": f"{20 + (7 * index + 3 * number) % 991}Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "static",
        "local": {"path": "/x"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}},
    }
    meta = {"name": f"local-{index}-{number}"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": meta,
        "spec": spec,
        "status": {"phase": "Available"},
    }


def storage(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **fields}


def node_of(name: str, index: int, limit: int) -> list[dict[str, Any]]:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"z{index % 3}"}
    offered = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    drivers = [{"name": DRIVER, "nodeID": name, "allocatable": {"count": limit}}]
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": offered},
        },
        storage("CSINode", name, spec={"drivers": drivers}),
    ]


def cluster_of(case: str, nodes: int) -> Cluster:
    cluster = Cluster()
    waits = {"volumeBindingMode": "WaitForFirstConsumer"}
    for name in ("wait", "wait2"):
        cluster.set(decode(storage("StorageClass", name, provisioner=DRIVER, **waits)))
    cluster.set(decode(storage("StorageClass", "capc", provisioner="cap.example.com", **waits)))
    cluster.set(decode(storage("CSIDriver", "cap.example.com", spec={"storageCapacity": True})))
    static = "kubernetes.io/no-provisioner"
    cluster.set(decode(storage("StorageClass", "static", provisioner=static, **waits)))
    limit = 10 if case in (SLOT, SLOT_EMPTY_CLASS) else 12
    for i in range(nodes):
        name = f"node-{i:05}"
        found = node_of(name, i, limit)
        if case == CAPACITY:
            topology = {"matchLabels": {"kubernetes.io/hostname": name}}
            pool = storage("CSIStorageCapacity", f"pool-{i}", storageClassName="capc", nodeTopology=topology)
            pool["metadata"]["namespace"] = "kube-system"
            found.append({**pool, "capacity": f"{100 + i % 997}Gi"})
        if case == LOCAL:
            found += [local_volume(name, i, number) for number in range(2)]
        for j in range(10):
            held, start = f"held-{i}-{j}", EPOCH + timedelta(seconds=(10 * i + j) * 7919 % 1000003)
            status = {"phase": "Running", "startTime": start.isoformat()}
            found += [bound_volume(f"pv-{i}-{j}", held), claim(held, "wait", f"pv-{i}-{j}")]
            priority, on = (i + j) % 5 * 10, {"nodeName": name}
            found.append(pod(f"run-{i}-{j}", "1", "4Gi", priority, [held], spec=on, status=status))
        for each in found:
            cluster.set(decode(each))
    return cluster


def measured(case: str, nodes: int, repeats: int) -> tuple[Plan, float]:
    """The plan, and the least CPU seconds of a decision about a pod that nobody has looked at before."""
    cluster = cluster_of(case, nodes)
    config = Configuration.load({"preemption": {"algorithm": "kubernetes"}})
    count = 1 if case in (SLOT, SLOT_EMPTY_CLASS) else 2
    times = []
    for number in range(repeats + 1):
        claims = [f"new-{number}-{k}" for k in range(count)]
        for each in claims:
            cluster.set(decode(claim(each, CLASS_OF[case])))
        cluster.set(decode(pod(f"p-{number}", "2", "8Gi", 1000, claims)))
        started = time.process_time()
        plan = decide(cluster, Reference("Pod", "default", f"p-{number}"), config, ticks(NOW))
        if number:  # the first one fills caches that live as long as the cluster
            times.append(time.process_time() - started)
    return plan, min(times)


# --- live ---------------------------------------------------------------------------------------------------

LIVE_NODES, LIVE_PODS = 1000, 1000


class Pace(NamedTuple):
    """Seconds for one pod: by the clock, and CPU of the scheduler and of the server."""

    wall: float
    scheduler: float
    server: float

    @property
    def possible(self) -> float:
        """Pods a second where each process has a core of its own."""
        return 1 / max(self.scheduler, self.server)


def children_cpu() -> float:
    """CPU seconds so far of the processes that this one started."""
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def small_claim(number: int) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fake-wait",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {"metadata": {"name": f"c{number}", "namespace": "ns"}, "spec": spec}


async def paced(client: Client, pods: list[dict[str, Any]]) -> Pace:
    await plain.create_pods(client, pods)
    async with plain.scheduling(client) as scheduler:
        start, server = plain.Took.now(), children_cpu()
        task = asyncio.create_task(scheduler.schedule())
        while len(scheduler.core.queue):
            await asyncio.sleep(0.005)
        await scheduler.settled()
        took, server = start.since(), children_cpu() - server
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    left = [each.name for each in (await client.listing(plain.PODS)).items if not each.spec.node_name]
    if left:
        sys.exit(f"not bound: {len(left)}, first {left[0]}")
    return Pace(took.wall / len(pods), took.cpu / len(pods), server / len(pods))


async def live() -> tuple[Pace, Pace]:
    """Plain pods, and pods with a claim each."""
    async with plain.server(LIVE_NODES) as client:
        without = await paced(client, [plain.pod(f"p{number}", 1) for number in range(LIVE_PODS)])
        claims = [small_claim(number) for number in range(LIVE_PODS)]
        await plain.at_once(claims, lambda each: client.create(CLAIMS, each))
        pods = [plain.pod(f"v{number}", 1) for number in range(LIVE_PODS)]
        for number, each in enumerate(pods):
            each["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": f"c{number}"}}]
        return without, await paced(client, pods)


def report_live() -> bool:
    """Whether the target is met."""
    without, claiming = uvloop.run(live())
    for what, pace in (("plain pods", without), ("a claim each", claiming)):
        print(
            f"live, {LIVE_PODS} {what}: {1 / pace.wall:.0f} a second here, {pace.possible:.0f} with a core "
            f"for each process (CPU for a pod: scheduler {1000 * pace.scheduler:.2f} ms, "
            f"server {1000 * pace.server:.2f} ms)"
        )
    print(f"  a claim costs {claiming.wall / without.wall:.1f} times the time of a plain pod")
    return max(claiming.possible, 1 / claiming.wall) >= 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 nodes only")
    parser.add_argument("--live", action="store_true", help="the live row only")
    options = parser.parse_args()
    if options.live:
        sys.exit(0 if report_live() else "below the target: live")
    print(f"{'case':<55}{'nodes':>7}{'ms':>9}{'rate':>9}  outcome")
    short = []
    for (case, nodes), upstream in UPSTREAM.items():
        if options.quick and nodes > 1000:
            continue
        plan, seconds = measured(case, nodes, 5)
        rate = upstream / max(seconds, 1e-6)
        print(f"{case:<55}{nodes:>7}{1000 * seconds:>9.2f}{rate:>8.0f}x  {plan.outcome}")
        if rate < 10 or (case == SLOT and seconds > 0.010):
            short.append(case)
    if not options.quick and not report_live():
        short.append("live")
    if short:
        sys.exit(f"below the target: {'; '.join(short)}")


if __name__ == "__main__":
    main()
