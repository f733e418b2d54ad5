"""Columns of the Kueue kinds, as Kueue's own definitions print them."""

from datetime import datetime

from reprieve.objects import well_known
from reprieve.server.tables.column import (
    AGE,
    NAME,
    Column,
    Document,
    at,
    condition,
    condition_status,
    field,
    join,
)

GROUP = well_known.KUEUE_API


def reserved_in(doc: Document, _: datetime) -> str:
    return str(at(doc, "status", "admission", "clusterQueue", default=""))


def connected(doc: Document, _: datetime) -> str:
    return str((condition(doc, "Active") or {}).get("status", "Unknown"))


def _count(name: str, key: str, wide: bool = False) -> Column:
    return Column(name, field("status", key, default=0), type="integer", wide=wide)


QUEUE_COUNTS = (
    _count("Pending Workloads", "pendingWorkloads"),
    _count("Admitted Workloads", "admittedWorkloads"),
)

KUEUE_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    (GROUP, "ClusterQueue"): (
        NAME,
        Column("Cohort", field("spec", "cohortName")),
        Column("Strategy", field("spec", "queueingStrategy"), wide=True),
        QUEUE_COUNTS[0],
        _count("Admitted Workloads", "admittedWorkloads", wide=True),
    ),
    (GROUP, "LocalQueue"): (NAME, Column("ClusterQueue", field("spec", "clusterQueue")), *QUEUE_COUNTS),
    (GROUP, "Workload"): (
        NAME,
        Column("Queue", field("spec", "queueName")),
        Column("Reserved in", reserved_in),
        Column("Admitted", condition_status("Admitted")),
        Column("Finished", condition_status("Finished")),
        AGE,
        Column("Priority", field("spec", "priority", default=0), type="integer", wide=True),
    ),
    (GROUP, "Cohort"): (NAME, Column("Parent", field("spec", "parentName")), AGE),
    (GROUP, "WorkloadPriorityClass"): (NAME, Column("Value", field("value", default=0), type="integer"), AGE),
    (GROUP, "AdmissionCheck"): (
        NAME,
        Column("Controller", field("spec", "controllerName")),
        Column("Active", condition_status("Active")),
        AGE,
    ),
    (GROUP, "MultiKueueConfig"): (
        NAME,
        Column("Clusters", lambda doc, _: join(at(doc, "spec", "clusters", default=()))),
        AGE,
    ),
    (GROUP, "MultiKueueCluster"): (NAME, Column("Connected", connected), AGE),
}
