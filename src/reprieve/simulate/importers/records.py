"""A job of the common form, and the fields of one row of a foreign file, which know their file and line.

Numbers are decimals from the text to the text, so that 0.46 stays 0.46 and equal
files give equal bytes.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import TypeVar

import msgspec

from reprieve.objects import shown
from reprieve.simulate.trace import MOST_PODS, TraceError, brief

T = TypeVar("T")
ZERO = Decimal(0)
MOST = Decimal(10) ** 12
"""Of any number, as for the reader of the common form."""
MOST_GPUS = 8
"""Of one pod, where the source has only the total of a job."""
_FINEST = Decimal("0.000001")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
"""Digits can be matched in one way only, so a long text that is no number is refused in linear time."""
_DASH = re.compile(r"(?<=[0-9.])-")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the common form but for the clock: `submit` counts from wherever the source does."""

    name: str
    submit: Decimal
    duration: Decimal | None
    user: str = ""
    queue: str = ""
    pods: int | None = 1
    cpu: Decimal | None = None
    memory: Decimal | None = None
    gpu: Decimal | None = None
    hint: int | None = None
    kind: str = ""
    outcome: str = ""
    deadline: Decimal | None = None

    def texts(self) -> dict[str, str]:
        return {
            "the name": self.name,
            "user": self.user,
            "queue": self.queue,
            "kind": self.kind,
            "outcome": self.outcome,
        }

    def largest(self) -> Decimal:
        numbers = (self.submit, self.duration, self.cpu, self.memory, self.gpu, self.deadline)
        return max(each for each in numbers if each is not None)


class Fields:
    """One row. `number`: how many rows came before it, for sources that do not name their jobs."""

    def __init__(self, where: str, line: int, number: int, values: Mapping[str, str]) -> None:
        self.number = number
        self._where = where
        self._line = line
        self._values = values

    def text(self, column: str) -> str:
        return self._values.get(column, "").strip()

    def needed(self, column: str) -> str:
        text = self.text(column)
        if not text:
            raise self.wrong(f"{column} is missing")
        return text

    def amount(self, column: str) -> Decimal:
        """A number that must be there; not negative."""
        return self._number(column, self.needed(column))

    def optional(self, column: str) -> Decimal | None:
        text = self.text(column)
        return self._number(column, text) if text else None

    def count(self, column: str) -> int:
        number = self.amount(column)
        if number != int(number):
            raise self.wrong(f"{column} must be a whole number, is {self.text(column)}")
        return int(number)

    def whole(self, column: str, factor: int = 1) -> Decimal:
        """A request in whole units, rounded up: what was asked for is there."""
        return (self.amount(column) * factor).to_integral_value(ROUND_CEILING)

    def first(self, column: str) -> Decimal:
        """The first of several numbers that are joined by dashes; a second dash is a sign."""
        first, *_ = [self._number(column, each) for each in _DASH.split(self.needed(column))]
        return first

    def choice(self, column: str, known: Mapping[str, T]) -> T:
        text = self.needed(column)
        if text not in known:
            raise self.wrong(f"{column} must be one of {', '.join(known)}, is {shown(text)}")
        return known[text]

    def local_time(self, column: str) -> Decimal:
        """Seconds; a date without a zone. One with a zone beside others without could not be ordered."""
        moment = self._moment(column)
        if moment.tzinfo is not None:
            raise self.wrong(
                f"{column} has a time zone: {shown(self.text(column))}; here times are local, without one"
            )
        return since_1970(moment.replace(tzinfo=UTC))

    def instant(self, column: str) -> Decimal:
        """Seconds, from milliseconds since 1970 or from the date that a converter made of them (UTC)."""
        if _NUMBER.fullmatch(self.needed(column)):
            return self._number(column, self.text(column), MOST * 1000) / 1000
        moment = self._moment(column)
        return since_1970(moment if moment.tzinfo else moment.replace(tzinfo=UTC))

    def between(self, earlier: Decimal, later: Decimal, what: str) -> Decimal:
        if later < earlier:
            raise self.wrong(what)
        return later - earlier

    def gang(self, column: str) -> tuple[int, Decimal]:
        """Pods, and GPUs of each, of a job of which the source has the total: the fewest equal pods."""
        total = self.count(column)
        if total <= MOST_GPUS:
            return 1, Decimal(total)
        each = next(gpus for gpus in range(MOST_GPUS, 0, -1) if total % gpus == 0)
        if total // each > MOST_PODS:
            raise self.wrong(f"{column}: {total:,} GPUs are more than {MOST_PODS:,} equal pods can have")
        return total // each, Decimal(each)

    def pods(self, column: str) -> int:
        pods = self.count(column)
        if not 1 <= pods <= MOST_PODS:
            raise self.wrong(f"{column}: a job has from 1 to {MOST_PODS:,} pods, not {pods:,}")
        return pods

    def wrong(self, problem: str) -> TraceError:
        return TraceError(f"{self._where}:{self._line}: {problem}")

    def _number(self, column: str, text: str, most: Decimal = MOST) -> Decimal:
        if not _NUMBER.fullmatch(text):
            raise self.wrong(f"{column} is no number: {shown(text)}")
        number = Decimal(text)
        if number < 0:
            raise self.wrong(f"{column} is negative: {brief(text)}")
        if number > most:
            raise self.wrong(f"{column} is out of range: {brief(text)}")
        return number.quantize(_FINEST)

    def _moment(self, column: str) -> datetime:
        text = self.needed(column)
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise self.wrong(f"{column} is no time: {shown(text)}; write 2026-01-31 09:30:00") from None


def since_1970(moment: datetime) -> Decimal:
    """Seconds."""
    since = moment - _EPOCH
    return Decimal(since.days * 86_400 + since.seconds) + Decimal(since.microseconds) * _FINEST
