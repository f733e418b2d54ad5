"""Kueue's queues: whether they admit, what is used, who waits, and what would help the first in line."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from reprieve.config import Configuration
from reprieve.explain.advice.give import advice
from reprieve.explain.answer import Advice, Explanation
from reprieve.explain.evidence import Evidence, key_of
from reprieve.explain.sentences import answers
from reprieve.objects import (
    Document,
    Reference,
    ReprieveError,
    condition_of,
    decode_all,
    has_condition,
    well_known,
)
from reprieve.quota import Quota, Rules, inactive_message, load, quota_lines

SHOWN = 10


def explain_queue(
    target: Reference,
    evidence: Evidence,
    config: Mapping[str, Any] | None,
    now: datetime,
) -> Explanation:
    queue = evidence.find(target.kind, target.key)
    if queue is None:
        return Explanation(
            for_=str(target), state="gone", sentence=answers.there_is_no(target.kind, target.key)
        )
    workloads = [w for w in evidence.of_kind("Workload") if _belongs(w, target, evidence)]
    admitted = [w for w in workloads if has_condition(w, well_known.QUOTA_RESERVED)]
    waiting = [w for w in workloads if w not in admitted and not has_condition(w, well_known.FINISHED)]
    why = _why_stopped(target, queue, evidence, now)
    answer = Explanation(
        for_=str(target),
        state="stopped" if why else "active",
        sentence=_sentence(target, why, len(admitted), len(waiting)),
    )
    waiting.sort(key=lambda w: (-int((w.get("spec") or {}).get("priority") or 0), _created(w), key_of(w)))
    for workload in waiting[:SHOWN]:
        reason = condition_of(workload, well_known.QUOTA_RESERVED).get("message") or answers.NOT_LOOKED_AT
        answer.waits_for.append(answers.about(key_of(workload), reason))
    if target.kind == "ClusterQueue" and not evidence.partial:
        answer.details += _usage(target.name, evidence.objects, now)
    if len(waiting) > SHOWN:
        answer.details.append(answers.more_wait_behind(len(waiting) - SHOWN))
    if waiting:
        first = Reference.of("Workload", key_of(waiting[0]))
        found = advice(first, evidence, config, now)
        lines = [answers.about(first.key, line) for line in found.lines]
        facts = [answers.about(first.key, fact) for fact in found.facts]
        answer.advise(Advice(lines, found.remedies, facts))
    return answer


def _why_stopped(target: Reference, queue: Document, evidence: Evidence, now: datetime) -> str:
    """Why it admits nothing; empty when it does. Its condition says so, or what it refers to."""
    active, spec = condition_of(queue, well_known.ACTIVE), queue.get("spec") or {}
    if active.get("status") == "False":
        said = active.get("message") or active.get("reason") or answers.CONDITION_IS_FALSE
        return str(said).rstrip(".")
    if spec.get("stopPolicy", "None") != "None":
        return answers.stop_policy_is(spec["stopPolicy"])
    if evidence.partial:
        return ""
    name = str(spec.get("clusterQueue", "")) if target.kind == "LocalQueue" else target.name
    if evidence.find("ClusterQueue", name) is None:
        return answers.no_cluster_queue(name)
    try:
        reasons = _load(evidence.objects, now).cache.inactive.get(name)
    except ReprieveError:
        return ""
    why = inactive_message(reasons).rstrip(".") if reasons else ""
    return answers.cluster_queue_stopped(name, why) if why and target.kind == "LocalQueue" else why


def _sentence(target: Reference, why_stopped: str, holding: int, waiting: int) -> str:
    if why_stopped:
        return answers.queue_is_stopped(target.kind, target.key, why_stopped, holding, waiting)
    return answers.queue_is_active(target.kind, target.key, holding, waiting)


def _created(workload: Document) -> str:
    return str((workload.get("metadata") or {}).get("creationTimestamp") or "")


def _belongs(workload: Document, target: Reference, evidence: Evidence) -> bool:
    namespace = Reference.read(workload).namespace
    queue = str((workload.get("spec") or {}).get("queueName", ""))
    if target.kind == "LocalQueue":
        return namespace == target.namespace and queue == target.name
    admission = (workload.get("status") or {}).get("admission") or {}
    if admission.get("clusterQueue"):
        return bool(admission["clusterQueue"] == target.name)
    local = evidence.find("LocalQueue", f"{namespace}/{queue}")
    return bool(local and (local.get("spec") or {}).get("clusterQueue") == target.name)


def _load(objects: Iterable[Document], now: datetime) -> Quota:
    return load(decode_all(list(objects)), Rules.of(Configuration.load({})), now)


def _usage(queue: str, objects: Iterable[Document], now: datetime) -> list[str]:
    """A sentence for each flavor's resource of a ClusterQueue."""
    try:
        quota = _load(objects, now)
    except ReprieveError as error:
        return [answers.usage_unknown(str(error))]
    words = ("resource", "flavor", "used", "nominal", "borrowed", "lent")
    amounts = [line.to_dict() for line in quota_lines(quota) if line.queue.name == queue]
    return [answers.quota_used(*(each[word] for word in words)) for each in amounts]
