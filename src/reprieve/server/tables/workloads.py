"""Columns of pods, of what runs them, of budgets, and of pod groups.

A pod's STATUS sums up phase, containers and deletion the way `kubectl` users read it.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from reprieve.objects import Document, condition_of, has_condition, well_known
from reprieve.server.documents import at, time_or_none
from reprieve.server.tables.column import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    Cell,
    Column,
    containers,
    field,
    human_duration,
    labels,
    selector_text,
    since,
    text,
)

# -- pods ----------------------------------------------------------------------------------------------------


def ready(doc: Document, _: datetime) -> str:
    """Containers that are ready, of all that should be; sidecars count."""
    sidecars = _sidecars(doc)
    statuses = [
        *at(doc, "status", "containerStatuses", default=()),
        *(s for s in at(doc, "status", "initContainerStatuses", default=()) if s.get("name") in sidecars),
    ]
    up = sum(1 for s in statuses if s.get("ready") and at(s, "state", "running") is not None)
    return f"{up}/{len(at(doc, 'spec', 'containers', default=())) + len(sidecars)}"


def _sidecars(doc: Document) -> set[str]:
    """Init containers that keep running beside the others."""
    init = at(doc, "spec", "initContainers", default=())
    return {c.get("name") for c in init if c.get("restartPolicy") == "Always"}


def status(doc: Document, _: datetime) -> str:
    """One word, the first that applies:

    1. Terminating, while it is being deleted and has not ended (Unknown when its node is lost);
    2. the state of the first init container that is not done: `Init:...`;
    3. why the last container that waits or has ended does so (Running wins over Completed while one
       still runs);
    4. SchedulingGated, the pod's own reason, or its phase.
    """
    phase = str(at(doc, "status", "phase", default=""))
    if at(doc, "metadata", "deletionTimestamp") is not None and phase not in well_known.TERMINAL_PHASES:
        return "Unknown" if at(doc, "status", "reason") == "NodeLost" else "Terminating"
    initialized = has_condition(doc, "Initialized")
    initializing = _init_progress(doc)
    if initializing and not initialized:
        return initializing
    return _containers_reason(doc) or _pod_reason(doc) or phase


def _pod_reason(doc: Document) -> str:
    scheduled = condition_of(doc, well_known.POD_SCHEDULED)
    if scheduled.get("reason") == well_known.SCHEDULING_GATED:
        return well_known.SCHEDULING_GATED
    return str(at(doc, "status", "reason", default=""))


def _init_progress(doc: Document) -> str:
    sidecars = _sidecars(doc)
    for index, container in enumerate(at(doc, "status", "initContainerStatuses", default=())):
        ended, waiting = at(container, "state", "terminated"), at(container, "state", "waiting", "reason")
        if ended is not None and ended.get("exitCode") == 0:
            continue
        if container.get("name") in sidecars and container.get("started"):
            continue
        if ended is not None:
            return "Init:" + _ending(ended)
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{len(at(doc, 'spec', 'initContainers', default=()))}"
    return ""


def _containers_reason(doc: Document) -> str:
    reason, running = "", False
    for container in reversed(at(doc, "status", "containerStatuses", default=[])):
        waiting, ended = at(container, "state", "waiting", "reason"), at(container, "state", "terminated")
        if waiting:
            reason = str(waiting)
        elif ended is not None:
            reason = _ending(ended)
        elif container.get("ready") and at(container, "state", "running") is not None:
            running = True
    if reason == "Completed" and running:
        return "Running" if has_condition(doc, "Ready") else "NotReady"
    return reason


def _ending(terminated: dict[str, Any]) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def restarts(doc: Document, now: datetime) -> str:
    statuses = at(doc, "status", "containerStatuses", default=())
    count = sum(s.get("restartCount", 0) for s in statuses)
    last = max((at(s, "lastState", "terminated", "finishedAt", default="") for s in statuses), default="")
    return f"{count} ({since(last, now)} ago)" if count and last else str(count)


def readiness_gates(doc: Document, _: datetime) -> str:
    gates = at(doc, "spec", "readinessGates", default=())
    if not gates:
        return NONE
    open_gates = [g for g in gates if has_condition(doc, g.get("conditionType", ""))]
    return f"{len(open_gates)}/{len(gates)}"


POD_COLUMNS: tuple[Column, ...] = (
    NAME,
    Column("Ready", ready, description="Ready containers of all containers."),
    Column("Status", status, description="What the pod is up to."),
    Column("Restarts", restarts, description="How often its containers were restarted."),
    AGE,
    Column("IP", text("status", "podIP"), wide=True),
    Column("Node", text("spec", "nodeName"), wide=True),
    Column("Nominated Node", text("status", "nominatedNodeName"), wide=True),
    Column("Readiness Gates", readiness_gates, wide=True),
)


# -- what runs pods ------------------------------------------------------------------------------------------


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
    """The first that is true: Complete, Failed, Terminating, Suspended, about to fail or succeed, Running."""

    if has_condition(doc, "Complete"):
        return "Complete"
    if has_condition(doc, "Failed"):
        return "Failed"
    if at(doc, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next(
        (t for t in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if has_condition(doc, t)), "Running"
    )


def job_completions(doc: Document, _: datetime) -> str:
    done, wanted = at(doc, "status", "succeeded", default=0), at(doc, "spec", "completions")
    parallelism = at(doc, "spec", "parallelism", default=0)
    if wanted is not None:
        return f"{done}/{wanted}"
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def job_duration(doc: Document, now: datetime) -> str:
    start = time_or_none(at(doc, "status", "startTime"))
    if start is None:
        return ""
    end = time_or_none(at(doc, "status", "completionTime")) or now
    return human_duration((end - start).total_seconds())


def policy(doc: Document, _: datetime) -> str:
    gang = at(doc, "spec", "schedulingPolicy", "gang")
    return f"Gang({gang.get('minCount', 1)})" if gang is not None else "Basic"


def disruption(doc: Document, _: datetime) -> str:
    return "All" if at(doc, "spec", "disruptionMode", "all") is not None else "Single"


Placed = Callable[[str, str], int]
"""Namespace and name of a group to the number of its pods that have a node, or have succeeded."""


def _group_status(placed: Placed | None) -> Cell:
    """`Scheduled` while enough pods have a node; the condition only tells that they had one once."""

    def cell(doc: Document, _: datetime) -> str:
        found = condition_of(doc, well_known.POD_GROUP_SCHEDULED)
        if not found:
            return "Pending"
        if found.get("status") != "True":
            return str(found.get("reason", "Pending"))
        if placed is None:
            return "Scheduled"
        meta = doc.get("metadata") or {}
        has = placed(meta.get("namespace", ""), meta.get("name", ""))
        wanted = at(doc, "spec", "schedulingPolicy", "gang", "minCount", default=1)
        return "Scheduled" if has >= wanted else f"{has}/{wanted} placed"

    return cell


def group_columns(placed: Placed | None) -> tuple[Column, ...]:
    return (
        NAME,
        Column("Policy", policy, description="Basic, or a gang with its minimum."),
        Column("Disruption", disruption, description="Whether pods go one by one or all together."),
        Column("Priority", field("spec", "priority", default=0), type="integer"),
        Column("Status", _group_status(placed), description="Whether enough of its pods have a node."),
        AGE,
        Column("Priority Class", text("spec", "priorityClassName"), wide=True),
        Column("Workload", text("spec", "workloadRef", "workloadName"), wide=True),
    )


def templates(doc: Document, _: datetime) -> int:
    return len(at(doc, "spec", "podGroupTemplates", default=()))


def controller(doc: Document, _: datetime) -> str:
    owner = at(doc, "spec", "controllerRef", default={})
    return f"{owner.get('kind', '')}/{owner.get('name', '')}" if owner else NONE


def _or_na(*path: str) -> Any:
    return text(*path, default="N/A")


def _last_schedule(doc: Document, now: datetime) -> str:
    last = at(doc, "status", "lastScheduleTime")
    return since(last, now) if last else NONE


WORKLOAD_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    ("", "Pod"): POD_COLUMNS,
    ("apps", "Deployment"): (
        NAME,
        Column("Ready", ready_of_wanted, description="Ready pods of those wanted."),
        _count("Up-to-date", "status", "updatedReplicas")._replace(type="string"),
        _count("Available", "status", "availableReplicas")._replace(type="string"),
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
        Column("Suspend", lambda doc, _: str(at(doc, "spec", "suspend", default=False)), type="boolean"),
        Column("Active", lambda doc, _: len(at(doc, "status", "active", default=())), type="integer"),
        Column("Last Schedule", _last_schedule),
        AGE,
        *containers("spec", "jobTemplate", "spec", "template", "spec"),
        Column(
            "Selector",
            lambda doc, _: selector_text(at(doc, "spec", "jobTemplate", "spec", "selector")),
            wide=True,
        ),
    ),
    ("", "PodTemplate"): (
        NAME,
        *(each._replace(wide=False) for each in containers("template", "spec")),
        Column("Pod Labels", lambda doc, _: labels(at(doc, "template", "metadata", "labels"))),
    ),
    ("policy", "PodDisruptionBudget"): (
        NAME,
        Column("Min Available", _or_na("spec", "minAvailable")),
        Column("Max Unavailable", _or_na("spec", "maxUnavailable")),
        _count("Allowed Disruptions", "status", "disruptionsAllowed"),
        AGE,
    ),
    ("scheduling.k8s.io", "Workload"): (
        NAME,
        Column("Controller", controller),
        Column("Templates", templates, type="integer"),
        AGE,
    ),
}
