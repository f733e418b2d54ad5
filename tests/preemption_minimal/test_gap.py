"""What a plan says about the optimum holds, however little of the search was done."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reprieve
from reprieve.preemption import sentences
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.optimality import relaxed_bound
from reprieve.preemption.minimal.problem import NO_PRIORITY, Problem
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.builders import Document
from tests.preemption_minimal.exhaustive import GANG, MINIMAL, cheapest_of_all, claimed
from tests.preemption_minimal.instances import limited, problems
from tests.preemption_minimal.manifests import (
    NOW,
    REQUIRED,
    ZONE,
    budget,
    full_clusters,
    gang,
    node,
    pod,
)
from tests.preemption_minimal.milp import Program
from tests.reached import enough
from tests.scale import examples
from tests.strategies.choices import Choices

SEARCHES: dict[str, tuple[int, dict[str, int]]] = {
    "to the end": (10**7, {}),
    "no work at all": (0, {}),
    "hardly begun": (400, {}),
    "half done": (3_000, {}),
    "few nodes looked at": (10**7, {"search.SMALL": 0, "search.SMALL_UNIFORM": 0}),
    "few nodes, half done": (3_000, {"search.SMALL": 0, "search.SMALL_UNIFORM": 0}),
    "class after class": (10**7, {"class_by_class.STATES": 1}),
    "few sets of victims": (10**7, {"frontier.CROWDED": 4, "frontier.LIMIT": 6}),
    "few nodes and sets": (
        10**7,
        {"search.SMALL": 0, "search.SMALL_UNIFORM": 0, "frontier.CROWDED": 4, "frontier.LIMIT": 6},
    ),
    "few combinations": (10**7, {"options.COMBINATIONS": 3}),
}


@pytest.mark.parametrize("way", SEARCHES)
def test_no_answer_undercuts_what_a_search_says_none_undercuts(way: str) -> None:
    steps, limits = SEARCHES[way]

    @examples(40)
    @given(problems(nodes=5, gang=6))
    def holds(problem: Problem) -> None:
        best = Program(problem).optimum()
        with limited(limits):
            found = search(problem, WorkLimit(steps))
        if best is None:
            assert found.answer is None
            return
        assert found.floor is not None
        assert found.floor <= best
        if found.score is not None:
            assert found.floor <= found.score
            assert found.score >= best
        if found.proven:
            assert found.score == best

    holds()


def test_the_relaxed_bound_holds_on_every_level() -> None:
    tight: list[bool] = []

    @examples(80)
    @given(problems())
    def holds(problem: Problem) -> None:
        tight.append(False)
        price, best = problem.violation_price(), Program(problem).optimum()
        for level in [NO_PRIORITY, *np.unique(problem.priority).tolist()]:
            bound = relaxed_bound(problem, problem.priority <= level)
            if best is not None and best.priority <= level:
                assert bound <= best.violations * price + best.weight, level
                tight[-1] |= level == best.priority and bound > 0
            if best is not None and level == NO_PRIORITY < best.priority and not best.violations:
                assert bound in (0, INFINITE)

    holds()
    enough(sum(tight), of=len(tight), least_share=0.05, what="bounds that say something")


# --- in plans, with all the rules that the model does not know ----------------------------------------------

RULE: Document = {"labelSelector": {"matchLabels": {"app": "gang"}}, "topologyKey": ZONE}
RULES: dict[str, Document] = {
    "spread": {"topologySpreadConstraints": [RULE | {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]},
    "apart": {"affinity": {"podAntiAffinity": {REQUIRED: [RULE]}}},
    "together": {"affinity": {"podAffinity": {REQUIRED: [RULE]}}},
}


@st.composite
def ruled(draw: st.DrawFn, rule: str) -> list[Document]:
    """A small cluster whose gang is spread, keeps apart or keeps together across nodes."""
    choices = Choices(draw)
    objects = [node(f"n{i}", 4, labels={ZONE: f"zone-{i % 2}"}) for i in range(3)]
    for i in range(3):
        sizes = choices.one_of(([4], [2, 2], [3, 1], [1, 1, 2]))
        objects += [
            pod(f"run-{i}-{j}", cpu, choices.one_of((0, 0, 10)), on=f"n{i}", labels={"app": "r"})
            for j, cpu in enumerate(sizes)
        ]
    objects += [budget("guard", 1, match={"app": "r"})] if choices.chance(50) else []
    cpu = choices.number(2, 4)
    return [*objects, *gang(2, **{"cpu": cpu, "labels": {"app": "gang"}, **RULES[rule]})]


RELAXED = sentences.no_victims_possible(relaxed=True).removeprefix(
    sentences.no_victims_possible(relaxed=False)
)


@pytest.mark.parametrize("rule", RULES)
def test_with_rules_between_nodes_the_gap_is_printed_and_true(rule: str) -> None:
    proven: list[bool] = []

    @examples(40, least=40)
    @given(ruled(rule))
    def holds(objects: list[Document]) -> None:
        proven.append(False)
        plan = reprieve.plan(objects, GANG, config=MINIMAL, now=NOW)
        best = cheapest_of_all(objects)
        if plan.outcome != "preempts":
            return
        assert best is not None
        floor = claimed(plan)
        assert floor[:2] < best[:2] or (floor[:2] == best[:2] and floor[2] <= best[2] + 1e-6)
        sure = plan.cost.optimality == sentences.CHEAPEST
        assert sure or plan.cost.optimality.endswith(RELAXED)
        proven[-1] = sure

    holds()
    enough(sum(proven), of=len(proven), least_share=0.05, what="plans that are proven to be the cheapest")


@examples(60)
@given(full_clusters())
def test_every_plan_that_evicts_somebody_says_how_far_from_the_optimum_it_can_be(
    objects: list[Document],
) -> None:
    for time in ("1ms", "200ms"):
        config = {"preemption": {"algorithm": "minimal-cost", "timeBudget": time}}
        plan = reprieve.plan(objects, GANG, config=config, now=NOW)
        if plan.victims:
            claimed(plan)
            assert any(plan.cost.optimality in reason for reason in plan.reasons)


def test_budgets_that_share_pods_are_not_counted_twice_in_what_is_claimed() -> None:
    """Each victim is under both budgets, which allow one of three each: it breaks one of them, not two."""
    objects = [
        *(node(name) for name in ("a", "b", "c")),
        *(pod(f"on-{name}", 4, on=name, labels={"app": "x", "tier": "y"}) for name in ("a", "b", "c")),
        budget("apps", 1, match={"app": "x"}),
        budget("tiers", 1, match={"tier": "y"}),
        *gang(2, 4),
    ]
    plan = reprieve.plan(objects, GANG, config=MINIMAL, now=NOW)
    assert plan.cost.budget_violations == 1
    best = cheapest_of_all(objects)
    assert best is not None
    assert claimed(plan) <= best
