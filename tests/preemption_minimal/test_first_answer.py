"""The first answer of a large problem: quick, and never one that does not hold."""

import numpy as np
import pytest
from hypothesis import given

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.first_answer import first_answer
from reprieve.preemption.minimal.problem import Problem
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.preemption_minimal.instances import problems
from tests.preemption_minimal.milp import Program
from tests.reached import enough
from tests.scale import examples


def full_nodes(sizes: list[int], need: int) -> Problem:
    """One pod on every node, each as large as the pods that wait; the pods of a unit of size n are on n
    nodes.
    """
    pods = sum(sizes)
    unit = np.repeat(np.arange(len(sizes)), sizes)
    return Problem(
        free=np.zeros((pods, 1), np.int64),
        requests=np.array([[4]]),
        counts=np.array([need]),
        most=np.full((1, pods), need),
        need=need,
        priority=np.zeros(len(sizes), np.int64),
        weight=1 + np.array(sizes),  # one for the unit, one for each pod
        spent=np.zeros(len(sizes), np.int64),
        uses=np.zeros((len(sizes), 0), np.int64),
        allowed=np.zeros(0, np.int64),
        pod_unit=unit,
        pod_node=np.random.default_rng(1).permutation(pods),
        pod_requests=np.full((pods, 1), 4),
        pod_bars=np.zeros((pods, 1), np.bool_),
    )


@pytest.mark.parametrize(
    ("need", "leaving"),
    [(10, {0}), (7, {1}), (14, {0, 2}), (21, {0, 1, 2}), (1, None), (22, None)],
)
def test_whole_groups_leave_where_that_is_cheapest(need: int, leaving: set[int] | None) -> None:
    """Groups of 10, 7 and 4 pods and 60 pods on their own: what a group frees costs one less for each pod but
    the first.
    """
    problem = full_nodes([10, 7, 4, *[1] * 60], need)
    found = first_answer(problem, np.ones(problem.units, np.bool_), INFINITE, WorkLimit(10**6))
    assert found.answer is not None
    assert found.answer.fault(problem) == ""
    best = Program(problem).optimum()
    assert best is not None
    assert found.cost == best.weight
    if leaving is not None:
        assert found.answer.units == leaving


def test_a_draft_holds_and_is_no_cheaper_than_the_optimum() -> None:
    answered: list[bool] = []

    @examples(60, least=60)
    @given(problems(nodes=5))
    def holds(problem: Problem) -> None:
        best = Program(problem).optimum()
        found = first_answer(problem, np.ones(problem.units, np.bool_), INFINITE, WorkLimit(10**6))
        answered.append(found.answer is not None)
        if found.answer is None:
            return
        assert found.answer.fault(problem) == ""
        assert best is not None
        assert problem.score(found.answer.units) >= best

    holds()
    enough(sum(answered), of=len(answered), least_share=0.03, what="drafts")
