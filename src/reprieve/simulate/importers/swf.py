"""The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 for unknown, headers
and comments after a semicolon."""

import re
from decimal import ROUND_CEILING, Decimal

from reprieve.simulate.importers.records import Fields, Record

COLUMNS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
PART = "part"
STATUSES = {"0": "failed", "1": "completed", "2": PART, "3": PART, "4": PART, "5": "cancelled"}
"""A part repeats what a job did between two checkpoints; the whole job has a line of its own."""
_UNKNOWN = re.compile(r"-1(\.0*)?")
KIB = 1024


def values(line: str) -> dict[str, str]:
    """Unknown ones are empty."""
    return {
        name: "" if _UNKNOWN.fullmatch(text) else text
        for name, text in zip(COLUMNS, line.split(), strict=True)
    }


def convert(row: Fields) -> Record | None:
    """None for a part of a job."""
    outcome = row.choice("status", STATUSES) if row.text("status") else ""
    if outcome == PART:
        return None
    duration = row.optional("run time")
    return Record(
        name=f"swf-{row.count('job number')}",
        submit=row.amount("submit time"),
        duration=duration,
        user=row.text("user"),
        queue=row.text("group"),
        pods=_processors(row, ran=bool(duration)),
        cpu=Decimal(1000),
        memory=_memory(row),
        kind="batch",
        outcome=outcome,
    )


def _processors(row: Fields, *, ran: bool) -> int | None:
    """One pod each. Logs write 0 as well as -1 where nothing was ever allocated."""
    for column in ("requested processors", "allocated processors"):
        if row.optional(column):
            return row.pods(column)
    if ran:
        raise row.wrong("the job ran, and neither its requested nor its allocated processors are known")
    return None


def _memory(row: Fields) -> Decimal | None:
    """MiB of each processor, from KiB."""
    memory = row.optional("requested memory")
    return None if memory is None else (memory / KIB).to_integral_value(ROUND_CEILING)
