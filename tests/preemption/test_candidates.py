"""Potential victims in columns: their order, and who of them breaks a budget, are those of one unit after the
other.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.preemption.gangs import Gang, GangSearch
from reprieve.preemption.importance import by_importance
from reprieve.preemption.units import VictimUnit, placed_members, single_unit, whole_unit
from reprieve.preemption.view import View
from reprieve.preemption.violations import breaking, one_by_one
from reprieve.whatif.pods import load
from tests.builders import Document, budget
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import crowded_scene

BELOW = 10**6


@st.composite
def _crowds(draw: st.DrawFn) -> list[Document]:
    """Single pods and groups, under budgets that may overlap."""
    choices = Choices(draw)
    documents, _ = crowded_scene(choices)
    for number in range(choices.number(1, 3)):
        match = {"app": choices.one_of(("one", "two", "three"))}
        allowed = choices.one_of((-1, 0, 1, 5))
        documents.append(budget(f"more-{number}", allowed, match=match, namespace=choices.one_of("ab")))
    return documents


def _units(view: View) -> list[VictimUnit]:
    """One object for each unit, in the scheduler's order."""
    pods = view.cluster.pods
    rows = [row for row in pods.row_of.values() if view.placed[row] and view.priority[row] < BELOW]
    wholes = {int(view.unit[row]) for row in rows if view.whole[row]}
    singles = [row for row in rows if not view.whole[row] and pods.node[row] >= 0]
    units = [single_unit(view, row) for row in singles if not view.within_min_runtime[row]]
    members = [(group, placed_members(view, group)) for group in wholes]
    units += [
        whole_unit(view, group, rows) for group, rows in members if not view.within_min_runtime[rows].any()
    ]
    return sorted(units, key=lambda unit: int(view.position[unit.rows[0]]))


@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_units_in_columns_are_those_of_one_after_the_other(algorithm: str) -> None:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})

    @examples(80)
    @given(_crowds())
    def agree(documents: list[Document]) -> None:
        view = View(load(documents), config, 0)
        search = GangSearch(view, Gang((), BELOW, 1, 0))
        ordered = by_importance(view, _units(view))
        everyone = search.candidates.in_list_order(np.arange(len(search.candidates), dtype=np.int32))
        assert search.ordered(everyone) == ordered
        rows = [row for unit in ordered for row in unit.rows]
        broken = dict(zip(rows, one_by_one(view, rows), strict=True))
        counts = {unit.rows[0]: sum(broken[row] for row in unit.rows) for unit in ordered}
        assert search.broken == {row: count for row, count in counts.items() if count}

    agree()


@examples(150)
@given(_crowds(), st.data())
def test_budgets_charged_in_one_pass_break_for_the_same_pods(
    documents: list[Document], data: st.DataObject
) -> None:
    view = View(load(documents), Configuration(), 0)
    rows = data.draw(st.permutations(view.placed.nonzero()[0].tolist()))
    assert breaking(view, np.array(rows, np.int32)).tolist() == one_by_one(view, rows)
