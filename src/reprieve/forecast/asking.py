"""Many futures of one situation: as many as are needed, each with run times of its own."""

from collections.abc import Sequence
from functools import cached_property

from reprieve.forecast.replay import Future, Replay
from reprieve.forecast.run_times import Draw
from reprieve.forecast.situation import Situation
from reprieve.objects import Reference, ReprieveError
from reprieve.simulate import ticks

HORIZON = 30 * 86_400.0
MOST_FUTURES, FEWEST_FUTURES = 200, 9
"""From the lowest to the highest of nine are 80 %: one more falls into each of the ten gaps equally often."""
WORK = 15_000
"""Of all futures together (`Future.work`), a few seconds: large clusters get fewer futures, never by the
clock."""


class TooMuchWork(ReprieveError):
    """Even the fewest futures are more than the caller wants to wait for."""


class Question:
    """All targets of one situation: every future answers for each of them."""

    def __init__(
        self,
        situation: Situation,
        targets: Sequence[Reference],
        horizon: float,
        seed: int,
        most_work: int | None = None,
    ) -> None:
        """`most_work`: rather no answer than more than that."""
        self._most_work = most_work
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
        number = self._affordable(first.work) if count is None else count
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

    def _affordable(self, work: int) -> int:
        """As the first future says; one less than tens, so that first and last tenth hold 80 % of them."""
        limit = WORK if self._most_work is None else self._most_work
        if self._most_work is not None and work * FEWEST_FUTURES > limit:
            raise TooMuchWork("there is too much to replay")
        number = limit // max(1, work)
        return MOST_FUTURES if number >= MOST_FUTURES else max(FEWEST_FUTURES, (number + 1) // 10 * 10 - 1)
