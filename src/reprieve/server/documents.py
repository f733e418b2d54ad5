"""Reading raw documents, which may lack anything: a value at a path, a time, a condition."""

from datetime import datetime
from typing import Any

from reprieve.objects import Document, TimeError, parse_time


def at(document: Any, *path: str, default: Any = None) -> Any:
    """The value at a path of keys, or the default as soon as one is missing or null."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
        if document is None:
            return default
    return document


def time_or_none(value: Any) -> datetime | None:
    """A timestamp as an instant; None for anything else."""
    try:
        return parse_time(value) if isinstance(value, str) else None
    except TimeError:
        return None


def condition(document: Document, type: str) -> Document | None:
    """The condition of this type in the document's status."""
    for item in at(document, "status", "conditions", default=()):
        if item.get("type") == type:
            found: Document = item
            return found
    return None


def has_condition(document: Document, type: str) -> bool:
    """Whether the condition of this type is True."""
    return (condition(document, type) or {}).get("status") == "True"
