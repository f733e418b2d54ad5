"""How long somebody runs: announced, learnt from earlier runs, limited, or not known. Times are ticks.

What is learnt from n earlier runs is their predictive distribution: the next run is as likely to fall into
each of the n + 1 gaps between them. How likely exactly is drawn for each future, the same for all owners that
learn from these runs: if they were shorter than usual, they were so for everybody. Whoever has run for some
time already is compared with those that ran longer. So few runs give a wide answer, and none gives none.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from random import Random
from statistics import fmean
from typing import Literal, NamedTuple

import msgspec

Known = Literal["announced", "history", "limit", "endless", "unknown"]
"""Where a run time comes from. `limit`: only that it must have ended by then. `endless`: a service."""
FEWEST = 3
"""Earlier runs, longer than the present one, that are enough to learn from."""
_SUFFIX = re.compile(r"(-[bcdfghjklmnpqrstvwxz2456789]{5}|-?\d+)$")
"""What a CronJob, `generateName` or a person who counts put at the end of a name."""
_EVERYBODY = ("everybody",)


class Draw:
    """The chances of one future."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self._weights: dict[tuple[int, ...], list[float]] = {}

    def gap(self, times: tuple[int, ...], first: int) -> int:
        """One of the gaps between these times, from the given one on; the last is beyond them all."""
        weights = self._weights.get(times)
        if weights is None:
            weights = self._weights[times] = [self.random.expovariate(1) for _ in range(len(times) + 1)]
        return self.random.choices(range(first, len(times) + 1), weights[first:])[0]


class RunTime(msgspec.Struct, frozen=True, kw_only=True):
    """How long one owner runs, counted from its start."""

    known: Known
    times: tuple[int, ...] = ()
    """The announced one; or those of earlier runs, in ascending order."""
    limit: int | None = None
    elapsed: int = 0
    """For how long it has been running."""

    @property
    def is_certain(self) -> bool:
        return self.known != "history"

    def draw(self, draw: Draw) -> int | None:
        """One possible run time; None if it does not end by itself, as far as anybody knows."""
        if self.known in ("endless", "unknown"):
            return None
        found = self._learnt(draw) if self.known == "history" else self.times[0] if self.times else None
        limits = [each for each in (found, self.limit) if each is not None]
        return max(self.elapsed, min(limits))

    def _learnt(self, draw: Draw) -> int:
        first = bisect_right(self.times, self.elapsed)
        gap = draw.gap(self.times, first)
        low = self.elapsed if gap == first else self.times[gap - 1]
        if gap < len(self.times):
            return round(low + draw.random.random() * (self.times[gap] - low))
        beyond = fmean(each - self.elapsed for each in self.times[first:])
        return round(low + draw.random.expovariate(1 / beyond))


class Likeness(NamedTuple):
    """What earlier runs are found by."""

    kind: str
    namespace: str
    name: str
    queue: str = ""

    def families(self) -> Iterable[tuple[str, ...]]:
        """Those it may be compared with, the nearest first."""
        yield "name", self.kind, self.namespace, _SUFFIX.sub("", self.name)
        if self.queue:
            yield "queue", self.namespace, self.queue
            yield "any queue", self.queue
        yield "namespace", self.kind, self.namespace


class History:
    """Run times of what has ended."""

    def __init__(self) -> None:
        self._families: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self.runs = 0

    def add(self, like: Likeness, ticks: int) -> None:
        self.runs += 1
        for family in like.families():
            self._families[family].append(ticks)

    def add_row(self, queue: str, ticks: int) -> None:
        """Of a trace, which knows no kinds and namespaces; without a queue it counts for everybody."""
        self.runs += 1
        self._families[("any queue", queue) if queue else _EVERYBODY].append(ticks)

    def times(self, like: Likeness, elapsed: int) -> tuple[int, ...]:
        """Of the nearest family with enough runs that were longer than this one is by now; else none."""
        for family in (*like.families(), _EVERYBODY):
            found = self._families.get(family, ())
            if sum(each > elapsed for each in found) >= FEWEST:
                return tuple(sorted(found))
        return ()


def run_time(
    like: Likeness,
    history: History,
    *,
    announced: int | None = None,
    limit: int | None = None,
    elapsed: int = 0,
    endless: bool = False,
) -> RunTime:
    """What is known best: what it says itself while that can still be true, earlier runs, its limit."""
    if announced is not None and announced > elapsed:
        return RunTime(known="announced", times=(announced,), limit=limit, elapsed=elapsed)
    if times := () if endless else history.times(like, elapsed):
        return RunTime(known="history", times=times, limit=limit, elapsed=elapsed)
    if limit is not None:
        return RunTime(known="limit", limit=limit, elapsed=elapsed)
    return RunTime(known="endless" if endless else "unknown", elapsed=elapsed)
