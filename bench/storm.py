"""A large cluster as the page sees it, and a storm of preemptions over it."""

import asyncio
import math
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.dashboard.inventory import Inventory
from reprieve.objects.decode import decode
from reprieve.records import Decision, DecisionLog

NODES = 5000
PODS_PER_NODE = 10
WAITING, PODS_PER_JOB = 2000, 5
GROUPS, QUEUES, WORKLOADS = 500, 100, 1000
PREEMPTIONS = 200
"""In each second of a storm."""
VICTIMS = 3
ADDRESSES = {
    "node": "map/node/h100-7",
    "decision": "preemptions/id/{decision}",
    "unfolded": "queue/open/Job%2Fd%2Fjob-{job}",
    "unit": "unit/of/Job%2Fd%2Fjob-{job}",
    "search": "map",
    "scrolled": "preemptions",
}
"""Of views that are more than a name."""
WAITS = {
    "phase": "Pending",
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/5000 nodes are available: 5000 Insufficient cpu. preemption: 0/5000 nodes are "
            "available: 5000 No preemption victims found for incoming pod.",
        }
    ],
}


def pod(name: str, node: str, priority: int, group: str = "", **metadata: Any) -> Any:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "8"}}}
    spec = {"nodeName": node, "priority": priority, "containers": [container]}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "d", **metadata}}
    return decode({**document, "spec": spec, "status": {"phase": "Running"} if node else WAITS})


def on_node(i: int, j: int, priority: int) -> Any:
    """One of the pods of a node; some are in groups."""
    return pod(f"p-{i}-{j}", f"h100-{i}", priority, f"g-{i % GROUPS}" if j == 0 else "")


def waiting(number: int) -> Any:
    """One of some pods of a job."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{number // PODS_PER_JOB}", "uid": "u"}
    created = (datetime(2026, 11, 17, tzinfo=UTC) + timedelta(seconds=number)).isoformat()
    return pod(
        f"w-{number}",
        "",
        (0, 10, 100)[number // PODS_PER_JOB % 3],
        creationTimestamp=created,
        ownerReferences=[{**owner, "controller": True}],
    )


def inventory(nodes: int) -> Inventory:
    shown, rng = Inventory(), random.Random(1)
    for i in range(nodes):
        metadata = {"name": f"h100-{i}", "labels": {"topology.kubernetes.io/zone": f"zone-{i % 8}"}}
        status = {"allocatable": {"cpu": "96", "memory": "1Ti", "pods": "110"}}
        shown.put(decode({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}))
        for j in range(PODS_PER_NODE):
            shown.put(on_node(i, j, rng.choice([0, 10, 100, 1000])))
    if nodes == NODES:
        for obj in (*map(waiting, range(WAITING)), *map(group, range(GROUPS)), *quota()):
            shown.put(obj)
    return shown


def group(number: int) -> Any:
    spec = {"schedulingPolicy": {"gang": {"minCount": 4}}, "priority": number % 100}
    metadata = {"name": f"g-{number}", "namespace": "d"}
    return decode(
        {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}
    )


def kueue(kind: str, name: str, namespace: str = "", **body: Any) -> Any:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return decode({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, **body})


def quota() -> Iterator[Any]:
    yield kueue("ResourceFlavor", "default", spec={})
    for i in range(QUEUES):
        flavor = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "800"}]}
        groups = [{"coveredResources": ["cpu"], "flavors": [flavor]}]
        spec = {"cohortName": f"cohort-{i % 10}", "namespaceSelector": {}, "resourceGroups": groups}
        yield kueue("ClusterQueue", f"queue-{i}", spec=spec)
        yield kueue("LocalQueue", f"queue-{i}", "d", spec={"clusterQueue": f"queue-{i}"})
    yield from map(workload, range(WORKLOADS))


def workload(number: int) -> Any:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "8"}}}
    pods = {"name": "main", "count": 4, "template": {"spec": {"containers": [container]}}}
    spec = {"queueName": f"queue-{number % QUEUES}", "priority": number % 7, "podSets": [pods]}
    return kueue("Workload", f"w-{number}", "d", spec=spec)


class Storm:
    """Preemptions on the largest cluster, one after the other, each of another node."""

    def __init__(self) -> None:
        self.shown, self.records = inventory(NODES), DecisionLog()
        self.number = 0
        self._rng = random.Random(2)

    async def last(self, seconds: float) -> float:
        """How long it did."""
        begun, first = time.perf_counter(), self.number
        while (made := self.number - first) < PREEMPTIONS * seconds:
            for _ in range(math.ceil((time.perf_counter() - begun) * PREEMPTIONS) - made):
                self._preempt()
                await asyncio.sleep(0)  # a turn of its own: whose turns are long is measured
            await asyncio.sleep(0.02)
        return time.perf_counter() - begun

    def address(self, view: str) -> str:
        """Of a view; with a job that waits for long."""
        job = (self.number + WAITING // 2) // PODS_PER_JOB // 3 * 3 + 2
        return ADDRESSES.get(view, view).format(job=job, decision=self.number)

    def _preempt(self) -> None:
        """Some pods of one node go, and one comes; somebody gives up quota, and wants some anew."""
        i = self._rng.randrange(NODES)
        rows = self._rng.sample(range(PODS_PER_NODE), VICTIMS)
        victims = [
            {"pod": f"d/p-{i}-{j}", "unit": f"Pod/d/p-{i}-{j}", "node": f"h100-{i}", "priority": 0,
             "reason": f"if it stayed, h100-{i} would be 8 cpu short"}
            for j in rows
        ]  # fmt: skip
        for j in rows:
            self.shown.remove(on_node(i, j, 0))
        for j in rows:  # so that the cluster stays full
            self.shown.put(on_node(i, j, self._rng.choice([0, 10, 100])))
        self.shown.remove(waiting(self.number))
        self.shown.put(waiting(WAITING + self.number))
        self.shown.remove(workload(self.number))
        self.shown.put(workload(WORKLOADS + self.number))
        self.records.add(
            Decision(
                time=datetime.now(UTC),
                controller="scheduler",
                for_=f"Pod/d/new-{self.number}",
                outcome="preempts",
                victims=victims,
                placements={f"d/new-{self.number}": f"h100-{i}"},
            )
        )
        self.number += 1
