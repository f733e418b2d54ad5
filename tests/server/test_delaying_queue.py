"""A queue of keys that are due later, and what it forgets."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.controllers.delaying_queue import DelayingQueue, ManualClock
from tests.scale import examples

HOUR = timedelta(hours=1)


def test_what_is_dropped_takes_no_place() -> None:
    """Events are due after an hour; on a busy server most are gone with their namespace or by hand before."""
    clock = ManualClock()
    queue: DelayingQueue[int] = DelayingQueue(clock)
    for number in range(20_000):
        queue.add(number, clock() + HOUR)
        if number >= 50:
            queue.drop(number - 50)
    assert len(queue) == 50
    assert len(queue._heap) < 500
    clock.advance(3600)
    assert queue.due_now() == list(range(19_950, 20_000))


steps = st.lists(st.tuples(st.sampled_from(("add", "drop", "pass")), st.integers(0, 5), st.integers(0, 9)))


@examples(300)
@given(steps)
def test_every_key_comes_once_at_the_earliest_time_it_was_added_for(plan: list[tuple[str, int, int]]) -> None:
    clock = ManualClock()
    queue: DelayingQueue[int] = DelayingQueue(clock)
    expected: dict[int, datetime] = {}
    for step, key, seconds in plan * 40:  # long enough for places to be cleared away
        due = clock() + timedelta(seconds=seconds)
        if step == "add":
            queue.add(key, due)
            expected[key] = min(due, expected.get(key, due))
        elif step == "drop":
            queue.drop(key)
            expected.pop(key, None)
        else:
            clock.advance(seconds)
            taken = queue.due_now()
            assert sorted(taken) == sorted(k for k, when in expected.items() if when <= clock())
            for each in taken:
                del expected[each]
