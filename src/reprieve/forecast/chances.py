"""Run times that must be guessed, drawn for one future after the other.

Of n earlier runs, the next one is as likely to fall into each of the n + 1 gaps between them. How likely each
gap is exactly is drawn for every future, the same for all owners that learn from these runs: if they were
shorter than usual, they were so for everybody. What still runs is evidence as well: of runs that began today,
those that have ended are the short ones. So the weights of the gaps are drawn by turns with the unfinished
runs (Gibbs sampling): where each of them ends, given the weights and how far it has got; then the weights.

Run times differ by factors, not by seconds: within a gap each factor is as likely as another, and beyond the
longest run they fall off as a power (Pareto). Its exponent is drawn, too: from the factors between the
longest runs.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import ceil, log, sqrt
from random import Random

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from reprieve.cluster import Ints
from reprieve.forecast.run_times import RunTime
from reprieve.simulate import ticks

TURNS = 4
"""After so many turns the beginning is forgotten; with nothing unfinished the first one counts."""
IN_TAIL = 3
"""So many of the longest runs say how it goes on beyond them, more where there are many."""
SHORTEST = ticks(1)
"""What is shorter counts for a second where factors are looked at."""
FURTHEST, LONGEST = 50.0, 1e18
"""So that numbers stay numbers: a logarithm, and ticks (thirty thousand years)."""


class Chances:
    """The run times of all owners, in as many futures as are asked for."""

    def __init__(self, run_times: Sequence[RunTime], seed: int) -> None:
        self._seed = seed
        self._known = [None if each.known == "history" else each.expected for each in run_times]
        owners: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, each in enumerate(run_times):
            if each.known == "history":
                owners[each.times].append(number)
        self._families = [
            _Family(numbers, [run_times[number] for number in numbers]) for numbers in owners.values()
        ]

    def drawn(self, future: int) -> list[int | None]:
        """By owner; None for one that does not end by itself, as far as anybody knows."""
        dice = default_rng(Random(f"{self._seed} {future}").getrandbits(128))
        found = [*self._known]
        for family in self._families:
            for number, length in zip(family.owners, family.draw(dice).tolist(), strict=True):
                found[number] = length
        return found


class _Family:
    """Owners that learn from the same earlier runs."""

    def __init__(self, owners: Sequence[int], run_times: Sequence[RunTime]) -> None:
        self.owners = owners
        self._times = np.array(run_times[0].times, dtype=np.int64)
        self._elapsed = np.array([each.elapsed for each in run_times], dtype=np.int64)
        limits = [np.iinfo(np.int64).max if each.limit is None else each.limit for each in run_times]
        self._limits = np.array(limits, dtype=np.int64)
        self._first = np.searchsorted(self._times, self._elapsed, side="right")
        """The gap in which each of them is by now."""
        unfinished = np.array(run_times[0].unfinished, dtype=np.int64)
        self._reached = np.searchsorted(self._times, unfinished, side="right")
        """The gaps that runs have got to that are not over, those of other owners included."""
        self._edges = np.concatenate([[0], self._times])

    def draw(self, dice: Generator) -> Ints:
        gaps = self._gaps(dice)
        low = np.maximum(self._elapsed, self._edges[gaps])
        high = self._times[np.minimum(gaps, len(self._times) - 1)]
        share, past = dice.random(len(gaps)), dice.standard_exponential(len(gaps)) * self._scale(dice)
        floor = np.maximum(low, SHORTEST)
        by_factors = (low > 0) & (high > floor)
        within = np.where(by_factors, floor * (high / floor) ** share, low + share * (high - low))
        beyond = np.minimum(floor * np.exp(np.minimum(past, FURTHEST)), LONGEST)
        drawn = np.rint(np.where(gaps < len(self._times), within, beyond)).astype(np.int64)
        found: Ints = np.maximum(self._elapsed, np.minimum(drawn, self._limits))
        return found

    def _gaps(self, dice: Generator) -> Ints:
        """The gap in which each of them ends."""
        weights = dice.standard_gamma(np.ones(len(self._edges)))
        for _ in range(TURNS if len(self._reached) else 0):
            ends = _choose(weights, self._reached, dice)
            weights = dice.standard_gamma(1 + np.bincount(ends, minlength=len(weights)))
        return _choose(weights, self._first, dice)

    def _scale(self, dice: Generator) -> float:
        """The factor by which another run exceeds the longest, on average, as a logarithm."""
        number = min(len(self._times) - 1, max(IN_TAIL, ceil(sqrt(len(self._times)))))
        factors = np.log(np.maximum(self._times[-number - 1 :], SHORTEST))
        total = float((factors[1:] - factors[0]).sum()) or number * log(2)
        # Half a run less than there are: a little wider, for sums of several runs hang on the longest.
        return total / float(dice.standard_gamma(number - 0.5))


def _choose(weights: NDArray[np.float64], first: Ints, dice: Generator) -> Ints:
    """A gap for each, from its first one on, as likely as they weigh."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    points = sums[first] + dice.random(len(first)) * (sums[-1] - sums[first])
    found: Ints = np.clip(np.searchsorted(sums, points, side="right") - 1, first, len(weights) - 1)
    return found
