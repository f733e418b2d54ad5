"""The waiting units (pods and pod groups), their states, and which one to try next.

    active         ready; the best one is popped
    backoff        failed not long ago; ready when its pause is over
    unschedulable  failed, and nothing has happened since that could help it
    gated          not even a candidate yet; says why
    in flight      decided on: being bound, or its victims being evicted

Order of the active units (`_order`):
1. gangs of which some pods are bound, but fewer than their minimum;
2. higher priority;
3. longer waiting, counted from the unit's first appearance: retries do not change it;
4. name.

Units that every decision treats alike rest together: an event wakes the first of them, and each one that is
placed wakes the next. So ten thousand equal pods and one free place cost two decisions.

A unit in backoff that an event may have helped is popped early when no active unit is at least as important,
so that backoff never lets a less important unit overtake. Time comes in as seconds.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from math import sqrt
from typing import Any, NamedTuple

from reprieve.config import Configuration
from reprieve.objects import Reference


class State(Enum):
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "inflight"


@dataclass(slots=True, eq=False)
class QueuedUnit:
    """One pod, or one group with the pods of it that wait."""

    ref: Reference
    """A Pod or a PodGroup."""
    priority: int
    since: float
    pods: dict[str, None] = field(default_factory=dict)
    unfinished: bool = False
    state: State = State.GATED
    gate: str = ""
    failures: int = 0
    ready_at: float = 0.0
    paused: bool = False
    """It is not tried before a pause is over, whatever happens."""
    patient: bool = False
    """Waits for its own victims to end: only they, or its pause, bring it back."""
    like: Hashable = None
    """What a decision about it depends on; units that share it share every refusal."""
    ticket: int = 0
    told: tuple[str, str] = ("", "")
    """Reason and message of its pods' conditions after it was tried last."""

    @property
    def is_group(self) -> bool:
        return self.ref.kind == "PodGroup"


class Pauses(NamedTuple):
    """How long a unit waits after a failure."""

    first: float = 1.0
    longest: float = 10.0
    leftover: float = 300.0
    """Retry a unit after this long even if no event seemed to help it."""

    @classmethod
    def of(cls, config: Configuration) -> "Pauses":
        section = config.scheduler
        return cls(section.initial_backoff, section.max_backoff, section.max_unschedulable)

    def after(self, failures: int, pods: int) -> float:
        """1, 2, 4, 8, 10, 10, … seconds; large groups wait up to the square root of their size longer."""
        return min(self.longest * sqrt(max(1, pods)), self.first * 2.0 ** min(failures - 1, 30))


class Queue:
    def __init__(self, pauses: Pauses | None = None) -> None:
        self._pauses = pauses or Pauses()
        self.units: dict[Reference, QueuedUnit] = {}
        self._active: list[tuple[Order, int, QueuedUnit]] = []
        self._backoff: list[tuple[float, int, QueuedUnit]] = []
        self._early: list[tuple[Order, int, QueuedUnit]] = []
        """Units in backoff that an event may have helped, best first."""
        self._resting: dict[Hashable, list[tuple[Order, int, QueuedUnit]]] = {}
        """Unschedulable units by what they are like, best first."""
        self._overdue: list[tuple[float, int, QueuedUnit]] = []
        self._tickets = 0

    def __len__(self) -> int:
        return len(self.units)

    def depths(self) -> Counter[tuple[State, bool]]:
        """How many units are in each state, pods and groups apart."""
        return Counter((unit.state, unit.is_group) for unit in self.units.values())

    def add(self, unit: QueuedUnit) -> None:
        self.units[unit.ref] = unit

    def remove(self, ref: Reference, now: float) -> None:
        unit = self.units.pop(ref, None)
        if unit is not None:
            self._stamp(unit)
            if unit.state in (State.ACTIVE, State.BACKOFF):
                self.wake_next(unit, now)

    def activate(self, unit: QueuedUnit) -> None:
        """Ready now, whatever it waited for."""
        self._enter(unit, State.ACTIVE)
        heapq.heappush(self._active, (_order(unit), unit.ticket, unit))

    def gate(self, unit: QueuedUnit, why: str) -> None:
        self._enter(unit, State.GATED)
        unit.gate = why

    def hold(self, unit: QueuedUnit) -> None:
        """In flight: decided on, not yet known how it ended."""
        self._enter(unit, State.IN_FLIGHT)

    def pause(self, unit: QueuedUnit, until: float) -> None:
        """Ready then and not before, whatever happens."""
        unit.ready_at = until
        self._wait(unit)
        unit.paused = True

    def back_off(self, unit: QueuedUnit, now: float) -> None:
        """It failed, and only time can help: no event brings it back early."""
        self._failed(unit, now)
        self._wait(unit)

    def rest(self, unit: QueuedUnit, now: float, like: Hashable = None, until: float | None = None) -> None:
        """It failed, and only a change of the cluster can help. `until`: when to retry at the latest."""
        self._failed(unit, now)
        self._enter(unit, State.UNSCHEDULABLE)
        unit.like = like or unit.ref
        heapq.heappush(self._resting.setdefault(unit.like, []), (_order(unit), unit.ticket, unit))
        overdue = now + self._pauses.leftover
        heapq.heappush(self._overdue, (overdue if until is None else min(overdue, until), unit.ticket, unit))

    @property
    def has_resting(self) -> bool:
        """Whether an event may wake somebody; it may wake nobody after all."""
        return bool(self._resting)

    def wake(self, helped: Callable[[QueuedUnit], bool], now: float) -> None:
        """Something happened: of units alike, wake the first one it may help."""
        for like in list(self._resting):
            unit = self._first_like(like)
            if unit is not None and helped(unit):
                self._rouse(unit, now)

    def wake_unit(self, ref: Reference, now: float) -> None:
        """The unit itself changed."""
        unit = self.units.get(ref)
        if unit is not None and unit.state is State.UNSCHEDULABLE:
            self._rouse(unit, now)

    def wake_next(self, unit: QueuedUnit, now: float) -> None:
        """The unit was placed, or left without a try: wake the next one like it."""
        following = self._first_like(unit.like)
        if following is not None:
            self._rouse(following, now)

    def _first_like(self, like: Hashable) -> QueuedUnit | None:
        heap = self._resting.get(like)
        if heap is None:
            return None
        unit = _first(heap, State.UNSCHEDULABLE)
        if unit is None:
            del self._resting[like]
        return unit

    def _rouse(self, unit: QueuedUnit, now: float) -> None:
        """Out of the unschedulable set; into backoff while its pause lasts."""
        if unit.ready_at <= now:
            self.activate(unit)
            return
        self._wait(unit)
        if not unit.patient:
            heapq.heappush(self._early, (_order(unit), unit.ticket, unit))

    def pop(self, now: float) -> QueuedUnit | None:
        """The next unit to try, now in flight; None when no unit is ready."""
        self._flush(now)
        head = _first(self._active, State.ACTIVE)
        early = _first(self._early, State.BACKOFF)
        chosen = early if early is not None and (head is None or early.priority > head.priority) else head
        if chosen is not None:
            self.hold(chosen)
        return chosen

    @property
    def may_be_ready(self) -> bool:
        """Whether `pop` may find a unit; it may find none after all."""
        return bool(self._active or self._early)

    def next_ready(self) -> float | None:
        """When the next unit in backoff or at rest becomes ready by itself."""
        if not self._backoff and not self._overdue:
            return None
        _first(self._backoff, State.BACKOFF)
        _first(self._overdue, State.UNSCHEDULABLE)
        return min((heap[0][0] for heap in (self._backoff, self._overdue) if heap), default=None)

    def turn_back(self, seconds: float) -> None:
        """The clock was set back: pauses stay as long as they were."""
        for heap in (self._backoff, self._overdue):  # everybody in the same order: each is a heap as before
            heap[:] = [(due - seconds, ticket, unit) for due, ticket, unit in heap]
        for unit in self.units.values():
            unit.ready_at -= seconds

    def _failed(self, unit: QueuedUnit, now: float) -> None:
        unit.failures += 1
        unit.ready_at = now + self._pauses.after(unit.failures, len(unit.pods))

    def _wait(self, unit: QueuedUnit) -> None:
        self._enter(unit, State.BACKOFF)
        heapq.heappush(self._backoff, (unit.ready_at, unit.ticket, unit))

    def _enter(self, unit: QueuedUnit, state: State) -> None:
        self._stamp(unit)
        unit.state = state
        unit.gate = ""
        unit.paused = False

    def _stamp(self, unit: QueuedUnit) -> None:
        """A new ticket makes the unit's old heap entries void."""
        self._tickets += 1
        unit.ticket = self._tickets

    def _flush(self, now: float) -> None:
        """Activate what has waited long enough."""
        for heap, state in ((self._backoff, State.BACKOFF), (self._overdue, State.UNSCHEDULABLE)):
            while heap and heap[0][0] <= now:
                _, ticket, unit = heapq.heappop(heap)
                if unit.ticket == ticket and unit.state is state:
                    self.activate(unit)


Order = tuple[bool, int, float, str]


def _order(unit: QueuedUnit) -> Order:
    return (not unit.unfinished, -unit.priority, unit.since, str(unit.ref))


def _first(heap: list[Any], state: State) -> QueuedUnit | None:
    """The first unit of a heap whose entry is still valid; void entries before it are dropped."""
    while heap:
        _, ticket, unit = heap[0]
        if unit.ticket == ticket and unit.state is state:
            found: QueuedUnit = unit
            return found
        heapq.heappop(heap)
    return None
