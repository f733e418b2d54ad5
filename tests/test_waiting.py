"""How long tests wait: as long as there is news."""

import itertools

import pytest

from tests.waiting import eventually, eventually_so

OVER = -1.0
"""Patience that is over at once: the test asks every time whether there is news."""


async def test_whoever_tells_of_progress_is_waited_for() -> None:
    steps = itertools.count()
    assert await eventually(lambda: next(steps) > 5, lambda: next(steps), OVER)


async def test_whoever_tells_the_same_again_is_given_up() -> None:
    with pytest.raises(AssertionError, match="never happened: two of three"):
        await eventually(lambda: False, lambda: "two of three", OVER)
    with pytest.raises(AssertionError, match="never happened: a text"):
        await eventually(lambda: False, "a text", OVER)


def test_without_a_loop_it_is_the_same() -> None:
    steps = itertools.count()
    assert eventually_so(lambda: next(steps) > 5, lambda: next(steps), OVER)
    with pytest.raises(AssertionError, match="never happened: nothing"):
        eventually_so(lambda: False, lambda: "nothing", OVER)
