"""How fast is quota with topologies?  python bench/topology_quota.py [--quick]

Part 1: one placement, and one preemption, on clusters of blocks of 10 racks of 32 nodes, next to what the Go
code needs for it (tests/corpus/topology/timings.md). Part 2: upstream's TAS generator load (640 nodes, 15,000
workloads of three sizes, required, preferred and in slices) in virtual time: workloads
admitted per second of decisions.
"""

import gc
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Any

from reprieve.objects import decode_all
from reprieve.objects.kueue import Workload
from reprieve.objects.meta import Document
from reprieve.quota import Quota, Rules, cycle, find_assignment, load, release
from reprieve.quota.workload_info import WorkloadInfo

NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
BLOCK, RACK, HOST = "example.com/block", "example.com/rack", "kubernetes.io/hostname"
GO_MS = {
    ("preferred rack", 640): 0.4,
    ("required block", 640): 0.2,
    ("unconstrained", 640): 0.3,
    ("slices of 8 on racks", 640): 0.3,
    ("preferred rack", 5000): 5.0,
    ("required block", 5000): 5.3,
    ("unconstrained", 5000): 8.2,
    ("slices of 8 on racks", 5000): 6.2,
    ("preferred rack", 20000): 52.2,
    ("required block", 20000): 50.9,
    ("unconstrained", 20000): 43.7,
    ("slices of 8 on racks", 20000): 20.4,
    ("32 victims", 640): 253.0,
    ("32 victims", 5000): 4686.0,
}
"""Best wall time of the Go code, one decision without its snapshot."""
REQUESTS: dict[str, Document] = {
    "preferred rack": {"preferred": RACK},
    "required block": {"required": BLOCK},
    "unconstrained": {"unconstrained": True},
    "slices of 8 on racks": {
        "preferred": BLOCK,
        "podSetSliceRequiredTopology": RACK,
        "podSetSliceSize": 8,
    },
}


def kueue(kind: str, name: str, spec: Document, **metadata: Any) -> Document:
    api = "kueue.x-k8s.io/v1beta2"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def node(number: int, cpu: int) -> Document:
    rack, block = number // 32, number // 320
    labels = {HOST: f"n{number:05}", RACK: f"r{rack:04}", BLOCK: f"b{block:03}", "pool": "a"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{number:05}", "labels": labels},
        "status": {
            "allocatable": {"cpu": str(cpu), "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def cluster(nodes: int, cpu: int = 8, queues: int = 1) -> list[Document]:
    levels = [{"nodeLabel": label} for label in (BLOCK, RACK, HOST)]
    flavor = {"topologyName": "t", "nodeLabels": {"pool": "a"}}
    quotas = [{"name": "tas", "resources": [{"name": "cpu", "nominalQuota": str(nodes * cpu // queues)}]}]
    found = [
        kueue("Topology", "t", {"levels": levels}),
        kueue("ResourceFlavor", "tas", flavor),
        *(node(number, cpu) for number in range(nodes)),
    ]
    for index in range(queues):
        group = {"coveredResources": ["cpu"], "flavors": quotas}
        policy = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
        spec = {"namespaceSelector": {}, "resourceGroups": [group], "cohortName": "all", "preemption": policy}
        found.append(kueue("ClusterQueue", f"cq{index}", spec))
        found.append(kueue("LocalQueue", f"lq{index}", {"clusterQueue": f"cq{index}"}, namespace="default"))
    return found


def workload(
    name: str, request: Document, pods: int, cpu: int | str, priority: int = 0, queue: str = "lq0"
) -> Document:
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}]}}
    pod_set = {"name": "main", "count": pods, "template": template, "topologyRequest": request}
    spec = {"podSets": [pod_set], "queueName": queue, "priority": priority}
    created = (NOW - timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    return kueue("Workload", name, spec, namespace="default", uid=f"u-{name}", creationTimestamp=created)


def admitted(document: Document, host: str, since: datetime) -> Document:
    cpu = document["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    slices = [{"domainCount": 1, "valuesPerLevel": [{"universal": host}], "podCounts": {"universal": 1}}]
    assignment = {
        "name": "main",
        "flavors": {"cpu": "tas"},
        "resourceUsage": {"cpu": cpu},
        "count": 1,
        "topologyAssignment": {"levels": [HOST], "slices": slices},
    }
    time_ = since.isoformat().replace("+00:00", "Z")
    conditions = [
        {"type": kind, "status": "True", "reason": kind, "lastTransitionTime": time_}
        for kind in ("QuotaReserved", "Admitted")
    ]
    admission = {"clusterQueue": "cq0", "podSetAssignments": [assignment]}
    return {**document, "status": {"admission": admission, "conditions": conditions}}


def info_of(quota: Quota, document: Document) -> WorkloadInfo:
    [view] = decode_all([document])
    assert isinstance(view, Workload)
    return WorkloadInfo(view, "cq0", quota.rules)


def best(action: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        action()
        found.append(time.perf_counter() - begun)
    return min(found) * 1000


def one_decision(nodes: int, times: int) -> None:
    quota = load(decode_all(cluster(nodes)), Rules(), NOW)
    queue = quota.cache.queues["cq0"]
    for name, request in REQUESTS.items():
        info = info_of(quota, workload("w", request, 64, 1))
        find_assignment(quota, info, queue)
        took = best(lambda info=info: find_assignment(quota, info, queue), times)  # type: ignore[misc]
        show(name, nodes, took)


def hard_preemption(nodes: int, times: int) -> None:
    """A rack of 32 whole nodes; 640 single-node workloads of low priority, the rest higher."""
    objects = cluster(nodes)
    for number in range(nodes):
        since = NOW - timedelta(seconds=(number * 7919) % 3600)
        low = number < 640 if nodes > 640 else True
        made = workload(f"w{number}", {"required": HOST}, 1, 8, 0 if low else 100)
        objects.append(admitted(made, f"n{number:05}", since))
    quota = load(decode_all(objects), Rules(), NOW)
    info = info_of(quota, workload("big", {"required": RACK}, 32, 8, 10))
    found: list[Any] = []

    def decide() -> None:
        found[:] = find_assignment(quota, info, quota.cache.queues["cq0"])

    took = best(decide, times)
    assert len(found[1]) == 32, len(found[1])
    show("32 victims", nodes, took)


def show(name: str, nodes: int, took: float) -> None:
    go = GO_MS.get((name, nodes))
    compared = f"{go:9.1f} ms   {go / took:6.1f} x" if go else ""
    print(f"{name:22} {nodes:6,} nodes  {took:9.2f} ms  {compared}")


# --- upstream's load ------------------------------------------------------------------------------------

CLASSES = (
    ("small", "500m", 2, 50, 0.2, ((120, 0), (120, 0), (110, 1))),
    ("medium", "1250m", 4, 100, 0.5, ((34, 0), (33, 0), (33, 2))),
    ("large", "2500m", 8, 200, 1.0, ((17, 0), (17, 0), (16, 4))),
)
"""(name, cpu of a pod, pods, priority, seconds it runs, (how many, size of slices) for each kind)."""
GO_RATE = 15_000 / 401.5
"""Workloads a second of the whole Go test, which waits for their run time, too."""


def generated(queue: int, part: float) -> list[tuple[Document, float]]:
    """The workloads of one queue, and how long each runs."""
    found = []
    for name, cpu, pods, priority, seconds, kinds in CLASSES:
        for kind, (many, size) in enumerate(kinds):
            request: Document = {"required": RACK} if kind == 0 else {"preferred": RACK}
            if size:
                request |= {"podSetSliceRequiredTopology": HOST, "podSetSliceSize": size}
            for number in range(max(1, round(many * part))):
                label = f"{name}-{kind}-{queue}-{number}"
                found.append((workload(label, request, pods, cpu, priority, f"lq{queue}"), seconds))
    return found


def data_centre(queues: int) -> list[Document]:
    """One block of 10 racks of 64 nodes; cohorts of six queues that borrow."""
    objects = [each for each in cluster(640, 96, queues) if each["kind"] != "ClusterQueue"]
    for each in objects:
        if each["kind"] == "Node":
            number = int(each["metadata"]["name"][1:])
            each["metadata"]["labels"] |= {RACK: f"r{number // 64}", BLOCK: "b0"}
    for index in range(queues):
        quota = {"name": "cpu", "nominalQuota": "20", "borrowingLimit": "100"}
        group = {"coveredResources": ["cpu"], "flavors": [{"name": "tas", "resources": [quota]}]}
        policy = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
        spec = {
            "namespaceSelector": {},
            "resourceGroups": [group],
            "cohortName": f"c{index // 6}",
            "preemption": policy,
        }
        objects.append(kueue("ClusterQueue", f"cq{index}", spec))
    return objects


def load_run(part: float) -> None:
    """All workloads wait from the beginning; only decisions are timed, run time passes virtually."""
    queues = 30
    quota = load(decode_all(data_centre(queues)), Rules(), NOW)
    quota.put_namespace("default", {})
    made = [each for queue in range(queues) for each in generated(queue, part)]
    views = [view for view in decode_all([document for document, _ in made]) if isinstance(view, Workload)]
    seconds = {view.key: runs for view, (_, runs) in zip(views, made, strict=True)}
    for view in views:
        quota.put_workload(view, NOW)
    now, done, spent, cycles = NOW, 0, 0.0, 0
    ends: list[tuple[datetime, str]] = []
    evicted = 0
    while done < len(views):
        begun = time.perf_counter()
        outcome = cycle(quota, now)
        spent += time.perf_counter() - begun
        cycles += 1
        evicted += len(outcome.evicted)
        for eviction in outcome.evicted:
            quota.put_workload(release(eviction.workload, now), now)
        for each in outcome.reserved:
            heappush(ends, (now + timedelta(seconds=seconds[each.info.key]), each.info.key))
        if not outcome.made_progress and ends:
            now = max(now, ends[0][0])
        while ends and ends[0][0] <= now:
            key = heappop(ends)[1]
            if key in quota.cache.workloads:
                quota.drop_workload(key, now)
                done += 1
    rate = done / spent
    print(
        f"{done:,} workloads, {cycles:,} cycles, {evicted:,} evictions: {rate:,.0f} workloads a second of "
        f"decisions, {rate / GO_RATE:.1f} times the rate of the Go test"
    )


def main() -> None:
    quick = "--quick" in sys.argv
    gc.disable()
    print("one decision", " " * 24, "here", " " * 10, "Go", " " * 9, "faster")
    for nodes in (640, 5000, 20000)[: 2 if quick else 3]:
        one_decision(nodes, 5 if quick else 15)
    for nodes in (640, 5000)[: 1 if quick else 2]:
        hard_preemption(nodes, 2 if quick else 3)
    load_run(0.1 if quick else 1.0)


if __name__ == "__main__":
    main()
