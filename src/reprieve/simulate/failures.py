"""Nodes that fail, drain and return: from a file, or drawn from a seed."""

import csv
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from reprieve.objects import ReprieveError, nearest, shown
from reprieve.simulate.jobs import LONGEST, Job, ticks
from reprieve.simulate.trace import text_of

if TYPE_CHECKING:
    from reprieve.simulate.timeline import Settings

What = Literal["fail", "drain", "return"]
KINDS = ("fail", "drain", "return")
COLUMNS = ["time_s", "event", "node"]
MOST_FAILURES = 1_000_000


class NodeEvent(NamedTuple):
    time: int
    what: What
    """fail: gone at once with its pods. drain: cordoned, its pods get their grace. return: as it was."""
    node: str


def drawn_failures(jobs: Sequence[Job], nodes: Sequence[str], settings: "Settings") -> list[NodeEvent]:
    """Each node fails after an exponential time and returns after its repair, if they are to fail at all."""
    mean, repair = settings.mean_failure, settings.repair
    if not mean or not jobs:
        return []
    horizon = settings.until or 2 * max(job.submit + job.duration for job in jobs)
    if (number := horizon // (mean + repair) * len(nodes)) > MOST_FAILURES:
        raise ReprieveError(
            f"--mtbf: nodes would fail {number:,} times; at most {MOST_FAILURES:,} are simulated"
        )
    chance = random.Random(f"node failures {settings.seed}")
    found: list[NodeEvent] = []
    for node in nodes:
        time = round(chance.expovariate(1 / mean))
        while time < horizon:
            found.append(NodeEvent(time, "fail", node))
            found.append(NodeEvent(time + repair, "return", node))
            time += repair + round(chance.expovariate(1 / mean))
    return sorted(found)


def read_node_events(path: str | Path, problem: Callable[[NodeEvent], str] = lambda _: "") -> list[NodeEvent]:
    """From a CSV file with the columns time_s, event and node. `problem`: what is wrong with an event."""
    text = text_of(path)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    found = []
    try:
        if next(rows, []) != COLUMNS:
            raise ReprieveError(f"{path}:1: the first line must be {','.join(COLUMNS)}")
        for row in rows:
            found.append(_read(path, rows.line_num, row))
            if wrong := problem(found[-1]):
                raise ReprieveError(f"{path}:{rows.line_num}: {wrong}")
    except csv.Error as error:
        raise ReprieveError(f"{path}:{rows.line_num}: this is no CSV ({error})") from None
    if not text.endswith("\n"):
        raise ReprieveError(f"{path}:{rows.line_num}: the last line has no end: the file was cut off")
    return found


def _read(path: str | Path, line: int, row: list[str]) -> NodeEvent:
    if len(row) != len(COLUMNS):
        raise ReprieveError(f"{path}:{line}: {len(row)} fields instead of {len(COLUMNS)}")
    time, what, node = row
    try:
        seconds = float(time)
        good = 0 <= seconds <= LONGEST and time.isascii() and "_" not in time
    except ValueError:
        good = False
    if not good:
        raise ReprieveError(f"{path}:{line}: time_s must be seconds since the first job, is {shown(time)}")
    if what not in KINDS:
        hint = nearest(what, KINDS) or f"; known are {', '.join(KINDS)}"
        raise ReprieveError(f"{path}:{line}: unknown event {shown(what)}{hint}")
    return NodeEvent(ticks(seconds), cast(What, what), node)
