"""Kueue's workloads, by their conditions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.advice.give import advice
from reprieve.explain.advice.quota_changes import PassChecks
from reprieve.explain.advice.remedy import remedy
from reprieve.explain.answer import Advice, Explanation
from reprieve.explain.evictions import evictions_by, evictions_of_workload
from reprieve.explain.evidence import Evidence
from reprieve.objects import Document, Reference, condition_of, has_condition, well_known


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
    answer.details += [*_workers(workload), *without_place(workload)]
    gate = condition_of(workload, well_known.BLOCKED_ON_PREEMPTION_GATES)
    if gate.get("status") == "True":
        answer.waits_for.append(f"its preemption gate: {gate.get('message', '')}")
    checks = _open_checks(workload)
    for check in checks:
        message = f" ({check['message']})" if check.get("message") else ""
        answer.waits_for.append(f"admission check {check.get('name')}: {check.get('state')}{message}")
    if state == "waiting" and has_condition(workload, well_known.QUOTA_RESERVED):
        answer.advise(_when_checks_pass(target, [str(check.get("name")) for check in checks]))
    elif state in ("waiting", "stopped"):
        answer.advise(advice(target, evidence, config, now))
    return answer


def _open_checks(workload: Document) -> list[Mapping[str, Any]]:
    checks = (workload.get("status") or {}).get("admissionChecks") or ()
    return [check for check in checks if check.get("state") != well_known.READY]


def _when_checks_pass(target: Reference, checks: list[str]) -> Advice:
    """It has its quota; nobody else's would help."""
    if not checks:
        return Advice(["Only time: it has its quota, and the quota controller admits it next."])
    change = PassChecks(workload=target.key, checks=checks)
    found = remedy([change], "it is admitted")
    return Advice([found.sentence], [found])


def without_place(workload: Document) -> list[str]:
    """Quota counts amounts, not nodes: what the quota controller found out about those."""
    found = condition_of(workload, well_known.NO_NODE_FITS)
    return [f"It has quota, but {found.get('message')}."] if found.get("status") == "True" else []


def _workers(workload: Document) -> list[str]:
    """On the manager of a fleet: which worker has it, or which ones it was offered to."""
    status = workload.get("status") or {}
    if status.get("clusterName"):
        name = status["clusterName"]
        return [
            f"It was given to worker {name}: its pods are in that cluster, and so is the rest of the answer."
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
