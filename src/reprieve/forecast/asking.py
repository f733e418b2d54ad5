"""Many futures of one situation: as many as are needed, each with run times of its own."""

from collections.abc import Sequence
from functools import cached_property

from reprieve.forecast import sentences
from reprieve.forecast.chances import Chances
from reprieve.forecast.replay import DRAWN, Future, Replay
from reprieve.forecast.situation import Situation
from reprieve.objects import Reference, ReprieveError, collector_off
from reprieve.simulate import Copies, ticks
from reprieve.whatif import notes_about

HORIZON = 30 * 86_400.0
MOST_FUTURES, FEWEST_FUTURES = 200, 9
"""From the lowest to the highest of nine are 80 %: one more falls into each of the ten gaps equally often."""
WORK = 10_000
"""Of all futures together (`Future.work`), two or three seconds: large clusters get fewer futures, never by
the clock."""


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
        self.notes: dict[Reference, list[str]] = {}
        """Of each target, what an answer could not know."""
        self._asked = {number for units in self.units.values() for number in units}

    def ask(self, count: int | None) -> list[Future]:
        """One future where nothing is uncertain, else `count`, or as many as the size allows."""
        known = [each.run_time for each in self.situation.owners]
        with collector_off():
            begun = self._replay([each.expected if each.is_certain else DRAWN for each in known])
        self._take_notes(begun)
        if begun.is_over or all(each.is_certain for each in known):
            return [begun.run(self._chances.drawn(0))]
        with collector_off():
            copies = Copies(begun, shared=[self.situation])
        first = self._play(copies, 0)
        number = self._affordable(first.work) if count is None else count
        return [first, *(self._play(copies, index) for index in range(1, number))]

    def _take_notes(self, begun: Replay) -> None:
        """About the cluster as it is now: with time its pods and claims change."""
        cluster, situation = begun.cluster, self.situation
        if cluster is None:
            return
        for target, numbers in self.units.items():
            units = [situation.units[number] for number in numbers]
            pods = [pod for unit in units for pod in unit.pods]
            evicted = (begun.future.evicted.get(number, ()) for number in numbers)
            self.notes[target] = notes_about(
                cluster,
                [pod.key for pod in pods],
                situation.documents,
                situation.config,
                schedulers=[pod.spec.scheduler_name for unit in units if unit.waits for pod in unit.pods],
                victims={victim for each in evicted for victim in each},
                fits=begun.future.started.keys() >= set(numbers),
            )

    def _play(self, copies: Copies[Replay], index: int) -> Future:
        """A replay is garbage when it is over, and hardly before."""
        with collector_off():
            return copies.make().run(self._chances.drawn(index))

    @cached_property
    def best_case(self) -> Future:
        """As if everybody whose run time is not known ended now."""
        lengths = [
            each.run_time.elapsed if each.run_time.known == "unknown" else length
            for each, length in zip(self.situation.owners, self._chances.drawn(0), strict=True)
        ]
        return self._replay(lengths).run(lengths)

    @cached_property
    def _chances(self) -> Chances:
        return Chances([each.run_time for each in self.situation.owners], self.seed)

    def _replay(self, lengths: Sequence[int | None]) -> Replay:
        return Replay(self.situation, self._asked, lengths, self.horizon)

    def _affordable(self, work: int) -> int:
        """As the first future says; one less than tens, so that the interval holds exactly 80 %."""
        limit = WORK if self._most_work is None else self._most_work
        if self._most_work is not None and work * FEWEST_FUTURES > limit:
            raise TooMuchWork(sentences.TOO_MUCH_WORK)
        number = limit // max(1, work)
        return MOST_FUTURES if number >= MOST_FUTURES else max(FEWEST_FUTURES, (number + 1) // 10 * 10 - 1)
