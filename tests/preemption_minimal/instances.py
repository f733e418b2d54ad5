"""Random small problems with everything the model knows: classes, bars, spans, budgets, leaders, full
nodes.
"""

from dataclasses import replace

import numpy as np

from reprieve.preemption.minimal.problem import Problem


def instance(seed: int, nodes: int = 4, pods_per_node: int = 5, gang: int = 5) -> Problem:
    rng = np.random.default_rng(seed)
    n, resources = int(rng.integers(1, nodes + 1)), int(rng.integers(1, 4))
    classes = int(rng.choice([1, 1, 2, 3]))
    pods = int(rng.integers(0, n * pods_per_node + 1))
    size = np.hstack([rng.integers(1, 9, (pods, resources)), np.ones((pods, 1), np.int64)])
    pod_node = np.sort(rng.integers(0, n, pods))
    pod_unit = _units(rng, pods)
    units = int(pod_unit.max(initial=-1)) + 1
    counts = rng.integers(1, gang + 1, classes)
    pod_counts = np.bincount(pod_unit, minlength=units)
    budgets = int(rng.choice([0, 1, 2]))
    covered = rng.integers(-1, budgets + 1, pods)  # the last one allows nothing
    uses = np.zeros((units, budgets), np.int64)
    spent = np.zeros(units, np.int64)
    for pod, budget in enumerate(covered.tolist()):
        if 0 <= budget < budgets:
            uses[pod_unit[pod], budget] += 1
        elif budget == budgets and budgets and rng.random() < 0.5:
            spent[pod_unit[pod]] += 1
    most = np.where(rng.random((classes, n)) < 0.85, counts[:, None], 0)
    if rng.random() < 0.2:
        most = np.minimum(most, 1)
    weight = 1000 + 1000 * pod_counts + rng.integers(0, 50, units) * int(rng.integers(0, 2))
    problem = Problem(
        free=np.hstack([rng.integers(-2, 7, (n, resources)), rng.integers(0, 4, (n, 1))]).astype(np.int64),
        requests=np.hstack([rng.integers(0, 9, (classes, resources)), np.ones((classes, 1), np.int64)]),
        counts=counts,
        most=most,
        need=int(rng.integers(1, counts.sum() + 1)),
        priority=rng.choice([-10, 0, 100], units),
        weight=weight,
        spent=spent,
        uses=uses,
        allowed=rng.integers(1, 4, budgets),
        pod_unit=pod_unit,
        pod_node=pod_node,
        pod_requests=size,
        pod_bars=rng.random((pods, classes)) < 0.08,
        apart=((0, 1),) if classes > 1 and rng.random() < 0.3 else (),
    )
    return _with_leader(rng, problem) if units > 3 and rng.random() < 0.25 else problem


def _units(rng: np.random.Generator, pods: int) -> np.ndarray:
    """Mostly pods on their own, some groups anywhere in the cluster."""
    groups = int(rng.integers(0, 4))
    group = np.where(rng.random(pods) < 0.4, rng.integers(0, groups + 1, pods), groups)
    label = np.where(group < groups, group, groups + np.arange(pods))
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _with_leader(rng: np.random.Generator, problem: Problem) -> Problem:
    """Make one unit the leader of some single pods: it takes them along, at the weight of the whole group."""
    single = np.flatnonzero(np.bincount(problem.pod_unit, minlength=problem.units) == 1)
    if len(single) < 3:
        return problem
    leader, *workers = rng.choice(single, 3, replace=False).tolist()
    group = [leader, *workers]
    weight, spent, uses, priority = (
        problem.weight.copy(), problem.spent.copy(), problem.uses.copy(), problem.priority.copy()
    )  # fmt: skip
    weight[leader] = problem.weight[group].sum() - 1000 * len(workers)
    spent[leader], uses[leader] = problem.spent[group].sum(), problem.uses[group].sum(axis=0)
    priority[group] = priority[leader]
    absorbs = {leader: tuple(workers)}
    return replace(problem, weight=weight, spent=spent, uses=uses, priority=priority, absorbs=absorbs)
