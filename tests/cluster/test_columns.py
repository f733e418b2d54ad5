"""Tables that grow: what is in them stays, and growing is work in proportion to what is added."""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster.columns import add_all, grown, taller
from reprieve.cluster.nodes import NodeTable
from tests.builders import node, view
from tests.effort import in_proportion


@given(st.lists(st.tuples(st.sampled_from("rc"), st.integers(1, 5)), max_size=20))
def test_whatever_grows_what_was_there_stays_and_what_is_new_is_zero(steps: list[tuple[str, int]]) -> None:
    table, written = np.zeros((1, 1), dtype=np.int64), {(0, 0): 0}
    for number, (which, more) in enumerate(steps, 1):
        rows, columns = table.shape
        table = taller(table, rows + more) if which == "r" else grown(table, columns + more)
        assert len(table) == rows + (more if which == "r" else 0)
        place = len(table) - 1, table.shape[1] - 1
        table[place] = written[place] = number
    expected = np.zeros_like(table)
    for place, number in written.items():
        expected[place] = number
    assert (table == expected).all()


def naming(count: int) -> Callable[[], object]:
    def name_them() -> None:
        table = NodeTable()
        for number in range(20):
            table.set(view(node(f"n{number}", 4)))
        for number in range(count):
            table.resource(f"example.com/r{number}")

    return name_them


def test_naming_very_many_resources_is_work_in_proportion_to_their_number() -> None:
    """A pod may name as many as fit into it: with 8,000 on a thousand nodes the scheduler stood still for
    minutes, lost its lease, and met the same pod when it started again."""
    in_proportion(naming, 100)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40),
    st.lists(st.lists(st.sampled_from((-7, 0, 0, 1, 3, 2**40, 2**60)), min_size=4, max_size=4), max_size=3),
)
def test_amounts_of_many_pods_are_added_exactly(pods: list[tuple[int, int]], rows: list[list[int]]) -> None:
    """Equal pods are multiplied, sums that a float holds are made of floats: nobody can tell."""
    amounts = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    places, kinds = np.array(pods, dtype=np.int32).reshape(len(pods), 2).T
    table = np.arange(5 * (len(rows) + 1), dtype=np.int64).reshape(len(rows) + 1, 5)
    expected = table.copy()
    for place, kind in pods:
        expected[: len(rows), place] += amounts[:, kind]
    add_all(table, places, amounts, kinds)
    assert (table == expected).all()
