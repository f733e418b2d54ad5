"""How long somebody runs: announced, learnt from earlier runs, limited, or not known. Times are ticks.

What is learnt from n earlier runs is their predictive distribution: the next run is as likely to fall into
each of the n + 1 gaps between them. Whoever has run for some time already is compared with those that ran
longer. So few runs give a wide answer, and none gives no answer.
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

    def draw(self, random: Random) -> int | None:
        """One possible run time; None if it does not end by itself, as far as anybody knows."""
        if self.known in ("endless", "unknown"):
            return None
        found = self._learnt(random) if self.known == "history" else self.times[0] if self.times else None
        limits = [each for each in (found, self.limit) if each is not None]
        return max(self.elapsed, min(limits))

    def _learnt(self, random: Random) -> int:
        longer = self.times[bisect_right(self.times, self.elapsed) :]
        points = (self.elapsed, *longer)
        gap = random.randrange(len(points))
        if gap < len(longer):
            return round(points[gap] + random.random() * (points[gap + 1] - points[gap]))
        return round(points[-1] + random.expovariate(1 / fmean(each - self.elapsed for each in longer)))


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
