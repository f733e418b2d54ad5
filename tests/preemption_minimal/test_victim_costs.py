"""What a victim costs: lost work, checkpoints, stated costs, young units, cascades; and that anybody can add
it up.
"""

import importlib
from typing import Any

import numpy as np
import pytest

from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects.times import parse_time
from reprieve.preemption.cost import Ledger
from reprieve.preemption.view import View
from tests.builders import Document, views
from tests.preemption_minimal.manifests import NOW, gang, node, pod, pod_group
from tests.preemption_minimal.plans import GANG, plan, victims


def two_candidates(**second: Any) -> list[Document]:
    return [node("a"), node("b"), pod("x", 4, on="a"), pod("y", 4, on="b", **second), *gang(1, 4)]


def test_the_younger_of_two_equal_victims_loses_less_work() -> None:
    assert victims(plan(two_candidates(start="2026-06-01T11:00:00Z"))) == ["y"]
    assert victims(plan(two_candidates(start="2026-05-01T00:00:00Z"))) == ["x"]


def test_lost_work_is_counted_in_seconds() -> None:
    cluster = Cluster()
    cluster.set_all(views(node("a"), pod("x", on="a", start="2026-05-31T12:00:00Z")))
    ledger = Ledger(View(cluster, Configuration.load({}), ticks(parse_time(NOW))))
    assert ledger.seconds(np.array([0], np.int32)).tolist() == [24 * 60 * 60]


def test_a_recent_checkpoint_makes_an_old_pod_cheap() -> None:
    old = "2026-05-01T00:00:00Z"
    annotations = {"reprieve.dev/checkpointed-at": "2026-06-01T11:30:00Z"}
    assert victims(plan(two_candidates(start=old, annotations=annotations))) == ["y"]


def test_a_checkpoint_that_cannot_be_read_never_happened() -> None:
    objects = two_candidates(
        start="2026-05-01T00:00:00Z", annotations={"reprieve.dev/checkpointed-at": "yesterday"}
    )
    assert victims(plan(objects)) == ["x"]


def test_a_checkpoint_or_a_cost_of_a_group_counts_for_all_its_pods() -> None:
    """The pair is older than the two pods next door, so that without its checkpoint it would lose more
    work.
    """
    old = "2026-05-01T00:00:00Z"
    for annotations, expected in (
        ({}, ["x-0", "x-1"]),
        ({"checkpointed-at": "2026-06-01T11:30:00Z"}, ["pair-0", "pair-1"]),
        ({"checkpointed-at": "2026-06-01T11:30:00Z", "preemption-cost": "1"}, ["x-0", "x-1"]),
    ):
        pairs = [pod_group("pair", mode="all"), pod_group("x", mode="all")]
        pairs[0]["metadata"]["annotations"] = {f"reprieve.dev/{k}": v for k, v in annotations.items()}
        objects = [
            node("a"),
            node("b"),
            *pairs,
            *(pod(f"pair-{i}", 2, on="a", group="pair", start=old) for i in range(2)),
            *(pod(f"x-{i}", 2, on="b", group="x") for i in range(2)),
            *gang(1, 4),
        ]
        assert victims(plan(objects)) == expected, annotations


def test_a_stated_preemption_cost_is_heeded() -> None:
    young = "2026-06-01T11:59:00Z"
    assert victims(plan(two_candidates(start=young, annotations={"reprieve.dev/preemption-cost": "5"}))) == [
        "x"
    ]


def test_a_pod_in_its_minimum_runtime_is_no_victim() -> None:
    young: dict[str, Any] = {"start": "2026-06-01T11:00:00Z"}
    assert victims(plan(two_candidates(**young, annotations={"reprieve.dev/min-runtime": "2h"}))) == ["x"]
    assert victims(plan(two_candidates(**young, annotations={"reprieve.dev/min-runtime": "30m"}))) == ["y"]


def test_one_young_pod_protects_a_group_that_goes_as_a_whole() -> None:
    young: dict[str, Any] = {
        "start": "2026-06-01T11:00:00Z",
        "annotations": {"reprieve.dev/min-runtime": "2h"},
    }
    objects = [
        node("a"),
        node("b"),
        pod_group("pair", mode="all"),
        pod("pair-old", 2, on="a", group="pair"),
        pod("pair-young", 2, on="a", group="pair", **young),
        *(pod(f"x-{i}", 1, on="b") for i in range(4)),
        *gang(1, 4),
    ]
    assert victims(plan(objects)) == [f"x-{i}" for i in range(4)]


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("for_", [GANG, "Pod/default/urgent"])
def test_one_young_worker_protects_its_leader(elsewhere: bool, for_: str) -> None:
    """A leader goes with its whole group, so it stays while one of them may not go: also where nothing else
    would help.
    """
    young: dict[str, Any] = {
        "start": "2026-06-01T11:00:00Z",
        "annotations": {"reprieve.dev/min-runtime": "2h"},
    }
    objects = [
        node("a", 4),
        node("b", 2),
        pod_group("led"),
        pod("leader", 4, on="a", group="led", annotations={"reprieve.dev/disruption-role": "leader"}),
        pod("worker", 2, on="b", group="led", **young),
        *([node("c", 4), *(pod(f"x-{i}", 1, on="c") for i in range(4))] if elsewhere else []),
        *gang(1, 4),
        pod("urgent", cpu=4, priority=1000),
    ]
    answer = plan(objects, for_)
    assert "leader" not in victims(answer)
    assert answer.outcome == ("preempts" if elsewhere else "unschedulable")


def test_a_victim_that_finds_free_room_is_not_charged_for_a_cascade() -> None:
    """Both have to go by priority alone; `small` fits into the room that is free on c, `large` would displace
    `lowest`.
    """
    objects = [
        node("a", 4),
        node("b", 4),
        node("c", 4),
        pod("small", 2, on="a", priority=10),
        pod("rest-a", 2, on="a", priority=2000),
        pod("large", 3, on="b", priority=10, memory="1Gi"),
        pod("rest-b", 1, on="b", priority=2000),
        pod("lowest", 2, on="c", priority=0, memory="15Gi"),
        *gang(1, 2, nodeSelector={"side": "left"}),
    ]
    for each in objects[:2]:
        each["metadata"]["labels"]["side"] = "left"
    answer = plan(objects, weights={"lostWork": 0})
    assert victims(answer) == ["small"]
    assert answer.cost.cascade == 0


PICKY_SHARE = (4 / 18 + 1 / 80) / 2
"""Of `picky` and `easy` below: 4 of 18 cores, 1 of 80 GiB."""


def returning(free: Document, **easy: Any) -> list[Document]:
    """`picky` may run only in zone x, where `lowest` would have to go for it; `easy` may go to the free node
    if that admits it.
    """
    small = node("small", 2, labels={"zone": "x"})
    return [
        node("a", 4, labels={"side": "left", "zone": "x"}),
        node("b", 4, labels={"side": "left"}),
        node("l", 4, labels={"zone": "x"}),
        small,
        free,
        pod("picky", 4, on="a", priority=10, nodeSelector={"zone": "x"}),
        pod("easy", 4, on="b", **{"priority": 10, **easy}),
        pod("lowest", 4, on="l", priority=0),
        pod("tiny", 2, on="small", priority=0),
        *gang(1, 4, nodeSelector={"side": "left"}),
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
        objects += [pod("equal", 4, on="l", priority=10)]
    if "too small" in situation:
        objects = [each for each in objects if each["metadata"]["name"] != "lowest"]
        objects += [pod("equal", 4, on="l", priority=10)]
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
        pod_group("pair", mode="all"),
        *(
            pod(f"pair-{i}", 2, on="a", group="pair", annotations={"reprieve.dev/preemption-cost": "0.5"})
            for i in range(2)
        ),
        pod("single", 4, on="a"),
        *gang(1, 8),
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
    """A search that is cut short may name too many victims; those that are not in the way stay."""
    module = importlib.import_module("reprieve.preemption.minimal.decide")
    honest = module.search

    def wasteful(problem: Any, *rest: Any) -> Any:
        found = honest(problem, *rest)
        return found._replace(answer=found.answer._replace(units=frozenset(range(problem.units))))

    monkeypatch.setattr(module, "search", wasteful)
    objects = [
        *(node(name, 4) for name in ("a", "b")),
        *(pod(f"a{i}", 1, on="a", start="2026-06-01T11:00:00Z") for i in range(4)),
        pod("b0", 4, on="b"),
        *gang(1, 4),
    ]
    assert victims(plan(objects)) == ["b0"]
