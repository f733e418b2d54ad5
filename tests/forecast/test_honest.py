"""The interval is honest: it holds what really happens as often as it says, on both sides."""

import math

import pytest

from reprieve.config import Configuration
from reprieve.forecast import sentences, when
from reprieve.forecast.asking import Question
from reprieve.forecast.gathering import gather
from reprieve.forecast.judging import Verdict
from reprieve.forecast.replay import Future
from reprieve.forecast.run_times import FEWEST, History
from reprieve.objects import Reference, parse_time
from reprieve.records import Run
from tests.builders import node, pod
from tests.forecast.drawn import LENGTHS, ask, missed_by

DAYS = 24
DRAWN = 400
FUTURES = 9
NOW = parse_time("2026-01-01T02:00:00Z")


@pytest.mark.parametrize("number", [9, 10, 19, 30, 49, 50, 99, 200])
def test_of_n_futures_the_interval_holds_80_percent_of_the_gaps_between_them(number):
    """What really happens falls into each of the n + 1 gaps equally often."""
    where = gather([node("n", 4), pod("w", 2)], frozenset(), Configuration.load(None), NOW, History())
    target = where.owners[0].ref
    question = Question(where, [target], 86_400.0, 0)
    (unit,) = question.units[target]
    futures = [Future(started={unit: where.now + 1_000_000 * (each + 1)}) for each in range(number)]
    start = Verdict(question, target, futures).forecast().start
    assert start is not None
    assert start.low is not None
    assert start.high is not None
    inside = round(start.high) - round(start.low)
    assert 0.8 <= inside / (number + 1) < 0.8 + 2 / (number + 1)


def missed(lengths, earlier):
    """How often the truth was earlier than the interval, how often later, and on how many days."""
    found = [ask(seed, lengths=lengths, earlier=earlier, futures=FUTURES) for seed in range(DAYS)]
    sides = [each.side for each in found if each is not None and each.said.start is not None]
    return sides.count(-1), sides.count(1), len(sides)


def most(days, share):
    """So many of the days, if each has this share: hardly ever more (once in a thousand)."""
    chance = [math.comb(days, k) * share**k * (1 - share) ** (days - k) for k in range(days + 1)]
    return next(k for k in range(days + 1) if sum(chance[: k + 1]) > 0.999)


@pytest.mark.parametrize("waiting", [0, 3])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("earlier", [1, 2, 3, 5, 10, 30])
def test_with_few_earlier_runs_it_is_wide_enough_or_nothing_is_said(earlier, lengths, waiting):
    found = [missed_by(seed, lengths, earlier, waiting) for seed in range(DRAWN)]
    told = [each for each in found if each is not None]
    if earlier < FEWEST:
        assert not told
    else:
        assert len(told) > DRAWN / 3
        assert len(told) - told.count(0) <= most(len(told), 0.2)


@pytest.mark.parametrize("earlier", [1, 2, 3])
def test_of_fewer_than_four_earlier_runs_the_answer_says_how_many_would_help(earlier):
    runs = [
        Run(ran=f"Pod/default/a-{n}", time=NOW, seconds=9000, end="ended", uid=str(n)) for n in range(earlier)
    ]
    running = pod("a-9", 4, on="n", start="2026-01-01T01:00:00Z", restartPolicy="Never")
    said = when([node("n", 4), running, pod("w", 2)], "Pod/default/w", now=NOW, runs=runs)
    assert (said.outcome, said.unknown) == ("unknown", ("Pod/default/a-9",))
    assert said.sentence == sentences.run_times_missing(Reference("Pod", "default", "w"), said.unknown)


@pytest.mark.parametrize("lengths", ["lognormal", "two humps"])
def test_on_drawn_days_it_is_missed_on_each_side_as_often_as_it_may_be(lengths):
    early, late, days = missed(lengths, earlier=30)
    assert days > DAYS / 2
    assert early <= most(days, 0.1)
    assert late <= most(days, 0.1)
