"""Columns of custom resources: those that a definition declares (`additionalPrinterColumns`), and Kueue's.

Kueue's kinds are built in here; their columns are those of Kueue's own definitions.
"""

from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from reprieve.objects import Document, condition_of, jsonpath, well_known
from reprieve.server.documents import at
from reprieve.server.registry import PrinterColumn
from reprieve.server.tables.column import AGE, NAME, Cell, Column, condition_status, field, join, since


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
        column.description or f"Custom resource definition column (in JSONPath format): {column.json_path}",
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


# -- Kueue ---------------------------------------------------------------------------------------------------


def reserved_in(doc: Document, _: datetime) -> str:
    return str(at(doc, "status", "admission", "clusterQueue", default=""))


def connected(doc: Document, _: datetime) -> str:
    return str(condition_of(doc, "Active").get("status", "Unknown"))


def _count(name: str, key: str, wide: bool = False) -> Column:
    return Column(name, field("status", key, default=0), type="integer", wide=wide)


QUEUE_COUNTS = (
    _count("Pending Workloads", "pendingWorkloads"),
    _count("Admitted Workloads", "admittedWorkloads"),
)

_KUEUE = well_known.KUEUE_API
KUEUE_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    (_KUEUE, "ClusterQueue"): (
        NAME,
        Column("Cohort", field("spec", "cohortName")),
        Column("Strategy", field("spec", "queueingStrategy"), wide=True),
        QUEUE_COUNTS[0],
        _count("Admitted Workloads", "admittedWorkloads", wide=True),
    ),
    (_KUEUE, "LocalQueue"): (
        NAME,
        Column("ClusterQueue", field("spec", "clusterQueue")),
        *QUEUE_COUNTS,
    ),
    (_KUEUE, "Workload"): (
        NAME,
        Column("Queue", field("spec", "queueName")),
        Column("Reserved in", reserved_in),
        Column("Admitted", condition_status("Admitted")),
        Column("Finished", condition_status("Finished")),
        AGE,
        Column("Priority", field("spec", "priority", default=0), type="integer", wide=True),
    ),
    (_KUEUE, "Cohort"): (NAME, Column("Parent", field("spec", "parentName")), AGE),
    (_KUEUE, "WorkloadPriorityClass"): (
        NAME,
        Column("Value", field("value", default=0), type="integer"),
        AGE,
    ),
    (_KUEUE, "AdmissionCheck"): (
        NAME,
        Column("Controller", field("spec", "controllerName")),
        Column("Active", condition_status("Active")),
        AGE,
    ),
    (_KUEUE, "MultiKueueConfig"): (
        NAME,
        Column("Clusters", lambda doc, _: join(at(doc, "spec", "clusters", default=()))),
        AGE,
    ),
    (_KUEUE, "MultiKueueCluster"): (NAME, Column("Connected", connected), AGE),
}
