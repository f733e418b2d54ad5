"""A column, how columns are written down, and the cells that many kinds share."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from reprieve.objects import Document
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
    wide: bool = False

    def definition(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": 1 if self.wide else 0,
        }


def since(value: Any, now: datetime) -> str:
    """How long ago, in the short form that `kubectl` uses."""
    time = time_or_none(value)
    return UNKNOWN if time is None else human_duration((now - time).total_seconds())


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
NAME = Column("Name", lambda doc, _: at(doc, "metadata", "name", default=""), format="name")
AGE = Column("Age", lambda doc, now: since(at(doc, "metadata", "creationTimestamp"), now))
_WRITTEN = re.compile(
    r"(?P<wide>\+?)(?P<name>[^=]+)(=(?P<path>\*|[.\w]+)(:(?P<json>\w+)|\?(?P<empty>[^@]*))?(@(?P<type>\w+))?)?"
)
_USUAL = {"Name": NAME, "Age": AGE}
_TYPES = {bool: "boolean", int: "integer"}


def columns(text: str, *cells: Cell) -> tuple[Column, ...]:
    """`Name | Ready=* | +Node=.spec.nodeName?<none> | Value=.value:0 | Age`

    A path shows what is there: `:` what counts where nothing is, as JSON, whose type is the column's unless
    `@` names another; `?` what is shown instead of something empty. `*` is the next one of `cells`. A wide
    column begins with `+`. Name and Age are known.
    """
    following = iter(cells)
    return tuple(_column(part.strip(), following) for part in text.split("|"))


def _column(text: str, cells: Iterator[Cell]) -> Column:
    found = _WRITTEN.fullmatch(text)
    assert found is not None, text
    name, path, wide = found["name"], found["path"], bool(found["wide"])
    if path is None:
        return _USUAL[name]._replace(wide=wide)
    default = msgspec.json.decode(found["json"]) if found["json"] else ""
    if path == "*":
        cell = next(cells)
    else:
        cell = _field(path.strip(".").split("."), default, found["empty"])
    type_ = found["type"] or _TYPES.get(type(default), "string")
    return Column(name, cell, type_, "name" if name == "Name" else "", wide)


def _field(path: list[str], default: Any, empty: str | None) -> Cell:
    if empty is not None:
        return lambda doc, _: str(at(doc, *path, default="")) or empty
    return lambda doc, _: at(doc, *path, default=default)
