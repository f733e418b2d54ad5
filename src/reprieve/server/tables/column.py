"""A column, and the cells that many kinds share: names, ages, containers, label selectors."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from reprieve.objects import Document, condition_of
from reprieve.server.documents import at, time_or_none
from reprieve.server.selection import format_selector

Cell = Callable[[Document, datetime], Any]

NONE = "<none>"
UNKNOWN = "<unknown>"


class Column(NamedTuple):
    """One column; a wide one shows only with `-o wide`."""

    name: str
    cell: Cell
    type: str = "string"
    format: str = ""
    description: str = ""
    wide: bool = False

    def definition(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": 1 if self.wide else 0,
        }


def field(*path: str, default: Any = "") -> Cell:
    return lambda doc, _: at(doc, *path, default=default)


def text(*path: str, default: str = NONE) -> Cell:
    """The value as text, or a placeholder when it is missing or empty."""
    return lambda doc, _: str(at(doc, *path, default="")) or default


def since(value: Any, now: datetime) -> str:
    """How long ago, in the short form that `kubectl` uses."""
    time = time_or_none(value)
    return UNKNOWN if time is None else human_duration((now - time).total_seconds())


def age(*path: str) -> Cell:
    return lambda doc, now: since(at(doc, *path), now)


def human_duration(seconds: float) -> str:
    """`95s`, `3m20s`, `45m`, `5h3m`, `30h`, `3d4h`, `40d`, `2y10d`: two units while both still matter."""
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    total = int(seconds)
    minutes, hours = total // 60, total // 3600
    days = hours // 24
    if total < 120:
        return f"{total}s"
    if minutes < 10:
        return _pair(minutes, "m", total % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _pair(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _pair(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return _pair(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def condition_status(type: str, default: str = "") -> Cell:
    return lambda doc, _: condition_of(doc, type).get("status", default)


def join(values: Iterable[Any]) -> str:
    return ",".join(str(v) for v in values)


def labels(pairs: dict[str, str] | None) -> str:
    return join(f"{k}={v}" for k, v in sorted(pairs.items())) if pairs else NONE


def selector_text(selector: Document | None) -> str:
    """A label selector in the form that `-l` takes."""
    return format_selector(selector or {}) or NONE


def containers(*path: str) -> tuple[Column, Column]:
    """The wide columns with the names and images of a pod template."""

    def of(key: str) -> Cell:
        return lambda doc, _: join(c.get(key, "") for c in at(doc, *path, "containers", default=()))

    return Column("Containers", of("name"), wide=True), Column("Images", of("image"), wide=True)


SELECTOR = Column("Selector", lambda doc, _: selector_text(at(doc, "spec", "selector")), wide=True)
NAME = Column("Name", field("metadata", "name"), format="name", description="Name of the object.")
AGE = Column("Age", age("metadata", "creationTimestamp"), description="Time since it was created.")
CREATED_AT = Column(
    "Created At", field("metadata", "creationTimestamp"), type="date", description="When it was created."
)
