"""Sorting by several columns at once: the order of the keys, whatever their numbers are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.preemption.ordering import FEW, ordered
from tests.scale import examples

RANGES = (1, 2, 50, 10**6, 2**40, 2**62)
"""How far apart the numbers of a key may be: together they fit into one word, or not."""


@pytest.mark.parametrize("size", [0, 1, 2, FEW, FEW + 1, 3 * FEW])
def test_entries_are_sorted_by_the_first_key_then_the_next(size: int) -> None:
    @examples(60)
    @given(st.lists(st.sampled_from(RANGES), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
    def sorted_by(ranges: list[int], seed: int) -> None:
        random = np.random.default_rng(seed)
        keys = [random.integers(-(most // 2), most - most // 2, size) for most in ranges]
        order, same = ordered(keys)
        assert sorted(order.tolist()) == list(range(size))
        found = list(zip(*(key[order].tolist() for key in keys), strict=True))
        assert found == sorted(found)
        assert same.tolist() == [one == other for one, other in zip(found[1:], found, strict=False)]

    sorted_by()
