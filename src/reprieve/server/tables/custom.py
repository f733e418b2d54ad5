"""Columns of custom resources: those that a definition declares (`additionalPrinterColumns`)."""

from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from reprieve.objects import Document, jsonpath
from reprieve.server.registry import PrinterColumn
from reprieve.server.tables.column import AGE, NAME, Cell, Column, since


@lru_cache(maxsize=512)
def custom_columns(declared: tuple[PrinterColumn, ...]) -> tuple[Column, ...]:
    """Name first, then what is declared; name and age when nothing is."""
    if not declared:
        return (NAME, AGE)
    return (NAME, *(_column(column) for column in declared))


def _column(column: PrinterColumn) -> Column:
    return Column(
        column.name,
        _cell(column),
        column.type,
        column.format,
        wide=column.priority > 0,
    )


def _cell(column: PrinterColumn) -> Cell:
    try:
        path = jsonpath.JsonPath(column.json_path)
    except jsonpath.InvalidPath:
        return lambda _doc, _: None

    def cell(doc: Document, now: datetime) -> Any:
        found = path.find(doc)
        return _render(column.type, found, now) if found else None

    return cell


def _render(type: str, found: list[Any], now: datetime) -> Any:
    """One cell from what the path found; a value that does not have the declared type shows as nothing."""
    first = found[0]
    if type == "date":
        return since(first, now)
    if type == "string":
        return " ".join(_plain(value) for value in found)
    if type == "boolean":
        return first if isinstance(first, bool) else None
    if type in ("integer", "number") and isinstance(first, int | float) and not isinstance(first, bool):
        return int(first) if type == "integer" else first
    return None


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()
