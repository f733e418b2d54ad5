"""The pieces of the search, each by itself on a problem small enough to see its answer."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.first_answer import first_answer
from reprieve.preemption.minimal.optimality import relaxed_bound
from reprieve.preemption.minimal.options import NodeOptions
from reprieve.preemption.minimal.problem import Answer, Problem
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.whole_groups import groups_to_go
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.preemption_minimal.test_first_answer import full_nodes
from tests.scale import examples

PLENTY = 10**6


def everyone(problem: Problem) -> np.ndarray:
    return np.ones(problem.units, np.bool_)


@examples(200, least=60)
@given(
    sizes=st.lists(st.integers(2, 4), max_size=4),
    singles=st.integers(0, 4),
    need=st.integers(1, 6),
    data=st.data(),
)
def test_the_groups_that_leave_are_the_cheapest_choice(
    sizes: list[int], singles: int, need: int, data: st.DataObject
) -> None:
    """Each group frees as many nodes as it has pods; the pods on their own free one node each."""
    units = len(sizes) + singles
    weight = np.array(data.draw(st.lists(st.integers(1, 9), min_size=units, max_size=units)), np.int64)
    problem = replace(full_nodes([*sizes, *[1] * singles], need), weight=weight)
    spans = np.arange(units) < len(sizes)
    cost = np.full((problem.nodes, need + 1), INFINITE)
    cost[:, 0] = 0
    alone = ~spans[problem.pod_unit]
    cost[problem.pod_node[alone], 1] = weight[problem.pod_unit[alone]]

    def total(groups: tuple[int, ...]) -> int:
        left = max(0, need - sum(sizes[each] for each in groups))
        rest = sorted(weight[len(sizes) :].tolist())
        return sum(weight[list(groups)].tolist()) + (INFINITE if left > len(rest) else sum(rest[:left]))

    ways = [each for n in range(len(sizes) + 1) for each in combinations(range(len(sizes)), n)]
    chosen = groups_to_go(problem, spans, np.zeros(units, np.bool_), cost)
    assert len(set(chosen)) == len(chosen)
    if min(map(total, ways)) < INFINITE:
        assert total(tuple(chosen)) == min(map(total, ways))


def two_classes() -> Problem:
    """A small and a large pod, and three full nodes."""
    problem = full_nodes([1, 1, 1], 2)
    return replace(
        problem,
        requests=np.array([[2], [4]]),
        counts=np.array([1, 1]),
        most=np.ones((2, 3), np.int64),
        pod_bars=np.zeros((3, 2), np.bool_),
    )


def test_a_first_answer_places_pods_of_every_class() -> None:
    problem = two_classes()
    found = first_answer(problem, everyone(problem), INFINITE, WorkLimit(PLENTY))
    assert found.answer is not None
    assert found.answer.placed.sum(axis=1).tolist() == [1, 1]
    assert found.cost == 4


def test_a_bound_does_not_rule_out_nodes_that_are_just_enough() -> None:
    problem = full_nodes([1, 1, 1], 3)
    assert relaxed_bound(problem, everyone(problem)) == 6
    one_less = np.array([True, True, False])
    assert relaxed_bound(problem, one_less) == INFINITE


def test_an_answer_keeps_apart_what_cannot_share_a_node() -> None:
    problem = replace(two_classes(), requests=np.array([[2], [2]]), apart=((0, 1),))
    units = frozenset({0, 1})
    first, second = sorted(problem.pod_node[:2].tolist())
    placed = np.zeros((2, 3), np.int64)
    placed[0, first] = placed[1, second] = 1
    assert not Answer(units, placed).fault(problem)
    placed[1, second], placed[1, first] = 0, 1
    assert Answer(units, placed).fault(problem)


def test_a_pod_that_stays_keeps_others_off_its_node() -> None:
    """The pod of unit 0 bars its node; where it may not be evicted the node offers nothing."""
    problem = full_nodes([1, 1], 1)
    problem = replace(problem, pod_requests=np.array([[4], [4]]), free=np.array([[4], [4]]))
    problem = replace(problem, pod_bars=np.array([[True], [False]]))
    barred = int(problem.pod_node[0])
    for leaves, offered in ((True, 1), (False, 0)):
        options = NodeOptions(problem, np.array([leaves, True]), WorkLimit(PLENTY))
        assert len(options.options(barred, INFINITE)) == offered
        assert len(options.options(1 - barred, INFINITE)) == 1


def test_a_step_that_is_left_can_be_used() -> None:
    work = WorkLimit(1)
    assert not work.spent
    work.take(1)
    assert work.spent


def test_a_search_without_time_looks_at_no_node() -> None:
    work = WorkLimit(0)
    found = search(full_nodes([1] * 20, 2), work)
    assert found.answer is None
    assert work.left == 0
    assert not found.proven


@pytest.mark.parametrize("allowed", [1, 2])
def test_what_a_budget_allows_is_counted_pod_by_pod(allowed: int) -> None:
    """Two pods under a budget are cheap, the third is not: it takes the place of what goes beyond."""
    problem = replace(
        full_nodes([1, 1, 1], 2),
        weight=np.array([2, 3, 100]),
        uses=np.array([[1], [1], [0]]),
        allowed=np.array([allowed]),
    )
    found = search(problem, WorkLimit(PLENTY))
    assert found.answer is not None
    assert found.answer.units == ({0, 1} if allowed == 2 else {0, 2})
    assert found.proven
