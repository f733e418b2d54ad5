"""Clusters as a page may meet them: none, a few nodes, thousands, very long names, deep quota trees, a
fleet.
"""

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.dashboard.inventory import Inventory
from reprieve.objects import well_known
from reprieve.records import Decision, DecisionLog
from tests.builders import (
    below,
    cluster_queue,
    composite,
    flavor,
    kueue,
    local_queue,
    owned_by,
    reserved,
    workload,
)
from tests.dashboard.manifests import node, pod, pod_group, put, unplaced, worker_cluster

LONG = "a-very-long-name-that-somebody-really-gave-to-something-important." * 3 + "x" * 55
"""253 characters, as long as a name can be."""
PRIORITIES = (0, 10, 100, 1000)


def crowd(nodes: int, pods_each: int = 4, waiting: int = 3, name: str = "h100") -> Inventory:
    """Nodes with pods of several priorities and groups, some of them nominated or leaving, and a queue."""
    shown, rng = Inventory(), random.Random(1)  # a picture to look at, the same every time: no property
    for g in range(3):
        status = unplaced("minCount (2) cannot be satisfied") if g == 2 else None
        put(shown, pod_group(f"team-{g}", 2, PRIORITIES[g + 1], status=status))
    for i in range(nodes):
        put(shown, node(f"{name}-{i}", "32", zone=f"zone-{i % 8}" if nodes > 50 else ""))
        for j in range(pods_each):
            g = rng.randrange(4)
            team = f"team-{g - 1}" if g else ""
            cpu = rng.randrange(2, 8)
            put(shown, pod(f"p-{i}-{j}", cpu, on=f"{name}-{i}", priority=PRIORITIES[g], group=team))
    for i in range(waiting):
        nominated = {"nominatedNodeName": f"{name}-{i}"} if i < nodes else {}
        put(
            shown,
            pod(f"wait-{i}", 4, priority=1000, status={"conditions": [scheduled_false(nodes)], **nominated}),
        )
    return shown


def racks(count: int = 4, trees: int = 3) -> Inventory:
    """Racks of four nodes, and trees of two stages: one that runs, the others wait for a rack."""
    shown = Inventory()
    for rack in range(count):
        for i in range(4):
            labels = {"topology.kubernetes.io/rack": f"r{rack}"}
            put(shown, node(f"r{rack}-n{i}", "32", labels=labels))
    for t in range(trees):
        put(shown, composite(f"train-{t}", 2, 100, key="topology.kubernetes.io/rack", namespace="dev"))
        for stage in ("encode", "decode"):
            name, runs = f"train-{t}-{stage}", t == 0
            status = None if runs else unplaced("0/4 placements are available, first placement status: full")
            put(shown, pod_group(name, 2, 100, status=status, **below(f"train-{t}")))
            for i in range(2):
                on = f"r0-n{2 * (stage == 'decode') + i}" if runs else ""
                put(shown, pod(f"{name}-{i}", 30, on=on, priority=100, group=name))
    put(shown, pod_group("alone", 1, 10), pod("alone-0", 4, on="r1-n0", priority=10, group="alone"))
    return shown


def scheduled_false(nodes: int, why: str = "") -> dict[str, str]:
    message = why or f"0/{nodes} nodes are available: {nodes} Insufficient cpu."
    return {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}


def sweep(pods: int = 5) -> Inventory:
    """A job whose pods wait, one of them for something else than the others."""
    shown = crowd(2, waiting=0)
    for i in range(pods):
        condition = scheduled_false(2, "" if i else "2 nodes must be left for others")
        document = pod(f"sweep-{i}", 64, status={"conditions": [condition]})
        document["metadata"]["ownerReferences"] = [owned_by("Job", "sweep")]
        put(shown, document)
    return shown


def long_names() -> Inventory:
    shown = Inventory()
    put(shown, node(LONG, "8", zone=LONG[:60]))
    put(shown, pod_group(LONG, 2, 10, status=unplaced(f"pods of {LONG} do not fit")))
    put(shown, pod(LONG, 4, on=LONG, priority=10, group=LONG))
    put(shown, pod(LONG[:-1] + "y", 4, priority=10, group=LONG, status={"nominatedNodeName": LONG}))
    put(shown, worker_cluster(LONG, active=False))
    put(shown, cluster_queue(LONG[:120], 8, cohort=LONG[:100]), dispatched(LONG, [LONG, "us"], LONG))
    return shown


def quotas(queues: int = 200, depth: int = 12) -> Inventory:
    """A deep cohort tree in which some borrow and some lend."""
    shown = crowd(2)
    for level in range(depth):
        parent = {"parentName": f"cohort-{level - 1}"} if level else {}
        put(shown, kueue("Cohort", f"cohort-{level}", parent))
    put(shown, flavor())
    for i in range(queues):
        queue = f"queue-{i}"
        put(shown, cluster_queue(queue, 4, cohort=f"cohort-{i % depth}"))
        put(shown, local_queue(queue, queue, namespace="dev"))
        job = workload(f"job-{i}", i % 7, queue=queue, namespace="dev")
        put(shown, reserved(job, queue))
    return shown


def dispatched(
    name: str, clusters: list[str], turn: str, chosen: str = "", now: datetime | None = None
) -> dict[str, Any]:
    since = ((now or datetime.now(UTC)) - timedelta(seconds=40)).strftime("%Y-%m-%dT%H:%M:%SZ")
    ledger = {"turn": {"cluster": turn, "since": since, "opened": since}, "past": {clusters[-1]: since}}
    return workload(
        name,
        namespace="ml",
        metadata={"annotations": {well_known.LEDGER_ANNOTATION: json.dumps(ledger)}},
        status={"nominatedClusterNames": clusters, **({"clusterName": chosen} if chosen else {})},
    )


def fleet(clusters: int = 10, workloads: int = 30, now: datetime | None = None) -> Inventory:
    shown = crowd(3)
    names = [f"worker{i}" for i in range(clusters)]
    for i, name in enumerate(names):
        put(shown, worker_cluster(name, active=i != 3))
    for i in range(workloads):
        put(shown, dispatched(f"job-{i}", names[:4], names[i % 4], names[0] if i % 3 == 0 else "", now))
    return shown


def decisions(count: int, victims: int = 6, name: str = "low") -> DecisionLog:
    """A storm of the last hour."""
    log, now = DecisionLog(), datetime.now(UTC)
    for i in range(count):
        gone = [
            {
                "pod": f"dev/{name}-{i}-{v}",
                "unit": f"Pod/dev/{name}-{i}-{v}",
                "node": f"h100-{v}",
                "priority": 0,
                "violatesBudget": v == 0,
                "reason": f"if it stayed, h100-{v} would be 1 cpu short for ml/train-{i}; "
                "everything more important there was put back first",
            }
            for v in range(victims)
        ]
        log.add(
            Decision(
                time=now - timedelta(seconds=3600 * (count - i) / count),
                controller="scheduler",
                for_=f"PodGroup/ml/train-{i}",
                outcome="preempts" if i % 3 == 0 else "scheduled",
                revision=str(i),
                duration_ms=1.5,
                placements={f"ml/train-{i}-{v}": f"h100-{v}" for v in range(victims)},
                victims=gone if i % 3 == 0 else [],
                reasons=[
                    f"PodGroup/ml/train-{i} fits once {victims} units made way.",
                    "Nobody with a priority above 0 is touched.",
                ],
                cost={
                    "budgetViolations": 1,
                    "highestPriority": 0,
                    "units": victims,
                    "pods": victims,
                    "groups": 0,
                },
                alternatives=[
                    {
                        "title": "as kube-scheduler 1.37 decides",
                        "victims": ["PodGroup/data/crunch"],
                        "cost": {"units": 9, "pods": 12},
                    }
                ],
                reprieved=[
                    {
                        "unit": "Pod/web/shop-0",
                        "nodes": ["h100-1"],
                        "priority": 500,
                        "reason": "fits on h100-1 next to the preemptor's pods",
                    }
                ],
                budgets=[
                    {
                        "budget": "web/shop",
                        "allowed": 0,
                        "victims": 0,
                        "sentence": "web/shop allows 0 of its pods to be disrupted; "
                        "the plan takes 0 and spares 1.",
                    }
                ],
            )
        )
    return log
