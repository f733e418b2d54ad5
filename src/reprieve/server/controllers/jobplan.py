"""What a job needs next, decided from the job, its counted pods and the time; and the pods it creates. Pure.

`decide`, the first that applies:

1. the job is ending already, by the condition SuccessCriteriaMet or FailureTarget: it stays with that;
2. it fails: by a rule of its failure policy, too many failures, its deadline, too many failed indexes;
3. it succeeds: by its success policy, or with enough successes (a work queue, without `completions`, when one
   pod succeeded and the others have ended by themselves);
4. it is suspended: no pods at all;
5. else as many pods as parallelism and the missing completions allow, once the back-off is over.

An ending job has no pods that run. Its last condition, Complete or Failed, waits until all have stopped.
"""

from datetime import datetime
from typing import Any

import msgspec

from reprieve.objects import MOST_PODS, Document, has_condition, parse_time, well_known
from reprieve.server.controllers.jobcounts import PodCounts, completions_of, parse_indexes
from reprieve.server.controllers.jobfailures import FAILURE_COUNT, BackOff, Failure, delay
from reprieve.server.controllers.pods import Pod, pod_from_template
from reprieve.server.documents import items, shifted

SUCCESS_CRITERIA_MET = "SuccessCriteriaMet"
FAILURE_TARGET = "FailureTarget"
FINAL = {SUCCESS_CRITERIA_MET: well_known.JOB_COMPLETE, FAILURE_TARGET: well_known.JOB_FAILED}
"""What each interim condition becomes when the last pod has stopped."""
_LONGEST_PREFIX = 58
_NO_BACK_OFF = BackOff()


class Ending(msgspec.Struct, frozen=True):
    """Why a job ends, and how: `type` is the interim condition."""

    type: str
    reason: str
    message: str


class JobOutcome(msgspec.Struct, frozen=True, kw_only=True):
    missing: tuple[int | None, ...] = ()
    """One entry for each pod to create: its completion index, or None."""
    surplus: tuple[Pod, ...] = ()
    """Pods to delete. Unless the job fails they are not counted as failures."""
    ending: Ending | None = None
    look_again: datetime | None = None

    @property
    def complete(self) -> bool:
        return self.ending is not None and self.ending.type == SUCCESS_CRITERIA_MET


def finished_condition(job: Document) -> dict[str, Any] | None:
    for condition in items(job, "status", "conditions"):
        if condition.get("type") in well_known.JOB_ENDED and condition.get("status") == "True":
            return condition
    return None


def decide(job: Document, counts: PodCounts, now: datetime, back_off: BackOff = _NO_BACK_OFF) -> JobOutcome:
    spec: dict[str, Any] = job.get("spec") or {}
    ending = _known_ending(job) or _failure(job, spec, counts, now) or _success(job, spec, counts)
    if ending is not None:
        return JobOutcome(ending=ending, surplus=counts.active)
    if spec.get("suspend"):
        return JobOutcome(surplus=counts.active)
    surplus = _surplus(job, spec, counts)
    deadline = _deadline(job, spec)
    if surplus:
        return JobOutcome(surplus=surplus, look_again=deadline)
    missing, retry = _missing(job, spec, counts, now, back_off)
    times = [time for time in (deadline, retry) if time is not None]
    return JobOutcome(missing=missing, look_again=min(times, default=None))


# -- endings -------------------------------------------------------------------------------------------------


def _known_ending(job: Document) -> Ending | None:
    for type in (SUCCESS_CRITERIA_MET, FAILURE_TARGET):
        if has_condition(job, type):
            found = next(c for c in items(job, "status", "conditions") if c.get("type") == type)
            return Ending(type, str(found.get("reason", "")), str(found.get("message", "")))
    return None


def _failure(job: Document, spec: dict[str, Any], counts: PodCounts, now: datetime) -> Ending | None:
    by_policy = next((f for f in counts.new_failures if f.action == "FailJob"), None)
    deadline = _deadline(job, spec)
    if by_policy is not None:
        return Ending(FAILURE_TARGET, "PodFailurePolicy", by_policy.message)
    if counts.failed > int(spec.get("backoffLimit", 6)) or _too_many_restarts(spec, counts):
        message = "Job has reached the specified backoff limit"
        return Ending(FAILURE_TARGET, "BackoffLimitExceeded", message)
    if deadline is not None and now >= deadline:
        return Ending(FAILURE_TARGET, "DeadlineExceeded", "Job was active longer than specified deadline")
    failed, most, limit = len(counts.failed_indexes), spec.get("maxFailedIndexes"), completions_of(job)
    if most is not None and failed > int(most):
        message = "Job has exceeded the specified maximal number of failed indexes"
        return Ending(FAILURE_TARGET, "MaxFailedIndexesExceeded", message)
    if failed and limit is not None and failed + len(counts.completed) >= limit:
        return Ending(FAILURE_TARGET, "FailedIndexes", "Job has failed indexes")
    return None


def _too_many_restarts(spec: dict[str, Any], counts: PodCounts) -> bool:
    """Containers that are restarted in place count, too."""
    if ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(p.restarts for p in counts.active)
    return restarts >= max(1, int(spec.get("backoffLimit", 6)))


def _deadline(job: Document, spec: dict[str, Any]) -> datetime | None:
    """A suspended job has none; it starts anew when it is resumed."""
    started = (job.get("status") or {}).get("startTime")
    if started is None or spec.get("activeDeadlineSeconds") is None or spec.get("suspend"):
        return None
    return shifted(parse_time(started), int(spec["activeDeadlineSeconds"]))


def _success(job: Document, spec: dict[str, Any], counts: PodCounts) -> Ending | None:
    rule = _success_rule(job, spec, counts)
    if rule is not None:
        return Ending(SUCCESS_CRITERIA_MET, "SuccessPolicy", f"Matched rules at index {rule}")
    wanted = spec.get("completions")
    if wanted is None:
        complete = counts.succeeded > 0 and (not counts.active or bool(spec.get("suspend")))
    else:
        complete = counts.succeeded >= int(wanted)
    if not complete:
        return None
    return Ending(SUCCESS_CRITERIA_MET, "CompletionsReached", "Reached expected number of succeeded pods")


def _success_rule(job: Document, spec: dict[str, Any], counts: PodCounts) -> int | None:
    limit = completions_of(job)
    if limit is None or not counts.completed:
        return None
    for number, rule in enumerate(items(spec, "successPolicy", "rules")):
        least = rule.get("succeededCount")
        named = rule.get("succeededIndexes")
        if named is None:
            if least is not None and len(counts.completed) >= int(least):
                return number
            continue
        wanted = parse_indexes(str(named), limit)
        done = len(wanted & counts.completed)
        if wanted and (done == len(wanted) or (least is not None and done >= int(least))):
            return number
    return None


# -- pods to create and to delete -------------------------------------------------------------------------


def _wanted(spec: dict[str, Any], counts: PodCounts) -> int:
    parallelism, completions = int(spec.get("parallelism", 1)), spec.get("completions")
    if completions is None:
        # Once a pod of a work queue succeeded, the others finish and none is added.
        wanted = len(counts.active) if counts.succeeded else parallelism
    else:
        wanted = max(0, int(completions) - counts.succeeded)
    return min(wanted, parallelism, MOST_PODS)


def _surplus(job: Document, spec: dict[str, Any], counts: PodCounts) -> tuple[Pod, ...]:
    """Pods with an index that is not valid or taken, then those that have done the least."""
    limit = completions_of(job)
    taken: set[int] = set()
    surplus, rest = [], []
    for pod in counts.active:
        index = pod.completion_index
        if limit is not None and (index is None or index >= limit or index in taken):
            surplus.append(pod)
        else:
            rest.append(pod)
            taken.add(-1 if index is None else index)
    more = len(counts.active) - _wanted(spec, counts) - len(surplus)
    if more > 0:
        youngest_first = sorted(rest, key=lambda p: (p.created, p.name), reverse=True)
        youngest_first.sort(key=lambda p: (bool(p.node), p.phase == "Running", p.ready))
        surplus += youngest_first[:more]
    return tuple(surplus)


def _missing(
    job: Document, spec: dict[str, Any], counts: PodCounts, now: datetime, back_off: BackOff
) -> tuple[tuple[int | None, ...], datetime | None]:
    """The pods to create now, and when more may be created."""
    replaces_failed_only = spec.get("podReplacementPolicy") == "Failed"
    leaving = counts.terminating if replaces_failed_only else 0
    lacking = _wanted(spec, counts) - len(counts.active) - leaving
    if lacking <= 0:
        return (), None
    by_index = spec.get("backoffLimitPerIndex") is not None
    until = None if by_index else back_off.until()
    if until is not None and until > now:
        return (), until
    limit = completions_of(job)
    if limit is None:
        return (None,) * lacking, None
    taken = counts.completed | counts.failed_indexes | {p.completion_index for p in counts.active}
    if replaces_failed_only:
        taken |= counts.terminating_indexes
    free = [index for index in range(min(limit, MOST_PODS)) if index not in taken][:lacking]
    due = {index: _retry_time(counts.awaiting_retry.get(index)) for index in free}
    later = [time for time in due.values() if time is not None and time > now]
    return tuple(i for i in free if (due[i] or now) <= now), min(later, default=None)


def _retry_time(failure: Failure | None) -> datetime | None:
    return None if failure is None else failure.time + delay(failure.attempts + 1)


def job_pod(job: Document, index: int | None, replaced: Failure | None = None) -> Document:
    """A tracked pod; an indexed one knows its index by label, annotation, host name and environment."""
    spec = job.get("spec") or {}
    pod = pod_from_template(job, spec.get("template") or {})
    metadata, name = pod["metadata"], job["metadata"]["name"]
    if well_known.JOB_TRACKING_FINALIZER not in metadata["finalizers"]:
        metadata["finalizers"].append(well_known.JOB_TRACKING_FINALIZER)
    if index is None:
        return pod
    suffix = f"-{index}-"
    metadata["generateName"] = name[: _LONGEST_PREFIX - len(suffix)] + suffix
    metadata["annotations"][well_known.JOB_INDEX_ANNOTATION] = str(index)
    metadata["labels"][well_known.JOB_INDEX_ANNOTATION] = str(index)
    if spec.get("backoffLimitPerIndex") is not None:
        metadata["annotations"] |= replaced.inherited() if replaced is not None else {FAILURE_COUNT: "0"}
    pod["spec"]["hostname"] = f"{name}-{index}"
    for container in [*items(pod, "spec", "initContainers"), *items(pod, "spec", "containers")]:
        variables = container.setdefault("env", [])
        if all(variable.get("name") != _INDEX_VARIABLE["name"] for variable in variables):
            variables.append(_INDEX_VARIABLE)
    return pod


_INDEX_VARIABLE: Document = {
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{well_known.JOB_INDEX_ANNOTATION}']"}},
}
