"""A pod by itself: nodes that are passed over hold nothing cheaper than what the others hold."""

import numpy as np
from hypothesis import given

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.problem import Problem
from reprieve.preemption.minimal.prune import promising
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.preemption_minimal.instances import problems
from tests.preemption_minimal.milp import Program
from tests.reached import enough
from tests.scale import examples

SINGLE_PODS = problems(nodes=9, pods_per_node=5, gang=1, classes=(1,)).filter(lambda each: not each.absorbs)
"""One pod and many nodes."""


def test_the_cheapest_node_is_never_passed_over() -> None:
    passed_over: list[bool] = []

    @examples(80)
    @given(SINGLE_PODS)
    def kept(problem: Problem) -> None:
        passed_over.append(False)
        best = Program(problem).optimum()
        if best is None or not best.weight:
            return
        cost = best.violations * problem.violation_price() + best.weight
        everyone = np.ones(problem.units, np.bool_)
        nodes = promising(problem, problem.priority <= best.priority, INFINITE)
        passed_over[-1] = len(nodes) < problem.nodes
        found = search(problem, WorkLimit(10**7)).answer
        assert found is not None
        assert set(np.flatnonzero(found.placed[0])) <= set(nodes.tolist())
        assert not len(promising(problem, everyone, 0))
        assert len(promising(problem, problem.priority <= best.priority, cost + 1))

    kept()
    enough(sum(passed_over), of=len(passed_over), least_share=0.07, what="nodes passed over")


@examples(40)
@given(SINGLE_PODS)
def test_a_search_that_starts_from_a_worse_answer_finds_the_optimum(problem: Problem) -> None:
    """The answer to start from sets the limit by which nodes are passed over."""
    best = Program(problem).optimum()
    if best is None or not best.weight:
        return
    start = search(problem, WorkLimit(10**7)).answer
    assert start is not None
    worse = [u for u in range(problem.units) if u not in start.units and problem.priority[u] <= best.priority]
    dearer = start._replace(units=start.units | set(worse[:2]))
    found = search(problem, WorkLimit(10**7), dearer)
    assert found.score == best
    assert found.proven
