"""Bounds that need no search: no answer undercuts them, whatever the problem is like."""

import numpy as np
import pytest
from hypothesis import given

from reprieve.preemption.minimal.components import component_bound
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.optimality import rough_floor
from reprieve.preemption.minimal.prices import price_bound
from reprieve.preemption.minimal.problem import Problem
from reprieve.preemption.minimal.rationing import rationed, without_budgets
from reprieve.preemption.minimal.uniform import UniformSearch
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.preemption_minimal.instances import limited, problems
from tests.preemption_minimal.milp import Program
from tests.reached import enough
from tests.scale import examples

PLENTY = 10**6


def test_no_answer_undercuts_the_prices_of_classes_and_budgets() -> None:
    tight: list[bool] = []

    @examples(80, least=60)
    @given(problems(nodes=5, gang=6, classes=(1, 2, 3)))
    def holds(problem: Problem) -> None:
        best = Program(problem).optimum()
        tight.append(False)
        if best is None:
            return
        cost = best.violations * problem.violation_price() + best.weight
        evictable = problem.priority <= best.priority
        for guess, target in ((best.weight, cost), (1, INFINITE >> 8), (10**9, cost // 2 + 1)):
            bound = price_bound(problem, evictable, guess, target)
            assert bound is None or bound <= cost
            tight[-1] |= bound is not None and bound > 0

    holds()
    enough(sum(tight), of=len(tight), least_share=0.07, what="bounds that say something")


def test_the_prices_count_a_group_whole() -> None:
    """Two kinds of pods on two nodes, and one group that holds both nodes: it is paid once, and in full."""
    problem = Problem(
        free=np.zeros((2, 1), np.int64),
        requests=np.array([[2], [1]]),
        counts=np.array([1, 1]),
        most=np.ones((2, 2), np.int64),
        need=2,
        priority=np.zeros(3, np.int64),
        weight=np.array([1000, 1000, 1500]),
        spent=np.zeros(3, np.int64),
        uses=np.zeros((3, 0), np.int64),
        allowed=np.zeros(0, np.int64),
        pod_unit=np.array([0, 1, 2, 2]),
        pod_node=np.array([0, 1, 0, 1]),
        pod_requests=np.array([[1], [1], [2], [2]]),
        pod_bars=np.zeros((4, 2), np.bool_),
    )
    assert price_bound(problem, np.ones(3, np.bool_), 1500, 1500) == pytest.approx(1500, abs=5)


def test_the_prices_know_that_half_a_group_does_not_leave() -> None:
    """Of two large and two small pods three are needed. Both nodes must be emptied for them; in shares, half
    of the group would seem to be enough.
    """
    problem = Problem(
        free=np.zeros((2, 1), np.int64),
        requests=np.array([[3], [1]]),
        counts=np.array([2, 2]),
        most=np.full((2, 2), 2),
        need=3,
        priority=np.zeros(2, np.int64),
        weight=np.array([600, 900]),
        spent=np.zeros(2, np.int64),
        uses=np.zeros((2, 0), np.int64),
        allowed=np.zeros(0, np.int64),
        pod_unit=np.array([0, 0, 1]),
        pod_node=np.array([0, 1, 0]),
        pod_requests=np.full((3, 1), 2),
        pod_bars=np.zeros((3, 2), np.bool_),
    )
    assert price_bound(problem, np.ones(2, np.bool_), 1500, 1500) == pytest.approx(1500, abs=5)


@pytest.mark.parametrize("sizes", [[4, 4, 8], [8, 4, 4], [4, 8, 4], [4, 4, 4]])
def test_the_prices_tell_nodes_of_different_sizes_apart(sizes: list[int]) -> None:
    """Everybody must leave: the large node takes two of the pods, the others one."""
    pods = sum(sizes) // 4
    problem = Problem(
        free=np.zeros((3, 1), np.int64),
        requests=np.array([[4]]),
        counts=np.array([pods]),
        most=np.full((1, 3), pods),
        need=pods,
        priority=np.zeros(3, np.int64),
        weight=np.array([100, 200, 300]),
        spent=np.zeros(3, np.int64),
        uses=np.zeros((3, 0), np.int64),
        allowed=np.zeros(0, np.int64),
        pod_unit=np.arange(3),
        pod_node=np.arange(3),
        pod_requests=np.array(sizes)[:, None],
        pod_bars=np.zeros((3, 1), np.bool_),
    )
    assert price_bound(problem, np.ones(3, np.bool_), 600, 600) == pytest.approx(600, abs=5)


def test_no_answer_undercuts_the_bound_in_whole_groups() -> None:
    tight: list[bool] = []

    @examples(400, least=100)  # few of them are bound at all
    @given(problems(nodes=5, gang=6, classes=(1,)))
    def holds(problem: Problem) -> None:
        best = Program(problem).optimum()
        tight.append(False)
        if best is None:
            return
        cost = best.violations * problem.violation_price() + best.weight
        bound = component_bound(problem, problem.priority <= best.priority, cost + 1, WorkLimit(PLENTY))
        assert bound <= cost
        tight[-1] = bound > 0

    holds()
    enough(sum(tight), of=len(tight), least_share=0.025, what="bounds that say something")


def test_no_answer_undercuts_the_rough_floor_by_which_domains_are_ranked() -> None:
    @examples(80, least=60)
    @given(problems(nodes=5, gang=6))
    def holds(problem: Problem) -> None:
        best, floor = Program(problem).optimum(), rough_floor(problem)
        if best is not None:
            assert floor is not None
            assert floor <= best

    holds()


def test_what_budgets_allow_is_shared_out_into_a_valid_answer() -> None:
    shared: list[bool] = []

    @examples(60, least=60)
    @given(problems(nodes=5, classes=(1,)))
    def holds(problem: Problem) -> None:
        shared.append(False)
        if problem.absorbs:
            return
        answer = rationed(problem, np.ones(problem.units, np.bool_), WorkLimit(PLENTY)).answer
        if answer is not None:
            shared[-1] = True
            assert answer.fault(problem) == ""

    holds()
    enough(sum(shared), of=len(shared), least_share=0.07, what="answers")


def test_a_quick_answer_is_found_wherever_there_is_one() -> None:
    """Also where nothing was looked at closely: what the picks leave open, the whole search decides."""

    @examples(60, least=40)
    @given(problems(nodes=5, classes=(1,)).filter(lambda each: not each.absorbs))
    def found(problem: Problem) -> None:
        free = without_budgets(problem)
        with limited({"uniform.ROUNDS": 0}):
            answer = UniformSearch(free, np.ones(free.units, np.bool_), INFINITE, WorkLimit(PLENTY)).quick()
        assert (answer is None) == (Program(free).optimum() is None)
        assert answer is None or not answer.fault(free)

    found()
