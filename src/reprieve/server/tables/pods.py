"""The pod columns, above all STATUS, which sums up phase, containers and deletion the way `kubectl` users read it."""

from datetime import datetime
from typing import Any

from reprieve.objects import well_known
from reprieve.server.tables.column import AGE, NAME, NONE, Column, Document, at, condition, since, text


def ready(doc: Document, _: datetime) -> str:
    """Containers that are ready, of all that should be; side-cars count."""
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
    2. what an init container that is not done is up to: `Init:...`;
    3. why the last container that waits or has ended does so (Running wins over Completed while one still runs);
    4. SchedulingGated, the pod's own reason, or its phase.
    """
    phase = str(at(doc, "status", "phase", default=""))
    if at(doc, "metadata", "deletionTimestamp") is not None and phase not in well_known.TERMINAL_PHASES:
        return "Unknown" if at(doc, "status", "reason") == "NodeLost" else "Terminating"
    initialized = (condition(doc, "Initialized") or {}).get("status") == "True"
    initializing = _init_progress(doc)
    if initializing and not initialized:
        return initializing
    return _containers_reason(doc) or _pod_reason(doc) or phase


def _pod_reason(doc: Document) -> str:
    scheduled = condition(doc, well_known.POD_SCHEDULED) or {}
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
        return "Running" if (condition(doc, "Ready") or {}).get("status") == "True" else "NotReady"
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
    open_gates = [
        g for g in gates if (condition(doc, g.get("conditionType", "")) or {}).get("status") == "True"
    ]
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
