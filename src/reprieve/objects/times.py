"""Timestamps (RFC 3339) and durations (as Go writes them). Nothing here reads a clock."""

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from reprieve.objects.errors import ReprieveError
from reprieve.objects.text import shown


class TimeError(ReprieveError, ValueError):
    """Neither a timestamp nor a duration."""


class Duration(float):
    """Seconds that are written as Go writes durations."""

    __slots__ = ()

    def __str__(self) -> str:
        return format_duration(self)


_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
_UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_LONGEST_DURATION = Fraction(2**63 - 1, 10**9)
_LONGEST_TEXT = 200
"""Nobody writes more of a duration, and whoever may annotate a pod may write a hundred thousand digits."""


_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def parse_time(text: str) -> datetime:
    """An instant, in UTC. Fractions finer than a microsecond are cut off."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise TimeError(f"{shown(text)} is not a timestamp such as 2026-08-23T10:00:00Z")
    date, clock, fraction, zone = match.groups()
    micros = (fraction or "").ljust(6, "0")[:6]
    try:
        return datetime.fromisoformat(f"{date}T{clock}.{micros}{zone.upper()}").astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise TimeError(f"{text!r} is not a timestamp: {error}") from error


def time_or_none(value: object) -> datetime | None:
    """A timestamp as an instant; None for anything else. Cheap, since a table has one in every row."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None


def shifted(time: datetime, seconds: float) -> datetime:
    """So many seconds later, or the last day there is: numbers in documents reach further than dates."""
    try:
        return time + timedelta(seconds=seconds)
    except OverflowError:
        return _LAST if seconds > 0 else _FIRST


def format_time(instant: datetime) -> str:
    """RFC 3339 in UTC; fractions of a second only where there are any."""
    if instant.tzinfo is None:
        raise TimeError(f"{instant} has no time zone")
    text = instant.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00")
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}Z" if fraction else f"{whole}Z"


def format_micro_time(instant: datetime) -> str:
    """RFC 3339 in UTC with six digits, no more and no less: Go clients read no other MicroTime."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_duration(text: str) -> float:
    """Seconds in `1h30m`, `300ms`, `-1.5h`, `0`."""
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return 0.0
    total, position = Fraction(0), 0
    while len(body) <= _LONGEST_TEXT and (match := _PART.match(body, position)) is not None:
        total += Fraction(match[1].rstrip(".")) * _UNITS[match[2]]
        position = match.end()
    if position == 0 or position != len(body) or total > _LONGEST_DURATION:
        raise TimeError(f"{shown(text)} is not a duration such as 300ms, 5m or 1h30m")
    return float(-total if text.startswith("-") else total)


def format_duration(seconds: float | timedelta) -> str:
    """As Go prints durations: `1h30m0s`, `1.5s`, `300ms`, `0s`."""
    span = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
    sign, nanos = ("-" if span < 0 else ""), round(abs(span) * 10**9)
    if nanos == 0:
        return "0s"
    if nanos < 10**9:
        for unit, size in (("ms", 10**6), ("µs", 10**3), ("ns", 1)):
            if nanos >= size:
                return f"{sign}{_decimal(nanos, size)}{unit}"
    minutes, rest = divmod(nanos, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}h" if hours else ""
    if hours or minutes:
        text += f"{minutes}m"
    return f"{sign}{text}{_decimal(rest, 10**9)}s"


def _decimal(number: int, size: int) -> str:
    whole, rest = divmod(number, size)
    fraction = str(rest).rjust(len(str(size)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)
