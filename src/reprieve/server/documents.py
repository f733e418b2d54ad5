"""Raw documents (`reprieve.objects.raw`), how deep they may be, and the times in them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.objects import raw
from reprieve.server.errors import bad_request

at, items, section = raw.at, raw.items, raw.section
MAX_DEPTH = 100
"""Levels of a document, however it came about: whoever reads one may go down level by level."""
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def check_depth(document: Any, limit: int = MAX_DEPTH, what: str = "body") -> None:
    level = [document]
    for _ in range(limit + 1):
        containers = [value for value in level if isinstance(value, dict | list)]
        if not containers:
            return
        level = [
            child for each in containers for child in (each.values() if isinstance(each, dict) else each)
        ]
    raise bad_request(f"the {what} is nested deeper than {limit} levels")


def shifted(time: datetime, seconds: float) -> datetime:
    """So many seconds later, or the last day there is: numbers in documents reach further than dates."""
    try:
        return time + timedelta(seconds=seconds)
    except OverflowError:
        return _LAST if seconds > 0 else _FIRST


def time_or_none(value: Any) -> datetime | None:
    """A timestamp as an instant; None for anything else. Cheap, since a table has one in every row."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
