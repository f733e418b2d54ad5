"""What a plan says about the optimum holds, however little of the search was done."""

import os

import numpy as np
import pytest

from reprieve.preemption.minimal.meter import Meter
from reprieve.preemption.minimal.model import NOBODY
from reprieve.preemption.minimal.relaxed import relaxed_bound
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.table import INFINITE
from tests.preemption_minimal.instances import instance
from tests.preemption_minimal.milp import Program

SCALE = float(os.environ.get("REPRIEVE_TEST_SCALE", "1"))
SEARCHES = {
    "to the end": (10**7, {}),
    "no work at all": (0, {}),
    "hardly begun": (400, {}),
    "half done": (3_000, {}),
    "few nodes looked at": (10**7, {"search.SMALL": 0, "search.SMALL_UNIFORM": 0}),
    "few nodes, half done": (3_000, {"search.SMALL": 0, "search.SMALL_UNIFORM": 0}),
    "class after class": (10**7, {"stepwise.STATES": 1}),
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
    for seed in range(int(60 * SCALE)):
        problem = instance(seed, nodes=5, gang=6)
        best = Program(problem).optimum()
        with monkeypatch.context() as patch:
            for name, value in limits.items():
                patch.setattr(f"reprieve.preemption.minimal.{name}", value)
            found = search(problem, Meter(steps))
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
    for seed in range(int(150 * SCALE)):
        problem = instance(seed)
        price, best = problem.violation_price(), Program(problem).optimum()
        for level in [NOBODY, *np.unique(problem.priority).tolist()]:
            bound = relaxed_bound(problem, problem.priority <= level)
            if best is not None and best.priority <= level:
                assert bound <= best.violations * price + best.weight, (seed, level)
                tight += level == best.priority and bound > 0
            if best is not None and level == NOBODY < best.priority and not best.violations:
                assert bound in (0, INFINITE), seed
    assert tight > 40 * SCALE  # it says something
