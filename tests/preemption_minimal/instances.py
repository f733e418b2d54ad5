"""Small problems with everything the model knows: classes, bars, spans, budgets, leaders, full nodes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from reprieve.preemption.minimal.problem import Problem
from tests.strategies.choices import Choices


@contextmanager
def limited(limits: dict[str, int]) -> Iterator[None]:
    """With other limits of the search, by module and name, for the length of the block."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(f"reprieve.preemption.minimal.{name}", value)
        yield


@st.composite
def problems(
    draw: st.DrawFn,
    nodes: int = 4,
    pods_per_node: int = 5,
    gang: int = 5,
    classes: Sequence[int] = (1, 1, 2, 3),
) -> Problem:
    choices = Choices(draw)
    n, resources, kinds = choices.number(1, nodes), choices.number(1, 3), choices.one_of(classes)
    pods = choices.number(0, n * pods_per_node)
    pod_unit = _units(choices, pods)
    units = int(pod_unit.max(initial=-1)) + 1
    counts = np.array([choices.number(1, gang) for _ in range(kinds)])
    budgets = choices.one_of((0, 1, 2))
    uses, spent = _budgets(choices, pod_unit, units, budgets)
    most = np.where(_table(lambda: choices.chance(85), kinds, n), counts[:, None], 0)
    if choices.chance(20):
        most = np.minimum(most, 1)
    dearer = choices.number(0, 1)
    extra = np.array([choices.number(0, 49) * dearer for _ in range(units)], np.int64)
    problem = Problem(
        free=np.hstack(
            [
                _table(lambda: choices.number(-2, 6), n, resources),
                _table(lambda: choices.number(0, 3), n, 1),
            ]
        ),
        requests=_with_one(_table(lambda: choices.number(0, 8), kinds, resources)),
        counts=counts,
        most=most,
        need=choices.number(1, int(counts.sum())),
        priority=np.array([choices.one_of((-10, 0, 100)) for _ in range(units)], np.int64),
        weight=1000 + 1000 * np.bincount(pod_unit, minlength=units) + extra,
        spent=spent,
        uses=uses,
        allowed=np.array([choices.number(1, 3) for _ in range(budgets)], np.int64),
        pod_unit=pod_unit,
        pod_node=np.sort(np.array([choices.number(0, n - 1) for _ in range(pods)], np.int64)),
        pod_requests=_with_one(_table(lambda: choices.number(1, 8), pods, resources)),
        pod_bars=_table(lambda: choices.chance(8), pods, kinds).astype(np.bool_),
        apart=((0, 1),) if kinds > 1 and choices.chance(30) else (),
    )
    return _with_leader(choices, problem) if units > 3 and choices.chance(25) else problem


def _table(value: Callable[[], int], rows: int, columns: int) -> np.ndarray:
    return np.array([value() for _ in range(rows * columns)], np.int64).reshape(rows, columns)


def _with_one(amounts: np.ndarray) -> np.ndarray:
    """Every pod takes one place, besides its requests."""
    return np.hstack([amounts, np.ones((len(amounts), 1), np.int64)])


def _units(choices: Choices, pods: int) -> np.ndarray:
    """Mostly pods on their own, some groups anywhere in the cluster."""
    groups = choices.number(0, 3)
    group = [choices.number(0, groups) if choices.chance(40) else groups for _ in range(pods)]
    label = [each if each < groups else groups + number for number, each in enumerate(group)]
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _budgets(
    choices: Choices, pod_unit: np.ndarray, units: int, budgets: int
) -> tuple[np.ndarray, np.ndarray]:
    """How many pods of each unit are under each budget, and how many under one that allows nothing."""
    uses, spent = np.zeros((units, budgets), np.int64), np.zeros(units, np.int64)
    for unit in pod_unit.tolist():
        budget = choices.number(-1, budgets)
        if 0 <= budget < budgets:
            uses[unit, budget] += 1
        elif budget == budgets and budgets and choices.chance(50):
            spent[unit] += 1
    return uses, spent


def _with_leader(choices: Choices, problem: Problem) -> Problem:
    """Make one unit the leader of some single pods: it takes them along, at the weight of the whole group."""
    single = np.flatnonzero(np.bincount(problem.pod_unit, minlength=problem.units) == 1).tolist()
    if len(single) < 3:
        return problem
    leader, *workers = group = [single.pop(choices.number(0, len(single) - 1)) for _ in range(3)]
    weight, spent, uses, priority = (
        problem.weight.copy(), problem.spent.copy(), problem.uses.copy(), problem.priority.copy()
    )  # fmt: skip
    weight[leader] = problem.weight[group].sum() - 1000 * len(workers)
    spent[leader], uses[leader] = problem.spent[group].sum(), problem.uses[group].sum(axis=0)
    priority[group] = priority[leader]
    absorbs = {leader: tuple(workers)}
    return replace(problem, weight=weight, spent=spent, uses=uses, priority=priority, absorbs=absorbs)
