"""Run times: where they come from, and what is drawn when they must be guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.forecast.run_times import Draw, History, Likeness, RunTime, run_time

ME = Likeness("Job", "ml", "nightly-10", "research")


def history(*times, like=ME):
    known = History()
    for each in times:
        known.add(like, each)
    return known


def known(**more):
    return run_time(ME, more.pop("history", History()), **more)


def test_what_it_says_itself_counts_first():
    found = known(announced=100, limit=500, history=history(10, 20, 30))
    assert (found.known, found.draw(Draw("0"))) == ("announced", 100)


def test_what_it_said_and_has_outrun_counts_no_more():
    assert known(announced=100, elapsed=100).known == "unknown"
    assert known(announced=100, elapsed=150, history=history(200, 300, 400)).known == "history"


def test_a_limit_is_the_latest_end():
    assert known(limit=500).draw(Draw("0")) == 500
    assert known(limit=500, announced=800).draw(Draw("0")) == 500
    assert known(limit=500, elapsed=700).draw(Draw("0")) == 700  # it ends now


def test_a_service_does_not_learn_to_end():
    assert known(endless=True, history=history(1, 2, 3)).known == "endless"
    assert known(endless=True).draw(Draw("0")) is None


def test_too_few_earlier_runs_say_nothing():
    assert known(history=history(10, 20)).known == "unknown"
    assert known(history=history(10, 20, 30), elapsed=15).known == "unknown"


@pytest.mark.parametrize(
    ("like", "found"),
    [
        (Likeness("Job", "ml", "nightly-9"), True),
        (Likeness("Job", "ml", "nightly-x7k2p"), True),
        (Likeness("Job", "ml", "other", "research"), True),
        (Likeness("Job", "dev", "nightly-9"), False),
        (Likeness("RayJob", "ml", "nightly-9"), False),
        (Likeness("Job", "dev", "other", "research"), True),
    ],
)
def test_earlier_runs_are_found_by_name_then_queue_then_namespace(like, found):
    assert bool(history(10, 20, 30, like=like).times(ME, 0)) is found


def test_the_nearest_family_with_enough_runs_is_used():
    past = history(1, 2, 3, like=Likeness("Job", "ml", "other", "research"))
    for each in (10, 20, 30):
        past.add(Likeness("Job", "ml", "nightly-1"), each)
    assert past.times(ME, 0) == (10, 20, 30)
    assert past.times(ME, 25) == ()


def test_rows_of_a_trace_count_for_their_queue_or_for_everybody():
    past = History()
    for each in (10, 20, 30):
        past.add_row("research", each)
    assert past.times(ME, 0) == (10, 20, 30)
    assert past.times(Likeness("Job", "ml", "x", "other"), 0) == ()
    for each in (1, 2, 3):
        past.add_row("", each)
    assert past.times(Likeness("Job", "ml", "x", "other"), 0) == (1, 2, 3)


def length(run_time: RunTime, draw: Draw) -> int:
    drawn = run_time.draw(draw)
    assert drawn is not None, "it ends"
    return drawn


@given(st.lists(st.integers(1, 10**9), min_size=3, max_size=30), st.integers(0, 10**9), st.integers())
def test_a_drawn_run_time_is_longer_than_the_run_so_far(times, elapsed, seed):
    drawn = RunTime(known="history", times=tuple(sorted(times)), elapsed=min(elapsed, max(times) - 1))
    assert length(drawn, Draw(str(seed))) >= drawn.elapsed


def test_the_next_run_falls_into_each_gap_as_often():
    drawn = RunTime(known="history", times=(100, 200, 300))
    gaps = [0, 0, 0, 0]
    for number in range(4000):
        gaps[min(3, length(drawn, Draw(str(number))) // 100)] += 1
    assert all(900 < each < 1100 for each in gaps), gaps


def test_in_one_future_the_same_gap_is_likely_for_everybody():
    """What was short for one was so for all: draws of one future are more alike than those of several."""
    drawn = RunTime(known="history", times=(100, 200, 300))

    def spread(draws):
        means = [sum(length(drawn, draw) for draw in each) / len(each) for each in draws]
        return max(means) - min(means)

    shared = [[draw] * 200 for draw in (Draw(f"s{number}") for number in range(20))]
    apart = [[Draw(f"a{number} {each}") for each in range(200)] for number in range(20)]
    assert spread(shared) > 2 * spread(apart)
