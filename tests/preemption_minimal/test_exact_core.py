"""The exact core against HiGHS on small problems."""

import numpy as np
import pytest
from hypothesis import given

from reprieve.preemption.minimal.problem import Problem
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.preemption_minimal.instances import limited, problems
from tests.preemption_minimal.milp import Program
from tests.scale import examples


@examples(300)
@given(problems())
def test_the_exact_core_finds_what_the_mixed_integer_program_proves(problem: Problem) -> None:
    found = search(problem, WorkLimit(10**7))
    best = Program(problem).optimum()
    if best is None:
        assert found.answer is None
        return
    assert found.answer is not None
    assert found.answer.fault(problem) == ""
    assert problem.score(found.answer.units) == best
    assert found.proven


@examples(200)
@given(problems())
def test_an_answer_without_one_of_its_victims_does_not_hold(problem: Problem) -> None:
    answer = search(problem, WorkLimit(10**7)).answer
    if answer is None:
        return
    for unit in answer.units:
        fewer = answer._replace(units=answer.units - {unit})
        assert problem.weight[unit] == 0 or fewer.fault(problem), unit


@examples(120)
@given(problems(nodes=12, pods_per_node=4, gang=9))
def test_looking_closely_at_few_nodes_finds_what_looking_at_all_finds(problem: Problem) -> None:
    with limited({"search.SMALL": 64, "search.SMALL_UNIFORM": 64}):
        whole = search(problem, WorkLimit(10**7))
    with limited({"search.SMALL": 0, "search.SMALL_UNIFORM": 0}):
        bounded = search(problem, WorkLimit(10**7))
    if bounded.answer is not None:
        assert bounded.answer.fault(problem) == ""
    if bounded.proven or problem.classes == 1:
        assert bounded.score == whole.score
    if whole.score is not None:
        assert bounded.floor is not None
        assert bounded.floor <= whole.score


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


@examples(60)
@given(problems(nodes=4, pods_per_node=7))
def test_a_coarse_comparison_of_costs_loses_no_more_than_it_says(problem: Problem) -> None:
    exact = search(problem, WorkLimit(10**7))
    with limited({"frontier.CROWDED": 6}):
        coarse = search(problem, WorkLimit(10**7))
    if exact.score is None:
        assert coarse.score is None
        return
    assert coarse.score is not None
    assert coarse.score[:2] == exact.score[:2]
    assert coarse.score.weight >= exact.score.weight
    assert coarse.floor is not None
    assert coarse.floor <= exact.score
