"""How a job's pods failed: what its failure policy says about it, and how long a replacement waits. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from reprieve.objects import Document, condition_of, well_known, whole_number
from reprieve.server.controllers.pods import Pod
from reprieve.server.documents import at, items, shifted, time_or_none

FIRST_BACK_OFF = timedelta(seconds=10)
LONGEST_BACK_OFF = timedelta(minutes=10)
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failed pod, as the failure policy sees it."""

    uid: str
    time: datetime
    action: str = ""
    """Of the first rule of the failure policy that matches."""
    message: str = ""
    """Why the whole job fails, if the action is FailJob."""
    index_failures: int = 0
    index_ignored: int = 0
    """How often the index had failed before this pod."""

    @property
    def counted(self) -> bool:
        return self.action != "Ignore"

    @property
    def attempts(self) -> int:
        return self.index_failures + self.index_ignored

    def ends_index(self, most: int) -> bool:
        return self.action == "FailIndex" or (self.counted and self.index_failures >= most)

    def inherited(self) -> dict[str, str]:
        """Annotations of the pod that replaces this one."""
        failures = self.index_failures + (1 if self.counted else 0)
        ignored = self.index_ignored + (0 if self.counted else 1)
        return {FAILURE_COUNT: str(failures)} | ({IGNORED_FAILURE_COUNT: str(ignored)} if ignored else {})


class BackOff(msgspec.Struct, frozen=True):
    """Failures since the last success, and when the last one was."""

    failures: int = 0
    last: datetime | None = None

    def after(self, won: Iterable[datetime], lost: Iterable[datetime]) -> "BackOff":
        """A success starts the count anew: only failures after it count."""
        ended, failed = max(won, default=None), sorted(lost)
        if ended is None:
            return BackOff(self.failures + len(failed), failed[-1]) if failed else self
        later = [time for time in failed if time > ended]
        return BackOff(len(later), later[-1] if later else None)

    def until(self) -> datetime | None:
        return None if self.last is None else self.last + delay(self.failures)


def delay(failures: int) -> timedelta:
    """Ten seconds, doubled with every failure, up to ten minutes."""
    doubled: timedelta = FIRST_BACK_OFF * 2 ** min(max(0, failures - 1), 16)
    return min(LONGEST_BACK_OFF, doubled)


def is_failed(job: Document, pod: Pod) -> bool:
    """A pod that is being deleted has failed, unless the job waits to see how it ends."""
    if pod.phase == "Failed":
        return True
    waits = (job.get("spec") or {}).get("podReplacementPolicy") == "Failed"
    return pod.deleting and pod.phase != "Succeeded" and not waits


def failure_of(job: Document, pod: Document) -> Failure:
    meta = pod["metadata"]
    action, message = match_policy((job.get("spec") or {}).get("podFailurePolicy") or {}, pod)
    annotations = meta.get("annotations") or {}
    return Failure(
        uid=meta["uid"],
        time=finish_time(pod),
        action=action,
        message=message,
        index_failures=_count(annotations.get(FAILURE_COUNT, "")),
        index_ignored=_count(annotations.get(IGNORED_FAILURE_COUNT, "")),
    )


def _count(text: str) -> int:
    return (whole_number(text) or 0) if len(text) < 10 else 0


def match_policy(policy: Document, pod: Document) -> tuple[str, str]:
    """The action of the first rule that matches, and the message if that ends the job."""
    where = f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}"
    for number, rule in enumerate(items(policy, "rules")):
        action = str(rule.get("action", ""))
        if isinstance(rule.get("onExitCodes"), dict):
            found = _matching_container(pod, rule["onExitCodes"])
            if found is not None:
                code = at(found, "state", "terminated", "exitCode")
                said = f"Container {found.get('name')} for pod {where} failed with exit code {code}"
                return action, _ending(said, action, number)
        elif rule.get("onPodConditions"):
            matched = _matching_condition(pod, items(rule, "onPodConditions"))
            if matched is not None:
                return action, _ending(f"Pod {where} has condition {matched}", action, number)
    return "", ""


def _ending(said: str, action: str, number: int) -> str:
    return f"{said} matching {action} rule at index {number}" if action == "FailJob" else ""


def _matching_container(pod: Document, wanted: dict[str, Any]) -> Document | None:
    statuses = [*items(pod, "status", "containerStatuses"), *items(pod, "status", "initContainerStatuses")]
    for status in statuses:
        code = at(status, "state", "terminated", "exitCode")
        if not code or wanted.get("containerName") not in (None, status.get("name")):
            continue
        if (code in (wanted.get("values") or ())) == (wanted.get("operator") == "In"):
            return status
    return None


def _matching_condition(pod: Document, patterns: list[Document]) -> str | None:
    for condition in items(pod, "status", "conditions"):
        for pattern in patterns:
            same_status = condition.get("status") == (pattern.get("status") or "True")
            if condition.get("type") == pattern.get("type") and same_status:
                return str(condition.get("type"))
    return None


def finish_time(pod: Document) -> datetime:
    """When the last container ended; else when the pod stopped being ready, was deleted or was created."""
    times = _container_ends(pod)
    ready = condition_of(pod, well_known.READY)
    deleted = time_or_none(pod["metadata"].get("deletionTimestamp"))
    if times:
        return max(times)
    if ready.get("status") == "False" and (since := time_or_none(ready.get("lastTransitionTime"))):
        return since
    if deleted is not None:
        return shifted(deleted, -int(pod["metadata"].get("deletionGracePeriodSeconds") or 0))
    created = time_or_none(pod["metadata"].get("creationTimestamp"))
    assert created is not None
    return created


def _container_ends(pod: Document) -> list[datetime]:
    """Empty unless all containers and sidecars have ended."""
    sidecars = {
        c.get("name") for c in items(pod, "spec", "initContainers") if c.get("restartPolicy") == "Always"
    }
    inits = [s for s in items(pod, "status", "initContainerStatuses") if s.get("name") in sidecars]
    ends = [
        time_or_none(at(status, "state", "terminated", "finishedAt"))
        for status in [*items(pod, "status", "containerStatuses"), *inits]
    ]
    return [end for end in ends if end is not None] if None not in ends else []
