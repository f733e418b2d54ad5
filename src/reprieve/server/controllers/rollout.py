"""How a Deployment rolls from old ReplicaSets to a new one: sizes, and what it says about that. Pure.

`maxSurge` pods more than wanted may exist, `maxUnavailable` fewer than wanted may be available; a percentage
of surge is rounded up, of unavailable down, and if both come to nothing one may be unavailable. A Deployment
that is scaled during a rollout is scaled by it. `kubectl rollout status` reads the counts and conditions:
progress is any step forward; without one for `progressDeadlineSeconds` the rollout has failed.
"""

from datetime import datetime

import msgspec

from reprieve.objects import Document, condition_of, format_time, parse_time, whole_number
from reprieve.server.controllers.budgets import scaled
from reprieve.server.documents import shifted

REVISION = "deployment.kubernetes.io/revision"
PROGRESSING = "Progressing"
DONE, TIMED_OUT = "NewReplicaSetAvailable", "ProgressDeadlineExceeded"
_COUNTS = ("replicas", "readyReplicas", "availableReplicas", "terminatingReplicas")
_GROWN = ("updatedReplicas", "readyReplicas", "availableReplicas")


class Limits(msgspec.Struct, frozen=True):
    wanted: int
    surge: int
    unavailable: int

    @property
    def most(self) -> int:
        return self.wanted + self.surge

    @property
    def least_available(self) -> int:
        return self.wanted - self.unavailable


def limits_of(deployment: Document) -> Limits:
    spec = deployment["spec"]
    wanted = int(spec.get("replicas", 1))
    if not is_rolling(deployment):
        return Limits(wanted, 0, 0)
    rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", 0), wanted)
    unavailable = rounded_down(rolling.get("maxUnavailable", 0), wanted)
    if not surge and not unavailable:
        unavailable = 1
    return Limits(wanted, surge, min(unavailable, wanted))


def is_rolling(deployment: Document) -> bool:
    strategy = deployment["spec"].get("strategy") or {}
    return bool(strategy.get("type", "RollingUpdate") == "RollingUpdate")


def rounded_down(value: int | str, total: int) -> int:
    if isinstance(value, str) and value.endswith("%"):
        return (whole_number(value.removesuffix("%")) or 0) * total // 100
    return scaled(value, total)


def size(owned: Document) -> int:
    return int(owned["spec"].get("replicas") or 0)


def available(owned: Document) -> int:
    return int((owned.get("status") or {}).get("availableReplicas") or 0)


def revision(owned: Document) -> int:
    return whole_number((owned["metadata"].get("annotations") or {}).get(REVISION, "")) or 0


def oldest_first(sets: list[Document]) -> list[Document]:
    return sorted(sets, key=lambda s: (s["metadata"]["creationTimestamp"], s["metadata"]["name"]))


def new_size(limits: Limits, newest_size: int, total: int, rolling: bool) -> int:
    """How large the new ReplicaSet may be now, given the size of all together."""
    if not rolling or newest_size >= limits.wanted:
        return limits.wanted
    return min(limits.wanted, newest_size + max(0, limits.most - total))


def old_sizes(limits: Limits, newest: Document, old: list[Document]) -> dict[str, int]:
    """How small the old ReplicaSets may be now: first without their unhealthy pods, then as far as enough
    pods stay available.
    """
    active = [s for s in oldest_first(old) if size(s)]
    sizes = {s["metadata"]["name"]: size(s) for s in active}
    total = sum(sizes.values()) + size(newest)
    spare = total - limits.least_available - (size(newest) - available(newest))
    if spare <= 0:
        return sizes
    for each in active:
        cut = min(spare, max(0, size(each) - available(each)))
        sizes[each["metadata"]["name"]] -= cut
        spare -= cut
    extra = sum(available(s) for s in [*active, newest]) - limits.least_available
    for each in active:
        cut = min(sizes[each["metadata"]["name"]], max(0, extra))
        sizes[each["metadata"]["name"]] -= cut
        extra -= cut
    return sizes


# -- the status ----------------------------------------------------------------------------------------------


def report(
    deployment: Document, sets: list[Document], newest: Document | None, now: datetime, *, leaving: bool
) -> Document:
    before, paused = deployment.get("status") or {}, bool(deployment["spec"].get("paused"))
    status = {**before, "conditions": [dict(c) for c in before.get("conditions") or ()]}
    status |= {field: sum(int((s.get("status") or {}).get(field) or 0) for s in sets) for field in _COUNTS}
    status["updatedReplicas"] = int(((newest or {}).get("status") or {}).get("replicas") or 0)
    status["unavailableReplicas"] = max(0, sum(map(size, sets)) - sum(map(available, sets)))
    status["observedGeneration"] = deployment["metadata"].get("generation", 0)
    stamp = format_time(now.replace(microsecond=0))
    enough = status["availableReplicas"] >= limits_of(deployment).least_available
    reason, verb = "MinimumReplicasAvailable", "has"
    if not enough:
        reason, verb = "MinimumReplicasUnavailable", "does not have"
    text = f"Deployment {verb} minimum availability."
    _set_condition(status, stamp, "Available", str(enough), reason, text)
    if not leaving:
        _judge_progress(deployment, status, now, stamp, paused)
    failure = next((c for s in [newest, *sets] if s and (c := condition_of(s, "ReplicaFailure"))), None)
    status["conditions"] = [c for c in status["conditions"] if c.get("type") != "ReplicaFailure"]
    if failure is not None:
        status["conditions"].append(failure)
    return status


def _judge_progress(deployment: Document, status: Document, now: datetime, stamp: str, paused: bool) -> None:
    """Time that a Deployment is paused does not count as lack of progress."""
    before = deployment.get("status") or {}
    current = condition_of({"status": status}, PROGRESSING)
    what = f'Deployment "{deployment["metadata"]["name"]}"'
    if not _has_deadline(deployment):
        status["conditions"] = [c for c in status["conditions"] if c.get("type") != PROGRESSING]
    elif paused:
        _set_condition(status, stamp, PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused")
    elif current.get("reason") == "DeploymentPaused":
        _set_condition(status, stamp, PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed")
    elif is_complete(deployment, status):
        _set_condition(status, stamp, PROGRESSING, "True", DONE, f"{what} has successfully progressed.")
    elif (
        not current
        or _old(status) < _old(before)
        or any(status[f] > int(before.get(f) or 0) for f in _GROWN)
        or (current.get("reason") == DONE and status["replicas"] != status["updatedReplicas"])
    ):
        _set_condition(
            status, stamp, PROGRESSING, "True", "ReplicaSetUpdated", f"{what} is progressing.", again=True
        )
    elif (due := deadline({**deployment, "status": status})) is not None and due <= now:
        _set_condition(status, stamp, PROGRESSING, "False", TIMED_OUT, f"{what} has timed out progressing.")


def _old(status: Document) -> int:
    return int(status.get("replicas") or 0) - int(status.get("updatedReplicas") or 0)


def _has_deadline(deployment: Document) -> bool:
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return seconds is not None and seconds != 2**31 - 1


def is_complete(deployment: Document, status: Document) -> bool:
    wanted = int(deployment["spec"].get("replicas", 1))
    numbers = [int(status.get(f) or 0) for f in ("updatedReplicas", "replicas", "availableReplicas")]
    seen = int(status.get("observedGeneration") or 0) >= deployment["metadata"].get("generation", 0)
    return seen and all(number == wanted for number in numbers)


def deadline(deployment: Document) -> datetime | None:
    """When to judge again whether the rollout makes progress."""
    current = condition_of(deployment, PROGRESSING)
    done = (DONE, TIMED_OUT, "DeploymentPaused")
    if not _has_deadline(deployment) or not current or current.get("reason") in done:
        return None
    seconds = int(deployment["spec"]["progressDeadlineSeconds"])
    return shifted(parse_time(current["lastUpdateTime"]), seconds + 1)


def _set_condition(
    status: Document, now: str, type: str, state: str, reason: str, message: str, *, again: bool = False
) -> None:
    """The same status for the same reason is no news, unless it is stated `again`."""
    known = condition_of({"status": status}, type)
    same = known.get("status") == state
    if same and known.get("reason") == reason and not again:
        return
    since = known["lastTransitionTime"] if same else now
    condition = {"type": type, "status": state, "reason": reason, "message": message}
    status["conditions"] = [c for c in status["conditions"] if c.get("type") != type]
    status["conditions"].append({**condition, "lastUpdateTime": now, "lastTransitionTime": since})
