"""Hypothesis strategies for worlds of quota: cohorts, queues, admitted and waiting workloads, as raw
documents.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from reprieve.objects.times import format_time
from tests import builders
from tests.builders import Document, kueue

NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
RESOURCES = ("cpu", "memory")


def resource_groups(flavors: list[str], quotas: dict[tuple[str, str], Document]) -> list[Document]:
    return [
        {
            "coveredResources": list(RESOURCES),
            "flavors": [
                {"name": flavor, "resources": [{"name": r, **quotas[flavor, r]} for r in RESOURCES]}
                for flavor in flavors
            ],
        }
    ]


def workload(
    name: str, queue: int, requests: Document, count: int, priority: int, age: int, **spec: Any
) -> Document:
    """In the queue of this number since so many seconds; every pod with these requests."""
    created = format_time(NOW - timedelta(seconds=age))
    made = builders.workload(
        name,
        priority=priority,
        count=count,
        queue=f"lq{queue}",
        metadata={"uid": f"uid-{name}", "creationTimestamp": created},
        **{key: value for key, value in spec.items() if key != "minCount"},
    )
    (pod_set,) = made["spec"]["podSets"]
    pod_set |= {key: value for key, value in spec.items() if key == "minCount"}
    container = pod_set["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {name: str(amount) for name, amount in requests.items()}}
    return made


def holding(document: Document, queue: int, flavor: str, since: int, evicted: bool = False) -> Document:
    """The same workload with quota."""
    (pod_set,) = document["spec"]["podSets"]
    requests = pod_set["template"]["spec"]["containers"][0]["resources"]["requests"]
    usage = {r: str(int(n) * pod_set["count"]) for r, n in requests.items()}
    assignment = {
        "name": "main",
        "count": pod_set["count"],
        "flavors": dict.fromkeys(usage, flavor),
        "resourceUsage": usage,
    }
    time = format_time(NOW - timedelta(seconds=since))
    conditions = [{"type": "QuotaReserved", "status": "True", "reason": "Test", "lastTransitionTime": time}]
    if evicted:
        conditions.append(
            {"type": "Evicted", "status": "True", "reason": "Preempted", "lastTransitionTime": time}
        )
    status = {
        "admission": {"clusterQueue": f"cq{queue}", "podSetAssignments": [assignment]},
        "conditions": conditions,
    }
    return {**document, "status": status}


@st.composite
def limits(draw: st.DrawFn, parent: bool, most: int = 8) -> Document:
    nominal = draw(st.integers(0, most))
    quota = {"nominalQuota": str(nominal)}
    if parent and draw(st.booleans()):
        quota["borrowingLimit"] = str(draw(st.integers(0, most)))
    if parent and draw(st.booleans()):
        quota["lendingLimit"] = str(draw(st.integers(0, nominal)))
    return quota


@st.composite
def trees(draw: st.DrawFn, fair: bool = False) -> tuple[list[Document], int, list[str]]:
    """(objects, number of ClusterQueues, flavors): cohorts up to three deep, some of them only implied."""
    flavors = ["red", "blue"][: draw(st.integers(1, 2))]
    objects = [kueue("ResourceFlavor", name) for name in flavors]
    cohorts = draw(st.integers(0, 4))
    for index in range(cohorts):
        parent = f"co{draw(st.integers(0, index - 1))}" if index else ""
        spec: Document = {"parentName": parent} if parent else {}
        if draw(st.booleans()):
            quotas = {(f, r): draw(limits(bool(parent), 4)) for f in flavors for r in RESOURCES}
            spec["resourceGroups"] = resource_groups(flavors, quotas)
        if fair:
            spec["fairSharing"] = {"weight": draw(st.sampled_from(["0", "500m", "1", "3"]))}
        objects.append(kueue("Cohort", f"co{index}", spec))
    queues = draw(st.integers(1, 4))
    for index in range(queues):
        home = draw(
            st.sampled_from(["", *(f"co{i}" for i in range(cohorts))] if cohorts else ["", "implied"])
        )
        objects.append(draw(cluster_queues(index, home, flavors, fair)))
        objects.append(kueue("LocalQueue", f"lq{index}", {"clusterQueue": f"cq{index}"}, namespace="default"))
    return objects, queues, flavors


@st.composite
def cluster_queues(draw: st.DrawFn, index: int, cohort: str, flavors: list[str], fair: bool) -> Document:
    quotas = {(f, r): draw(limits(bool(cohort))) for f in flavors for r in RESOURCES}
    reclaim = draw(st.sampled_from(["Never", "LowerPriority", "Any"]))
    preemption: Document = {
        "withinClusterQueue": draw(st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
        "reclaimWithinCohort": reclaim,
    }
    if reclaim != "Never" and draw(st.booleans()):
        preemption["borrowWithinCohort"] = {"policy": "LowerPriority"}
        if draw(st.booleans()):
            preemption["borrowWithinCohort"]["maxPriorityThreshold"] = draw(st.integers(-1, 2))
    policies = st.sampled_from(["MayStopSearch", "TryNextFlavor"])
    spec: Document = {
        "namespaceSelector": {},
        "queueingStrategy": draw(st.sampled_from(["BestEffortFIFO", "StrictFIFO"])),
        "resourceGroups": resource_groups(flavors, quotas),
        "preemption": preemption,
        "flavorFungibility": {"whenCanBorrow": draw(policies), "whenCanPreempt": draw(policies)},
    }
    if cohort:
        spec["cohortName"] = cohort
    if fair:
        spec["fairSharing"] = {"weight": draw(st.sampled_from(["0", "500m", "1", "3"]))}
    return kueue("ClusterQueue", f"cq{index}", spec)


@st.composite
def requests(draw: st.DrawFn) -> Document:
    names = draw(st.sampled_from([("cpu",), ("memory",), RESOURCES]))
    return {name: draw(st.integers(1, 4)) for name in names}


@st.composite
def worlds(
    draw: st.DrawFn, fair: bool = False, held: bool = True, waiting: int = 6, gates: bool = False
) -> list[Document]:
    """A tree, workloads that hold quota in it (also more than there is) and workloads that wait."""
    objects, queues, flavors = draw(trees(fair))
    ages = draw(st.permutations(range(1, 40)))
    for index in range(draw(st.integers(0, 7)) if held else 0):
        queue = draw(st.integers(0, queues - 1))
        one = workload(
            f"a{index}",
            queue,
            draw(requests()),
            draw(st.integers(1, 2)),
            draw(st.integers(-2, 3)),
            ages[index],
        )
        evicted = draw(st.integers(0, 9)) == 0
        objects.append(holding(one, queue, draw(st.sampled_from(flavors)), ages[index] * 7 % 41, evicted))
    for index in range(draw(st.integers(1, waiting))):
        extra: Document = {}
        if gates and draw(st.booleans()):
            extra["preemptionGates"] = [{"name": "example.com/gate"}]
        count = draw(st.integers(1, 3))
        if count > 1 and draw(st.booleans()):
            extra["minCount"] = draw(st.integers(1, count - 1))
        one = workload(
            f"p{index}",
            draw(st.integers(0, queues - 1)),
            draw(requests()),
            count,
            draw(st.integers(-2, 4)),
            ages[-1 - index],
            **extra,
        )
        objects.append(one)
    return objects
