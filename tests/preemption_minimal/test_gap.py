"""What a plan says about the optimum holds, however little of the search was done."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

import reprieve
from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects.times import parse_time
from reprieve.placement import PodFilters, passes
from reprieve.preemption.cost import Ledger
from reprieve.preemption.importance import by_importance
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.optimality import relaxed_bound
from reprieve.preemption.minimal.problem import NO_PRIORITY
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.work_limit import WorkLimit
from reprieve.preemption.preemptor import find_group
from reprieve.preemption.units import Candidates, VictimUnit
from reprieve.preemption.view import View
from reprieve.preemption.violations import count_violations
from reprieve.whatif.pods import load
from tests.preemption_minimal.instances import instance
from tests.preemption_minimal.manifests import NOW, budget, gang, node, pod, random_cluster
from tests.preemption_minimal.milp import Program
from tests.scale import SCALE, scaled

SEARCHES = {
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
def test_no_answer_undercuts_what_a_search_says_none_undercuts(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, limits = SEARCHES[way]
    for seed in range(scaled(40)):
        problem = instance(seed, nodes=5, gang=6)
        best = Program(problem).optimum()
        with monkeypatch.context() as patch:
            for name, value in limits.items():
                patch.setattr(f"reprieve.preemption.minimal.{name}", value)
            found = search(problem, WorkLimit(steps))
        if best is None:
            assert found.answer is None, seed
            continue
        assert found.floor is not None, seed
        assert found.floor <= best, seed
        if found.score is not None:
            assert found.floor <= found.score, seed
            assert found.score >= best, seed
        if found.proven:
            assert found.score == best, seed


def test_the_relaxed_bound_holds_on_every_level() -> None:
    tight = 0
    for seed in range(scaled(80)):
        problem = instance(seed)
        price, best = problem.violation_price(), Program(problem).optimum()
        for level in [NO_PRIORITY, *np.unique(problem.priority).tolist()]:
            bound = relaxed_bound(problem, problem.priority <= level)
            if best is not None and best.priority <= level:
                assert bound <= best.violations * price + best.weight, (seed, level)
                tight += level == best.priority and bound > 0
            if best is not None and level == NO_PRIORITY < best.priority and not best.violations:
                assert bound in (0, INFINITE), seed
    assert tight > 20 * SCALE  # it says something


# --- in plans, with all the rules that the model does not know ----------------------------------------------

MINIMAL = Configuration.load({"preemption": {"algorithm": "minimal-cost"}})
GANG = "PodGroup/default/gang"


def ruled(seed: int) -> list[Any]:
    """A small cluster whose gang is spread, keeps apart or keeps together across nodes."""
    rng = np.random.default_rng(seed)
    rule = {"labelSelector": {"matchLabels": {"app": "gang"}}, "topologyKey": "topology/zone"}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    rules: list[dict[str, Any]] = [
        {"topologySpreadConstraints": [rule | {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]},
        {"affinity": {"podAntiAffinity": {required: [rule]}}},
        {"affinity": {"podAffinity": {required: [rule]}}},
    ]
    spec = rules[seed % 3]
    objects = [node(f"n{i}", 4, topology_zone=f"zone-{i % 2}") for i in range(3)]
    for i in range(3):
        sizes = [[4], [2, 2], [3, 1], [1, 1, 2]][int(rng.integers(4))]
        objects += [
            pod(f"run-{i}-{j}", f"n{i}", cpu, priority=int(rng.choice([0, 0, 10])), labels={"app": "r"})
            for j, cpu in enumerate(sizes)
        ]
    objects += [budget("guard", 1, app="r")] if seed % 2 else []
    return [*objects, *gang(2, 2, int(rng.integers(2, 5)), labels={"app": "gang"}, **spec)]


def price(view: View, units: list[VictimUnit]) -> tuple[int, int, float]:
    rows = np.array([row for unit in units for row in unit.rows], np.int32)
    numbers = np.repeat(np.arange(len(units)), [len(unit.rows) for unit in units])
    groups = {number: unit.group for number, unit in enumerate(units) if unit.group >= 0}
    broken = sum(count_violations(view, by_importance(view, units)).values())
    return (
        broken,
        max(unit.priority for unit in units),
        float(Ledger(view).weights(rows, numbers, groups).sum()),
    )


def fits(cluster: Cluster, rows: tuple[int, ...]) -> bool:
    """Whether all these pods find nodes, by the real filters, in whatever order."""
    if not rows:
        return True
    for slot in cluster.nodes.order.tolist():
        mark = cluster.checkpoint()
        try:
            if passes(PodFilters(cluster, rows[0], faithful=False), slot):
                cluster.attach(rows[0], slot)
                if fits(cluster, rows[1:]):
                    return True
        finally:
            cluster.rollback(mark)
    return False


def cheapest_of_all(objects: list[Any]) -> tuple[int, int, float] | None:
    """Every set of victims, cheapest first, until one makes room."""
    cluster = load(objects)
    view = View(cluster, MINIMAL, ticks(parse_time(NOW)))
    gang = find_group(view, "default/gang").gang
    candidates = Candidates(view, gang.priority)
    units = [candidates.unit(number) for number in range(len(candidates))]
    sets = [
        list(chosen) for size in range(1, len(units) + 1) for chosen in itertools.combinations(units, size)
    ]
    for cost, chosen in sorted(((price(view, chosen), chosen) for chosen in sets), key=lambda each: each[0]):
        mark = cluster.checkpoint()
        cluster.detach_all(np.array([row for unit in chosen for row in unit.rows], np.int32))
        possible = fits(cluster, gang.rows[: max(1, gang.min_count - gang.running)])
        cluster.rollback(mark)
        if possible:
            return cost
    return None


def claimed(plan: Any) -> tuple[int, int, float]:
    """What no plan undercuts, by what the plan says of itself."""
    own = plan.cost.budget_violations, plan.cost.highest_priority, plan.cost.total
    said = plan.cost.optimality
    if said == "no plan is cheaper":
        return own
    if found := re.match(r"at most ([\d.]+) % from the optimum", said):
        return (*own[:2], own[2] * (1 - float(found[1]) / 100))
    if found := re.match(r"a plan with (\d+) instead of \d+ budget violations is not ruled out", said):
        return int(found[1]), NO_PRIORITY, 0
    if found := re.match(r"a plan with no victim above priority (-?\d+) is not ruled out", said):
        return own[0], int(found[1]), 0
    assert said.startswith("a plan without victims is not ruled out"), said
    return 0, NO_PRIORITY, 0


@pytest.mark.parametrize("block", range(3))
def test_with_rules_between_nodes_the_gap_is_printed_and_true(block: int) -> None:
    proven = 0
    for seed in range(block, scaled(27, least=27), 3):
        objects = ruled(seed)
        plan = reprieve.plan(objects, GANG, config=MINIMAL, now=NOW)
        best = cheapest_of_all(objects)
        if plan.outcome != "preempts":
            continue
        assert best is not None, seed
        floor = claimed(plan)
        assert floor[:2] < best[:2] or (floor[:2] == best[:2] and floor[2] <= best[2] + 1e-6), (
            seed,
            floor,
            best,
        )
        sure = plan.cost.optimality == "no plan is cheaper"
        assert sure or plan.cost.optimality.endswith(
            "the bound leaves rules between pods on different nodes out"
        )
        proven += sure
    assert proven


def test_every_plan_that_evicts_somebody_says_how_far_from_the_optimum_it_can_be() -> None:
    for seed in range(scaled(60)):
        for time in ("1ms", "200ms"):
            config = {"preemption": {"algorithm": "minimal-cost", "timeBudget": time}}
            plan = reprieve.plan(random_cluster(seed), GANG, config=config, now=NOW)
            if plan.victims:
                claimed(plan)
                assert any(plan.cost.optimality in reason for reason in plan.reasons), seed


def test_budgets_that_share_pods_are_not_counted_twice_in_what_is_claimed() -> None:
    """Each victim is under both budgets, which allow one of three each: it breaks one of them, not two."""
    objects = [
        *(node(name) for name in ("a", "b", "c")),
        *(pod(f"on-{name}", name, 4, labels={"app": "x", "tier": "y"}) for name in ("a", "b", "c")),
        budget("apps", 1, app="x"),
        budget("tiers", 1, tier="y"),
        *gang(2, 2, cpu=4),
    ]
    plan = reprieve.plan(objects, GANG, config=MINIMAL, now=NOW)
    assert plan.cost.budget_violations == 1
    best = cheapest_of_all(objects)
    assert best is not None
    assert claimed(plan) <= best
