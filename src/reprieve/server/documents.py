"""Raw documents (`reprieve.objects.raw`), and the times in them."""

from datetime import datetime
from typing import Any

from reprieve.objects import raw

at, items, section = raw.at, raw.items, raw.section


def time_or_none(value: Any) -> datetime | None:
    """A timestamp as an instant; None for anything else. Cheap, since a table has one in every row."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
