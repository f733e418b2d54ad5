"""What the feature gates switch: without them pods are preempted, and preempt, one by one."""

from typing import Any

import pytest

import reprieve
from reprieve.objects.errors import ReprieveError
from tests.preemption.planning import gang, node, plan, pod, pod_group

ALGORITHMS = pytest.mark.parametrize("algorithm", ["kep-5710", "kubernetes", "minimal-cost"])


def test_with_the_gates_off_pods_are_pods() -> None:
    full = [
        node("n", "1"),
        pod_group("g", priority=60, mode="all"),
        pod("g-0", on="n", priority=1, group="g"),
    ]
    gates = ("GenericWorkload", "GangScheduling", "WorkloadAwarePreemption", "PodGroupPreemptionPolicy")
    off: dict[str, Any] = dict.fromkeys((*gates, "TopologyAwareWorkloadScheduling"), False)
    found = plan([*full, pod("want", priority=50)], "Pod/a/want", **off)
    assert [victim.unit for victim in found.victims] == ["Pod/a/g-0"]
    with pytest.raises(ReprieveError, match="GenericWorkload"):
        plan([node("n"), *gang(1)], "PodGroup/a/gang", **off)


@ALGORITHMS
def test_without_workload_aware_preemption_the_pods_of_a_gang_preempt_one_by_one(algorithm: str) -> None:
    """Victims add up over the gang, and groups in mode all lose single pods, as before the proposal."""
    whole = [pod_group("whole", 1, priority=1, mode="all")]
    running = [pod(f"whole-{i}", "2", on=f"n{i}", priority=1, group="whole") for i in range(3)]
    objects = [*(node(f"n{i}", "2") for i in range(3)), *whole, *running, *gang(2)]
    older = plan(objects, "PodGroup/a/gang", algorithm, WorkloadAwarePreemption=False)
    assert (older.outcome, len(older.victims), len(older.placements)) == ("preempts", 2, 2)
    assert len(plan(objects, "PodGroup/a/gang", algorithm).victims) == 3, "with the gate the group goes whole"


@ALGORITHMS
def test_without_workload_aware_preemption_nobody_makes_way_for_half_a_gang(algorithm: str) -> None:
    objects = [node("n", "2"), pod("low", "2", on="n", priority=1), *gang(2)]
    found = plan(objects, "PodGroup/a/gang", algorithm, WorkloadAwarePreemption=False)
    assert (found.outcome, found.victims) == ("unschedulable", ())


def in_zones(*names: str) -> list[dict[str, Any]]:
    return [node(name, "2", labels={"zone": name[0]}) for name in names]


@ALGORITHMS
def test_without_workload_aware_preemption_a_gang_in_one_domain_preempts_one_by_one_there(
    algorithm: str,
) -> None:
    """Zone a has one node for two pods; in zone b both find one, each for a victim of its own."""
    running = [pod(f"low-{name}", "2", on=name, priority=1) for name in ("a1", "b1", "b2")]
    wanted = gang(2, cpu="2", group={"schedulingConstraints": {"topology": [{"key": "zone"}]}})
    older = plan(
        [*in_zones("a1", "b1", "b2"), *running, *wanted], "PodGroup/a/gang", algorithm,
        WorkloadAwarePreemption=False,
    )  # fmt: skip
    assert older.outcome == "preempts"
    assert sorted(older.placements.values()) == ["b1", "b2"]
    assert sorted(each.pod for each in older.victims) == ["a/low-b1", "a/low-b2"]
    few = plan(
        [*in_zones("a1", "b1"), *running[:2], *wanted], "PodGroup/a/gang", algorithm,
        WorkloadAwarePreemption=False,
    )  # fmt: skip
    assert (few.outcome, few.victims) == ("unschedulable", ()), "nobody makes way for half a gang"


def test_without_workload_aware_preemption_the_pods_own_priority_counts() -> None:
    objects = [node("n"), *gang(2)]
    objects[-1]["spec"]["priority"] = 7
    off = {"featureGates": {"WorkloadAwarePreemption": False}}
    found = reprieve.plan(objects, "PodGroup/a/gang", config=off)
    assert found.outcome == "unschedulable"
