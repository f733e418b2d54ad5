"""The exact core against HiGHS on random small problems."""

import numpy as np
import pytest

from reprieve.preemption.minimal.problem import Problem
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.preemption_minimal.instances import instance
from tests.preemption_minimal.milp import Program
from tests.scale import scaled

BLOCKS, EACH = 10, scaled(30)  # 2,000 instances at REPRIEVE_TEST_SCALE=6.7


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_exact_core_finds_what_the_mixed_integer_program_proves(block: int) -> None:
    for seed in range(block * EACH, (block + 1) * EACH):
        problem = instance(seed)
        found = search(problem, WorkLimit(10**7))
        best = Program(problem).optimum()
        if best is None:
            assert found.answer is None, seed
            continue
        assert found.answer is not None, seed
        assert found.answer.fault(problem) == "", seed
        assert problem.score(found.answer.units) == best, seed
        assert found.proven, seed


def test_an_answer_without_one_of_its_victims_does_not_hold() -> None:
    for seed in range(200):
        problem = instance(seed)
        answer = search(problem, WorkLimit(10**7)).answer
        if answer is None:
            continue
        for unit in answer.units:
            fewer = answer._replace(units=answer.units - {unit})
            assert problem.weight[unit] == 0 or fewer.fault(problem), (seed, unit)


def test_looking_closely_at_few_nodes_finds_what_looking_at_all_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(scaled(120)):
        problem = instance(seed, nodes=12, pods_per_node=4, gang=9)
        monkeypatch.setattr("reprieve.preemption.minimal.search.SMALL", 64)
        monkeypatch.setattr("reprieve.preemption.minimal.search.SMALL_UNIFORM", 64)
        whole = search(problem, WorkLimit(10**7))
        monkeypatch.setattr("reprieve.preemption.minimal.search.SMALL", 0)
        monkeypatch.setattr("reprieve.preemption.minimal.search.SMALL_UNIFORM", 0)
        bounded = search(problem, WorkLimit(10**7))
        if bounded.answer is not None:
            assert bounded.answer.fault(problem) == "", seed
        if bounded.proven or problem.classes == 1:
            assert bounded.score == whole.score, seed
        if whole.score is not None:
            assert bounded.floor is not None, seed
            assert bounded.floor <= whole.score, seed


def test_three_cheap_units_are_preferred_to_two_dear_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reprieve.preemption.minimal.search.SMALL_UNIFORM", 0)
    for dear in (1, 2):
        sizes = np.array([[3], [3], [2], [2], [2]])
        problem = Problem(
            free=np.zeros((1, 1), np.int64),
            requests=np.array([[6]]),
            counts=np.array([1]),
            most=np.array([[1]]),
            need=1,
            priority=np.zeros(5, np.int64),
            weight=np.array([7, 7, 2, 2, 2]),
            spent=np.array([dear - 1, dear - 1, 0, 0, 0]),
            uses=np.zeros((5, 0), np.int64),
            allowed=np.zeros(0, np.int64),
            pod_unit=np.arange(5),
            pod_node=np.zeros(5, np.int64),
            pod_requests=sizes,
            pod_bars=np.zeros((5, 1), np.bool_),
        )
        found = search(problem, WorkLimit(10**6))
        assert found.answer is not None
        assert found.answer.units == {2, 3, 4}
        assert found.proven


def test_a_coarse_comparison_of_costs_loses_no_more_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(scaled(60)):
        problem = instance(seed, nodes=4, pods_per_node=7)
        exact = search(problem, WorkLimit(10**7))
        with monkeypatch.context() as patch:
            patch.setattr("reprieve.preemption.minimal.frontier.CROWDED", 6)
            coarse = search(problem, WorkLimit(10**7))
        if exact.score is None:
            assert coarse.score is None, seed
            continue
        assert coarse.score is not None, seed
        assert coarse.score[:2] == exact.score[:2], seed
        assert coarse.score.weight >= exact.score.weight, seed
        assert coarse.floor is not None, seed
        assert coarse.floor <= exact.score, seed
