"""The worked example of docs/minimal-cost.md: its numbers are what the code computes."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from reprieve.config import Configuration
from reprieve.objects import read_documents
from reprieve.preemption import View
from reprieve.preemption.cost import Ledger
from reprieve.preemption.minimal.branch import BranchAndBound
from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.scope import Scope
from reprieve.preemption.minimal.search import search
from reprieve.preemption.minimal.translation import Translation, translate
from reprieve.preemption.minimal.work_limit import WorkLimit
from reprieve.preemption.preemptor import find_group
from reprieve.whatif.pods import load

ROOT = Path(__file__).parents[2]
NOBODY: frozenset[int] = frozenset()


@pytest.fixture(scope="module")
def translation() -> Translation:
    cluster = load(read_documents(ROOT / "examples" / "05-least-cost" / "cluster.yaml"))
    view = View(cluster, Configuration.load(None), now=None)
    gang = find_group(view, "ml/train").gang
    return translate(view, Ledger(view), gang, Scope(gang.rows, 2, (None,), {}), ceiling=None)


def on_level(translation: Translation, level: int) -> BranchAndBound:
    problem = translation.problem
    nodes = list(range(problem.nodes))
    return BranchAndBound(problem, problem.priority <= level, nodes, INFINITE, WorkLimit(10**6))


def names(translation: Translation, units: tuple[int, ...]) -> list[str]:
    keys = translation.unit_table.view.cluster.pods.keys
    return [keys[translation.unit(unit).rows[0]].partition("/")[2] for unit in units]


def shown(translation: Translation, branch: BranchAndBound) -> Iterator[tuple[str, int, float, str]]:
    for option in branch.options:
        ((_, pods),) = option.placed
        victims = " ".join([*names(translation, option.units), *names(translation, option.spans)])
        yield "abcd"[option.node], pods, round(option.cost / translation.scale, 2), victims


def test_the_options_are_those_of_the_table(translation: Translation) -> None:
    jobs, tasks = {"a": "job-0 job-1", "b": "job-2 job-3"}, "task-0 task-1 task-2 task-3"
    found = list(shown(translation, on_level(translation, 10)))
    expected = [
        option
        for node, local, cost in (("a", jobs["a"], 2.02), ("b", jobs["b"], 2.02), ("c", tasks, 4.04))
        for option in (
            (node, 1, 0.0, "sweep-0"),
            (node, 1, cost, local),
            (node, 2, cost, f"{local} sweep-0"),
        )
    ]
    assert found == expected


def test_the_shop_would_be_cheaper_but_is_more_important(translation: Translation) -> None:
    options = list(shown(translation, on_level(translation, 500)))
    assert ("d", 2, 1.17, "shop") in options
    assert not on_level(translation, 9).options


def test_the_relaxed_bound_and_both_branches(translation: Translation) -> None:
    branch = on_level(translation, 10)
    shares = branch._shares()
    assert np.round(shares / translation.scale, 3).tolist() == [1.003] * 3
    (sweep,) = set(branch.pair_unit.tolist())
    cases = ((NOBODY, NOBODY), (frozenset({sweep}), NOBODY), (NOBODY, frozenset({sweep})))
    bounds = [branch._relax(shares, out, stay)[0] / translation.scale for out, stay in cases]
    assert [round(bound, 3) for bound in bounds] == [2.007, 3.01, 4.04]
    assert branch._relax(shares, NOBODY, NOBODY)[1] == sweep, "the unit to branch on"


def test_the_search_proves_that_evicting_the_group_is_cheapest(translation: Translation) -> None:
    found = search(translation.problem, WorkLimit(10**6))
    assert found.proven
    assert found.answer is not None
    assert names(translation, tuple(found.answer.units)) == ["sweep-0"]
    assert found.answer.placed.tolist() == [[1, 1, 0, 0]]


@pytest.mark.parametrize("file", ["docs/minimal-cost.md", "docs/images/minimal-cost.svg"])
def test_page_and_picture_show_these_numbers(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    numbers = ("1.003", "2.007", "1.17", "min(3.01, 4.04) = 3.01")
    assert [number for number in numbers if number not in text] == []
