"""Schedules of CronJobs: when is the next time? Pure.

Five fields (minute, hour, day of the month, month, day of the week), each `*`, a number, a range, a list of
these, with a step (`*/5`, `10-50/20`, `5/15`); months and days by their English short names; 0 is Sunday;
`@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`, `@annually`, and `@every 90s`. If both
days are restricted, either of them is enough. Times that a clock skips in spring do not happen; those that it
repeats in autumn happen twice. All of this is as upstream's parser has it.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from reprieve.objects.errors import ReprieveError
from reprieve.objects.times import TimeError, parse_duration

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_SHORT = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_PART = re.compile(r"(\*|\?|[0-9a-z]+)(?:-([0-9a-z]+))?(?:/([0-9]+))?")
_STARRED = re.compile(r"(?:^|,)[*?](?:/0*1)?(?:,|$)")
"""A day that is not restricted; `*/2` is."""
_SEARCHED_DAYS = 366 * 9
"""29 February comes at the latest eight years after the last one."""


class ScheduleError(ReprieveError, ValueError):
    """Not a schedule; the message says which part."""


class _Field(msgspec.Struct, frozen=True):
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 6, _DAYS),
)


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    either_day: bool = False
    """Both days are restricted, so one of them is enough."""
    every: timedelta | None = None

    @staticmethod
    def parse(text: str) -> "Schedule":
        spelled = text.strip().lower()
        if spelled.startswith("@every "):
            return Schedule(every=_interval(text, spelled.removeprefix("@every ").strip()))
        parts = _SHORT.get(spelled, spelled).split()
        if len(parts) != 5:
            raise ScheduleError(
                f"{text!r} has {len(parts)} fields; write five, such as '*/5 * * * *', or @hourly"
            )
        minutes, hours, days, months, weekdays = (
            frozenset(_values(part, field, text)) for part, field in zip(parts, _FIELDS, strict=True)
        )
        return Schedule(
            minutes=minutes,
            hours=hours,
            days=days,
            months=months,
            weekdays=weekdays,
            either_day=not _STARRED.search(parts[2]) and not _STARRED.search(parts[4]),
        )

    def next(self, after: datetime, zone: tzinfo = UTC) -> datetime | None:
        """The first time after an instant, in UTC; None: never, for instance on 30 February."""
        if self.every is not None:
            return after.replace(microsecond=0) + self.every
        today = after.astimezone(zone).date()
        for offset in range(_SEARCHED_DAYS):
            day = today + timedelta(days=offset)
            if self._includes(day):
                times = [instant for instant in self._times(day, zone) if instant > after]
                if times:
                    return min(times)
        return None

    def _includes(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_month or by_week if self.either_day else by_month and by_week

    def _times(self, day: date, zone: tzinfo) -> Iterator[datetime]:
        """A local time that does not exist comes back from UTC as another one."""
        for hour in self.hours:
            for minute in self.minutes:
                for fold in (0,) if zone is UTC else (0, 1):
                    local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone, fold=fold)
                    instant = local.astimezone(UTC)
                    if instant.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None):
                        yield instant


def zone_named(name: str | None) -> tzinfo:
    if not name:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ScheduleError(f"unknown time zone {name!r}; write for instance Europe/Berlin") from error


def _interval(text: str, duration: str) -> timedelta:
    try:
        seconds = parse_duration(duration)
    except TimeError as error:
        raise ScheduleError(f"{text!r}: {error}") from error
    return timedelta(seconds=max(1, int(seconds)))


def _values(part: str, field: _Field, text: str) -> Iterator[int]:
    for item in part.split(","):
        match = _PART.fullmatch(item)
        if match is None:
            raise ScheduleError(f"{text!r}: {item!r} is no {field.name}")
        first, last, step = match.groups()
        if step is not None and int(step) == 0:
            raise ScheduleError(f"{text!r}: the step of {item!r} is 0")
        if first in "*?":
            low, high = field.low, field.high
        else:
            low = _number(first, field, text)
            high = low if step is None else field.high
        if last is not None:
            high = _number(last, field, text)
        if (first in "*?" and last is not None) or low > high:
            raise ScheduleError(f"{text!r}: {item!r} is no range of {field.name}s")
        yield from range(low, high + 1, int(step or 1))


def _number(word: str, field: _Field, text: str) -> int:
    if word in field.names:
        return field.names.index(word) + field.low
    if not word.isdigit() or len(word) > 4 or not field.low <= int(word) <= field.high:
        raise ScheduleError(f"{text!r}: {word!r} is no {field.name} between {field.low} and {field.high}")
    return int(word)
