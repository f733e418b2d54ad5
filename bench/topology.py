"""How long decisions about trees of groups and about groups with a topology key take.

    python bench/topology.py [--algorithm kep-5710] [--runs 5]

The shapes of kube-scheduler's own measurements (v1.38.0-alpha.0-29, gates on): nodes of 8 cpu in 50 racks,
each full of four pods of 2 cpu and priority 1. Its CPU seconds for one attempt stand next to ours; ours are
CPU, too.
"""

import argparse
import time
from collections.abc import Iterable
from typing import Any

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode
from reprieve.preemption import decide, groups_rule

RACK = "example.com/rack"
UPSTREAM = {"plain": 2.0, "groups": 0.7, "composites": 0.7, "fits": 1.2, "rack": 2.8}
"""CPU seconds of kube-scheduler, with its set-up."""
WANTED = {"plain": 20, "groups": 20, "composites": 20, "fits": 15, "rack": 40}
"""Milliseconds."""
Document = dict[str, Any]


def meta(name: str, **labels: str) -> Document:
    return {"name": name, "namespace": "default", "labels": labels}


def node(number: int, racks: int) -> Document:
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    labels = {RACK: f"rack-{number % racks:02}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{number:04}", "labels": labels},
        "status": {"allocatable": amounts},
    }


def pod(name: str, cpu: str, priority: int, group: str = "", on: str = "", started: str = "") -> Document:
    spec: Document = {
        "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}],
    }
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    if on:
        spec["nodeName"] = on
    status = {"startTime": started, "phase": "Running"} if on else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name), "spec": spec, "status": status}


def group(name: str, least: int, priority: int, mode: str = "single", **spec: Any) -> Document:
    policy = {"gang": {"minCount": least}}
    body = {"schedulingPolicy": policy, "priority": priority, "disruptionMode": {mode: {}}, **spec}
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": meta(name),
        "spec": body,
    }


def composite(name: str, least: int, priority: int, mode: str = "single") -> Document:
    policy = {"gang": {"minGroupCount": least}}
    body = {"schedulingPolicy": policy, "priority": priority, "disruptionMode": {mode: {}}}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "CompositePodGroup",
        "metadata": meta(name),
        "spec": body,
    }


def crowd(nodes: int, kind: str) -> Iterable[Document]:
    """Every node full of four pods: on their own, in groups of 8, or in trees of 16."""
    for number in range(4 * nodes):
        name = ""
        if kind == "groups":
            name = f"old-{number // 8}"
            if number % 8 == 0:
                yield group(name, 8, 1, "all")
        elif kind == "composites":
            name, tree = f"old-{number // 4}", f"tree-{number // 16}"
            if number % 16 == 0:
                yield composite(tree, 4, 1, "all")
            if number % 4 == 0:
                yield group(name, 4, 1, parentCompositePodGroupName=tree)
        started = f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"
        yield pod(f"low-{number:05}", "2", 1, name, f"node-{number // 4:04}", started)


def tree() -> Iterable[Document]:
    """Four gangs of 25 pods, all four needed."""
    yield composite("want", 4, 100)
    for leaf in range(4):
        yield group(f"want-{leaf}", 25, 100, parentCompositePodGroupName="want")
        for number in range(25):
            yield pod(f"want-{leaf}-{number:02}", "4", 100, f"want-{leaf}")


def gang(cpu: str) -> Iterable[Document]:
    """A group of 100 pods that stays in one rack."""
    yield group("want", 100, 100, schedulingConstraints={"topology": [{"key": RACK}]})
    for number in range(100):
        yield pod(f"want-{number:03}", cpu, 100, "want")


def best(documents: Iterable[Document], target: str, algorithm: str, runs: int) -> tuple[float, str]:
    """Milliseconds of the fastest decision, and what it was. The first one fills caches."""
    cluster = Cluster()
    for each in documents:
        cluster.set(decode(each))
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    cluster.let_groups_rule(groups_rule(config))  # as the live scheduler does, once
    fastest, told = float("inf"), ""
    for _ in range(runs + 1):
        began = time.process_time()
        plan = decide(cluster, Reference.parse(target), config, 0)
        fastest = min(fastest, time.process_time() - began)
        told = f"{plan.outcome}, {len(plan.victims)} victims"
    return 1000 * fastest, told


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--algorithm", default="kep-5710")
    arguments.add_argument("--runs", type=int, default=5)
    chosen = arguments.parse_args()
    nodes = [node(number, 50) for number in range(1000)]
    root = "CompositePodGroup/default/want"
    cases = {
        "plain": ("a tree of 4 x 25 preempts single pods", [*nodes, *crowd(1000, "plain"), *tree()], root),
        "groups": ("a tree of 4 x 25 preempts groups of 8", [*nodes, *crowd(1000, "groups"), *tree()], root),
        "composites": (
            "a tree of 4 x 25 preempts trees of 16",
            [*nodes, *crowd(1000, "composites"), *tree()],
            root,
        ),
        "fits": ("a group of 100 fits in every rack", [*nodes, *gang("1")], "PodGroup/default/want"),
        "rack": (
            "a group of 100 preempts in one rack",
            [*nodes, *crowd(1000, "plain"), *gang("1")],
            "PodGroup/default/want",
        ),
    }
    for name, (title, documents, target) in cases.items():
        took, told = best(documents, target, chosen.algorithm, chosen.runs)
        times = 1000 * UPSTREAM[name] / took
        print(
            f"{title}: {took:.1f} ms ({told}); wanted under {WANTED[name]} ms; "
            f"kube-scheduler {UPSTREAM[name]} s with set-up, {times:.0f} times that"
        )


if __name__ == "__main__":
    main()
