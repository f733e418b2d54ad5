"""What a pod on a fake node does next: start, end, or go. Pure; the time comes in as an argument.

The first that applies:

1. it is being deleted: it goes `terminate-after` (at most its grace period) after the request to delete it;
2. it has ended: nothing more;
3. it has not started: it starts `start-after` after it came to the node;
4. it runs: it ends after `run-for`, or when its `activeDeadlineSeconds` are over; else it runs on.
"""

from datetime import datetime, timedelta

import msgspec

from reprieve.objects import (
    Document,
    TimeError,
    condition_of,
    format_time,
    parse_duration,
    parse_time,
    well_known,
    whole_number,
)
from reprieve.server.documents import items, time_or_none

LONGEST = 100 * 365 * 24 * 3600
"""Seconds. Whatever a pod asks for, nobody will see more; the time it leads to must be one there is."""

KILLED = 143


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """What pods without annotations do, in seconds. None: run for ever; take the whole grace period."""

    start_after: float = 0.0
    run_for: float | None = None
    """Only for pods that are meant to end (`restartPolicy` is not Always)."""
    terminate_after: float | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do at a time: `start`, `end` (with an exit code and a reason) or `go`."""

    action: str
    due: datetime
    exit_code: int = 0
    reason: str = ""


def next_step(pod: Document, habits: Habits, now: datetime) -> Step | None:
    meta, status = pod["metadata"], pod.get("status") or {}
    if meta.get("deletionTimestamp"):
        return _going(pod, habits)
    if status.get("phase") in well_known.TERMINAL_PHASES:
        return None
    if status.get("phase") != "Running":
        bound = (
            time_or_none(condition_of(pod, well_known.POD_SCHEDULED).get("lastTransitionTime"))
            or time_or_none(meta.get("creationTimestamp"))
            or now
        )
        return Step(
            action="start", due=bound + _after(pod, well_known.START_AFTER_ANNOTATION, habits.start_after)
        )
    return _ending(pod, habits, now)


def _going(pod: Document, habits: Habits) -> Step | None:
    meta = pod["metadata"]
    deadline = parse_time(meta["deletionTimestamp"])
    grace = timedelta(seconds=min(int(meta.get("deletionGracePeriodSeconds") or 0), LONGEST))
    if not grace:
        return None if meta.get("finalizers") else Step(action="go", due=deadline)
    usual = habits.terminate_after if habits.terminate_after is not None else grace.total_seconds()
    return Step(
        action="go",
        due=min(deadline, deadline - grace + _after(pod, well_known.TERMINATE_AFTER_ANNOTATION, usual)),
    )


def _ending(pod: Document, habits: Habits, now: datetime) -> Step | None:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    started = time_or_none(status.get("startTime")) or now
    steps = []
    annotation = _annotation(pod, well_known.RUN_FOR_ANNOTATION)
    run_for = _seconds(annotation) if annotation is not None else None
    if run_for is None and spec.get("restartPolicy", "Always") != "Always":
        run_for = habits.run_for
    if run_for is not None:
        code = _exit_code(pod)
        reason = "Completed" if code == 0 else "Error"
        steps.append(
            Step(action="end", due=started + timedelta(seconds=run_for), exit_code=code, reason=reason)
        )
    if spec.get("activeDeadlineSeconds") is not None:
        due = started + timedelta(seconds=min(int(spec["activeDeadlineSeconds"]), LONGEST))
        steps.append(Step(action="end", due=due, exit_code=KILLED, reason="DeadlineExceeded"))
    return min(steps, key=lambda step: step.due, default=None)


def _annotation(pod: Document, name: str) -> str | None:
    found = (pod["metadata"].get("annotations") or {}).get(name)
    return found if isinstance(found, str) else None


def _seconds(text: str) -> float | None:
    """A duration, or plain seconds; anything else is ignored."""
    try:
        seconds = float(text) if text.replace(".", "", 1).isdigit() else parse_duration(text)
        return min(max(0.0, seconds), LONGEST)
    except (TimeError, ValueError):
        return None


def _after(pod: Document, name: str, usual: float) -> timedelta:
    text = _annotation(pod, name)
    seconds = _seconds(text) if text is not None else None
    return timedelta(seconds=usual if seconds is None else seconds)


def _exit_code(pod: Document) -> int:
    text = _annotation(pod, well_known.EXIT_CODE_ANNOTATION) or "0"
    code = whole_number(text)
    return code if code is not None and code < 256 else 1


# -- the pod's status afterwards --------------------------------------------------------------------------


def running_status(pod: Document, now: datetime, pod_ip: str, host_ip: str) -> Document:
    """A patch of the status: init containers are done, everything else is up and ready."""
    when = format_time(now.replace(microsecond=0))
    true = {"status": "True", "lastTransitionTime": when}
    up = {"running": {"startedAt": when}}
    done = _terminated(0, "Completed", when, when)
    types = ("PodReadyToStartContainers", "Initialized", "ContainersReady", well_known.READY)
    status: Document = {
        "phase": "Running",
        "hostIP": host_ip,
        "hostIPs": [{"ip": host_ip}],
        "podIP": pod_ip,
        "podIPs": [{"ip": pod_ip}],
        "startTime": format_time(now),
        "conditions": [{"type": t, **true} for t in types],
        "containerStatuses": [_container(c, state=up) for c in items(pod, "spec", "containers")],
    }
    before = [
        _container(c, state=up) if _is_sidecar(c) else _container(c, state=done) | {"ready": True}
        for c in _init_containers(pod)
    ]
    return status | ({"initContainerStatuses": before} if before else {})


def ended_status(pod: Document, now: datetime, exit_code: int, reason: str) -> Document:
    """A patch of the status: every container has ended with this code, and then the sidecars."""
    when = format_time(now.replace(microsecond=0))
    succeeded = exit_code == 0
    began = (pod.get("status") or {}).get("startTime") or when
    ended = _terminated(exit_code, reason, began, when)
    stopped = _terminated(0, "Completed", began, when)
    word = "PodCompleted" if succeeded else "PodFailed"
    false = {"status": "False", "reason": word, "lastTransitionTime": when}
    status: Document = {
        "phase": "Succeeded" if succeeded else "Failed",
        "conditions": [{"type": t, **false} for t in (well_known.READY, "ContainersReady")],
        "containerStatuses": [_container(c, state=ended) for c in items(pod, "spec", "containers")],
    }
    before = [
        _container(c, state=stopped) | ({} if _is_sidecar(c) else {"ready": True})
        for c in _init_containers(pod)
    ]
    if before:
        status["initContainerStatuses"] = before
    if reason == "DeadlineExceeded":
        status |= {
            "reason": reason,
            "message": "Pod was active on the node longer than the specified deadline",
        }
    return status


def _init_containers(pod: Document) -> list[Document]:
    return items(pod, "spec", "initContainers")


def _is_sidecar(container: Document) -> bool:
    return container.get("restartPolicy") == "Always"


def _terminated(exit_code: int, reason: str, began: str, ended: str) -> Document:
    return {"terminated": {"exitCode": exit_code, "reason": reason, "startedAt": began, "finishedAt": ended}}


def _container(container: Document, *, state: Document) -> Document:
    running = "running" in state
    return {
        "name": container.get("name", ""),
        "image": container.get("image", ""),
        "imageID": f"fake://{container.get('image', '')}",
        "containerID": f"fake://{container.get('name', '')}",
        "ready": running,
        "started": running,
        "restartCount": 0,
        "state": state,
    }
