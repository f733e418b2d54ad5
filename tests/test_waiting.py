"""How long tests wait: as long as there is news."""

import itertools

import pytest

from tests.waiting import INTERVAL, eventually, eventually_so

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


async def test_nobody_is_given_up_before_patience_is_over() -> None:
    """However often the same is told meanwhile."""
    steps = itertools.count()
    assert await eventually(lambda: next(steps) > 5, "a text", 60.0)
    assert eventually_so(lambda: next(steps) > 15, "a text", 60.0)


async def test_the_answer_of_a_coroutine_is_waited_for() -> None:
    answers = iter([None, 0, "", "yes"])

    async def question() -> object:
        return next(answers)

    assert await eventually(question, "a text") == "yes"


async def test_news_renew_patience() -> None:
    """After each of them nobody asks again for as long as at the beginning."""
    asked, told = itertools.count(), []

    def story() -> int:
        told.append(next(asked))
        return len(told)

    assert await eventually(lambda: next(asked) > 8, story, seconds=3 * INTERVAL)
    assert 0 < len(told) < 4


def test_without_a_loop_a_text_is_no_question() -> None:
    with pytest.raises(AssertionError, match="never happened: a text"):
        eventually_so(lambda: False, "a text", OVER)
