"""How fast are quota decisions?  python bench/quota.py [--quick]

Part 1: one decision (flavors and victims) among N admitted workloads, the shapes of
tests/corpus/kueue/timings.md, next to what the Go code needs for it. Part 2: whole cycles under upstream's
baseline load in virtual time.
"""

import gc
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from heapq import heappop, heappush

from msgspec.structs import replace

from reprieve.objects.decode import decode_all
from reprieve.objects.kueue import ClusterQueue, LocalQueue, ResourceFlavor, Workload
from reprieve.objects.meta import Document, ObjectMeta
from reprieve.objects.times import format_time
from reprieve.quota import Quota, Rules, cycle, find_assignment, release
from reprieve.quota.offline import load
from reprieve.quota.workload_info import WorkloadInfo

NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
GO_MS = {
    ("flat", 100, 1): 0.251,
    ("flat", 1000, 1): 3.908,
    ("flat", 1000, 50): 4.388,
    ("flat", 10000, 1): 85.668,
    ("flat", 10000, 500): 98.030,
    ("own", 1000, 1): 3.861,
    ("own", 10000, 1): 87.529,
    ("own", 10000, 500): 145.888,
    ("tree", 1000, 1): 4.209,
    ("tree", 10000, 1): 91.213,
    ("tree", 10000, 500): 114.378,
    ("fair", 1000, 1): 3.862,
    ("fair", 10000, 1): 160.242,
    ("fair", 10000, 500): 101.606,
    ("fair", 10000, 1200): 144.575,
    ("fair2", 1000, 60): 6.021,
    ("fair2", 10000, 600): 144.718,
}
"""Smallest wall time of the Go code for (shape, admitted workloads, cores requested)."""


def kueue(kind: str, name: str, spec: Document, **metadata: object) -> Document:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def quota_group(flavor: str, nominal: int, **limits: str) -> list[Document]:
    resource = {"name": "cpu", "nominalQuota": str(nominal), **limits}
    return [{"coveredResources": ["cpu"], "flavors": [{"name": flavor, "resources": [resource]}]}]


def cluster_queue(name: str, cohort: str, nominal: int) -> Document:
    preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    spec = {"cohortName": cohort, "namespaceSelector": {}, "preemption": preemption}
    return kueue("ClusterQueue", name, {**spec, "resourceGroups": quota_group("default", nominal)})


def workload(name: str, uid: str, priority: int, cpu: int, created: datetime) -> Document:
    container = {"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    return kueue(
        "Workload",
        name,
        {"priority": priority, "podSets": [pod_set]},
        namespace="default",
        uid=uid,
        creationTimestamp=format_time(created),
    )


def admitted(k: int, queue: str, priority: int) -> Document:
    reserved = NOW - timedelta(seconds=1000 + (k * 7919) % 1000003)
    uid = f"uid-{(k * 104729) % 1000003:06d}"
    document = workload(f"a{k}", uid, priority, 1, reserved - timedelta(hours=1))
    assignment = {"name": "main", "count": 1, "flavors": {"cpu": "default"}, "resourceUsage": {"cpu": "1"}}
    condition = {"type": "QuotaReserved", "status": "True", "reason": "ByTest", "message": ""}
    document["status"] = {
        "admission": {"clusterQueue": queue, "podSetAssignments": [assignment]},
        "conditions": [{**condition, "lastTransitionTime": format_time(reserved)}],
    }
    return document


def shape(name: str, n: int) -> list[Document]:
    """The manifests of one shape with n admitted workloads."""
    nominal = {"fair": n // 10, "fair2": n // 20}.get(name)
    objects = [kueue("ResourceFlavor", "default", {})]
    if name == "tree":
        objects += [kueue("Cohort", f"m{i}", {"parentName": "root"}) for i in range(2)]
        objects += [kueue("Cohort", f"l{i}", {"parentName": f"m{i % 2}"}) for i in range(5)]
    if name == "fair2":
        objects.append(kueue("Cohort", "root", {"resourceGroups": quota_group("default", n // 2)}))
    for i in range(10):
        own = nominal if nominal is not None else n if i == 0 else 0
        objects.append(cluster_queue(f"cq{i}", f"l{i % 5}" if name == "tree" else "root", own))
    for k in range(n):
        if name == "own":
            objects.append(admitted(k, "cq0", k % 3))
        else:
            objects.append(admitted(k, f"cq{1 + k % 9}", k % 5))
    return objects


def milliseconds(function: Callable[[], object], budget: float = 0.4) -> tuple[float, float]:
    """(best wall, median cpu) of repeated calls."""
    walls: list[float] = []
    cpus: list[float] = []
    end = time.perf_counter() + budget
    while len(walls) < 3 or (time.perf_counter() < end and len(walls) < 200):
        wall, cpu = time.perf_counter(), time.process_time()
        function()
        cpus.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - wall)
    return min(walls) * 1000, statistics.median(cpus) * 1000


def incoming(quota: Quota, cores: int) -> WorkloadInfo:
    (view,) = decode_all([workload("in", "uid-in", 3, cores, NOW)])
    assert isinstance(view, Workload)
    return WorkloadInfo(view, "cq0", quota.rules)


def decisions(sizes: tuple[int, ...]) -> None:
    print("one decision: flavors and victims among N admitted workloads in 10 queues (milliseconds)")
    print(
        f"{'shape':6}{'N':>7}{'cores':>6}{'victims':>9}{'best wall':>11}"
        f"{'median cpu':>12}{'Go':>9}{'faster':>9}"
    )
    cost: dict[tuple[str, int], float] = {}
    for name in ("flat", "own", "tree", "fair", "fair2"):
        for n in sizes:
            quota = load(decode_all(shape(name, n)), Rules(fair_sharing=name.startswith("fair")), NOW)
            queue = quota.cache.queues["cq0"]
            for cores in sorted({1} | {cores for known, size, cores in GO_MS if (known, size) == (name, n)}):
                decide = partial(find_assignment, quota, incoming(quota, cores), queue)
                _, victims = decide()
                wall, cpu = milliseconds(decide)
                cost.setdefault((name, n), wall)
                go = GO_MS.get((name, n, cores))
                compared = f"{go:9.2f}{go / wall:8.0f}x" if go else ""
                print(f"{name:6}{n:7}{cores:6}{len(victims):9}{wall:11.3f}{cpu:12.3f}{compared}")
    for name in ("flat", "own", "tree", "fair", "fair2"):
        ratio = cost[name, sizes[-1]] / cost[name, sizes[0]]
        print(f"{name}: one victim among {sizes[-1]:,} costs {ratio:.2f} times one among {sizes[0]:,}")


class Baseline:
    """Upstream's baseline load in virtual time: the clock steps 10 ms for each cycle or idle step.

    5 cohorts x 6 queues; between two cycles workloads are created and finish, and evicted ones queue again at
    once.
    """

    CLASSES = (
        ("small", 350, 100, 200, 50, 1),
        ("medium", 100, 500, 500, 100, 5),
        ("large", 50, 1200, 1000, 200, 20),
    )
    """(name, how many in each queue, created every ms, running for ms, priority, cpu)"""
    EXPECTED = (1003, 21075, 6075)
    """What upstream does with it: cycles, admissions, preemptions."""

    def __init__(self, share: float) -> None:
        self.quota = Quota(Rules())
        self.runs_for: dict[str, int] = {}
        self.arrivals: list[tuple[int, int, Workload]] = []
        self.quota.cache.put_flavor(ResourceFlavor(metadata=ObjectMeta(name="rf")))
        for cohort in range(5):
            for index in range(6):
                self._queue(f"cq-{index}-{cohort}", f"cohort-{cohort}", share)
        self.arrivals.sort(key=lambda arrival: arrival[:2])
        self.cycles = self.admissions = self.preemptions = 0
        self.cpu = self.other_cpu = 0.0

    def _queue(self, name: str, cohort: str, share: float) -> None:
        documents = [
            cluster_queue(name, cohort, 20),
            kueue("LocalQueue", "lq", {"clusterQueue": name}, namespace=name),
        ]
        documents[0]["spec"]["resourceGroups"] = quota_group("rf", 20, borrowingLimit="100")
        queue, local = decode_all(documents)
        assert isinstance(queue, ClusterQueue)
        assert isinstance(local, LocalQueue)
        self.quota.put_namespace(name, {})
        self.quota.put_cluster_queue(queue, NOW)
        self.quota.put_local_queue(local, NOW)
        for kind, count, interval, runs_for, priority, cpu in self.CLASSES:
            (template,) = decode_all([workload("template", "", priority, cpu, NOW)])
            assert isinstance(template, Workload)
            spec = replace(template.spec, queue_name="lq")
            for k in range(max(1, round(count * share))):
                meta = ObjectMeta(name=f"{kind}-{k}", namespace=name, uid=f"{len(self.arrivals):06d}")
                self.runs_for[f"{name}/{kind}-{k}"] = runs_for
                self.arrivals.append(
                    ((k + 1) * interval, len(self.arrivals), Workload(metadata=meta, spec=spec))
                )

    def run(self) -> None:
        """Cycles are timed by themselves, as upstream's were; everything around them is counted apart."""
        waiting, left = deque(self.arrivals), len(self.arrivals)
        finishing: list[tuple[int, str, int]] = []
        turns: dict[str, int] = {}
        clock = 0
        while left:
            clock += 10
            now = NOW + timedelta(milliseconds=clock)
            begin = time.process_time()
            while waiting and waiting[0][0] <= clock:
                new = waiting.popleft()[-1]
                self.quota.put_workload(
                    replace(new, metadata=replace(new.metadata, creation_timestamp=now)), now
                )
            while finishing and finishing[0][0] <= clock:
                _, key, turn = heappop(finishing)
                if turns[key] == turn:
                    self.quota.drop_workload(key, now)
                    left -= 1
            ready = self.quota.has_heads()
            self.other_cpu += time.process_time() - begin
            if not ready:
                continue
            begin = time.process_time()
            outcome = cycle(self.quota, now)
            self.cpu += time.process_time() - begin
            self._count(len(outcome.reserved), len(outcome.evicted))
            begin = time.process_time()
            for each in outcome.reserved:
                key = each.info.key
                turns[key] = turns.get(key, 0) + 1
                heappush(finishing, (clock + self.runs_for[key], key, turns[key]))
            for gone in outcome.evicted:
                turns[gone.victim.info.key] += 1
                self.quota.put_workload(release(gone.workload, now), now)
            self.other_cpu += time.process_time() - begin

    def _count(self, admissions: int, preemptions: int) -> None:
        self.cycles += 1
        self.admissions += admissions
        self.preemptions += preemptions


def baseline(share: float) -> bool:
    """Whether the decisions are upstream's (only the whole load can tell)."""
    load_ = Baseline(share)
    load_.run()
    counted = (load_.cycles, load_.admissions, load_.preemptions)
    print(
        f"\nupstream's baseline load, {len(load_.arrivals):,} workloads: {counted[0]:,} cycles, "
        f"{counted[1]:,} admissions, ",
        end="",
    )
    print(f"{counted[2]:,} preemptions; {load_.cpu:.2f} s in cycles, {load_.other_cpu:.2f} s between them")
    print(f"{load_.admissions / load_.cpu:,.0f} admissions a second of cycle time (Go code: 1,300 to 1,600)")
    if share == 1:
        print(
            "the same decisions as upstream"
            if counted == Baseline.EXPECTED
            else f"DIFFERENT: {Baseline.EXPECTED}"
        )
    return share != 1 or counted == Baseline.EXPECTED


def main() -> int:
    quick = "--quick" in sys.argv[1:]
    gc.collect()
    gc.freeze()
    decisions((100, 1000) if quick else (100, 1000, 10000))
    return 0 if baseline(0.1 if quick else 1) else 1


if __name__ == "__main__":
    sys.exit(main())
