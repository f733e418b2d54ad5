"""How long one decision takes, over the very shapes of tests/corpus/kubernetes/timings.md, and against
kube-scheduler's times there.

    python bench/decisions.py [--quick]

Ratios are CPU time against CPU time in one run; absolute numbers depend on the machine. Times are the best of
many decisions, with the median next to it where it matters. The naive reference is the one of
tests/reference. How one pod preempts under rules beyond capacity: bench/one_pod.py.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from msgspec.structs import replace

from reprieve.objects.scheduling import Mode

sys.path.insert(0, str(Path(__file__).parent.parent))  # the naive reference lives in tests/

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.core import (
    Container,
    Node,
    NodeStatus,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    SchedulingGroup,
    Taint,
)
from reprieve.objects.meta import LabelSelector, ObjectMeta
from reprieve.objects.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from reprieve.objects.scheduling import DisruptionMode, GangPolicy, PodGroup, PodGroupSpec, SchedulingPolicy
from reprieve.preemption import decide

T = TypeVar("T")
EPOCH = datetime(2026, 3, 1, tzinfo=UTC)
GATES = {"GenericWorkload": True, "GangScheduling": True, "WorkloadAwarePreemption": True}
UPSTREAM_GANG = {
    (100, 10): 0.040, (100, 100): 0.389, (100, 500): 2.32, (1000, 10): 0.371, (1000, 100): 3.84,
    (1000, 500): 25.0, (5000, 10): 2.19, (5000, 100): 21.6, (5000, 500): 147.7,
}  # fmt: skip
"""CPU seconds of kube-scheduler by (nodes, gang)."""
UPSTREAM_POD = {(1000, 10): 0.019, (1000, 30): 0.052, (5000, 10): 0.098, (5000, 30): 0.260}
"""Wall seconds by (nodes, pods a node), every node a candidate."""
TIMES = 40  # decisions about one scene: the first ones find cold caches


def config(algorithm: str) -> Configuration:
    return Configuration.load({"preemption": {"algorithm": algorithm}, "featureGates": GATES})


def container(cpu: str, memory: str) -> Container:
    return Container(
        name="c", image="i", resources=ResourceRequirements(requests={"cpu": cpu, "memory": memory})
    )


def fill(cluster: Cluster, nodes: int, pods: int, gap: bool = False) -> None:
    """Nodes of `pods` cores, each with `pods` running pods of one core and five priorities; with a gap one
    pod is left out.
    """
    small, running = container("1", "4Gi"), list[Pod]()
    for i in range(nodes):
        name = f"node-{i:05}"
        allocatable: dict[str, str | int | float] = {
            "cpu": str(pods),
            "memory": f"{4 * pods}Gi",
            "pods": "110",
        }
        meta = ObjectMeta(name=name, labels={"kubernetes.io/hostname": name})
        cluster.set(Node(metadata=meta, status=NodeStatus(allocatable=allocatable)))
        for j in range(pods - gap):
            start = EPOCH + timedelta(seconds=((pods * i + j) * 7919) % 1000003)
            running.append(
                Pod(
                    metadata=ObjectMeta(name=f"run-{i}-{j}", namespace="default", labels={"app": f"app{j}"}),
                    spec=PodSpec(node_name=name, priority=((i + j) % 5) * 10, containers=(small,)),
                    status=PodStatus(phase="Running", start_time=start),
                )
            )
    cluster.set_all(running)


def submit_gang(
    cluster: Cluster, size: int, cpu: str = "2", memory: str = "8Gi", indexed: bool = False
) -> Reference:
    """`indexed`: each pod carries a label of its own, as those of an indexed Job do."""
    policy = SchedulingPolicy(gang=GangPolicy(min_count=size))
    spec = PodGroupSpec(scheduling_policy=policy, priority=1000)
    cluster.set(PodGroup(metadata=ObjectMeta(name="gang", namespace="default"), spec=spec))
    for i in range(size):
        spec_ = PodSpec(
            priority=1000,
            scheduling_group=SchedulingGroup(pod_group_name="gang"),
            containers=(container(cpu, memory),),
        )
        labels = {"batch.kubernetes.io/job-completion-index": str(i)} if indexed else {}
        meta = ObjectMeta(name=f"gang-{i:04}", namespace="default", labels=labels)
        cluster.set(Pod(metadata=meta, spec=spec_))
    return Reference("PodGroup", "default", "gang")


def submit_pod(cluster: Cluster, cpu: str, memory: str, name: str = "pod") -> Reference:
    spec = PodSpec(priority=1000, containers=(container(cpu, memory),))
    cluster.set(Pod(metadata=ObjectMeta(name=name, namespace="default"), spec=spec))
    return Reference("Pod", "default", name)


def best(work: Callable[[], T], times: int) -> tuple[float, T]:
    """(CPU seconds of the quickest run, what it returned)."""
    found, result = timed(work, times)
    return min(found), result


def timed(work: Callable[[], T], times: int) -> tuple[list[float], T]:
    """(CPU seconds of each run, what the last one returned)."""
    found: list[float] = []
    for _ in range(times):
        started = time.process_time()
        result = work()
        found.append(time.process_time() - started)
    return found, result


def gangs(quick: bool) -> None:
    """Two columns show how time grows.

    us/pod: time for each pod the decision must look at, potential victims and gang pods together. us/more:
    what each gang pod costs beyond the smaller gang of the line before; as long as it does not grow, neither
    does the price of a potential victim that stays, nor that of a gang pod and the two victims it costs.
    """
    print("One gang preempts: ten pods a node, each gang pod costs two of them")
    columns = f"{'ms':>8}{'median':>8}{'us/pod':>8}{'us/more':>9}"
    print(
        f"{'nodes':>7}{'gang':>6}   kep-5710:{columns}   "
        f"kubernetes:{columns}{'kube-scheduler ms':>19}{'ratio':>8}"
    )
    for nodes in (100, 1000) if quick else (100, 1000, 5000):
        before: dict[str, tuple[int, float]] = {}
        for size in (10, 100, 500):
            cluster = Cluster()
            fill(cluster, nodes, 10)
            target = submit_gang(cluster, size)
            told = {}
            for algorithm in ("kep-5710", "kubernetes"):
                settings = config(algorithm)
                runs, plan = timed(lambda: decide(cluster, target, settings, 0), TIMES)  # noqa: B023
                ours = min(runs)
                assert plan.outcome == "preempts", plan
                assert len(plan.victims) == 2 * size, len(plan.victims)
                smaller, less = before.get(algorithm, (size, ours))
                more = f"{(ours - less) / (size - smaller) * 1e6:>9.1f}" if size > smaller else " " * 9
                usual = median(runs) * 1e3
                told[algorithm] = (
                    f"{ours * 1e3:>8.1f}{usual:>8.1f}{ours / (nodes * 10 + size) * 1e6:>8.2f}{more}"
                )
                before[algorithm] = (size, ours)
            theirs = UPSTREAM_GANG[nodes, size]
            print(
                f"{nodes:>7}{size:>6}{'':>12}{told['kep-5710']}{'':>14}{told['kubernetes']}"
                f"{theirs * 1e3:>19.0f}"
                f"{theirs / before['kubernetes'][1]:>7.0f}x"
            )
    cluster = Cluster()
    fill(cluster, 1000, 10)
    target, settings = submit_gang(cluster, 100, indexed=True), config("kep-5710")
    ours, _ = best(lambda: decide(cluster, target, settings, 0), TIMES)
    print(f"1000 nodes, gang of 100, each with a label of its own (kep-5710): {ours * 1e3:.1f} ms")


def pods(quick: bool) -> None:
    print("\nOne pod preempts three on any node, every node a candidate")
    print(
        f"{'nodes':>7}{'pods':>6}{'ours ms':>10}{'kube-scheduler ms':>19}{'ratio':>9}"
        f"{'with budgets ms':>17}{'with groups ms':>16}"
    )
    for nodes, each in ((1000, 10), (1000, 30)) if quick else UPSTREAM_POD:
        cluster = Cluster()
        fill(cluster, nodes, each)
        target = submit_pod(cluster, "2500m", "10Gi")
        settings = config("kubernetes")
        ours, plan = best(lambda: decide(cluster, target, settings, 0), TIMES)  # noqa: B023
        assert len(plan.victims) == 3, plan
        add_budgets(cluster)
        guarded, plan = best(lambda: decide(cluster, target, settings, 0), TIMES)  # noqa: B023
        assert len(plan.victims) == 3, plan
        assert plan.pdb_violations == 0, plan
        theirs = UPSTREAM_POD[nodes, each]
        whole = with_groups(nodes, each, settings) if each == 10 and nodes == 1000 else None
        groups = f"{whole * 1e3:>16.1f}" if whole is not None else ""
        print(
            f"{nodes:>7}{each:>6}{ours * 1e3:>10.1f}{theirs * 1e3:>19.0f}{theirs / ours:>8.0f}x"
            f"{guarded * 1e3:>17.1f}{groups}"
        )


def add_budgets(cluster: Cluster) -> None:
    """A budget for each of the first three pods of every node; they allow 0, 1 and 2 disruptions."""
    for number in range(3):
        selector = LabelSelector(match_labels={"app": f"app{number}"})
        cluster.set(
            PodDisruptionBudget(
                metadata=ObjectMeta(name=f"budget-{number}", namespace="default"),
                spec=PodDisruptionBudgetSpec(selector=selector),
                status=PodDisruptionBudgetStatus(disruptions_allowed=number),
            )
        )


def with_groups(nodes: int, each: int, settings: Configuration) -> float:
    """The same where the first pod of every node belongs to a group of ten that goes as a whole."""
    cluster = Cluster()
    fill(cluster, nodes, each)
    small = container("1", "4Gi")
    for i in range(nodes):
        name = f"group-{i // 10}"
        spec = PodGroupSpec(priority=5, disruption_mode=DisruptionMode(all=Mode()))
        if i % 10 == 0:
            cluster.set(PodGroup(metadata=ObjectMeta(name=name, namespace="default"), spec=spec))
        cluster.set(
            Pod(
                metadata=ObjectMeta(name=f"run-{i}-0", namespace="default", labels={"app": "grouped"}),
                spec=PodSpec(
                    node_name=f"node-{i:05}",
                    priority=5,
                    scheduling_group=SchedulingGroup(pod_group_name=name),
                    containers=(small,),
                ),
                status=PodStatus(phase="Running", start_time=EPOCH + timedelta(seconds=i)),
            )
        )
    target = submit_pod(cluster, "2500m", "10Gi")
    return best(lambda: decide(cluster, target, settings, 0), TIMES)[0]


def node_changes(quick: bool) -> None:
    """A node changes, and a pod is placed: the change must cost work for that node only."""
    nodes = 1000 if quick else 5000
    cluster = Cluster()
    fill(cluster, nodes, 10, gap=True)
    target = submit_pod(cluster, "500m", "1Gi")
    settings = config("kubernetes")
    node = cluster.nodes.objects[nodes // 2]
    assert node is not None
    numbers = iter(range(10**6))

    def labels() -> Node:
        names = {**node.metadata.labels, "turn": str(next(numbers))}
        return replace(node, metadata=replace(node.metadata, labels=names))

    def taints() -> Node:
        taint = Taint(key=f"turn-{next(numbers) % 2}", effect="NoSchedule")
        return replace(node, spec=replace(node.spec, taints=(taint,)))

    def allocatable() -> Node:
        offered = {**node.status.allocatable, "cpu": str(10 + next(numbers) % 3)}
        return replace(node, status=replace(node.status, allocatable=offered))

    def added() -> Node:
        return replace(node, metadata=replace(node.metadata, name=f"late-{next(numbers)}"))

    told = []
    for change in (labels, taints, allocatable, added):

        def change_and_place(change: Callable[[], Node] = change) -> str:
            cluster.set(change())
            return decide(cluster, target, settings, 0).outcome

        ours, outcome = best(change_and_place, 20)
        assert outcome == "scheduled"
        told.append(f"{change.__name__} {ours * 1e3:.2f}")

    def removed() -> str:
        cluster.remove(Node, f"node-{next(numbers):05}")
        return decide(cluster, target, settings, 0).outcome

    numbers = iter(range(nodes))
    ours, _ = best(removed, 20)
    print(
        f"Placement after one node's change, {nodes} nodes, ms: {', '.join(told)}, removed {ours * 1e3:.2f}"
    )


def placements(quick: bool) -> None:
    nodes = 1000 if quick else 5000
    cluster = Cluster()
    fill(cluster, nodes, 10, gap=True)
    first = submit_pod(cluster, "500m", "1Gi")
    settings = config("kubernetes")
    ours, plan = best(lambda: decide(cluster, first, settings, 0), 20)
    assert plan.outcome == "scheduled"
    print(f"\nPlain placement of a pod of a known class, {nodes} nodes: {ours * 1e3:.2f} ms")

    def place_and_bind() -> str:
        plan = decide(cluster, first, settings, 0)
        node = plan.placements["default/pod"]
        cluster.assume("default/pod", node)
        cluster.forget("default/pod")
        return node

    ours, _ = best(place_and_bind, 20)
    print(f"The same with the pod assumed and forgotten in between: {ours * 1e3:.2f} ms")
    target = submit_gang(cluster, 1000, "500m", "1Gi")
    ours, plan = best(lambda: decide(cluster, target, settings, 0), 3)
    assert len(plan.placements) == 1000
    print(f"A gang of 1,000 equal pods that fits, {nodes} nodes: {ours * 1e3:.1f} ms")


def documents(nodes: int, pods: int, size: int) -> list[dict[str, Any]]:
    """The gang's shape as manifests, for the naive reference."""
    found: list[dict[str, Any]] = []
    requests = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "4Gi"}}}]}
    wanted = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2", "memory": "8Gi"}}}]}
    for i in range(nodes):
        name = f"node-{i:05}"
        allocatable: dict[str, str | int | float] = {
            "cpu": str(pods),
            "memory": f"{4 * pods}Gi",
            "pods": "110",
        }
        found.append(_document("v1", "Node", name, status={"allocatable": allocatable}))
        for j in range(pods):
            start = (EPOCH + timedelta(seconds=((pods * i + j) * 7919) % 1000003)).isoformat()
            spec = {**requests, "nodeName": name, "priority": ((i + j) % 5) * 10}
            found.append(
                _document(
                    "v1", "Pod", f"run-{i}-{j}", spec=spec, status={"phase": "Running", "startTime": start}
                )
            )
    policy = {"schedulingPolicy": {"gang": {"minCount": size}}, "priority": 1000}
    found.append(_document("scheduling.k8s.io/v1beta1", "PodGroup", "gang", spec=policy))
    link = {"schedulingGroup": {"podGroupName": "gang"}, "priority": 1000}
    found += [_document("v1", "Pod", f"gang-{i:04}", spec={**wanted, **link}) for i in range(size)]
    return found


def _document(version: str, kind: str, name: str, **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    if kind != "Node":
        metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def naive(quick: bool) -> None:
    from tests.reference.core import plan as reference_plan

    for nodes, size in ((50, 5), (100, 10)) if quick else ((100, 10), (200, 20), (1000, 100)):
        cluster = Cluster()
        fill(cluster, nodes, 10)
        target = submit_gang(cluster, size)
        settings = config("kubernetes")
        ours, plan = best(lambda: decide(cluster, target, settings, 0), 3)  # noqa: B023
        shape = documents(nodes, 10, size)
        theirs, naive_plan = best(lambda: reference_plan(shape, str(target), "kubernetes"), 1)  # noqa: B023
        assert naive_plan["victims"] == sorted(victim.pod for victim in plan.victims)
        print(
            f"Against the naive reference, {nodes} nodes, gang of {size}: {theirs / ours:.0f}x ({theirs:.2f} "
            f"s against {ours * 1e3:.1f} ms)"
        )


def large() -> None:
    """How long loading takes: bench/loading.py."""
    cluster = Cluster()
    fill(cluster, 50_000, 10)
    target = submit_gang(cluster, 1000)
    settings = config("kep-5710")
    ours, plan = best(lambda: decide(cluster, target, settings, 0), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024
    print(
        f"\n50,000 nodes and 500,000 pods: a gang of 1,000 planned in {ours:.2f} s "
        f"({len(plan.victims)} victims), peak memory {peak:.2f} GiB"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    options = parser.parse_args()
    gangs(options.quick)
    pods(options.quick)
    placements(options.quick)
    node_changes(options.quick)
    naive(options.quick)
    if not options.quick:
        large()
