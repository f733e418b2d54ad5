"""A pod by itself: nodes that are passed over hold nothing cheaper than what the others hold."""

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.prune import promising
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.work_limit import WorkLimit
from tests.preemption_minimal.instances import instance
from tests.preemption_minimal.milp import Program
from tests.scale import SCALE, scaled


def single_pods(count: int):
    """Random problems of one pod and many nodes."""
    seed = found = 0
    while found < count:
        problem = instance(seed, nodes=9, pods_per_node=5, gang=1)
        seed += 1
        if problem.classes == problem.need == 1 and not problem.absorbs:
            found += 1
            yield seed, problem


def test_the_cheapest_node_is_never_passed_over() -> None:
    passed_over = 0
    for seed, problem in single_pods(scaled(80)):
        best = Program(problem).optimum()
        if best is None or not best.weight:
            continue
        cost = best.violations * problem.violation_price() + best.weight
        everyone = np.ones(problem.units, np.bool_)
        nodes = promising(problem, problem.priority <= best.priority, INFINITE)
        passed_over += problem.nodes - len(nodes)
        found = search(problem, WorkLimit(10**7)).answer
        assert found is not None, seed
        assert set(np.flatnonzero(found.placed[0])) <= set(nodes.tolist()), seed
        assert not len(promising(problem, everyone, 0)), seed
        assert len(promising(problem, problem.priority <= best.priority, cost + 1)), seed
    assert passed_over > 50 * SCALE


def test_a_search_that_starts_from_a_worse_answer_finds_the_optimum() -> None:
    """The answer to start from sets the limit by which nodes are passed over."""
    for seed, problem in single_pods(scaled(40)):
        best = Program(problem).optimum()
        if best is None or not best.weight:
            continue
        start = search(problem, WorkLimit(10**7)).answer
        assert start is not None
        worse = [
            u for u in range(problem.units) if u not in start.units and problem.priority[u] <= best.priority
        ]
        dearer = start._replace(units=start.units | set(worse[:2]))
        found = search(problem, WorkLimit(10**7), dearer)
        assert found.score == best, seed
        assert found.proven, seed
