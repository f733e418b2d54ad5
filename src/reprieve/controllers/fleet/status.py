"""How the fleet shows its connections: the `Active` conditions of MultiKueueClusters and AdmissionChecks."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from reprieve.controllers import set_condition
from reprieve.controllers.fleet.connection import Connection
from reprieve.objects import Document

Change = Callable[[Document], bool]


def cluster_condition(worker: Connection, now: datetime) -> Change:
    if worker.connected:
        return lambda cluster: set_condition(cluster, "Active", True, "Active", "Connected", now)
    reason, problem = worker.reason, worker.problem
    return lambda cluster: set_condition(cluster, "Active", False, reason, problem, now)


def check_condition(
    clusters: Collection[str],
    workers: Mapping[str, Connection],
    described: Mapping[str, Document],
    now: datetime,
) -> Change:
    """Active while at least one worker is; the message names those that are missing or out of reach."""
    missing = [name for name in clusters if name not in described]
    inactive = [
        name for name in clusters if name in described and not (name in workers and workers[name].connected)
    ]
    parts = []
    if missing:
        parts.append(f"Missing clusters: [{' '.join(missing)}]")
    if inactive:
        parts.append(f"Inactive clusters: [{' '.join(inactive)}]")
    if not clusters:
        status, reason, message = False, "BadConfig", "The MultiKueueConfig is missing or names no clusters"
    elif not parts:
        status, reason, message = True, "Active", "The admission check is active"
    elif len(missing) + len(inactive) < len(clusters):
        status, reason, message = True, "SomeActiveClusters", ", ".join(parts)
    else:
        status, reason, message = False, "NoUsableClusters", ", ".join(parts)
    return lambda check: set_condition(check, "Active", status, reason, message, now)
