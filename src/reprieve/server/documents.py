"""Raw documents (`reprieve.objects.raw`), how deep they may be, and the times in them."""

from typing import Any

from reprieve.objects import raw, times
from reprieve.server.errors import bad_request

at, items, section = raw.at, raw.items, raw.section
shifted, time_or_none = times.shifted, times.time_or_none
MAX_DEPTH = 100
"""Levels of a document, however it came about: whoever reads one may go down level by level."""


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
