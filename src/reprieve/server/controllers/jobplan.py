"""What a job needs next, decided from the job, its pods and the time; and the pods it creates. Pure.

`decide`, the first that applies:

1. suspended: no pods at all;
2. more failures than `backoffLimit`, or the deadline is over: failed, no pods;
3. enough successes: complete, no pods (a work queue, without `completions`, is complete when one pod
   succeeded and the others have ended by themselves);
4. else as many pods as parallelism and the missing completions allow.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from reprieve.objects import MOST_PODS, Document, parse_time, well_known
from reprieve.server.controllers.pods import Pod, pod_from_template

Condition = dict[str, str]


class PodCounts(msgspec.Struct, frozen=True):
    """A job's pods, counted."""

    active: tuple[Pod, ...]
    ready: int
    terminating: int
    succeeded: int
    failed: int
    completed: frozenset[int]
    """Completion indexes that are done."""


def format_indexes(indexes: Iterable[int]) -> str:
    """`0-3,5`, as `status.completedIndexes` has it."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _parse_indexes(text: str) -> frozenset[int]:
    """Anybody may have written the status: never more indexes than a job may have pods."""
    found: set[int] = set()
    for first, last in re.findall(r"(?<![0-9-])([0-9]{1,9})(?:-([0-9]{1,9}))?(?![0-9-])", text):
        found.update(range(int(first), min(int(last or first), MOST_PODS - 1) + 1))
    return frozenset(found)


def count_pods(job: Document, pods: Iterable[Pod]) -> PodCounts:
    """Pods that were counted are in the job's status; those that are still tracked were not."""
    status: dict[str, Any] = job.get("status") or {}
    uncounted = status.get("uncountedTerminatedPods") or {}
    everyone = list(pods)
    won, lost = set(uncounted.get("succeeded") or ()), set(uncounted.get("failed") or ())
    ended = [p for p in everyone if p.finished or p.deleting]
    won |= {
        p.uid for p in ended if p.phase == "Succeeded" and well_known.JOB_TRACKING_FINALIZER in p.finalizers
    } - lost
    lost |= {
        p.uid for p in ended if p.phase != "Succeeded" and well_known.JOB_TRACKING_FINALIZER in p.finalizers
    } - won
    indexes = {p.completion_index for p in everyone if p.uid in won and p.completion_index is not None}
    active = [p for p in everyone if p.active]
    active.sort(key=lambda p: (p.created, p.name))
    return PodCounts(
        active=tuple(active),
        ready=sum(1 for p in active if p.ready),
        terminating=sum(1 for p in everyone if p.deleting and not p.finished),
        succeeded=int(status.get("succeeded") or 0) + len(won),
        failed=int(status.get("failed") or 0) + len(lost),
        completed=_parse_indexes(str(status.get("completedIndexes") or "")) | indexes,
    )


class JobOutcome(msgspec.Struct, frozen=True, kw_only=True):
    missing: tuple[int | None, ...] = ()
    """One entry for each pod to create: its completion index, or None."""
    surplus: tuple[Pod, ...] = ()
    conditions: tuple[Condition, ...] = ()
    suspended: bool = False
    complete: bool = False
    look_again: datetime | None = None


def finished_condition(job: Document) -> dict[str, Any] | None:
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("type") in well_known.JOB_ENDED and condition.get("status") == "True":
            found: dict[str, Any] = condition
            return found
    return None


def decide(job: Document, counts: PodCounts, now: datetime) -> JobOutcome:
    spec: dict[str, Any] = job.get("spec") or {}
    if spec.get("suspend"):
        suspended = _condition(well_known.JOB_SUSPENDED, "True", "JobSuspended", "Job suspended")
        return JobOutcome(surplus=counts.active, conditions=(suspended,), suspended=True)
    resumed = _resumption(job)
    deadline = _deadline(job, spec)
    if counts.failed > int(spec.get("backoffLimit", 6)):
        return _failed(counts, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    if deadline is not None and now >= deadline:
        return _failed(counts, "DeadlineExceeded", "Job was active longer than specified deadline")
    if _is_complete(spec, counts):
        message = "Reached expected number of succeeded pods"
        conditions = tuple(
            _condition(type, "True", "CompletionsReached", message)
            for type in ("SuccessCriteriaMet", "Complete")
        )
        return JobOutcome(surplus=counts.active, conditions=conditions, complete=True)
    missing, surplus = _difference(spec, counts)
    return JobOutcome(missing=missing, surplus=surplus, conditions=resumed, look_again=deadline)


def _condition(type: str, status: str, reason: str, message: str) -> Condition:
    return {"type": type, "status": status, "reason": reason, "message": message}


def _resumption(job: Document) -> tuple[Condition, ...]:
    """A job that was suspended reports that it has been resumed."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    if any(c.get("type") == well_known.JOB_SUSPENDED for c in conditions):
        return (_condition(well_known.JOB_SUSPENDED, "False", "JobResumed", "Job resumed"),)
    return ()


def _deadline(job: Document, spec: dict[str, Any]) -> datetime | None:
    started = (job.get("status") or {}).get("startTime")
    if started is None or spec.get("activeDeadlineSeconds") is None:
        return None
    return parse_time(started) + timedelta(seconds=int(spec["activeDeadlineSeconds"]))


def _failed(counts: PodCounts, reason: str, message: str) -> JobOutcome:
    conditions = tuple(_condition(type, "True", reason, message) for type in ("FailureTarget", "Failed"))
    return JobOutcome(surplus=counts.active, conditions=conditions)


def _is_complete(spec: dict[str, Any], counts: PodCounts) -> bool:
    wanted = spec.get("completions")
    if wanted is not None:
        return counts.succeeded >= int(wanted)
    return counts.succeeded > 0 and not counts.active


def _difference(spec: dict[str, Any], counts: PodCounts) -> tuple[tuple[int | None, ...], tuple[Pod, ...]]:
    """Pods to create and pods to delete."""
    parallelism, completions = int(spec.get("parallelism", 1)), spec.get("completions")
    if completions is None:
        wanted = len(counts.active) if counts.succeeded else parallelism
        wanted = min(wanted, parallelism)
    else:
        wanted = min(parallelism, int(completions) - counts.succeeded)
    lacking = min(wanted, MOST_PODS) - len(counts.active)
    if lacking < 0:
        # The youngest go first: they have done the least.
        return (), counts.active[lacking:]
    if spec.get("completionMode") != "Indexed" or completions is None:
        return (None,) * lacking, ()
    taken = counts.completed | {p.completion_index for p in counts.active}
    free = [index for index in range(min(int(completions), MOST_PODS)) if index not in taken]
    return tuple(free[:lacking]), ()


def job_pod(job: Document, index: int | None) -> Document:
    """A tracked pod; an indexed one knows its index by label, annotation, host name and environment."""
    pod = pod_from_template(job, (job.get("spec") or {}).get("template") or {})
    metadata = pod["metadata"]
    metadata["finalizers"] = [well_known.JOB_TRACKING_FINALIZER]
    if index is None:
        return pod
    metadata["generateName"] = f"{job['metadata']['name']}-{index}-"
    metadata["annotations"][well_known.JOB_INDEX_ANNOTATION] = str(index)
    metadata["labels"][well_known.JOB_INDEX_ANNOTATION] = str(index)
    pod["spec"].setdefault("hostname", f"{job['metadata']['name']}-{index}")
    variable = {"name": "JOB_COMPLETION_INDEX", "value": str(index)}
    for container in pod["spec"].get("containers") or ():
        container.setdefault("env", []).append(variable)
    return pod
