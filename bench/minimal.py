"""What the least cost costs: `minimal-cost` against `kep-5710` on full clusters, and the gap that remains.

    python bench/minimal.py [NODES:GANG[:PODS] ...]

Nodes of PODS (10) cores, each with as many running pods of one core and five priorities; a gang of pods of
two cores, or one pod on its own. `mixed` draws the pods' sizes from a fixed sequence, so that no two nodes
are alike. Times are CPU milliseconds of one decision from beginning to end, the best of three; what
`minimal-cost` takes from `kep-5710` is part of its time.
"""

import sys
import time
from datetime import UTC, datetime, timedelta

from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode
from reprieve.preemption import Plan, decide

SIZES = ("100:10", "1000:100", "5000:500", "2000:1:30")
START = datetime(2026, 3, 1, tzinfo=UTC)
NOW = START + timedelta(days=14)


def pod(name: str, node: str, cpu: int, priority: int, start: datetime, group: str = "") -> dict[str, object]:
    spec: dict[str, object] = {
        "priority": priority,
        "containers": [
            {"name": "c", "resources": {"requests": {"cpu": f"{cpu}m", "memory": f"{4 * cpu}Mi"}}}
        ],
    }
    if node:
        spec["nodeName"] = node
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    status = {"phase": "Running", "startTime": start.strftime("%Y-%m-%dT%H:%M:%SZ")} if node else {}
    meta = {"name": name, "namespace": "default", "labels": {"app": f"app{name[-1]}"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def cluster(nodes: int, gang: int, mixed: bool, pods: int = 10) -> Cluster:
    built = Cluster()
    for i in range(nodes):
        name = f"node-{i:05}"
        status = {"allocatable": {"cpu": f"{pods}", "memory": f"{4000 * pods}Mi", "pods": "110"}}
        labels = {"kubernetes.io/hostname": name}
        built.set(
            decode(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": name, "labels": labels},
                    "status": status,
                }
            )
        )
        for j in range(pods):
            number = pods * i + j
            cpu = 400 + (number * 7919 % 13) * 100 if mixed else 1000
            start = START + timedelta(seconds=number * 7919 % 1000003)
            built.set(decode(pod(f"run-{i:05}-{j}", name, cpu, (i + j) % 5 * 10, start)))
    if gang == 1:
        built.set(decode(pod("alone", "", 2000, 1000, START)))
        return built
    spec = {"priority": 1000, "schedulingPolicy": {"gang": {"minCount": gang}}}
    meta = {"name": "gang", "namespace": "default"}
    built.set(
        decode(
            {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}
        )
    )
    for number in range(gang):
        built.set(decode(pod(f"gang-{number:04}", "", 2000, 1000, START, "gang")))
    return built


def measure(built: Cluster, for_: str, algorithm: str) -> tuple[float, Plan]:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        plan = decide(built, Reference.parse(for_), config, ticks(NOW))
        best = min(best, time.process_time() - begun)
    return 1000 * best, plan


def main() -> None:
    print(
        f"{'nodes':>6} {'gang':>5} {'shape':>6} {'kep ms':>8} {'minimal ms':>11} {'ratio':>6} {'victims':>16}"
        "  gap"
    )
    for size in sys.argv[1:] or SIZES:
        nodes, gang, pods = (*map(int, size.split(":")), 10)[:3]
        for_ = "PodGroup/default/gang" if gang > 1 else "Pod/default/alone"
        for mixed in (False, True):
            built = cluster(nodes, gang, mixed, pods)
            kep, before = measure(built, for_, "kep-5710")
            ours, after = measure(built, for_, "minimal-cost")
            victims = f"{len(before.victims)} -> {len(after.victims)}"
            gap = getattr(after.cost, "optimality", "")
            shape = "mixed" if mixed else "equal"
            print(
                f"{nodes:>6} {gang:>5} {shape:>6} {kep:>8.1f} {ours:>11.1f} {ours / kep:>6.1f} "
                f"{victims:>16}  {gap}"
            )


if __name__ == "__main__":
    main()
