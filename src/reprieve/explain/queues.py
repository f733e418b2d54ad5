"""ClusterQueues and LocalQueues: whether they admit, who waits in them and why."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.answer import Explanation
from reprieve.explain.evidence import Evidence, Target, condition, key_of
from reprieve.explain.holders import usage
from reprieve.objects import Document

SHOWN = 10


def explain_queue(
    target: Target,
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
    admitted = [w for w in workloads if condition(w, "QuotaReserved").get("status") == "True"]
    waiting = [w for w in workloads if w not in admitted and condition(w, "Finished").get("status") != "True"]
    active = condition(queue, "Active")
    stopped = active.get("status") == "False" or (queue.get("spec") or {}).get("stopPolicy", "None") != "None"
    why = f": {active['message']}" if stopped and active.get("message") else ""
    answer = Explanation(
        for_=str(target),
        state="stopped" if stopped else "active",
        sentence=f"{target.kind} {target.key} {'admits nothing' + why if stopped else 'is active'}; "
        f"{len(admitted)} workloads hold quota, {len(waiting)} wait.",
    )
    waiting.sort(key=lambda w: (-int((w.get("spec") or {}).get("priority") or 0), _created(w), key_of(w)))
    for workload in waiting[:SHOWN]:
        reason = condition(workload, "QuotaReserved").get("message") or "not looked at yet"
        answer.waits_for.append(f"{key_of(workload)}: {reason}")
    if target.kind == "ClusterQueue" and not evidence.partial:
        answer.details += usage(target.name, evidence.objects, now)
    if len(waiting) > SHOWN:
        answer.details.append(f"{len(waiting) - SHOWN} more workloads wait behind these.")
    return answer


def _created(workload: Document) -> str:
    return str((workload.get("metadata") or {}).get("creationTimestamp") or "")


def _belongs(workload: Document, target: Target, evidence: Evidence) -> bool:
    namespace = key_of(workload).split("/")[0]
    queue = str((workload.get("spec") or {}).get("queueName", ""))
    if target.kind == "LocalQueue":
        return namespace == target.namespace and queue == target.name
    admission = (workload.get("status") or {}).get("admission") or {}
    if admission.get("clusterQueue"):
        return bool(admission["clusterQueue"] == target.name)
    local = evidence.find("LocalQueue", f"{namespace}/{queue}")
    return bool(local and (local.get("spec") or {}).get("clusterQueue") == target.name)
