"""Go's sort, imitated: always a sorted permutation, and the order it leaves equal elements in."""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.preemption.go_sort import go_order


@given(st.one_of(st.lists(st.integers(0, 3), max_size=300), st.lists(st.integers(), max_size=120)))
def test_the_result_is_a_sorted_permutation(ranks: list[int]) -> None:
    order = go_order(ranks)
    assert sorted(order) == list(range(len(ranks)))
    assert [ranks[i] for i in order] == sorted(ranks)


@given(st.lists(st.integers(0, 2), max_size=12))
def test_short_lists_are_sorted_stably(ranks: list[int]) -> None:
    assert go_order(ranks) == sorted(range(len(ranks)), key=ranks.__getitem__)


def test_long_lists_are_not() -> None:
    ranks = [i % 2 for i in range(40)]
    assert go_order(ranks) != sorted(range(40), key=ranks.__getitem__)


@given(st.integers(13, 400))
def test_a_sorted_list_stays_as_it_is_and_a_reversed_one_is_turned_round(size: int) -> None:
    assert go_order(list(range(size))) == list(range(size))
    assert go_order(list(range(size, 0, -1))) == list(range(size - 1, -1, -1))
