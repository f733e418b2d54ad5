"""How long somebody runs: announced, learnt from earlier runs, limited, or not known. Times are ticks.

Whoever has run for some time already is compared with earlier runs that were longer.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

Known = Literal["announced", "history", "limit", "endless", "unknown"]
"""Where a run time comes from. `limit`: only that it must have ended by then. `endless`: a service."""
FEWEST = 4
"""Earlier runs, longer than the present one, that are enough to learn from: the next one ends before the
longest of n in n of n + 1 cases. Of fewer nobody can say what holds in 80 %."""
_SUFFIX = re.compile(r"(-[bcdfghjklmnpqrstvwxz2456789]{5}|-?\d+)$")
"""What a CronJob, `generateName` or a person who counts put at the end of a name."""
_EVERYBODY = ("everybody",)


class RunTime(msgspec.Struct, frozen=True, kw_only=True):
    """How long one owner runs, counted from its start."""

    known: Known
    times: tuple[int, ...] = ()
    """The announced one; or those of earlier runs, in ascending order."""
    unfinished: tuple[int, ...] = ()
    """For how long runs like those have gone on that are not over."""
    limit: int | None = None
    elapsed: int = 0
    """For how long it has been running."""
    outran: bool = False
    """It has run for longer than it announced."""

    @property
    def is_certain(self) -> bool:
        return self.known != "history"

    @property
    def expected(self) -> int | None:
        """Of one that is certain: how long it runs; None if it does not end, as far as anybody knows."""
        if self.known in ("endless", "unknown"):
            return None
        limits = [each for each in (*self.times, self.limit) if each is not None]
        return max(self.elapsed, min(limits))


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


class Runs(NamedTuple):
    """Of one family, in ascending order."""

    ended: tuple[int, ...] = ()
    unfinished: tuple[int, ...] = ()


class History:
    """Run times of what has ended, and of what has not: it will have run for longer."""

    def __init__(self) -> None:
        self._families: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._unfinished: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._sorted: dict[tuple[str, ...], Runs] = {}

    def add(self, like: Likeness, ticks: int) -> None:
        self._add(self._families, like.families(), ticks)

    def add_row(self, queue: str, ticks: int) -> None:
        """Of a trace, which knows no kinds and namespaces; without a queue it counts for everybody."""
        self._add(self._families, [("any queue", queue) if queue else _EVERYBODY], ticks)

    def add_unfinished(self, like: Likeness, elapsed: int) -> None:
        self._add(self._unfinished, (*like.families(), _EVERYBODY), elapsed)

    def runs(self, like: Likeness, elapsed: int) -> Runs:
        """Of the nearest family with enough runs that were longer than this one is by now; else none."""
        for family in (*like.families(), _EVERYBODY):
            if family not in self._sorted:
                ended, others = self._families.get(family, ()), self._unfinished.get(family, ())
                self._sorted[family] = Runs(tuple(sorted(ended)), tuple(sorted(others)))
            found = self._sorted[family]
            if len(found.ended) - bisect_right(found.ended, elapsed) >= FEWEST:
                return found
        return Runs()

    def _add(
        self,
        table: defaultdict[tuple[str, ...], list[int]],
        families: Iterable[tuple[str, ...]],
        ticks: int,
    ) -> None:
        for family in families:
            table[family].append(ticks)
            self._sorted.pop(family, None)


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
    outran = announced is not None
    past = Runs() if endless else history.runs(like, elapsed)
    if past.ended:
        return RunTime(
            known="history", times=past.ended, unfinished=past.unfinished, limit=limit, elapsed=elapsed
        )
    if limit is not None:
        return RunTime(known="limit", limit=limit, elapsed=elapsed)
    return RunTime(known="endless" if endless else "unknown", elapsed=elapsed, outran=outran)
