"""What a Deployment says about its rollout: counts, and the conditions Available, Progressing and
ReplicaFailure.

`kubectl rollout status` reads these. Progress is any step forward; without one for `progressDeadlineSeconds`
the rollout has failed.
"""

from datetime import datetime
from typing import Any

from reprieve.objects import Document, condition_of, format_time, parse_time
from reprieve.server.controllers.rollout import available, limits_of, size
from reprieve.server.documents import shifted

PROGRESSING = "Progressing"
TIMED_OUT = "ProgressDeadlineExceeded"
DONE = "NewReplicaSetAvailable"
_COUNTS = ("replicas", "readyReplicas", "availableReplicas", "terminatingReplicas")


def draft(deployment: Document) -> Document:
    status = dict(deployment.get("status") or {})
    status["conditions"] = [dict(c) for c in status.get("conditions") or ()]
    return status


def has_deadline(deployment: Document) -> bool:
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return seconds is not None and seconds != 2**31 - 1


def set_condition(status: Document, now: str, type: str, state: str, reason: str, message: str) -> None:
    """The same status for the same reason is no news; the time of the transition is that of the status."""
    conditions = status["conditions"]
    known = next((c for c in conditions if c.get("type") == type), None)
    if known is not None and (known.get("status"), known.get("reason")) == (state, reason):
        return
    since = known["lastTransitionTime"] if known is not None and known.get("status") == state else now
    remove_condition(status, type)
    status["conditions"].append(
        {
            "type": type,
            "status": state,
            "reason": reason,
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": since,
        }
    )


def remove_condition(status: Document, type: str) -> None:
    status["conditions"] = [c for c in status["conditions"] if c.get("type") != type]


def note_pause(deployment: Document, status: Document, now: str) -> None:
    """Time that a Deployment is paused does not count as lack of progress."""
    reason = condition_of({"status": status}, PROGRESSING).get("reason")
    if not has_deadline(deployment) or reason == TIMED_OUT:
        return
    paused = bool(deployment["spec"].get("paused"))
    if paused and reason != "DeploymentPaused":
        set_condition(status, now, PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused")
    elif not paused and reason == "DeploymentPaused":
        set_condition(status, now, PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed")


def note_found(deployment: Document, status: Document, newest: Document, now: str) -> None:
    if has_deadline(deployment) and not condition_of({"status": status}, PROGRESSING):
        message = f'Found new replica set "{newest["metadata"]["name"]}"'
        set_condition(status, now, PROGRESSING, "True", "FoundNewReplicaSet", message)


def note_created(deployment: Document, status: Document, newest: Document, now: str) -> None:
    if has_deadline(deployment):
        message = f'Created new replica set "{newest["metadata"]["name"]}"'
        set_condition(status, now, PROGRESSING, "True", "NewReplicaSetCreated", message)


def note_refused(deployment: Document, status: Document, message: str, now: str) -> None:
    if has_deadline(deployment):
        set_condition(status, now, PROGRESSING, "False", "ReplicaSetCreateError", message)


def count(deployment: Document, status: Document, sets: list[Document], newest: Document | None) -> None:
    def total(field: str) -> int:
        return sum(int((s.get("status") or {}).get(field) or 0) for s in sets)

    uid = newest["metadata"]["uid"] if newest is not None else ""
    updated = [s for s in sets if s["metadata"]["uid"] == uid]
    status |= {field: total(field) for field in _COUNTS}
    status["updatedReplicas"] = sum(int((s.get("status") or {}).get("replicas") or 0) for s in updated)
    status["unavailableReplicas"] = max(0, sum(map(size, sets)) - sum(map(available, sets)))
    status["observedGeneration"] = deployment["metadata"].get("generation", 0)


def judge_availability(deployment: Document, status: Document, now: str) -> None:
    enough = status["availableReplicas"] >= limits_of(deployment).least_available
    state, reason, verb = ("True", "MinimumReplicasAvailable", "has")
    if not enough:
        state, reason, verb = ("False", "MinimumReplicasUnavailable", "does not have")
    set_condition(status, now, "Available", state, reason, f"Deployment {verb} minimum availability.")


def is_complete(deployment: Document, status: dict[str, Any]) -> bool:
    wanted = int(deployment["spec"].get("replicas", 1))
    numbers = [int(status.get(f) or 0) for f in ("updatedReplicas", "replicas", "availableReplicas")]
    seen = int(status.get("observedGeneration") or 0) >= deployment["metadata"].get("generation", 0)
    return seen and all(number == wanted for number in numbers)


def judge_progress(deployment: Document, status: Document, newest: Document | None, now: datetime) -> None:
    if not has_deadline(deployment):
        remove_condition(status, PROGRESSING)
        return
    current = condition_of(deployment, PROGRESSING)
    if status["replicas"] == status["updatedReplicas"] and current.get("reason") == DONE:
        return
    what = (
        f'ReplicaSet "{newest["metadata"]["name"]}"'
        if newest
        else f'Deployment "{deployment["metadata"]["name"]}"'
    )
    stamp = format_time(now.replace(microsecond=0))
    if is_complete(deployment, status):
        set_condition(status, stamp, PROGRESSING, "True", DONE, f"{what} has successfully progressed.")
    elif _has_progressed(deployment.get("status") or {}, status):
        since = current.get("lastTransitionTime") if current.get("status") == "True" else None
        remove_condition(status, PROGRESSING)
        set_condition(status, stamp, PROGRESSING, "True", "ReplicaSetUpdated", f"{what} is progressing.")
        status["conditions"][-1]["lastTransitionTime"] = since or stamp
    elif (due := deadline({**deployment, "status": status})) is not None and due <= now:
        set_condition(status, stamp, PROGRESSING, "False", TIMED_OUT, f"{what} has timed out progressing.")


def _has_progressed(before: Document, after: Document) -> bool:
    def old(status: Document) -> int:
        return int(status.get("replicas") or 0) - int(status.get("updatedReplicas") or 0)

    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return old(after) < old(before) or any(after[f] > int(before.get(f) or 0) for f in grown)


def copy_failures(status: Document, sets: list[Document], newest: Document | None) -> None:
    """What a ReplicaSet could not do, the newest one's first."""
    uid = newest["metadata"]["uid"] if newest is not None else ""
    ordered = sorted(sets, key=lambda s: s["metadata"]["uid"] != uid)
    failure = next((c for s in ordered if (c := condition_of(s, "ReplicaFailure"))), None)
    if failure is None:
        remove_condition(status, "ReplicaFailure")
        return
    since = failure["lastTransitionTime"]
    set_condition(status, since, "ReplicaFailure", failure["status"], failure["reason"], failure["message"])


def deadline(deployment: Document) -> datetime | None:
    """When to judge again whether the rollout makes progress."""
    current = condition_of(deployment, PROGRESSING)
    if not has_deadline(deployment) or not current or current.get("reason") in (DONE, TIMED_OUT):
        return None
    seconds = int(deployment["spec"]["progressDeadlineSeconds"])
    return shifted(parse_time(current["lastUpdateTime"]), seconds + 1)
