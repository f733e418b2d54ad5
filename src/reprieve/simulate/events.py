"""What happens when: a heap of events, and the order of those at one moment.

At one moment, without duration: jobs end; evicted pods are gone; nodes fail, drain or return; jobs arrive;
then everybody who waits is tried. Equal events happen in the order in which they were planned.
"""

import heapq
from enum import IntEnum
from typing import Any, NamedTuple


class Kind(IntEnum):
    """In the order in which they happen at one moment."""

    END = 0
    GONE = 1
    NODE = 2
    CHECKPOINT = 3
    DISPATCH = 4


class Event(NamedTuple):
    time: int
    kind: Kind
    number: int
    about: Any
    run: int
    """The run of the job that it is about; an event of an earlier run is void."""


class Events:
    def __init__(self) -> None:
        self._heap: list[Event] = []
        self._number = 0
        self._timer: int | None = None

    def add(self, time: int, kind: Kind, about: Any = None, run: int = 0) -> None:
        self._number += 1
        heapq.heappush(self._heap, Event(time, kind, self._number, about, run))

    def wake(self, time: int) -> None:
        """Try those who wait at this time, unless they are tried earlier anyway."""
        if self._timer is None or time < self._timer:
            self._timer = time

    def next_time(self) -> int | None:
        timer = self._timer
        if not self._heap:
            return timer
        first = self._heap[0][0]
        return first if timer is None or first < timer else timer

    def pop(self, now: int) -> Event | None:
        """The next event that happens now; None when there is no more. A timer that is due is used up."""
        if self._timer is not None and self._timer <= now:
            self._timer = None
        if self._heap and self._heap[0][0] <= now:
            return heapq.heappop(self._heap)
        return None

    def __len__(self) -> int:
        return len(self._heap)
