"""Counts of interesting scenes fail when there are none, and not by chance."""

import random

import pytest

from tests.reached import at_most, enough


def test_none_of_many_is_too_few() -> None:
    with pytest.raises(AssertionError, match="too few scenes with a budget: 0 of 200, expected 10% at least"):
        enough(0, of=200, least_share=0.1, what="scenes with a budget")


def test_far_fewer_than_the_share_is_too_few_on_large_runs() -> None:
    enough(400, of=4000, least_share=0.1)
    enough(330, of=4000, least_share=0.1)
    with pytest.raises(AssertionError):
        enough(200, of=4000, least_share=0.1)


@pytest.mark.parametrize("of", [0, 1, 5, 60])
def test_a_handful_proves_nothing(of: int) -> None:
    enough(0, of=of, least_share=0.1)


def test_what_is_counted_more_than_once_for_each_example_is_refused() -> None:
    with pytest.raises(AssertionError, match="count examples"):
        enough(7, of=6, least_share=0.1)


def test_the_chance_is_that_of_the_binomial_distribution() -> None:
    assert at_most(0, 10, 0.5) == pytest.approx(0.5**10)
    assert at_most(1, 3, 0.25) == pytest.approx(0.75**3 + 3 * 0.25 * 0.75**2)
    assert at_most(20, 20, 0.3) == pytest.approx(1)


def test_a_share_that_is_as_large_as_said_never_fails() -> None:
    dice = random.Random(1)
    for of in (5, 60, 600):
        for _ in range(200):
            enough(sum(dice.random() < 0.1 for _ in range(of)), of=of, least_share=0.1)
