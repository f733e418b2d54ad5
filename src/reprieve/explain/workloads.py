"""Kueue workloads: told from their conditions, which name the reason and the message."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.advice import advice
from reprieve.explain.answer import Explanation
from reprieve.explain.evictions import evictions_by, evictions_of_workload
from reprieve.explain.evidence import Evidence, Target, condition
from reprieve.objects import Document


def explain_workload(
    target: Target, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    workload = evidence.find("Workload", target.key)
    episodes = evictions_of_workload(target.key, workload, evidence)
    if workload is None:
        gone = f"Workload {target.key} is gone" if episodes else f"There is no workload {target.key}"
        return Explanation(for_=str(target), state="gone", sentence=f"{gone}.", preempted_by=episodes)
    state, sentence = _state(target, workload)
    answer = Explanation(
        for_=str(target),
        state=state,
        sentence=sentence,
        preempted_by=episodes,
        preempted=evictions_by(str(target), evidence),
    )
    gate = condition(workload, "BlockedOnPreemptionGates")
    if gate.get("status") == "True":
        answer.waits_for.append(f"its preemption gate: {gate.get('message', '')}")
    for check in (workload.get("status") or {}).get("admissionChecks") or ():
        if check.get("state") != "Ready":
            message = f" ({check['message']})" if check.get("message") else ""
            answer.waits_for.append(f"admission check {check.get('name')}: {check.get('state')}{message}")
    if state == "waiting":
        answer.would_help = advice(str(target), evidence, config, now)
    return answer


def _state(target: Target, workload: Document) -> tuple[str, str]:
    name = f"Workload {target.key}"
    finished, admitted = condition(workload, "Finished"), condition(workload, "Admitted")
    reserved, evicted = condition(workload, "QuotaReserved"), condition(workload, "Evicted")
    if finished.get("status") == "True":
        return "finished", f"{name} has finished: {finished.get('message') or finished.get('reason')}"
    if evicted.get("status") == "True" and reserved.get("status") == "True":
        return "leaving", f"{name} is being evicted: {evicted.get('message') or evicted.get('reason')}"
    queue = ((workload.get("status") or {}).get("admission") or {}).get("clusterQueue", "")
    if admitted.get("status") == "True":
        return "running", f"{name} is admitted in ClusterQueue {queue}."
    if reserved.get("status") == "True":
        return "waiting", f"{name} has its quota in ClusterQueue {queue} and waits for its admission checks."
    if (workload.get("spec") or {}).get("active") is False:
        return "stopped", f"{name} is deactivated (spec.active: false)."
    reason = reserved.get("message") or "it has not been looked at yet"
    return "waiting", f"{name} waits for quota: {reason}"
