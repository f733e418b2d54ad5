"""The interval is honest: of drawn days, cut at a moment, about four in five start within it."""

import pytest

from tests.forecast.drawn import ask

DAYS = 60


@pytest.mark.slow
def test_the_interval_holds_the_truth_in_about_four_of_five_cases():
    found = [ask(seed, nodes=1, number=10, futures=30) for seed in range(DAYS)]
    asked = [each for each in found if each is not None]
    assert len(asked) > DAYS / 2
    assert 0.7 <= sum(each.holds for each in asked) / len(asked) <= 0.9
