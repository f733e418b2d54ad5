"""The STATUS, READY and RESTARTS of a pod, case by case."""

from datetime import UTC, datetime
from typing import Any

import pytest

from reprieve.server.tables import to_table
from tests.server.kinds import PODS

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


def cells(pod: dict[str, Any]) -> dict[str, Any]:
    table = to_table(PODS, [pod], "None", NOW)
    return {c["name"]: v for c, v in zip(table["columnDefinitions"], table["rows"][0]["cells"], strict=True)}


def container(ready: bool = False, restarts: int = 0, name: str = "c", **state: Any) -> dict[str, Any]:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state}


RUNNING = container(ready=True, running={})
DELETED = {"deletionTimestamp": "2026-11-15T11:59:00Z"}

STATUSES: dict[str, tuple[dict[str, Any], str]] = {
    "the phase, when there is nothing else to say": ({"status": {"phase": "Pending"}}, "Pending"),
    "a running pod": ({"status": {"phase": "Running", "containerStatuses": [RUNNING]}}, "Running"),
    "a pod that is being deleted": ({"metadata": DELETED, "status": {"phase": "Running"}}, "Terminating"),
    "a deleted pod on a lost node": (
        {"metadata": DELETED, "status": {"phase": "Running", "reason": "NodeLost"}},
        "Unknown",
    ),
    "a deleted pod that has ended shows how": (
        {"metadata": DELETED, "status": {"phase": "Failed", "reason": "Evicted"}},
        "Evicted",
    ),
    "a gated pod": (
        {
            "status": {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}],
            }
        },
        "SchedulingGated",
    ),
    "a container that waits": (
        {
            "status": {
                "phase": "Pending",
                "containerStatuses": [container(waiting={"reason": "ImagePullBackOff"})],
            }
        },
        "ImagePullBackOff",
    ),
    "a pod that ended well": (
        {
            "status": {
                "phase": "Succeeded",
                "containerStatuses": [container(terminated={"reason": "Completed", "exitCode": 0})],
            }
        },
        "Completed",
    ),
    "an exit code without a reason": (
        {"status": {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 3})]}},
        "ExitCode:3",
    ),
    "a signal without a reason": (
        {"status": {"phase": "Failed", "containerStatuses": [container(terminated={"signal": 9})]}},
        "Signal:9",
    ),
    "one container done, the other still runs and is ready": (
        {
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [container(terminated={"reason": "Completed"}), RUNNING],
            }
        },
        "Running",
    ),
    "one container done, the pod no longer ready": (
        {
            "status": {
                "phase": "Running",
                "containerStatuses": [container(terminated={"reason": "Completed"}), RUNNING],
            }
        },
        "NotReady",
    ),
    "the second of two init containers": (
        {
            "spec": {"initContainers": [{"name": "a"}, {"name": "b"}]},
            "status": {
                "phase": "Pending",
                "initContainerStatuses": [
                    container(name="a", terminated={"exitCode": 0}),
                    container(name="b", running={}),
                ],
            },
        },
        "Init:1/2",
    ),
    "an init container that failed": (
        {
            "status": {
                "phase": "Pending",
                "initContainerStatuses": [container(terminated={"exitCode": 1, "reason": "Error"})],
            }
        },
        "Init:Error",
    ),
    "an init container that cannot start": (
        {
            "status": {
                "phase": "Pending",
                "initContainerStatuses": [container(waiting={"reason": "CrashLoopBackOff"})],
            }
        },
        "Init:CrashLoopBackOff",
    ),
}


@pytest.mark.parametrize(("pod", "expected"), STATUSES.values(), ids=STATUSES.keys())
def test_status(pod: dict[str, Any], expected: str) -> None:
    assert cells(pod)["Status"] == expected


def test_ready_counts_containers_and_sidecars() -> None:
    pod = {
        "spec": {
            "containers": [{"name": "a"}, {"name": "b"}],
            "initContainers": [{"name": "proxy", "restartPolicy": "Always"}, {"name": "setup"}],
        },
        "status": {
            "containerStatuses": [container(ready=True, name="a", running={}), container(name="b")],
            "initContainerStatuses": [container(ready=True, name="proxy", running={}, restarts=0)],
        },
    }
    assert cells(pod)["Ready"] == "2/3"


def test_restarts_say_when_the_last_one_was() -> None:
    restarted = container(ready=True, restarts=2, running={}) | {
        "lastState": {"terminated": {"finishedAt": "2026-11-15T11:55:00Z"}}
    }
    assert cells({"status": {"containerStatuses": [restarted]}})["Restarts"] == "2 (5m ago)"
    assert cells({"status": {"containerStatuses": [RUNNING]}})["Restarts"] == "0"


def test_wide_columns_name_the_nodes() -> None:
    pod = {
        "spec": {"nodeName": "n1", "readinessGates": [{"conditionType": "x"}]},
        "status": {"podIP": "10.1.1.1"},
    }
    wide = cells(pod)
    assert (wide["Node"], wide["IP"], wide["Nominated Node"], wide["Readiness Gates"]) == (
        "n1",
        "10.1.1.1",
        "<none>",
        "0/1",
    )
