"""From a foreign file to records in order of submission: all of them, or an error with file and line."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import msgspec

from reprieve.objects import ReprieveError, counted, nearest, shown
from reprieve.simulate.importers import swf
from reprieve.simulate.importers.dumps import read_audit, read_dump
from reprieve.simulate.importers.history import History
from reprieve.simulate.importers.records import MOST, Fields, Record
from reprieve.simulate.importers.tables import TABLES, Table
from reprieve.simulate.jobs import LONGEST, SHARE
from reprieve.simulate.trace import TraceError, text_of, unprintable, wrong_columns

CLUSTER = {"events": read_dump, "audit": read_audit}
"""What one's own cluster says."""
FORMATS = (*TABLES, "swf", *CLUSTER)
YEAR = 365 * 86_400


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    records: tuple[Record, ...]
    """In order of submission, the first at 0; those of one moment as in the source."""
    notes: tuple[str, ...] = ()


def read_foreign(format: str, path: str | Path) -> Imported:
    if format not in FORMATS:
        hint = nearest(format, FORMATS) or f"; known are {', '.join(FORMATS)}"
        raise ReprieveError(f"unknown format {shown(format)}{hint}")
    where = str(path)
    text = text_of(path)
    history = None
    if format in CLUSTER:
        _refuse_cut(text, where)
        history = CLUSTER[format](text, where)
    found: list[Record] = []
    lines: dict[str, int] = {}
    parts = 0
    for line, record in _rows(format, text, where, history):
        if record is None:
            parts += 1
            continue
        if first := lines.get(record.name):
            raise TraceError(
                f"{where}:{line}: the job {shown(record.name)} is there twice, first in line {first}"
            )
        if record.largest() > MOST:
            raise TraceError(f"{where}:{line}: a number of the job {shown(record.name)} is out of range")
        if problem := unprintable(record.texts()) or _unreadable(record):
            raise TraceError(f"{where}:{line}: {problem}")
        lines[record.name] = line
        found.append(record)
    _refuse_cut(text, where)
    if not found:
        raise TraceError(f"{where}: there is no job in it")
    start = min(each.submit for each in found)
    moved = [msgspec.structs.replace(each, submit=each.submit - start) for each in found]
    for each in moved:
        if (longest := max(each.submit, each.duration or 0, each.deadline or 0)) > LONGEST:
            years = f"{longest / YEAR:,.0f} years"
            problem = f"the job {shown(each.name)} has a time of {years}; is this file in another unit?"
            raise TraceError(f"{where}:{lines[each.name]}: {problem}")
    notes = _notes(found, parts) if history is None else history.notes(found)
    return Imported(records=tuple(sorted(moved, key=lambda each: each.submit)), notes=tuple(notes))


def _rows(
    format: str, text: str, where: str, history: History | None
) -> Iterator[tuple[int, Record]] | Iterator[tuple[int, Record | None]]:
    if history is not None:
        return history.records()
    return _swf(text, where) if format == "swf" else _table(TABLES[format], text, where)


def _table(table: Table, text: str, where: str) -> Iterator[tuple[int, Record]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = [name.strip() for name in next(rows, [])]
        if problem := wrong_columns(columns, (*table.needed, *table.ignored), table.needed):
            raise TraceError(f"{where}:1: {problem}")
        for number, row in enumerate(each for each in rows if each):
            if len(row) != len(columns):
                raise _uneven(where, rows.line_num, len(row), len(columns))
            fields = Fields(where, rows.line_num, number, dict(zip(columns, row, strict=True)))
            yield rows.line_num, table.convert(fields)
    except csv.Error as error:
        raise TraceError(f"{where}:{rows.line_num}: this is no CSV ({error})") from None


def _swf(text: str, where: str) -> Iterator[tuple[int, Record | None]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip() or content.lstrip().startswith(";"):
            continue
        if (width := len(content.split())) != len(swf.COLUMNS):
            raise _uneven(where, line, width, len(swf.COLUMNS))
        yield line, swf.convert(Fields(where, line, line, swf.values(content)))


def _uneven(where: str, line: int, found: int, expected: int) -> TraceError:
    fields = counted(found, "field")
    return TraceError(f"{where}:{line}: {fields} instead of {expected}; was the file cut off here?")


def _unreadable(record: Record) -> str:
    """What the reader of the common form would refuse; empty if it would not."""
    if "/" in record.name:
        return f"the job {shown(record.name)} has a / in its name, which separates names of objects"
    if record.gpu and not round(record.gpu * SHARE):
        return f"the job {shown(record.name)} asks for less than a thousandth of a GPU: {record.gpu}"
    return ""


def _refuse_cut(text: str, where: str) -> None:
    if text and not text.endswith("\n"):
        last = text.count("\n") + 1
        raise TraceError(f"{where}:{last}: the last line has no end: the file was cut off")


def _notes(found: list[Record], parts: int) -> Iterator[str]:
    if never := sum(each.duration is None for each in found):
        jobs = counted(never, "job")
        yield f"{jobs} without a run time, which a simulation leaves out"
    if parts:
        lines = counted(parts, "line")
        yield f"{lines} of status 2 to 4 left out: they repeat a part of a job"
