"""Run times: where they come from, and what is drawn when they must be guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.forecast.chances import Chances
from reprieve.forecast.run_times import History, Likeness, RunTime, run_time
from reprieve.simulate import ticks

ME = Likeness("Job", "ml", "nightly-10", "research")


def history(*times, like=ME):
    known = History()
    for each in times:
        known.add(like, each)
    return known


def known(**more):
    return run_time(ME, more.pop("history", History()), **more)


def test_what_it_says_itself_counts_first():
    found = known(announced=100, limit=500, history=history(10, 20, 30, 40))
    assert (found.known, found.expected) == ("announced", 100)


def test_what_it_said_and_has_outrun_counts_no_more():
    assert known(announced=100, elapsed=100).known == "unknown"
    assert known(announced=100, elapsed=150, history=history(200, 300, 400, 500)).known == "history"


def test_a_limit_is_the_latest_end():
    assert known(limit=500).expected == 500
    assert known(limit=500, announced=800).expected == 500
    assert known(limit=500, elapsed=700).expected == 700  # it ends now
    past = history(400, 800, 900, 1000)
    assert max(length(known(limit=500, history=past), number) for number in range(50)) == 500


def test_a_service_does_not_learn_to_end():
    assert known(endless=True, history=history(1, 2, 3, 4)).known == "endless"
    assert known(endless=True).expected is None


def test_too_few_earlier_runs_say_nothing():
    assert known(history=history(10, 20, 30)).known == "unknown"
    assert known(history=history(10, 20, 30, 40), elapsed=15).known == "unknown"


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
    assert bool(history(10, 20, 30, 40, like=like).runs(ME, 0).ended) is found


def test_the_nearest_family_with_enough_runs_is_used():
    past = history(1, 2, 3, 4, like=Likeness("Job", "ml", "other", "research"))
    for each in (10, 20, 30, 40):
        past.add(Likeness("Job", "ml", "nightly-1"), each)
    assert past.runs(ME, 0).ended == (10, 20, 30, 40)
    assert past.runs(ME, 15).ended == ()


def test_rows_of_a_trace_count_for_their_queue_or_for_everybody():
    past = History()
    for each in (10, 20, 30, 40):
        past.add_row("research", each)
    assert past.runs(ME, 0).ended == (10, 20, 30, 40)
    assert past.runs(Likeness("Job", "ml", "x", "other"), 0).ended == ()
    for each in (1, 2, 3, 4):
        past.add_row("", each)
    assert past.runs(Likeness("Job", "ml", "x", "other"), 0).ended == (1, 2, 3, 4)


def lengths(run_times: list[RunTime], future: int = 0, seed: int = 0) -> list[int]:
    drawn = Chances(run_times, seed).drawn(future)
    assert None not in drawn, "they end"
    return [each for each in drawn if each is not None]


def length(run_time: RunTime, future: int = 0) -> int:
    return lengths([run_time], future)[0]


@given(st.lists(st.integers(1, 10**9), min_size=4, max_size=30), st.integers(0, 10**9), st.integers())
def test_a_drawn_run_time_is_longer_than_the_run_so_far(times, elapsed, seed):
    drawn = RunTime(known="history", times=tuple(sorted(times)), elapsed=min(elapsed, max(times) - 1))
    assert lengths([drawn], seed=seed)[0] >= drawn.elapsed


def test_every_future_is_its_own_and_the_same_again():
    drawn = [RunTime(known="history", times=(100, 200, 300), elapsed=50)] * 3
    assert lengths(drawn, 1) == lengths(drawn, 1)
    assert lengths(drawn, 1) != lengths(drawn, 2)
    assert lengths(drawn, 1, seed=-1) != lengths(drawn, 1)


def test_the_next_run_falls_into_each_gap_as_often():
    drawn = RunTime(known="history", times=(100, 200, 300))
    gaps = [0, 0, 0, 0]
    for number in range(4000):
        gaps[min(3, length(drawn, number) // 100)] += 1
    assert all(900 < each < 1100 for each in gaps), gaps


def test_who_has_run_for_some_time_falls_into_each_gap_that_is_left_as_often():
    drawn = RunTime(known="history", times=(100, 200, 300), elapsed=150)
    gaps = [0, 0, 0]
    for number in range(3000):
        gaps[min(3, length(drawn, number) // 100) - 1] += 1
    assert all(900 < each < 1100 for each in gaps), gaps


def test_in_one_future_the_same_gap_is_likely_for_everybody():
    """What was short for one was so for all: draws of one future are more alike than those of several."""
    drawn = RunTime(known="history", times=tuple(range(100, 1100, 100)))

    def spread(futures):
        means = [sum(each) / len(each) for each in futures]
        return max(means) - min(means)

    shared = [lengths([drawn] * 200, number) for number in range(20)]
    apart = [[length(drawn, 200 * number + each) for each in range(200)] for number in range(20)]
    assert spread(shared) > 2 * spread(apart)


def test_what_still_runs_makes_the_next_run_longer():
    """Ten have run for longer than all but three that ended: those that ended were the short ones."""
    past = history(10, 20, 30, 40, 50, 60, 70, 80, 90, 1000, 2000, 3000)

    def long():
        return sum(length(known(history=past), number) > 95 for number in range(500)) / 500

    assert long() < 0.4
    for _ in range(10):
        past.add_unfinished(ME, 95)
    assert long() > 0.5


def test_who_has_outrun_its_family_is_evidence_for_it_all_the_same():
    past = history(10, 20, 30, 40)
    for each in (100, 200, 300, 400):
        past.add_row("", each)
    past.add_unfinished(ME, 50)
    assert past.runs(ME, 0) == ((10, 20, 30, 40), (50,))
    assert past.runs(ME, 50) == ((100, 200, 300, 400), (50,))


def test_beyond_the_longest_run_it_goes_as_far_as_the_longest_lie_apart():
    near = RunTime(known="history", times=tuple(ticks(each) for each in range(1000, 1030)))
    far = RunTime(known="history", times=(*near.times[:-3], ticks(2000), ticks(3000), ticks(6000)))
    beyond = [max(length(each, number) for number in range(300)) - each.times[-1] for each in (near, far)]
    assert beyond[0] < ticks(100) < ticks(1000) < beyond[1]


@pytest.mark.parametrize("times", [(0, 0, 0, 0), (0, 1, ticks(3600), ticks(7200)), (ticks(1e10),) * 4])
def test_no_run_is_too_short_or_too_long_to_learn_from(times):
    drawn = RunTime(known="history", times=times)
    assert all(0 <= length(drawn, number) <= 10**18 for number in range(200))


def test_equal_runs_leave_a_doubt():
    drawn = RunTime(known="history", times=(ticks(60),) * 4)
    assert len({length(drawn, number) for number in range(40)}) > 1
