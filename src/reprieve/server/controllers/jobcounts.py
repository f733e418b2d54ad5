"""A job's pods, counted: how many are active, how many ended and how, and which indexes are done. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from reprieve.objects import MOST_PODS, Document, well_known
from reprieve.server.controllers.jobfailures import Failure, is_failed
from reprieve.server.controllers.pods import Pod

_NO_FAILURES: Mapping[str, Failure] = {}


class PodCounts(msgspec.Struct, frozen=True, kw_only=True):
    active: tuple[Pod, ...]
    """Oldest first."""
    ready: int
    terminating: int
    succeeded: int
    failed: int
    completed: frozenset[int] = frozenset()
    """Completion indexes that are done."""
    failed_indexes: frozenset[int] = frozenset()
    """Indexes that failed more often than `backoffLimitPerIndex` allows, or by policy."""
    awaiting_retry: dict[int, Failure] = {}
    """The last failure of each index that will be tried again. Its pod stays until then: the replacement
    inherits the number of failures."""
    terminating_indexes: frozenset[int] = frozenset()
    new_failures: tuple[Failure, ...] = ()
    """Failures that no status has recorded yet."""


def is_tracked(pod: Pod) -> bool:
    return well_known.JOB_TRACKING_FINALIZER in pod.finalizers


def completions_of(job: Document) -> int | None:
    """How many indexes an indexed job has; None for other jobs."""
    spec = job.get("spec") or {}
    if spec.get("completionMode") != "Indexed" or spec.get("completions") is None:
        return None
    return int(spec["completions"])


def count_pods(
    job: Document, pods: Iterable[Pod], failures: Mapping[str, Failure] = _NO_FAILURES
) -> PodCounts:
    """Pods that were counted are in the job's status; those that are still tracked were not.

    `failures` tells more about failed pods, by uid; one that is not in it counts as an ordinary failure.
    """
    status: dict[str, Any] = job.get("status") or {}
    uncounted = status.get("uncountedTerminatedPods") or {}
    noted_won, noted_lost = set(uncounted.get("succeeded") or ()), set(uncounted.get("failed") or ())
    everyone = list(pods)
    limit = completions_of(job)
    valid = [p for p in everyone if is_tracked(p) and has_valid_index(p, limit)]
    won = [p for p in valid if p.phase == "Succeeded" and p.uid not in noted_lost | noted_won]
    lost = [p for p in valid if is_failed(job, p) and p.uid not in noted_lost | noted_won]
    counted = [p for p in lost if p.uid not in failures or failures[p.uid].counted]
    active = sorted((p for p in everyone if p.active), key=lambda p: (p.created, p.name))
    completed: frozenset[int] = frozenset()
    if limit is not None:
        completed = parse_indexes(str(status.get("completedIndexes") or ""), limit)
        completed |= {p.completion_index for p in won if p.completion_index is not None}
    terminating = [p for p in everyone if p.deleting and not p.finished]
    failed_indexes = _failed_indexes(job, valid, failures, limit)
    return PodCounts(
        active=tuple(active),
        ready=sum(1 for p in active if p.ready),
        terminating=len(terminating),
        succeeded=len(completed)
        if limit is not None
        else int(status.get("succeeded") or 0) + len(noted_won) + len(won),
        failed=int(status.get("failed") or 0) + len(noted_lost) + len(counted),
        completed=completed,
        failed_indexes=failed_indexes,
        awaiting_retry=_awaiting_retry(job, valid, failures, completed | failed_indexes, active),
        terminating_indexes=_indexes(terminating),
        new_failures=tuple(failures[p.uid] for p in lost if p.uid in failures),
    )


def has_valid_index(pod: Pod, limit: int | None) -> bool:
    return limit is None or (pod.completion_index is not None and pod.completion_index < limit)


def _indexes(pods: Iterable[Pod]) -> frozenset[int]:
    return frozenset(p.completion_index for p in pods if p.completion_index is not None)


def _failed_indexes(
    job: Document, valid: list[Pod], failures: Mapping[str, Failure], limit: int | None
) -> frozenset[int]:
    most = (job.get("spec") or {}).get("backoffLimitPerIndex")
    if most is None or limit is None:
        return frozenset()
    known = parse_indexes(str((job.get("status") or {}).get("failedIndexes") or ""), limit)
    lost = [p for p in valid if p.uid in failures and failures[p.uid].ends_index(int(most))]
    return known | _indexes(lost)


def _awaiting_retry(
    job: Document,
    valid: list[Pod],
    failures: Mapping[str, Failure],
    settled: frozenset[int],
    active: list[Pod],
) -> dict[int, Failure]:
    if (job.get("spec") or {}).get("backoffLimitPerIndex") is None:
        return {}
    busy = settled | _indexes(active)
    latest: dict[int, Failure] = {}
    for pod in valid:
        failure = failures.get(pod.uid)
        index = pod.completion_index
        if failure is None or index is None or index in busy or not is_failed(job, pod):
            continue
        known = latest.get(index)
        if known is None or (known.attempts, known.time) <= (failure.attempts, failure.time):
            latest[index] = failure
    return latest


def format_indexes(indexes: Iterable[int]) -> str:
    """`0-3,5`, as `status.completedIndexes` has it; two in a row are `0,1`."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(a) if a == b else f"{a}{',' if b == a + 1 else '-'}{b}" for a, b in runs)


def parse_indexes(text: str, limit: int = MOST_PODS) -> frozenset[int]:
    """Anybody may have written the status: never more indexes than a job may have pods."""
    found: set[int] = set()
    last_index = min(limit, MOST_PODS) - 1
    for first, last in re.findall(r"(?<![0-9-])([0-9]{1,9})(?:-([0-9]{1,9}))?(?![0-9-])", text):
        found.update(range(int(first), min(int(last or first), last_index) + 1))
    return frozenset(found)
