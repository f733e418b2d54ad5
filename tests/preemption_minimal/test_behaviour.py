"""What `minimal-cost` does that the other algorithms do not, one cluster at a time."""

from typing import Any

import pytest

import reprieve
from reprieve.cli.layout import Screen
from reprieve.cli.plan_tables import render_comparison
from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode_all
from reprieve.objects.times import parse_time
from reprieve.preemption import Plan, decide, sentences
from reprieve.whatif import compare
from tests.builders import Document, in_one, terminating
from tests.preemption_minimal.manifests import NOW, budget, gang, node, pod, pod_group
from tests.preemption_minimal.plans import GANG, plan, victims


def test_pods_beyond_the_minimum_cost_nobody_anything() -> None:
    objects = [node("a"), node("b"), pod("x", 4, on="a"), pod("y", 4, on="b"), *gang(2, 4, minimum=1)]
    answer = plan(objects)
    assert len(answer.victims) == 1
    assert len(answer.placements) == 1


def test_a_switch_restores_placing_all_pods_at_once() -> None:
    objects = [node("a"), node("b"), pod("x", 4, on="a"), pod("y", 4, on="b"), *gang(2, 4, minimum=1)]
    answer = plan(objects, placeBeyondMinCount=True)
    assert victims(answer) == ["x", "y"]
    assert len(answer.placements) == 2


def test_pods_beyond_the_minimum_take_room_that_the_victims_leave_over() -> None:
    answer = plan([node("a"), pod("x", 4, on="a"), *gang(2, 2, minimum=1)])
    assert victims(answer) == ["x"]
    assert len(answer.placements) == 2


def test_pods_beyond_the_minimum_follow_the_others_to_a_cheaper_place() -> None:
    """`kep-5710` would take young pods; the old one is a single victim, and its room is enough for both."""
    objects = [
        node("a"),
        node("b"),
        *(pod(f"young-{i}", 1, on="a", start="2026-06-01T11:00:00Z") for i in range(4)),
        pod("old", 4, on="b"),
        *gang(2, 2, minimum=1),
    ]
    answer = plan(objects)
    assert victims(answer) == ["old"]
    assert set(answer.placements.values()) == {"b"}
    assert len(answer.placements) == 2


@pytest.mark.parametrize("cheap", ["a", "b"])
def test_a_domain_that_is_searched_later_wins_only_if_it_is_cheaper(cheap: str) -> None:
    """Every pod is under two budgets that allow one of them: what was found in one domain says nothing in the
    numbers of the other.
    """
    objects = [budget("one", 1, match={"app": "a"}), budget("two", 1, match={"app": "a"})]
    for name in "ab":
        start = "2026-06-01T11:00:00Z" if name == cheap else "2026-05-01T00:00:00Z"
        objects.append(node(name, labels={"rack": name}))
        objects += [pod(f"{name}-{i}", 2, on=name, start=start) for i in range(2)]
    answer = plan([*objects, *gang(1, 2, labels={"app": "gang"}, group=in_one("rack"))])
    assert [name[0] for name in victims(answer)] == [cheap]


PORT = [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]


@pytest.mark.parametrize("priority", [0, 5000])
def test_a_pod_with_the_same_host_port_makes_way_or_keeps_its_node(priority: int) -> None:
    """Both nodes have room for the gang's pod; on `a` another one has its port. On `b` everybody is older."""
    objects = [
        node("a"), pod("x", on="a", priority=priority, start="2026-06-01T11:00:00Z", containers=PORT),
        node("b"), pod("y", on="b", start="2026-05-01T00:00:00Z", containers=PORT), *gang(1, containers=PORT),
    ]  # fmt: skip
    assert victims(plan(objects)) == (["x"] if priority == 0 else ["y"])


def test_free_room_is_used_before_anybody_makes_way() -> None:
    objects = [node("a", 4), node("b", 4), pod("x", 2, on="a"), pod("y", 4, on="b"), *gang(2, 2)]
    answer = plan(objects)
    assert victims(answer) == ["x"]


def test_pods_that_are_terminating_already_are_preferred_to_new_victims() -> None:
    objects = [node("a"), node("b"), pod("x", 4, on="a"), terminating(pod("y", 4, on="b")), *gang(1, 4)]
    answer = plan(objects)
    assert victims(answer) == ["y"]
    assert answer.cost.pods == 0
    assert answer.cost.total == 0


def test_a_group_in_mode_all_counts_once_wherever_its_pods_run() -> None:
    objects = [
        *(node(name, 2) for name in ("a", "b")),
        pod_group("pair", mode="all"),
        *(pod(f"pair-{name}", 2, on=name, group="pair") for name in ("a", "b")),
        *gang(2, 2),
    ]
    answer = plan(objects)
    assert victims(answer) == ["pair-a", "pair-b"]
    assert (answer.cost.units, answer.cost.pods) == (1, 2)


def test_one_pod_is_evicted_rather_than_a_group_of_three() -> None:
    objects = [
        *(node(name, 2) for name in ("a", "b", "c")),
        node("d", 2),
        pod_group("trio", mode="all"),
        *(pod(f"trio-{name}", 2, on=name, group="trio") for name in ("a", "b", "c")),
        pod("alone", 2, on="d"),
        pod("urgent", cpu=2, priority=1000),
    ]
    assert victims(plan(objects, "Pod/default/urgent")) == ["alone"]


def test_budgets_are_counted_for_the_victims_alone() -> None:
    objects = [
        node("a"),
        node("b"),
        *(pod(f"a{i}", 2, on="a", labels={"app": "guarded"}) for i in range(2)),
        *(pod(f"b{i}", 2, on="b", labels={"app": "guarded"}) for i in range(2)),
        budget("two", 2, match={"app": "guarded"}),
        *gang(2, 2),
    ]
    answer = plan(objects)
    assert answer.pdb_violations == 0
    assert len(answer.victims) == 2


def test_a_budget_is_worth_more_than_a_low_priority() -> None:
    objects = [
        node("a"),
        node("b"),
        pod("low", 4, on="a", labels={"app": "guarded"}),
        pod("high", 4, on="b", priority=100),
        budget("none", 0, match={"app": "guarded"}),
        *gang(1, 4),
    ]
    assert victims(plan(objects)) == ["high"]


def test_topology_domains_are_compared_by_cost() -> None:
    zones = {"a": "one", "b": "one", "c": "two", "d": "two"}
    objects = [
        *(node(name, 4, labels={"zone": zone}) for name, zone in zones.items()),
        *(pod(f"big-{name}", 4, on=name, priority=10) for name in ("a", "b")),
        pod("small-c", 4, on="c"),
        pod("small-d", 4, on="d"),
        *gang(2, 4),
    ]
    wanted = next(each for each in objects if each["metadata"]["name"] == "gang")
    wanted["spec"]["schedulingConstraints"] = {"topology": [{"key": "zone"}]}
    assert victims(plan(objects)) == ["small-c", "small-d"]


# --- leaders and workers ------------------------------------------------------------------------------------


def led(leader_cpu: int, *nodes: str) -> list[Document]:
    """A group in mode single with a leader on the first node and workers on the others."""
    leader = pod(
        "leader", leader_cpu, on=nodes[0], group="led", annotations={"reprieve.dev/disruption-role": "leader"}
    )
    return [pod_group("led"), leader, *(pod(f"worker-{name}", 2, on=name, group="led") for name in nodes[1:])]


def test_a_worker_goes_before_its_leader() -> None:
    objects = [node("a", 2), node("b", 2), *led(2, "a", "b"), *gang(1, 2)]
    assert victims(plan(objects)) == ["worker-b"]


def test_evicting_a_leader_takes_the_group() -> None:
    objects = [node("a", 4), node("b", 2), node("c", 2), *led(4, "a", "b", "c"), *gang(1, 4)]
    answer = plan(objects)
    assert victims(answer) == ["leader", "worker-b", "worker-c"]
    assert {victim.unit for victim in answer.victims} == {"PodGroup/default/led"}
    assert answer.cost.units == 1


# --- again and again ----------------------------------------------------------------------------------------


def test_a_second_preemption_counts_what_it_adds_on_the_present_state() -> None:
    """The room that the first preemption freed on `a` was taken by another pod: it is not free any more."""
    objects = [
        node("a"),
        node("b"),
        pod("latecomer", 4, on="a", priority=2000),
        pod("y", 4, on="b"),
        *gang(1, 4),
    ]
    objects[-1]["status"]["nominatedNodeName"] = "a"
    answer = plan(objects)
    assert victims(answer) == ["y"]
    assert answer.placements == {"default/gang-0": "b"}


def test_nothing_new_is_evicted_while_the_first_victims_are_on_their_way_out() -> None:
    objects = [node("a"), node("b"), terminating(pod("x", 4, on="a")), pod("y", 4, on="b"), *gang(1, 4)]
    assert victims(plan(objects)) == ["x"]


def test_what_the_first_preemption_evicted_is_neither_free_nor_charged_again() -> None:
    """The gang evicted four pods on `a`, which are leaving, and one on `b`, where another pod took the room.

    It needs two nodes. With `a`, only one more pod has to go; two others would be fewer pods in all.
    """
    objects = [
        *(node(name) for name in ("a", "b", "c", "d")),
        *(terminating(pod(f"leaving-{i}", 1, on="a")) for i in range(4)),
        pod("latecomer", 4, on="b", priority=2000),
        *(pod(f"on-{name}", 4, on=name) for name in ("c", "d")),
        *gang(2, 4),
    ]
    for each, where in zip(objects[-2:], ("a", "b"), strict=True):
        each["status"]["nominatedNodeName"] = where
    answer = plan(objects)
    assert victims(answer) in ([f"leaving-{i}" for i in range(4)] + [last] for last in ("on-c", "on-d"))
    assert (answer.cost.units, answer.cost.pods) == (1, 1)
    assert sorted(answer.placements.values())[0] == "a"


def with_nominations(objects: list[Document]) -> Any:
    """The plan in a cluster that honours nominations."""
    cluster = Cluster(honour_nominations=True)
    for each in decode_all(objects):
        cluster.set(each)
    config = Configuration.load({"preemption": {"algorithm": "minimal-cost"}})
    return decide(cluster, Reference.parse(GANG), config, ticks(parse_time(NOW)))


def test_capacity_nominated_for_an_equally_important_pod_is_not_used() -> None:
    """There is room on `a`, but it is kept for `other`, so somebody has to go elsewhere."""
    nominated = pod("other", cpu=4, priority=1000)
    nominated["status"]["nominatedNodeName"] = "a"
    answer = with_nominations([node("a"), node("b"), pod("x", 4, on="b"), nominated, *gang(1, 4)])
    assert victims(answer) == ["x"]
    assert answer.placements == {"default/gang-0": "b"}
    assert answer.cost.optimality == sentences.CHEAPEST


def test_capacity_nominated_for_the_gang_itself_is_used() -> None:
    """`a` was made free for the gang; of what else it needs, the old pod on `c` is less than four young ones
    on `b`.
    """
    objects = [
        *(node(name) for name in ("a", "b", "c")),
        *(pod(f"young-{i}", 1, on="b", start="2026-06-01T11:00:00Z") for i in range(4)),
        pod("old", 4, on="c"),
        *gang(2, 4),
    ]
    objects[-1]["status"]["nominatedNodeName"] = "a"
    assert victims(with_nominations(objects)) == ["old"]


# --- side by side -------------------------------------------------------------------------------------------


def test_all_algorithms_are_compared_by_the_same_measure() -> None:
    objects = [
        *(node(name, 4) for name in ("a", "b")),
        *(pod(f"a{i}", 1, on="a") for i in range(4)),
        pod("b0", 4, on="b"),
        *gang(1, 4),
    ]
    found = compare(objects, GANG, now=NOW)
    assert [each["algorithm"] for each in found["plans"]] == ["kubernetes", "kep-5710", "minimal-cost"]
    minimal = found["plans"][2]
    assert minimal["victims"] == ["Pod/default/b0"]
    assert minimal["cost"]["optimality"] == sentences.CHEAPEST
    assert all(each["cost"]["total"] >= minimal["cost"]["total"] for each in found["plans"])
    assert found["cheapest"] in ("kubernetes", "kep-5710", "minimal-cost")


def test_a_gang_of_many_different_pods_is_placed_class_after_class() -> None:
    members = [
        pod(f"gang-{i}", cpu=1 + i % 8, memory=f"{1 + i}Gi", priority=1000, group="gang") for i in range(16)
    ]
    objects = [
        *(node(f"n{i}", 16, memory="32Gi") for i in range(12)),
        *(pod(f"run-{i}-{j}", 4, on=f"n{i}", memory="8Gi") for i in range(12) for j in range(4)),
        pod_group("gang", priority=1000, minimum=16),
        *members,
    ]
    answer = plan(objects)
    assert answer.outcome == "preempts"
    assert len(answer.placements) == 16
    kep = reprieve.plan(objects, GANG, config={"preemption": {"algorithm": "kep-5710"}}, now=NOW)
    assert isinstance(kep, Plan)
    assert len(answer.victims) <= len(kep.victims)


def test_a_comparison_is_drawn_with_a_column_for_each_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    objects = [node("a"), pod("x", 4, on="a"), *gang(1, 4)]
    render_comparison(Screen(None), compare(objects, GANG, now=NOW))
    text = capsys.readouterr().out
    assert all(name in text for name in ("kubernetes", "kep-5710", "minimal-cost"))
    assert all(term in text for term in ("outcome", "units", "pods", "work lost", "weighted sum"))
    assert "Pod/default/x" in text
    assert sentences.CHEAPEST in text
