"""Conditions that wait to be written: the last one about each thing, fairly between units, a few at a time.

Conditions are for people and may be late; bindings and evictions may not. So at most `AT_ONCE` conditions are
on their way at any time, and of several about the same thing only the last is ever written. That also bounds
the queue: it holds at most one condition for each waiting pod, and one of each type for each group.
"""

from collections.abc import Callable, Hashable

from reprieve.scheduler import SetGroupCondition, SetPodCondition

AT_ONCE = 8

Condition = SetPodCondition | SetGroupCondition
Send = Callable[[Condition, Callable[[], None]], None]
"""Begins to write a condition; the second argument is called when that has ended."""


class Statuses:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: dict[Hashable, dict[Hashable, Condition]] = {}
        """By unit, in the order of their turns; of each unit by what the condition is about."""
        self._unit_of: dict[Hashable, Hashable] = {}
        self._sending = 0

    def __len__(self) -> int:
        return len(self._unit_of)

    def put(self, unit: Hashable, condition: Condition) -> None:
        """Write it in its unit's turn, instead of one about the same thing that still waits."""
        about = _about(condition)
        self._discard(about)
        self._unit_of[about] = unit
        self._waiting.setdefault(unit, {})[about] = condition
        self._next()

    def drop(self, pod: str) -> None:
        """The pod is being bound, or told something else: why it waited does not matter any more."""
        self._discard(("pod", pod))

    def clear(self) -> None:
        self._waiting.clear()
        self._unit_of.clear()

    def _discard(self, about: Hashable) -> None:
        unit = self._unit_of.pop(about, None)
        if unit is not None:
            del self._waiting[unit][about]
            if not self._waiting[unit]:
                del self._waiting[unit]

    def _next(self) -> None:
        while self._sending < AT_ONCE and self._waiting:
            unit = next(iter(self._waiting))
            rest = self._waiting.pop(unit)
            about = next(iter(rest))
            condition = rest.pop(about)
            del self._unit_of[about]
            if rest:
                self._waiting[unit] = rest  # its next turn comes after all others'
            self._sending += 1
            self._send(condition, self._sent)

    def _sent(self) -> None:
        self._sending -= 1
        self._next()


def _about(condition: Condition) -> Hashable:
    if isinstance(condition, SetPodCondition):
        return "pod", condition.pod.key
    return "group", condition.group.key, condition.type
