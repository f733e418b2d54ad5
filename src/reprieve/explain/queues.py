"""Kueue's queues: whether they admit, what is used, who waits, and what would help the first in line."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from reprieve.config import Configuration
from reprieve.explain.advice.give import advice
from reprieve.explain.answer import Advice, Explanation
from reprieve.explain.evidence import Evidence, key_of
from reprieve.objects import (
    Document,
    Reference,
    ReprieveError,
    condition_of,
    counted,
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
            for_=str(target), state="gone", sentence=f"There is no {target.kind} {target.key}."
        )
    workloads = [w for w in evidence.of_kind("Workload") if _belongs(w, target, evidence)]
    admitted = [w for w in workloads if has_condition(w, well_known.QUOTA_RESERVED)]
    waiting = [w for w in workloads if w not in admitted and not has_condition(w, well_known.FINISHED)]
    why = _why_stopped(target, queue, evidence, now)
    answer = Explanation(
        for_=str(target),
        state="stopped" if why else "active",
        sentence=f"{target.kind} {target.key} {f'admits nothing: {why}' if why else 'is active'}; "
        f"{_number(len(admitted), 'hold')} quota, {_number(len(waiting), 'wait')}.",
    )
    waiting.sort(key=lambda w: (-int((w.get("spec") or {}).get("priority") or 0), _created(w), key_of(w)))
    for workload in waiting[:SHOWN]:
        reason = condition_of(workload, well_known.QUOTA_RESERVED).get("message") or "not looked at yet"
        answer.waits_for.append(f"{key_of(workload)}: {reason}")
    if target.kind == "ClusterQueue" and not evidence.partial:
        answer.details += _usage(target.name, evidence.objects, now)
    if len(waiting) > SHOWN:
        answer.details.append(f"Behind these {_number(len(waiting) - SHOWN, 'wait')}.")
    if waiting:
        first = Reference.of("Workload", key_of(waiting[0]))
        found = advice(first, evidence, config, now)
        lines = [f"{first.key}: {line}" for line in found.lines]
        answer.advise(Advice(lines, found.remedies, [f"{first.key}: {fact}" for fact in found.facts]))
    return answer


def _why_stopped(target: Reference, queue: Document, evidence: Evidence, now: datetime) -> str:
    """Why it admits nothing; empty when it does. Its condition says so, or what it refers to."""
    active, spec = condition_of(queue, well_known.ACTIVE), queue.get("spec") or {}
    if active.get("status") == "False":
        return str(active.get("message") or active.get("reason") or "its condition Active is False").rstrip(
            "."
        )
    if spec.get("stopPolicy", "None") != "None":
        return f"stopPolicy is {spec['stopPolicy']}"
    if evidence.partial:
        return ""
    name = str(spec.get("clusterQueue", "")) if target.kind == "LocalQueue" else target.name
    if evidence.find("ClusterQueue", name) is None:
        return f"ClusterQueue {name} does not exist"
    try:
        reasons = _load(evidence.objects, now).cache.inactive.get(name)
    except ReprieveError:
        return ""
    whose = f"its ClusterQueue {name}: " if target.kind == "LocalQueue" else ""
    return whose + inactive_message(reasons).rstrip(".") if reasons else ""


def _number(workloads: int, verb: str) -> str:
    """`1 workload waits`, `2 workloads wait`."""
    what = counted(workloads, "workload") if workloads else "no workload"
    return f"{what} {verb}{'' if workloads > 1 else 's'}"


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
        return [f"Its usage cannot be worked out: {error}"]
    sentences = []
    for line in quota_lines(quota):
        if line.queue.name == queue:
            amounts = line.to_dict()
            extra = [f"{amounts[word]} {word}" for word in ("borrowed", "lent") if amounts[word] != "0"]
            sentences.append(
                f"{amounts['resource']} in flavor {amounts['flavor']}: "
                + ", ".join([f"{amounts['used']} of {amounts['nominal']} used", *extra])
            )
    return sentences
