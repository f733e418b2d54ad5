"""Small documents for the fleet's tests: a manager's workload and its copies."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.fleet.cost import PreemptionCost, signal_message
from reprieve.fleet.group import Group, Ledger, Remote, write_ledger
from reprieve.objects import well_known
from reprieve.objects.times import format_time

NOW = datetime(2026, 8, 23, 12, 0, tzinfo=UTC)
Document = dict[str, Any]
SPEC = {"queueName": "main", "priority": 100, "podSets": [{"name": "main", "count": 2}]}


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def is_so(type: str, seconds_ago: float = 60, status: str = "True", **more: str) -> Document:
    when = format_time(ago(seconds_ago))
    return {"type": type, "status": status, "reason": type, "message": "", "lastTransitionTime": when, **more}


def local(
    *conditions: Document, ledger: Ledger | None = None, check: str = "Pending", **status: Any
) -> Document:
    annotations = {well_known.LEDGER_ANNOTATION: write_ledger(ledger)} if ledger else {}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "train", "namespace": "ml", "annotations": annotations, "resourceVersion": "7"},
        "spec": dict(SPEC),
        "status": {
            "admissionChecks": [{"name": "mk", "state": check}],
            "conditions": list(conditions) or [is_so("QuotaReserved")],
            **status,
        },
    }


def copy(*conditions: Document, gate: str = "Closed", moved: float = 60, declared: bool = True) -> Document:
    """A worker's copy. `gate`: Open, Closed or "" for no position in the status; `moved`: seconds ago."""
    spec: Document = dict(SPEC)
    if declared:
        spec["preemptionGates"] = [{"name": well_known.MULTIKUEUE_GATE}]
    status: Document = {"conditions": list(conditions)}
    if gate:
        status["preemptionGates"] = [
            {
                "name": well_known.MULTIKUEUE_GATE,
                "position": gate,
                "lastTransitionTime": format_time(ago(moved)),
            }
        ]
    return {"metadata": {"name": "train", "namespace": "ml", "uid": "u"}, "spec": spec, "status": status}


def blocked(seconds_ago: float = 30, cost: PreemptionCost | None = None, **options: Any) -> Document:
    signal = is_so("BlockedOnPreemptionGates", seconds_ago, message=signal_message(cost))
    return copy(signal, **options)


def group(workload: Document, **remotes: Document | Remote | None) -> Group:
    """Workers by name: a copy, None for a worker without one, or a whole `Remote`."""
    listed = tuple(
        seen if isinstance(seen, Remote) else Remote(cluster, True, seen) for cluster, seen in remotes.items()
    )
    return Group(workload, "mk", listed)


def away(cluster: str, since: datetime | None = None) -> Remote:
    return Remote(cluster, False, None, since)
