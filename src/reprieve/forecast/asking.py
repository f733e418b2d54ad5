"""Many futures of one situation: as many as are needed, each with run times of its own."""

from collections.abc import Sequence
from functools import cached_property

from reprieve.forecast.replay import Future, Replay
from reprieve.forecast.run_times import Draw
from reprieve.forecast.situation import Situation
from reprieve.objects import Reference
from reprieve.simulate import ticks

HORIZON = 30 * 86_400.0
MOST_FUTURES, FEWEST_FUTURES = 200, 20
WORK = 40_000
"""Pods and nodes of all futures together: large clusters get fewer futures, never by the clock."""


class Question:
    """All targets of one situation: every future answers for each of them."""

    def __init__(self, situation: Situation, targets: Sequence[Reference], horizon: float, seed: int) -> None:
        self.situation = situation
        self.horizon = ticks(horizon)
        self.seed = seed
        self.units = {target: situation.units_of(target) for target in targets}
        self._asked = {number for units in self.units.values() for number in units}

    def ask(self, count: int | None) -> list[Future]:
        """One future where nothing is uncertain, else `count`, or as many as the size allows."""
        first = self._future(0)
        if self._is_certain(first):
            return [first]
        number = self._affordable() if count is None else count
        return [first, *(self._future(index) for index in range(1, number))]

    @cached_property
    def best_case(self) -> Future:
        """As if everybody whose run time is not known ended now."""
        lengths = [
            each.run_time.elapsed if each.run_time.known == "unknown" else length
            for each, length in zip(self.situation.owners, self._drawn(0), strict=True)
        ]
        return self._replay(lengths)

    def _future(self, index: int) -> Future:
        return self._replay(self._drawn(index))

    def _replay(self, lengths: Sequence[int | None]) -> Future:
        return Replay(self.situation, self._asked, lengths, self.horizon).run()

    def _drawn(self, index: int) -> list[int | None]:
        draw = Draw(f"{self.seed} {index}")
        return [each.run_time.draw(draw) for each in self.situation.owners]

    def _is_certain(self, first: Future) -> bool:
        """No run time is drawn, or all have started before any could matter."""
        situation = self.situation
        if all(each.run_time.is_certain for each in situation.owners):
            return True
        waiting = [number for number in self._asked if situation.units[number].waits]
        return all(first.started.get(number) == situation.now for number in waiting)

    def _affordable(self) -> int:
        situation = self.situation
        size = sum(len(unit.pods) or 1 for unit in situation.units) + len(situation.objects)
        return max(FEWEST_FUTURES, min(MOST_FUTURES, WORK // max(1, size)))
