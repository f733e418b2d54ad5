"""Jobs, Deployments and everything else that creates pods: the answer for the whole.

Its workload, if it is in a queue; its pods by what they do; what they wait for, a common cause once; who
evicted them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.answer import Advice, Eviction, Explanation
from reprieve.explain.evictions import evictions_named, evictions_of_pod
from reprieve.explain.evidence import Evidence, key_of
from reprieve.explain.pods import Members, cause_of_waiting, explain_pod, members_of
from reprieve.explain.quota import explain_workload, state_of_workload, without_place
from reprieve.explain.sentences import answers
from reprieve.jobs import JobKinds, ending, pod_sets, suspended_by
from reprieve.objects import (
    Document,
    InvalidObject,
    Reference,
    condition_of,
    has_condition,
    well_known,
)

CAUSES_SHOWN = 3
KINDS = JobKinds()
REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet")


def explain_owner(
    target: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    owner = evidence.find(target.kind, target.key)
    if owner is None:
        return Explanation(
            for_=str(target), state="gone", sentence=answers.there_is_no(target.kind, target.key)
        )
    pods = list(_pods_of(owner, evidence))
    members = members_of(pods)
    answer = Explanation(
        for_=str(target),
        state=members.state,
        sentence=_sentence(target, owner, members),
        preempted_by=_evictions(target, owner, pods, evidence),
    )
    workload = _workload(owner, evidence)
    ended = ending(owner)
    if ended is not None:
        message = ended.get("message") or ended.get("reason") or ""
        answer.state = "finished"
        answer.sentence = answers.owner_has_ended(target.kind, target.key, ended["type"], message)
    elif workload is not None and not (pods and has_condition(workload, well_known.ADMITTED)):
        _through_workload(answer, target, workload, evidence, config, now)
    elif members.waiting:
        _why_pods_wait(answer, members.waiting, evidence, config, now)
        answer.details += without_place(workload) if workload is not None else []
    elif not pods:
        answer.state, answer.sentence = _without_pods(target, owner)
    return answer


# --- its pods -----------------------------------------------------------------------------------------------


def _pods_of(owner: Document, evidence: Evidence) -> Iterator[Document]:
    owners = _chain(owner, evidence)
    for pod in evidence.of_kind("Pod"):
        if any(_owns(each, pod) for each in owners):
            yield pod


def _chain(owner: Document, evidence: Evidence) -> list[Document]:
    """The owner, and what it made that makes pods in turn: the ReplicaSets of a Deployment."""
    between = [each.kind for each in KINDS.below(str(owner.get("kind")))]
    candidates = [each for kind in between for each in evidence.of_kind(kind)]
    found, look_at = [owner], [owner]
    while look_at:
        one = look_at.pop()
        made = [each for each in candidates if _owns(one, each) and each not in found]
        found += made
        look_at += made
    return found


def _owns(owner: Document, document: Document) -> bool:
    """By name, and by UID where both are known: a file may have none."""
    meta = owner.get("metadata") or {}
    if Reference.read(owner).namespace != Reference.read(document).namespace:
        return False
    for each in (document.get("metadata") or {}).get("ownerReferences") or ():
        same = each.get("kind") == owner.get("kind") and each.get("name") == meta.get("name")
        if same and (not meta.get("uid") or not each.get("uid") or each["uid"] == meta["uid"]):
            return True
    return False


def _sentence(target: Reference, owner: Document, members: Members) -> str:
    running, waiting, leaving, done = (len(pods) for pods in members)
    wanted = max(running, _wanted(owner) or 0)
    return answers.owner_has_pods(
        target.kind,
        target.key,
        running=running,
        wanted=wanted,
        waiting=waiting,
        leaving=leaving,
        done=done,
    )


def _wanted(owner: Document) -> int | None:
    """How many pods it wants at a time; None where that is not for itself to say."""
    spec, status, kind = owner.get("spec") or {}, owner.get("status") or {}, owner.get("kind")
    if kind in REPLICATED:
        return int(spec.get("replicas", 1))
    if kind == "Job" and str(owner.get("apiVersion")).startswith("batch/"):
        most, left = int(spec.get("parallelism", 1)), spec.get("completions")
        return most if left is None else max(0, min(most, int(left) - int(status.get("succeeded") or 0)))
    if kind == "DaemonSet":
        return status.get("desiredNumberScheduled")
    row = KINDS.find(owner)
    if row is None or row.job_template:
        return None
    try:
        return sum(each.count for each in pod_sets(owner, KINDS))
    except InvalidObject:
        return None  # a runtime that is not shown, or a kind that has changed


def _without_pods(target: Reference, owner: Document) -> tuple[str, str]:
    """(state, sentence) for an owner that has no pods at all."""
    spec, labels = owner.get("spec") or {}, (owner.get("metadata") or {}).get("labels") or {}
    queue, suspend = labels.get(well_known.QUEUE_LABEL), suspended_by(owner, KINDS)
    if suspend and queue:
        return "waiting", answers.owner_without_workload(target.kind, target.key, queue)
    if suspend:
        return "stopped", answers.owner_is_suspended(target.kind, target.key, suspend)
    if target.kind == "CronJob":
        return "active", answers.owner_is_scheduled(target.kind, target.key, spec.get("schedule", ""))
    if _wanted(owner) == 0:
        return "stopped", answers.owner_wants_no_pods(target.kind, target.key)
    return "unknown", answers.owner_has_no_pods(target.kind, target.key)


# --- why it waits -------------------------------------------------------------------------------------------


def _workload(owner: Document, evidence: Evidence) -> Document | None:
    """The workload that stands for it in a queue."""
    return next((each for each in evidence.of_kind("Workload") if _owns(owner, each)), None)


def _through_workload(
    answer: Explanation,
    target: Reference,
    workload: Document,
    evidence: Evidence,
    config: Mapping[str, Any] | None,
    now: datetime,
) -> None:
    """It has no pods, or none that may run: what its workload waits for is what it waits for."""
    found = explain_workload(Reference.of("Workload", key_of(workload)), evidence, config, now)
    named = answers.owner_with_workload(target.kind, target.key, key_of(workload))
    answer.state, answer.sentence = state_of_workload(named, workload)
    answer.details += found.details
    answer.waits_for, answer.preempted = found.waits_for, found.preempted
    answer.preempted_by = [*found.preempted_by, *answer.preempted_by]
    answer.advise(Advice(found.would_help, found.remedies))


def _why_pods_wait(
    answer: Explanation,
    waiting: list[Document],
    evidence: Evidence,
    config: Mapping[str, Any] | None,
    now: datetime,
) -> None:
    """Each cause once, with the pods that have it in common, and the advice for the first of them."""
    by_cause: dict[str, list[Document]] = {}
    for pod in waiting:
        message = str(condition_of(pod, well_known.POD_SCHEDULED).get("message", ""))
        by_cause.setdefault(message, []).append(pod)
    for pods in list(by_cause.values())[:CAUSES_SHOWN]:
        found = explain_pod(Reference.of("Pod", key_of(pods[0])), evidence, config, now)
        cause = cause_of_waiting(pods[0]) or found.sentence
        answer.waits_for.append(answers.pods_wait_for([key_of(pod) for pod in pods], cause))
        lines = found.would_help
        if len(waiting) > 1:
            lines = [answers.about(key_of(pods[0]), line) for line in lines]
        remedies = [each for each in found.remedies if each not in answer.remedies]
        answer.advise(Advice([*answer.would_help, *lines], [*answer.remedies, *remedies], found.details))
    if len(by_cause) > CAUSES_SHOWN:
        answer.details.append(answers.causes_not_shown(len(by_cause) - CAUSES_SHOWN))


def _evictions(
    target: Reference, owner: Document, pods: Iterable[Document], evidence: Evidence
) -> list[Eviction]:
    """Of its pods that are there, and of those that are gone, which are known by the names it gives."""
    found = [each for pod in pods for each in evictions_of_pod(key_of(pod), pod, evidence)]
    names = [Reference.read(each).name for each in _chain(owner, evidence)]
    known = "|".join(map(re.escape, names[1:] or [target.name]))
    pattern = re.compile(rf"{re.escape(target.namespace)}/(?:{known})(?:-\d+)?(?:-[a-z0-9]{{5}})?")
    gone = [each for each in evictions_named(pattern, evidence) if each not in found]
    return found + gone
