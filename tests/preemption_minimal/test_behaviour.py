"""What `minimal-cost` does that the other algorithms do not, one cluster at a time."""

import importlib
from typing import Any

import pytest

import reprieve
from reprieve.cli.output import console
from reprieve.cli.plan_compare import render_comparison
from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects.decode import decode_all
from reprieve.objects.times import parse_time
from reprieve.preemption import decide
from reprieve.whatif.compare import compare
from tests.preemption_minimal.manifests import NOW, Manifest, budget, gang, group, node, pod

GANG = "PodGroup/default/gang"


def plan(objects: list[Manifest], for_: str = GANG, **preemption: Any) -> Any:
    config = {"preemption": {"algorithm": "minimal-cost", **preemption}}
    return reprieve.plan(objects, for_, config=config, now=NOW)


def victims(answer: Any) -> list[str]:
    return sorted(victim.pod.removeprefix("default/") for victim in answer.victims)


def test_pods_beyond_the_minimum_cost_nobody_anything() -> None:
    objects = [node("a"), node("b"), pod("x", "a", 4), pod("y", "b", 4), *gang(2, minimum=1, cpu=4)]
    answer = plan(objects)
    assert len(answer.victims) == 1
    assert len(answer.placements) == 1


def test_a_switch_restores_placing_all_pods_at_once() -> None:
    objects = [node("a"), node("b"), pod("x", "a", 4), pod("y", "b", 4), *gang(2, minimum=1, cpu=4)]
    answer = plan(objects, placeBeyondMinCount=True)
    assert victims(answer) == ["x", "y"]
    assert len(answer.placements) == 2


def test_pods_beyond_the_minimum_take_room_that_the_victims_leave_over() -> None:
    answer = plan([node("a"), pod("x", "a", 4), *gang(2, minimum=1, cpu=2)])
    assert victims(answer) == ["x"]
    assert len(answer.placements) == 2


def test_pods_beyond_the_minimum_follow_the_others_to_a_cheaper_place() -> None:
    """`kep-5710` would take young pods; the old one is a single victim, and its room is enough for both."""
    objects = [
        node("a"),
        node("b"),
        *(pod(f"young-{i}", "a", 1, start="2026-06-01T11:00:00Z") for i in range(4)),
        pod("old", "b", 4),
        *gang(2, minimum=1, cpu=2),
    ]
    answer = plan(objects)
    assert victims(answer) == ["old"]
    assert set(answer.placements.values()) == {"b"}
    assert len(answer.placements) == 2


def test_free_room_is_used_before_anybody_makes_way() -> None:
    objects = [node("a", 4), node("b", 4), pod("x", "a", 2), pod("y", "b", 4), *gang(2, minimum=2, cpu=2)]
    answer = plan(objects)
    assert victims(answer) == ["x"]


def test_pods_that_are_terminating_already_are_preferred_to_new_victims() -> None:
    objects = [node("a"), node("b"), pod("x", "a", 4), pod("y", "b", 4, terminating=True), *gang(1, 1, cpu=4)]
    answer = plan(objects)
    assert victims(answer) == ["y"]
    assert answer.cost.pods == 0
    assert answer.cost.total == 0


def test_a_group_in_mode_all_counts_once_wherever_its_pods_run() -> None:
    objects = [
        *(node(name, 2) for name in ("a", "b")),
        group("pair", mode="all"),
        *(pod(f"pair-{name}", name, 2, group="pair") for name in ("a", "b")),
        *gang(2, minimum=2, cpu=2),
    ]
    answer = plan(objects)
    assert victims(answer) == ["pair-a", "pair-b"]
    assert (answer.cost.units, answer.cost.pods) == (1, 2)


def test_one_pod_is_evicted_rather_than_a_group_of_three() -> None:
    objects = [
        *(node(name, 2) for name in ("a", "b", "c")),
        node("d", 2),
        group("trio", mode="all"),
        *(pod(f"trio-{name}", name, 2, group="trio") for name in ("a", "b", "c")),
        pod("alone", "d", 2),
        pod("urgent", cpu=2, priority=1000),
    ]
    assert victims(plan(objects, "Pod/default/urgent")) == ["alone"]


def test_budgets_are_counted_for_the_victims_alone() -> None:
    objects = [
        node("a"),
        node("b"),
        *(pod(f"a{i}", "a", 2, labels={"app": "guarded"}) for i in range(2)),
        *(pod(f"b{i}", "b", 2, labels={"app": "guarded"}) for i in range(2)),
        budget("two", 2, app="guarded"),
        *gang(2, minimum=2, cpu=2),
    ]
    answer = plan(objects)
    assert answer.pdb_violations == 0
    assert len(answer.victims) == 2


def test_a_budget_is_worth_more_than_a_low_priority() -> None:
    objects = [
        node("a"),
        node("b"),
        pod("low", "a", 4, labels={"app": "guarded"}),
        pod("high", "b", 4, priority=100),
        budget("none", 0, app="guarded"),
        *gang(1, 1, cpu=4),
    ]
    assert victims(plan(objects)) == ["high"]


def test_topology_domains_are_compared_by_cost() -> None:
    zones = {"a": "one", "b": "one", "c": "two", "d": "two"}
    objects = [
        *(node(name, 4, zone=zone) for name, zone in zones.items()),
        *(pod(f"big-{name}", name, 4, priority=10) for name in ("a", "b")),
        pod("small-c", "c", 4),
        pod("small-d", "d", 4),
        *gang(2, minimum=2, cpu=4),
    ]
    wanted = next(each for each in objects if each["metadata"]["name"] == "gang")
    wanted["spec"]["schedulingConstraints"] = {"topology": [{"key": "zone"}]}
    assert victims(plan(objects)) == ["small-c", "small-d"]


# --- leaders and workers ------------------------------------------------------------------------------------------------------


def led(leader_cpu: int, *nodes: str) -> list[Manifest]:
    """A group in mode single with a leader on the first node and workers on the others."""
    leader = pod("leader", nodes[0], leader_cpu, group="led", annotations={"disruption-role": "leader"})
    return [group("led"), leader, *(pod(f"worker-{name}", name, 2, group="led") for name in nodes[1:])]


def test_a_worker_goes_before_its_leader() -> None:
    objects = [node("a", 2), node("b", 2), *led(2, "a", "b"), *gang(1, 1, cpu=2)]
    assert victims(plan(objects)) == ["worker-b"]


def test_evicting_a_leader_takes_the_group() -> None:
    objects = [node("a", 4), node("b", 2), node("c", 2), *led(4, "a", "b", "c"), *gang(1, 1, cpu=4)]
    answer = plan(objects)
    assert victims(answer) == ["leader", "worker-b", "worker-c"]
    assert {victim.unit for victim in answer.victims} == {"PodGroup/default/led"}
    assert answer.cost.units == 1


# --- what a victim costs ------------------------------------------------------------------------------------------------------


def two_candidates(**second: Any) -> list[Manifest]:
    return [node("a"), node("b"), pod("x", "a", 4), pod("y", "b", 4, **second), *gang(1, 1, cpu=4)]


def test_the_younger_of_two_equal_victims_loses_less_work() -> None:
    assert victims(plan(two_candidates(start="2026-06-01T11:00:00Z"))) == ["y"]
    assert victims(plan(two_candidates(start="2026-05-01T00:00:00Z"))) == ["x"]


def test_a_recent_checkpoint_makes_an_old_pod_cheap() -> None:
    old = "2026-05-01T00:00:00Z"
    annotations = {"checkpointed-at": "2026-06-01T11:30:00Z"}
    assert victims(plan(two_candidates(start=old, annotations=annotations))) == ["y"]


def test_a_checkpoint_that_cannot_be_read_never_happened() -> None:
    objects = two_candidates(start="2026-05-01T00:00:00Z", annotations={"checkpointed-at": "yesterday"})
    assert victims(plan(objects)) == ["x"]


def test_a_checkpoint_or_a_cost_of_a_group_counts_for_all_its_pods() -> None:
    """The pair is older than the two pods next door, so that without its checkpoint it would lose more work."""
    old = "2026-05-01T00:00:00Z"
    for annotations, expected in (
        ({}, ["x-0", "x-1"]),
        ({"checkpointed-at": "2026-06-01T11:30:00Z"}, ["pair-0", "pair-1"]),
        ({"checkpointed-at": "2026-06-01T11:30:00Z", "preemption-cost": "1"}, ["x-0", "x-1"]),
    ):
        pairs = [group("pair", mode="all"), group("x", mode="all")]
        pairs[0]["metadata"]["annotations"] = {f"reprieve.dev/{k}": v for k, v in annotations.items()}
        objects = [
            node("a"),
            node("b"),
            *pairs,
            *(pod(f"pair-{i}", "a", 2, group="pair", start=old) for i in range(2)),
            *(pod(f"x-{i}", "b", 2, group="x") for i in range(2)),
            *gang(1, 1, cpu=4),
        ]
        assert victims(plan(objects)) == expected, annotations


def test_a_stated_preemption_cost_is_heeded() -> None:
    young = "2026-06-01T11:59:00Z"
    assert victims(plan(two_candidates(start=young, annotations={"preemption-cost": "5"}))) == ["x"]


def test_a_pod_in_its_minimum_runtime_is_no_victim() -> None:
    young = {"start": "2026-06-01T11:00:00Z"}
    assert victims(plan(two_candidates(**young, annotations={"min-runtime": "2h"}))) == ["x"]
    assert victims(plan(two_candidates(**young, annotations={"min-runtime": "30m"}))) == ["y"]


def test_one_young_pod_protects_a_group_that_goes_as_a_whole() -> None:
    young = {"start": "2026-06-01T11:00:00Z", "annotations": {"min-runtime": "2h"}}
    objects = [
        node("a"),
        node("b"),
        group("pair", mode="all"),
        pod("pair-old", "a", 2, group="pair"),
        pod("pair-young", "a", 2, group="pair", **young),
        *(pod(f"x-{i}", "b", 1) for i in range(4)),
        *gang(1, 1, cpu=4),
    ]
    assert victims(plan(objects)) == [f"x-{i}" for i in range(4)]


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("for_", [GANG, "Pod/default/urgent"])
def test_one_young_worker_protects_its_leader(elsewhere: bool, for_: str) -> None:
    """A leader goes with its whole group, so it stays while one of them may not go: also where nothing else would help."""
    young = {"start": "2026-06-01T11:00:00Z", "annotations": {"min-runtime": "2h"}}
    objects = [
        node("a", 4),
        node("b", 2),
        group("led"),
        pod("leader", "a", 4, group="led", annotations={"disruption-role": "leader"}),
        pod("worker", "b", 2, group="led", **young),
        *([node("c", 4), *(pod(f"x-{i}", "c", 1) for i in range(4))] if elsewhere else []),
        *gang(1, 1, cpu=4),
        pod("urgent", cpu=4, priority=1000),
    ]
    answer = plan(objects, for_)
    assert "leader" not in victims(answer)
    assert answer.outcome == ("preempts" if elsewhere else "unschedulable")


def test_a_victim_that_finds_free_room_is_not_charged_for_a_cascade() -> None:
    """Both have to go by priority alone; `small` fits into the room that is free on c, `large` would displace `lowest`."""
    objects = [
        node("a", 4),
        node("b", 4),
        node("c", 4),
        pod("small", "a", 2, priority=10),
        pod("rest-a", "a", 2, priority=2000),
        pod("large", "b", 3, priority=10, memory=1),
        pod("rest-b", "b", 1, priority=2000),
        pod("lowest", "c", 2, priority=0, memory=15),
        *gang(1, 1, cpu=2, nodeSelector={"side": "left"}),
    ]
    for each in objects[:2]:
        each["metadata"]["labels"]["side"] = "left"
    answer = plan(objects, weights={"lostWork": 0})
    assert victims(answer) == ["small"]
    assert answer.cost.cascade == 0


PICKY_SHARE = (4 / 18 + 1 / 80) / 2
"""Of `picky` and `easy` below: 4 of 18 cores, 1 of 80 GiB."""


def returning(free: Manifest, **easy: Any) -> list[Manifest]:
    """`picky` may run only in zone x, where `lowest` would have to go for it; `easy` may go to the free node if that admits it."""
    small = node("small", 2, zone="x")
    return [
        node("a", 4, side="left", zone="x"),
        node("b", 4, side="left"),
        node("l", 4, zone="x"),
        small,
        free,
        pod("picky", "a", 4, priority=10, nodeSelector={"zone": "x"}),
        pod("easy", "b", 4, **{"priority": 10, **easy}),
        pod("lowest", "l", 4, priority=0),
        pod("tiny", "small", 2, priority=0),
        *gang(1, 1, cpu=4, nodeSelector={"side": "left"}),
    ]


@pytest.mark.parametrize(
    ("situation", "victim", "cascade"),
    [
        ("picky finds no room it may use, easy does", "easy", 0),
        ("easy is too important to go", "picky", PICKY_SHARE),
        ("picky may not displace anybody who is as important", "picky", 0),
        ("only a node that is too small for picky runs somebody lower", "picky", 0),
        ("the free node is tainted: easy finds no room either, and is younger", "easy", PICKY_SHARE),
        ("the free node is cordoned", "easy", PICKY_SHARE),
        ("easy tolerates the taint", "easy", 0),
    ],
)
def test_a_cascade_is_charged_by_where_the_victim_may_run(
    situation: str, victim: str, cascade: float
) -> None:
    free, young = node("free", 4), {"start": "2026-06-01T11:00:00Z"}
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    objects = returning(free)
    if victim == "picky":
        objects = returning(free, priority=20)
    if "as important" in situation:
        objects = [each for each in objects if each["metadata"]["name"] not in ("lowest", "tiny")]
        objects += [pod("equal", "l", 4, priority=10)]
    if "too small" in situation:
        objects = [each for each in objects if each["metadata"]["name"] != "lowest"]
        objects += [pod("equal", "l", 4, priority=10)]
    if "tainted" in situation or "cordoned" in situation:
        free["spec"] = {"unschedulable": True} if "cordoned" in situation else {"taints": [taint]}
        objects = returning(free, **young)
    if "tolerates" in situation:
        free["spec"] = {"taints": [taint]}
        objects = returning(free, tolerations=[{"key": "k", "operator": "Exists"}])
    answer = plan(objects)
    assert victims(answer) == [victim]
    assert answer.cost.cascade == pytest.approx(cascade)


def test_the_cost_of_a_plan_can_be_added_up_from_its_json() -> None:
    objects = [
        node("a", 8),
        group("pair", mode="all"),
        *(pod(f"pair-{i}", "a", 2, group="pair", annotations={"preemption-cost": "0.5"}) for i in range(2)),
        pod("single", "a", 4),
        *gang(1, 1, cpu=8),
    ]
    weights = {
        "lostWork": 3.0,
        "restart": 2.0,
        "preemptionCost": 4.0,
        "units": 5.0,
        "pods": 7.0,
        "cascade": 1.0,
    }
    document = plan(objects, weights=weights).to_dict()
    cost = document["cost"]
    assert cost["weights"] == weights
    terms = {
        name: sum(v["cost"][name] for v in document["victims"])
        for name in ("lostWork", "restart", "preemptionCost", "cascade")
    }
    for name, value in terms.items():
        assert cost[name] == pytest.approx(value)
    units, pods = len({v["unit"] for v in document["victims"]}), len(document["victims"])
    total = 5 * units + 7 * pods + sum(weights[name] * value for name, value in terms.items())
    assert cost["total"] == pytest.approx(total)
    share = document["victims"][-1]["cost"]
    assert share["share"] == pytest.approx((4 / 8 + 1 / 16) / 2)  # of 8 cores and 16 GiB
    assert share["lostWork"] == pytest.approx(share["share"] * 12 / (24 * 365), rel=1e-4)  # half a day


def test_a_victim_that_can_stay_after_all_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that is cut short may name too many; whoever is not in the way of the places it chose stays."""
    module = importlib.import_module("reprieve.preemption.minimal.improve")
    honest = module.search

    def wasteful(problem: Any, *rest: Any) -> Any:
        found = honest(problem, *rest)
        return found._replace(answer=found.answer._replace(units=frozenset(range(problem.units))))

    monkeypatch.setattr(module, "search", wasteful)
    objects = [
        *(node(name, 4) for name in ("a", "b")),
        *(pod(f"a{i}", "a", 1, start="2026-06-01T11:00:00Z") for i in range(4)),
        pod("b0", "b", 4),
        *gang(1, 1, cpu=4),
    ]
    assert victims(plan(objects)) == ["b0"]


# --- again and again ----------------------------------------------------------------------------------------------------------


def test_a_second_preemption_counts_what_it_adds_on_the_present_state() -> None:
    """The room that the first preemption freed on `a` was taken by another pod: it is not free any more."""
    objects = [
        node("a"),
        node("b"),
        pod("latecomer", "a", 4, priority=2000),
        pod("y", "b", 4),
        *gang(1, 1, cpu=4),
    ]
    objects[-1]["status"]["nominatedNodeName"] = "a"
    answer = plan(objects)
    assert victims(answer) == ["y"]
    assert answer.placements == {"default/gang-0": "b"}


def test_nothing_new_is_evicted_while_the_first_victims_are_on_their_way_out() -> None:
    objects = [node("a"), node("b"), pod("x", "a", 4, terminating=True), pod("y", "b", 4), *gang(1, 1, cpu=4)]
    assert victims(plan(objects)) == ["x"]


def test_what_the_first_preemption_evicted_is_neither_free_nor_charged_again() -> None:
    """The gang evicted four pods on `a`, which are leaving, and one on `b`, where another pod took the room.

    It needs two nodes. With `a`, only one more pod has to go; two others would be fewer pods in all.
    """
    objects = [
        *(node(name) for name in ("a", "b", "c", "d")),
        *(pod(f"leaving-{i}", "a", 1, terminating=True) for i in range(4)),
        pod("latecomer", "b", 4, priority=2000),
        *(pod(f"on-{name}", name, 4) for name in ("c", "d")),
        *gang(2, 2, cpu=4),
    ]
    for each, where in zip(objects[-2:], ("a", "b"), strict=True):
        each["status"]["nominatedNodeName"] = where
    answer = plan(objects)
    assert victims(answer) in ([f"leaving-{i}" for i in range(4)] + [last] for last in ("on-c", "on-d"))
    assert (answer.cost.units, answer.cost.pods) == (1, 1)
    assert sorted(answer.placements.values())[0] == "a"


def with_promises(objects: list[Manifest]) -> Any:
    """The plan where nominations count: room is kept for those who have one."""
    cluster = Cluster(promises=True)
    for each in decode_all(objects):
        cluster.set(each)
    config = Configuration.load({"preemption": {"algorithm": "minimal-cost"}})
    return decide(cluster, GANG, config, ticks(parse_time(NOW)))


def test_room_that_was_promised_to_somebody_as_important_is_not_used() -> None:
    """There is room on `a`, but it is kept for `other`, so somebody has to go elsewhere."""
    promised = pod("other", cpu=4, priority=1000)
    promised["status"]["nominatedNodeName"] = "a"
    answer = with_promises([node("a"), node("b"), pod("x", "b", 4), promised, *gang(1, 1, cpu=4)])
    assert victims(answer) == ["x"]
    assert answer.placements == {"default/gang-0": "b"}
    assert answer.cost.optimality == "no plan is cheaper"


def test_room_that_was_promised_to_the_gang_itself_is_used() -> None:
    """`a` was made free for the gang; of what else it needs, the old pod on `c` is less than four young ones on `b`."""
    objects = [
        *(node(name) for name in ("a", "b", "c")),
        *(pod(f"young-{i}", "b", 1, start="2026-06-01T11:00:00Z") for i in range(4)),
        pod("old", "c", 4),
        *gang(2, 2, cpu=4),
    ]
    objects[-1]["status"]["nominatedNodeName"] = "a"
    assert victims(with_promises(objects)) == ["old"]


# --- side by side -------------------------------------------------------------------------------------------------------------


def test_all_algorithms_are_compared_by_the_same_measure() -> None:
    objects = [
        *(node(name, 4) for name in ("a", "b")),
        *(pod(f"a{i}", "a", 1) for i in range(4)),
        pod("b0", "b", 4),
        *gang(1, 1, cpu=4),
    ]
    found = compare(objects, GANG, now=NOW)
    assert [each["algorithm"] for each in found["plans"]] == ["kubernetes", "kep-5710", "minimal-cost"]
    minimal = found["plans"][2]
    assert minimal["victims"] == ["Pod/default/b0"]
    assert minimal["cost"]["optimality"] == "no plan is cheaper"
    assert all(each["cost"]["total"] >= minimal["cost"]["total"] for each in found["plans"])
    assert found["cheapest"] in ("kubernetes", "kep-5710", "minimal-cost")


def test_a_gang_of_many_different_pods_is_placed_class_after_class() -> None:
    members = [pod(f"gang-{i}", cpu=1 + i % 8, memory=1 + i, priority=1000, group="gang") for i in range(16)]
    objects = [
        *(node(f"n{i}", 16, 32) for i in range(12)),
        *(pod(f"run-{i}-{j}", f"n{i}", 4, 8) for i in range(12) for j in range(4)),
        group("gang", 1000, 16),
        *members,
    ]
    answer = plan(objects)
    assert answer.outcome == "preempts"
    assert len(answer.placements) == 16
    kep = reprieve.plan(objects, GANG, config={"preemption": {"algorithm": "kep-5710"}}, now=NOW)
    assert len(answer.victims) <= len(kep.victims)


def test_a_comparison_is_drawn_with_a_column_for_each_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    objects = [node("a"), pod("x", "a", 4), *gang(1, 1, cpu=4)]
    render_comparison(console(), compare(objects, GANG, now=NOW))
    text = capsys.readouterr().out
    assert all(name in text for name in ("kubernetes", "kep-5710", "minimal-cost", "lostWork", "cascade"))
    assert "Pod/default/x" in text
    assert "no plan is cheaper" in text
