"""Reads a trace in the common form: a CSV file, plain or gzipped, one row a job, ordered by `submit_s`.

An empty field means that the trace does not say. Whatever cannot be right is an error with file and line, and
then no job is read at all.
"""

import csv
import gzip
import io
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from reprieve.objects import ReprieveError, counted, nearest, shown
from reprieve.simulate.jobs import CLASSES, LONGEST, SHARE, UNCLASSED, Job, Trace, drawn_class, ticks

COLUMNS = (
    "job",
    "submit_s",
    "duration_s",
    "user",
    "queue",
    "pods",
    "cpu_per_pod_millis",
    "memory_mib_per_pod",
    "gpu_per_pod",
    "priority_hint",
    "kind",
    "outcome",
    "deadline_s",
)
REQUIRED = ("job", "submit_s", "duration_s")
MOST_PODS = 1_000_000
MOST_BYTES = 500_000_000
"""Of a file as it is and as it unpacks: a few million jobs, and not what a small file could unpack to."""
Classes = Callable[[str], tuple[str, int]]


class TraceError(ReprieveError, ValueError):
    """A trace that cannot be read; the message names file and line."""


def read_trace(path: str | Path, *, drawn: bool = False) -> Trace:
    """`drawn`: jobs without `priority_hint` are given a class by their name (`drawn_class`)."""
    where = str(path)
    text = text_of(path)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    jobs: list[Job] = []
    never_ran = 0
    try:
        reader = _Rows(next(rows, []), where, drawn_class if drawn else lambda _: UNCLASSED)
        for row in rows:
            job = reader.job(row, rows.line_num)
            if job is None:
                never_ran += 1
            else:
                jobs.append(job)
    except csv.Error as error:
        raise TraceError(f"{where}:{rows.line_num}: this is no CSV ({error})") from None
    if not text.endswith("\n"):
        raise TraceError(f"{where}:{rows.line_num}: the last line has no end: the file was cut off")
    return Trace(
        jobs=tuple(jobs), never_ran=never_ran, notes=tuple(_notes(jobs, never_ran, drawn, reader.hinted))
    )


def text_of(path: str | Path) -> str:
    """A file, plain or gzipped, as text."""
    where = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if content[:2] == b"\x1f\x8b":
            content = _unpacked(content, where)
        if content.startswith(b"PAR1"):
            raise TraceError(
                f"{where}: this is a Parquet file, which is not read here; make it CSV first, for instance "
                "with pandas: pandas.read_parquet('tasks.parquet').to_csv('tasks.csv', index=False)"
            )
        if len(content) > MOST_BYTES:
            raise TraceError(f"{where}: more than {MOST_BYTES / 1e6:,.0f} MB, unpacked; read it in parts")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TraceError(f"{where}:{line}: byte {error.start} is not UTF-8; is this a CSV file?") from None
    except OSError as error:
        raise TraceError(f"{where}: {error.strerror or error}") from None


def _unpacked(content: bytes, where: str) -> bytes:
    """As much as may be there, and one byte more if there is more."""
    found = bytearray()
    try:
        with gzip.open(io.BytesIO(content)) as file:
            while len(found) <= MOST_BYTES and (part := file.read1(MOST_BYTES + 1 - len(found))):
                found += part
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        line = found.count(b"\n") + 1
        raise TraceError(
            f"{where}:{line}: the compressed file is damaged or was cut off here ({error})"
        ) from None
    return bytes(found)


def wrong_columns(found: Sequence[str], known: Sequence[str], required: Sequence[str]) -> str:
    """What is wrong with the first line of a file; empty if nothing is."""
    if not any(found):
        return "the file is empty; its first line must name the columns"
    if len(found) == 1 and (sign := next((each for each in ";\t|" if each in found[0]), "")):
        return f"the columns are separated by {sign!r} here; write commas"
    for name in found:
        if name not in known:
            hint = nearest(name, known) or f"; known are {', '.join(known)}"
            return f"unknown column {shown(name)}{hint}"
        if found.count(name) > 1:
            return f"the column {name} is there twice"
    missing = [name for name in required if name not in found]
    return f"the column {missing[0]} is missing" if missing else ""


def unprintable(fields: Mapping[str, str]) -> str:
    """What would steer whatever shows it: a terminal, a page, a table. Empty if nothing does."""
    wrong = next((name for name, text in fields.items() if not text.isprintable()), "")
    return f"{wrong} has characters that cannot be printed: {shown(fields[wrong])}" if wrong else ""


def brief(number: str) -> str:
    """A number as a message shows it, of which anybody may write thousands of digits."""
    text = number.strip()
    return text if len(text) <= 40 else f"{text[:40]}..."


class _Rows:
    def __init__(self, header: Sequence[str], where: str, classes: Classes) -> None:
        self.hinted = False
        self._where = where
        self._line = 1
        self._classes = classes
        self._columns = [name.strip() for name in header]
        self._names: dict[str, int] = {}
        self._last = 0
        if problem := wrong_columns(self._columns, COLUMNS, REQUIRED):
            raise self._wrong(problem)

    def job(self, row: list[str], line: int) -> Job | None:
        """None for a row without a run time."""
        self._line = line
        if len(row) != len(self._columns):
            found = counted(len(row), "field")
            raise self._wrong(f"{found} instead of {len(self._columns)}; was the file cut off here?")
        fields = dict(zip(self._columns, row, strict=True))
        name = fields["job"]
        if not name:
            raise self._wrong("the job has no name")
        if "/" in name:
            raise self._wrong(f"the job {shown(name)} has a / in its name, which separates names of objects")
        if problem := unprintable(fields):
            raise self._wrong(problem)
        if name in self._names:
            raise self._wrong(f"the job {shown(name)} is there twice, first in line {self._names[name]}")
        self._names[name] = line
        submit = self._time(fields, "submit_s")
        if submit is None:
            raise self._wrong("submit_s is missing")
        if submit < self._last:
            raise self._wrong(
                f"submit_s {fields['submit_s']} is earlier than the row before; sort the rows by it"
            )
        self._last = submit
        duration = self._time(fields, "duration_s")
        deadline = self._time(fields, "deadline_s")
        klass, priority = self._class(name, fields)
        pods = self._whole(fields, "pods", 1)
        if not 1 <= pods <= MOST_PODS:
            raise self._wrong(f"pods must be from 1 to {MOST_PODS:,}, is {pods}")
        return (
            None
            if duration is None
            else Job(
                name=name,
                submit=submit,
                duration=duration,
                pods=pods,
                cpu=self._whole(fields, "cpu_per_pod_millis"),
                memory=self._whole(fields, "memory_mib_per_pod"),
                gpu=self._gpu(fields),
                priority=priority,
                klass=klass,
                queue=fields.get("queue", ""),
                user=fields.get("user", ""),
                kind=fields.get("kind", ""),
                outcome=fields.get("outcome", ""),
                deadline=deadline,
            )
        )

    def _class(self, name: str, fields: dict[str, str]) -> tuple[str, int]:
        text = fields.get("priority_hint", "")
        if not text:
            return self._classes(name)
        self.hinted = True
        if text not in ("0", "1", "2"):
            raise self._wrong(f"priority_hint must be 0 (low), 1 (normal) or 2 (high), is {shown(text)}")
        return CLASSES[int(text)]

    def _time(self, fields: dict[str, str], column: str) -> int | None:
        if not fields.get(column):
            return None
        hint = "; times are seconds since the first job, without dates or zones"
        number = self._number(fields, column, hint=hint)
        if number > LONGEST:
            raise self._wrong(f"{column} is more than 100 years: {brief(fields[column])}; times are seconds")
        return ticks(number)

    def _gpu(self, fields: dict[str, str]) -> int:
        number = self._number(fields, "gpu_per_pod")
        if number and not round(number * SHARE):
            raise self._wrong(f"gpu_per_pod is less than a thousandth: {brief(fields['gpu_per_pod'])}")
        return round(number * SHARE)

    def _whole(self, fields: dict[str, str], column: str, default: int = 0) -> int:
        number = self._number(fields, column, default)
        if number != int(number):
            raise self._wrong(f"{column} must be a whole number, is {fields[column]}")
        return int(number)

    def _number(self, fields: dict[str, str], column: str, default: float = 0, hint: str = "") -> float:
        text = fields.get(column, "")
        if not text:
            return default
        try:
            # Python's own numbers have digits of all scripts, and underscores.
            number = float(text) if text.isascii() and "_" not in text else None
        except ValueError:
            number = None
        if number is None:
            raise self._wrong(f"{column} is no number: {shown(text)}{hint}")
        if not math.isfinite(number) or number > 1e12:
            raise self._wrong(f"{column} is out of range: {brief(text)}")
        if number < 0:
            raise self._wrong(f"{column} is negative: {brief(text)}")
        return number

    def _wrong(self, problem: str) -> TraceError:
        return TraceError(f"{self._where}:{self._line}: {problem}")


def _notes(jobs: list[Job], never_ran: int, drawn: bool, hinted: bool) -> Iterator[str]:
    if never_ran:
        rows = counted(never_ran, "row")
        yield f"{rows} without duration_s left out: the trace does not say how long they ran"
    if jobs and not hinted:
        yield (
            "priorities are drawn from the names of the jobs: 10 % high, 30 % normal, 60 % low"
            if drawn
            else "the trace states no priorities, so all jobs are equal and nobody preempts; see --priorities"
        )
