"""What the least cost costs: `minimal-cost` against `kep-5710` on full clusters, and the gap that remains.

    python bench/minimal.py [--only SHAPE] [NODES:GANG[:PODS] ...]

Nodes of PODS (10) cores, each with as many running pods of one core and five priorities; a gang of pods of
two cores, or one pod on its own. The shapes:

- `equal`: that alone.
- `mixed`: the pods' sizes come from a fixed sequence, so that no two nodes are alike.
- `budgets`: half of the pods are under one of five budgets, each of which allows some disruptions.
- `groups`: four of ten pods belong to groups of eight that go whole, each with its pods on eight nodes.
- `classes`: the gang has three kinds of pods.
- `all`: mixed, with budgets, groups and classes.

Times are CPU milliseconds of one decision from beginning to end, the best of three; what `minimal-cost` takes
from `kep-5710` is part of its time.
"""

import argparse
import time
from datetime import UTC, datetime, timedelta

from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode
from reprieve.preemption import Plan, decide

SIZES = ("100:10", "1000:100", "5000:500", "2000:1:30")
SHAPES = {
    "equal": frozenset[str](),
    "mixed": frozenset({"mixed"}),
    "budgets": frozenset({"budgets"}),
    "groups": frozenset({"groups"}),
    "classes": frozenset({"classes"}),
    "all": frozenset({"mixed", "budgets", "groups", "classes"}),
}
"""What each shape has."""
SPAN = 8
"""Pods of a group that goes whole, each on another node."""
KINDS = (2000, 1000, 3000)
"""CPU of the gang's pods where there are several classes."""
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


def node(name: str, pods: int) -> dict[str, object]:
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    status = {"allocatable": {"cpu": f"{pods}", "memory": f"{4000 * pods}Mi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}


def group(name: str, priority: int, **spec: object) -> dict[str, object]:
    meta = {"name": name, "namespace": "default"}
    body = {"priority": priority, **spec}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": body}


def budget(number: int, allowed: int) -> dict[str, object]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"budget-{number}", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": f"app{number}"}}},
        "status": {"disruptionsAllowed": allowed},
    }


def group_of(node: int, slot: int, pods: int) -> int:
    """The group of a running pod, -1 without one: of ten pods of a node the last four, each of another."""
    if slot < pods * 6 // 10:
        return -1
    return node // SPAN * pods + (slot + node * 3) % (pods * 4 // 10)


def cluster(nodes: int, gang: int, traits: frozenset[str], pods: int = 10) -> Cluster:
    built = Cluster()
    known: set[int] = set()
    for i in range(nodes):
        name = f"node-{i:05}"
        built.set(decode(node(name, pods)))
        for j in range(pods):
            number = pods * i + j
            cpu = 400 + (number * 7919 % 13) * 100 if "mixed" in traits else 1000
            start = START + timedelta(seconds=number * 7919 % 1000003)
            own = group_of(i, j, pods) if "groups" in traits else -1
            priority = own % 5 * 10 if own >= 0 else (i + j) % 5 * 10
            if own >= 0 and own not in known:
                known.add(own)
                whole: dict[str, object] = {"disruptionMode": {"all": {}}, "schedulingPolicy": {"basic": {}}}
                built.set(decode(group(f"group-{own}", priority, **whole)))
            member = f"group-{own}" if own >= 0 else ""
            built.set(decode(pod(f"run-{i:05}-{j}", name, cpu, priority, start, member)))
    for number in range(5 if "budgets" in traits else 0):
        built.set(decode(budget(number, gang // 10 * number)))
    if gang == 1:
        built.set(decode(pod("alone", "", 2000, 1000, START)))
        return built
    built.set(decode(group("gang", 1000, schedulingPolicy={"gang": {"minCount": gang}})))
    for number in range(gang):
        cpu = KINDS[number % len(KINDS)] if "classes" in traits else KINDS[0]
        built.set(decode(pod(f"gang-{number:04}", "", cpu, 1000, START, "gang")))
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=SHAPES, help="this shape alone")
    parser.add_argument("sizes", nargs="*", default=SIZES, metavar="NODES:GANG[:PODS]")
    options = parser.parse_args()
    print(
        f"{'nodes':>6} {'gang':>5} {'shape':>8} {'kep ms':>8} {'minimal ms':>11} {'ratio':>6} {'victims':>16}"
        "  gap"
    )
    for size in options.sizes:
        nodes, gang, pods = (*map(int, size.split(":")), 10)[:3]
        for_ = "PodGroup/default/gang" if gang > 1 else "Pod/default/alone"
        for shape, traits in SHAPES.items():
            if options.only not in (None, shape):
                continue
            built = cluster(nodes, gang, traits, pods)
            kep, before = measure(built, for_, "kep-5710")
            ours, after = measure(built, for_, "minimal-cost")
            victims = f"{len(before.victims)} -> {len(after.victims)}"
            gap = getattr(after.cost, "optimality", "")
            print(
                f"{nodes:>6} {gang:>5} {shape:>8} {kep:>8.1f} {ours:>11.1f} {ours / kep:>6.1f} "
                f"{victims:>16}  {gap}"
            )


if __name__ == "__main__":
    main()
