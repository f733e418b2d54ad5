"""`kubectl get`: objects as the rows of a `meta.k8s.io/v1 Table`, with the columns people know.

Each kind's columns are a tuple of `Column`s; custom resources bring their own (`additionalPrinterColumns`);
other kinds have name and age. Pure: the time that ages are counted from is an argument.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from reprieve.server.registry import ResourceInfo
from reprieve.server.tables.builtin import COLUMNS, Placed, group_columns
from reprieve.server.tables.column import AGE, NAME, Column
from reprieve.server.tables.custom import custom_columns


def columns_of(resource: ResourceInfo, placed: Placed | None = None) -> tuple[Column, ...]:
    if resource.kind == "PodGroup" and not resource.custom:
        return group_columns(placed)
    if resource.custom:
        return custom_columns(resource.printer_columns)
    return COLUMNS.get((resource.group, resource.kind), (NAME, AGE))


def to_table(
    resource: ResourceInfo,
    objects: Iterable[dict[str, Any]],
    include_object: str,
    now: datetime,
    placed: Placed | None = None,
) -> dict[str, Any]:
    """A Table document. `include_object` is `Metadata` (default of clients), `Object` or `None`. `placed`
    tells how many pods of a group have a node now."""
    columns = columns_of(resource, placed)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {},
        "columnDefinitions": [column.definition() for column in columns],
        "rows": [_row(columns, doc, include_object, now) for doc in objects],
    }


def _row(
    columns: tuple[Column, ...], doc: dict[str, Any], include_object: str, now: datetime
) -> dict[str, Any]:
    row: dict[str, Any] = {"cells": [column.cell(doc, now) for column in columns]}
    if include_object == "Object":
        row["object"] = doc
    elif include_object != "None":
        row["object"] = {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": doc.get("metadata", {}),
        }
    return row


__all__ = ["Column", "Placed", "columns_of", "to_table"]
