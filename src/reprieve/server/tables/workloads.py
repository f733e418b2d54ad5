"""Columns of what runs pods, of budgets, and of pod groups."""

from datetime import datetime
from typing import Any

from reprieve.objects import well_known
from reprieve.server.tables.column import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    Column,
    Document,
    age,
    at,
    condition,
    containers,
    field,
    human_duration,
    labels,
    parse_time,
    text,
)


def _count(name: str, *path: str) -> Column:
    return Column(name, field(*path, default=0), type="integer")


TEMPLATE = containers("spec", "template", "spec")


REPLICATED = (
    NAME,
    _count("Desired", "spec", "replicas"),
    _count("Current", "status", "replicas"),
    _count("Ready", "status", "readyReplicas"),
    AGE,
    *TEMPLATE,
)


def ready_of_wanted(doc: Document, _: datetime) -> str:
    return f"{at(doc, 'status', 'readyReplicas', default=0)}/{at(doc, 'spec', 'replicas', default=0)}"


def job_status(doc: Document, _: datetime) -> str:
    """The first that is true: Complete, Failed, Terminating, Suspended, on its way to failing or succeeding, Running."""

    def true(type: str) -> bool:
        return (condition(doc, type) or {}).get("status") == "True"

    if true("Complete"):
        return "Complete"
    if true("Failed"):
        return "Failed"
    if at(doc, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next((t for t in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if true(t)), "Running")


def job_completions(doc: Document, _: datetime) -> str:
    done, wanted = at(doc, "status", "succeeded", default=0), at(doc, "spec", "completions")
    parallelism = at(doc, "spec", "parallelism", default=0)
    if wanted is not None:
        return f"{done}/{wanted}"
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def job_duration(doc: Document, now: datetime) -> str:
    start = parse_time(at(doc, "status", "startTime"))
    if start is None:
        return ""
    end = parse_time(at(doc, "status", "completionTime")) or now
    return human_duration((end - start).total_seconds())


def policy(doc: Document, _: datetime) -> str:
    gang = at(doc, "spec", "schedulingPolicy", "gang")
    return f"Gang({gang.get('minCount', 1)})" if gang is not None else "Basic"


def disruption(doc: Document, _: datetime) -> str:
    return "All" if at(doc, "spec", "disruptionMode", "all") is not None else "Single"


def scheduled(doc: Document, _: datetime) -> str:
    found = condition(doc, well_known.POD_GROUP_SCHEDULED)
    if found is None:
        return "Pending"
    return "Scheduled" if found.get("status") == "True" else str(found.get("reason", "Pending"))


def templates(doc: Document, _: datetime) -> int:
    return len(at(doc, "spec", "podGroupTemplates", default=()))


def controller(doc: Document, _: datetime) -> str:
    owner = at(doc, "spec", "controllerRef", default={})
    return f"{owner.get('kind', '')}/{owner.get('name', '')}" if owner else NONE


def _or_na(*path: str) -> Any:
    return text(*path, default="N/A")


WORKLOAD_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    ("apps", "Deployment"): (
        NAME,
        Column("Ready", ready_of_wanted, description="Ready pods of those wanted."),
        _count("Up-to-date", "status", "updatedReplicas"),
        _count("Available", "status", "availableReplicas"),
        AGE,
        *TEMPLATE,
        SELECTOR,
    ),
    ("apps", "ReplicaSet"): (
        *REPLICATED,
        SELECTOR,
    ),
    ("", "ReplicationController"): (
        *REPLICATED,
        Column("Selector", lambda doc, _: labels(at(doc, "spec", "selector")), wide=True),
    ),
    ("apps", "StatefulSet"): (NAME, Column("Ready", ready_of_wanted), AGE, *TEMPLATE),
    ("apps", "DaemonSet"): (
        NAME,
        _count("Desired", "status", "desiredNumberScheduled"),
        _count("Current", "status", "currentNumberScheduled"),
        _count("Ready", "status", "numberReady"),
        _count("Up-to-date", "status", "updatedNumberScheduled"),
        _count("Available", "status", "numberAvailable"),
        Column("Node Selector", lambda d, _: labels(at(d, "spec", "template", "spec", "nodeSelector"))),
        AGE,
        *TEMPLATE,
        SELECTOR,
    ),
    ("batch", "Job"): (
        NAME,
        Column("Status", job_status, description="How the job is doing."),
        Column("Completions", job_completions, description="Pods that succeeded, of those wanted."),
        Column("Duration", job_duration, description="How long it ran, or has been running."),
        AGE,
        *TEMPLATE,
        SELECTOR,
    ),
    ("batch", "CronJob"): (
        NAME,
        Column("Schedule", field("spec", "schedule")),
        Column("Timezone", text("spec", "timeZone")),
        Column("Suspend", lambda doc, _: str(at(doc, "spec", "suspend", default=False))),
        Column("Active", lambda doc, _: len(at(doc, "status", "active", default=())), type="integer"),
        Column("Last Schedule", age("status", "lastScheduleTime")),
        AGE,
    ),
    ("", "PodTemplate"): (NAME, *containers("template", "spec")),
    ("policy", "PodDisruptionBudget"): (
        NAME,
        Column("Min Available", _or_na("spec", "minAvailable")),
        Column("Max Unavailable", _or_na("spec", "maxUnavailable")),
        _count("Allowed Disruptions", "status", "disruptionsAllowed"),
        AGE,
    ),
    ("scheduling.k8s.io", "PodGroup"): (
        NAME,
        Column("Policy", policy, description="Basic, or a gang with its minimum."),
        Column("Disruption", disruption, description="Whether pods go one by one or all together."),
        Column("Priority", field("spec", "priority", default=0), type="integer"),
        Column("Status", scheduled, description="What the scheduler made of it."),
        AGE,
        Column("Priority Class", text("spec", "priorityClassName"), wide=True),
        Column("Workload", text("spec", "workloadRef", "workloadName"), wide=True),
    ),
    ("scheduling.k8s.io", "Workload"): (
        NAME,
        Column("Controller", controller),
        Column("Templates", templates, type="integer"),
        AGE,
    ),
}
