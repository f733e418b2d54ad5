"""What pods and what runs them say of themselves.

A pod's STATUS sums up phase, containers and deletion the way `kubectl` users read it.
"""

from datetime import datetime
from typing import Any

from reprieve.objects import Document, condition_of, has_condition, well_known
from reprieve.server.documents import at, time_or_none
from reprieve.server.tables.column import NONE, columns, human_duration, since


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


POD_COLUMNS = columns(
    "Name | Ready=* | Status=* | Restarts=* | Age | +IP=.status.podIP?<none> | +Node=.spec.nodeName?<none>"
    " | +Nominated Node=.status.nominatedNodeName?<none> | +Readiness Gates=*",
    ready,
    status,
    restarts,
    readiness_gates,
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


def last_schedule(doc: Document, now: datetime) -> str:
    last = at(doc, "status", "lastScheduleTime")
    return since(last, now) if last else NONE
