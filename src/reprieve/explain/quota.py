"""Kueue's objects: workloads by their conditions; queues by their use and the workloads that wait."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from reprieve.config import Configuration
from reprieve.explain.advice import advice
from reprieve.explain.answer import Explanation
from reprieve.explain.evictions import evictions_by, evictions_of_workload
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
from reprieve.quota import Rules, load, quota_lines

SHOWN = 10


def explain_queue(
    target: Reference,
    evidence: Evidence,
    config: Mapping[str, Any] | None,  # noqa: ARG001 - one signature for all explainers
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
    active = condition_of(queue, well_known.ACTIVE)
    stopped = active.get("status") == "False" or (queue.get("spec") or {}).get("stopPolicy", "None") != "None"
    why = f": {active['message']}" if stopped and active.get("message") else ""
    answer = Explanation(
        for_=str(target),
        state="stopped" if stopped else "active",
        sentence=f"{target.kind} {target.key} {'admits nothing' + why if stopped else 'is active'}; "
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
    return answer


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


def explain_workload(
    target: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    workload = evidence.find("Workload", target.key)
    evictions = evictions_of_workload(target.key, workload, evidence)
    if workload is None:
        gone = f"Workload {target.key} is gone" if evictions else f"There is no workload {target.key}"
        return Explanation(for_=str(target), state="gone", sentence=f"{gone}.", preempted_by=evictions)
    state, sentence = _state(target, workload)
    answer = Explanation(
        for_=str(target),
        state=state,
        sentence=sentence,
        preempted_by=evictions,
        preempted=evictions_by(str(target), evidence),
    )
    answer.details += _workers(workload)
    gate = condition_of(workload, well_known.BLOCKED_ON_PREEMPTION_GATES)
    if gate.get("status") == "True":
        answer.waits_for.append(f"its preemption gate: {gate.get('message', '')}")
    for check in (workload.get("status") or {}).get("admissionChecks") or ():
        if check.get("state") != well_known.READY:
            message = f" ({check['message']})" if check.get("message") else ""
            answer.waits_for.append(f"admission check {check.get('name')}: {check.get('state')}{message}")
    if state == "waiting":
        answer.advise(advice(target, evidence, config, now))
    return answer


def _workers(workload: Document) -> list[str]:
    """On the manager of a fleet: which worker has it, or which ones it was offered to."""
    status = workload.get("status") or {}
    if status.get("clusterName"):
        name = status["clusterName"]
        return [
            f"It was given to worker {name}, and its pods are there: ask there (kubectl --context {name})."
        ]
    offered = [str(name) for name in status.get("nominatedClusterNames") or ()]
    if offered:
        return [f"It was offered to {', '.join(offered)}; the first worker with quota for it gets it."]
    return []


def _state(target: Reference, workload: Document) -> tuple[str, str]:
    name = f"Workload {target.key}"
    finished, admitted = (
        condition_of(workload, well_known.FINISHED),
        condition_of(workload, well_known.ADMITTED),
    )
    reserved, evicted = (
        condition_of(workload, well_known.QUOTA_RESERVED),
        condition_of(workload, well_known.EVICTED),
    )
    if finished.get("status") == "True":
        return "finished", f"{name} has finished: {finished.get('message') or finished.get('reason')}"
    if evicted.get("status") == "True" and reserved.get("status") == "True":
        return "leaving", f"{name} is being evicted: {evicted.get('message') or evicted.get('reason')}"
    queue = ((workload.get("status") or {}).get("admission") or {}).get("clusterQueue", "")
    worker = (workload.get("status") or {}).get("clusterName", "")
    if admitted.get("status") == "True":
        return (
            "running",
            f"{name} is admitted in ClusterQueue {queue}{f' and runs on worker {worker}' * bool(worker)}.",
        )
    if reserved.get("status") == "True":
        return "waiting", f"{name} has its quota in ClusterQueue {queue} and waits for its admission checks."
    if (workload.get("spec") or {}).get("active") is False:
        return "stopped", f"{name} is deactivated (spec.active: false)."
    reason = reserved.get("message") or "it has not been looked at yet"
    return "waiting", f"{name} waits for quota: {reason}"


def _usage(queue: str, objects: Iterable[Document], now: datetime) -> list[str]:
    """A sentence for each flavor's resource of a ClusterQueue."""
    try:
        quota = load(decode_all(list(objects)), Rules.of(Configuration.load({})), now)
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
