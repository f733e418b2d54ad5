"""Whether limits of work tell too much of it from enough of it."""

import gc
import time

import pytest

from tests import effort as judged
from tests.effort import effort, in_proportion, within


class Clock:
    """Of work that says itself how much it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 5.0
        monkeypatch.setattr(time, "thread_time", lambda: self.now)

    def work(self, seconds: float) -> str:
        assert not gc.isenabled()
        self.now += seconds
        return "done"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_effort_is_what_was_spent_meanwhile(clock: Clock) -> None:
    assert effort(lambda: clock.work(2.0)) == ("done", 2.0)
    assert gc.isenabled()


def test_who_spends_as_much_as_the_limit_fails(clock: Clock) -> None:
    assert within(2.0, lambda: clock.work(1.5)) == "done"
    with pytest.raises(AssertionError):
        within(2.0, lambda: clock.work(2.0))


@pytest.mark.parametrize(("power", "fine"), [(1, True), (2, False)])
def test_a_hundred_times_the_size_may_be_a_hundred_times_the_work_and_not_the_square_of_it(
    clock: Clock, power: int, fine: bool
) -> None:
    def run() -> None:
        in_proportion(lambda size: lambda: clock.work(0.25 * size**power), 4)

    if fine:
        run()
    else:
        with pytest.raises(AssertionError):
            run()


@pytest.mark.parametrize("slow", ["small", "large"])
def test_one_interruption_counts_for_nothing(clock: Clock, slow: str) -> None:
    """It neither lets a square pass nor makes a line fail."""
    interruptions = {"small": [1e6], "large": [1e6]}[slow]

    def work(size: int):
        mine = interruptions if (size > 4) == (slow == "large") else []
        return lambda: clock.work((size**2 if slow == "small" else size) + (mine.pop() if mine else 0))

    if slow == "large":
        in_proportion(work, 4)
    else:
        with pytest.raises(AssertionError):
            in_proportion(work, 4)


def test_the_limit_is_ten_times_away_from_both() -> None:
    assert judged.MARGIN == 10
