"""Nodes that fail, drain and return: from a file, or drawn from a seed."""

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from reprieve.objects import ReprieveError, nearest, shown
from reprieve.simulate.jobs import Job, ticks

if TYPE_CHECKING:
    from reprieve.simulate.timeline import Settings

What = Literal["fail", "drain", "return"]
KINDS = ("fail", "drain", "return")
COLUMNS = ["time_s", "event", "node"]


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
    chance = random.Random(f"node failures {settings.seed}")
    found: list[NodeEvent] = []
    for node in nodes:
        time = round(chance.expovariate(1 / mean))
        while time < horizon:
            found.append(NodeEvent(time, "fail", node))
            found.append(NodeEvent(time + repair, "return", node))
            time += repair + round(chance.expovariate(1 / mean))
    return sorted(found)


def read_node_events(path: str | Path) -> list[NodeEvent]:
    """From a CSV file with the columns time_s, event and node."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReprieveError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not rows or rows[0] != COLUMNS:
        raise ReprieveError(f"{path}:1: the first line must be {','.join(COLUMNS)}")
    return [_read(path, number, row) for number, row in enumerate(rows[1:], 2)]


def _read(path: str | Path, line: int, row: list[str]) -> NodeEvent:
    if len(row) != len(COLUMNS):
        raise ReprieveError(f"{path}:{line}: {len(row)} fields instead of {len(COLUMNS)}")
    time, what, node = row
    try:
        seconds = float(time)
        good = 0 <= seconds < 1e12
    except ValueError:
        good = False
    if not good:
        raise ReprieveError(f"{path}:{line}: time_s must be seconds since the first job, is {shown(time)}")
    if what not in KINDS:
        hint = nearest(what, KINDS) or f"; known are {', '.join(KINDS)}"
        raise ReprieveError(f"{path}:{line}: unknown event {shown(what)}{hint}")
    return NodeEvent(ticks(seconds), cast(What, what), node)
