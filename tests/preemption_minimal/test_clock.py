"""Somebody's clock ends a search; the answer is then no worse than the plan it started from."""

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode_all
from reprieve.preemption import decide, sentences
from tests.catalogues import read_back
from tests.preemption_minimal.manifests import gang, node, pod
from tests.preemption_minimal.plans import GANG

CHEAPEST = Configuration.load({"preemption": {"algorithm": "minimal-cost"}})


def loaded(objects):
    cluster = Cluster()
    for view in decode_all(objects):
        cluster.set(view)
    return cluster


def test_the_time_budget_ends_a_search():
    """`kep-5710` takes the young pods, four on a node; the old ones on the other nodes are fewer."""
    objects = [
        *(node(f"{side}{n}") for side in "ab" for n in range(8)),
        *(pod(f"a{n}-{i}", 1, on=f"a{n}", start="2026-06-01T11:00:00Z") for n in range(8) for i in range(4)),
        *(pod(f"b{n}", 4, on=f"b{n}") for n in range(8)),
        *gang(4, 4),
    ]
    plans = {}
    for budget in ("1ms", "200ms"):
        config = {"preemption": {"algorithm": "minimal-cost", "timeBudget": budget}}
        plans[budget] = decide(loaded(objects), Reference.parse(GANG), Configuration.load(config), 0)
    kep = decide(
        loaded(objects),
        Reference.parse(GANG),
        Configuration.load({"preemption": {"algorithm": "kep-5710"}}),
        0,
    )
    assert len(plans["200ms"].victims) == 4
    assert plans["200ms"].cost.optimality == sentences.CHEAPEST
    assert {v.pod for v in plans["1ms"].victims} == {v.pod for v in kep.victims}
    assert read_back(
        plans["1ms"].cost.optimality, sentences.at_most_from_the_optimum(1250, relaxed=False), "12.50"
    )


def test_a_search_without_time_answers_with_the_plan_it_started_from():
    objects = [
        *(node(f"n{i}") for i in range(6)),
        *(pod(f"p{i}", 4, on=f"n{i}") for i in range(6)),
        *gang(3, 4),
    ]
    calls = []
    plan = decide(
        loaded(objects),
        Reference.parse(GANG),
        CHEAPEST,
        0,
        expired=lambda: bool(calls.append(True)) or True,
    )
    assert calls, "the clock was never looked at"
    assert plan.outcome == "preempts"
    assert len(plan.victims) == 3
