"""One pod preempts on a full cluster, under one rule after the other: no rule may make it try node by node.

    python bench/one_pod.py [NODES]

Nodes of 30 cores with 30 pods each, every node a candidate, as in `bench/minimal.py`. Times are CPU
milliseconds of one decision, the best of eight; the ratio is against the same pod without any rule.
"""

import argparse
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.minimal import NOW, SHAPES, START, cluster, pod

from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode
from reprieve.preemption import decide

PODS = 30
HOST = "kubernetes.io/hostname"
SELECTOR = {"matchLabels": {"app": "app0"}}
APART = {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": SELECTOR, "topologyKey": HOST}]}
EVENLY = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
PORT = {"name": "c", "ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "2"}}}
RULES: dict[str, dict[str, Any]] = {
    "anti-affinity": {"affinity": {"podAntiAffinity": APART}},
    "spread": {"topologySpreadConstraints": [EVENLY]},
    "host port": {"containers": [PORT]},
}
"""What the pod itself asks for."""
RUNNING = ("equal starts", "min-runtime", "nominations")
"""What the others have."""


def with_running(nodes: int, trait: str) -> Cluster:
    built = cluster(nodes, 1, SHAPES["equal"], PODS)
    if trait == "nominations":
        waiting = pod("nominated", "", 1000, 2000, START)
        waiting["status"] = {"nominatedNodeName": "node-00000"}
        built.set(decode(waiting))
        return built
    for i in range(nodes):
        for j in range(PODS):
            start = START if trait == "equal starts" else START + timedelta(seconds=(PODS * i + j) % 86400)
            running: dict[str, Any] = pod(f"run-{i:05}-{j}", f"node-{i:05}", 1000, (i + j) % 5 * 10, start)
            if trait == "min-runtime":
                running["metadata"]["annotations"] = {"reprieve.dev/min-runtime": "1h"}
            built.set(decode(running))
    return built


def measure(built: Cluster, algorithm: str) -> float:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    target, best = Reference.parse("Pod/default/alone"), float("inf")
    for _ in range(8):
        begun = time.process_time()
        plan = decide(built, target, config, ticks(NOW))
        best = min(best, time.process_time() - begun)
    assert plan.outcome == "preempts", plan
    return 1000 * best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("nodes", nargs="?", type=int, default=2000)
    nodes = parser.parse_args().nodes
    print(f"{'':>14}  kubernetes ms   ratio   kep-5710 ms   ratio")
    plain: dict[str, float] = {}
    for name in (*SHAPES, *RULES, *RUNNING):
        built = (
            with_running(nodes, name)
            if name in RUNNING
            else cluster(nodes, 1, SHAPES.get(name, frozenset()), PODS)
        )
        if name in RULES:
            alone: dict[str, Any] = pod("alone", "", 2000, 1000, START)
            alone["spec"] |= RULES[name]
            built.set(decode(alone))
        line = f"{name:>14}"
        for algorithm, width in (("kubernetes", 15), ("kep-5710", 14)):
            spent = measure(built, algorithm)
            line += f"{spent:>{width}.1f}{spent / plain.setdefault(algorithm, spent):>8.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
