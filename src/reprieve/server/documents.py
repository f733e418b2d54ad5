"""Raw documents (`reprieve.objects.raw`), and the times in them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.objects import raw

at, items, section = raw.at, raw.items, raw.section
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


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
