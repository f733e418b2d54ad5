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
from reprieve.explain.reading import not_understood
from reprieve.explain.sentences import advice as advised
from reprieve.explain.sentences import answers
from reprieve.objects import Document, Reference, condition_of, has_condition, well_known


def explain_workload(
    target: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    workload = evidence.find("Workload", target.key)
    evictions = evictions_of_workload(target.key, workload, evidence)
    if workload is None:
        gone = answers.workload_is_gone if evictions else answers.no_such_workload
        return Explanation(for_=str(target), state="gone", sentence=gone(target.key), preempted_by=evictions)
    state, sentence = state_of_workload(answers.workload_named(target.key), workload)
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
        answer.waits_for.append(answers.waits_for_gate(gate.get("message", "")))
    checks = _open_checks(workload)
    for check in checks:
        name, state_of_check = str(check.get("name")), str(check.get("state"))
        answer.waits_for.append(answers.waits_for_check(name, state_of_check, check.get("message", "")))
    if state == "waiting" and has_condition(workload, well_known.QUOTA_RESERVED):
        answer.advise(_when_checks_pass(target, [str(check.get("name")) for check in checks]))
    elif state in ("waiting", "stopped"):
        answer.details += map(answers.not_understood, not_understood(_why_without_quota(workload)))
        answer.advise(advice(target, evidence, config, now))
    return answer


def _why_without_quota(workload: Document) -> list[str]:
    """What quota says; nothing where it only repeats why the workload was evicted."""
    reserved, evicted = (
        condition_of(workload, each).get("message")
        for each in (well_known.QUOTA_RESERVED, well_known.EVICTED)
    )
    return [str(reserved)] if reserved and reserved != evicted else []


def _open_checks(workload: Document) -> list[Mapping[str, Any]]:
    checks = (workload.get("status") or {}).get("admissionChecks") or ()
    return [check for check in checks if check.get("state") != well_known.READY]


def _when_checks_pass(target: Reference, checks: list[str]) -> Advice:
    """It has its quota; nobody else's would help."""
    if not checks:
        return Advice([advised.ADMITTED_NEXT])
    change = PassChecks(workload=target.key, checks=checks)
    found = remedy([change], advised.IS_ADMITTED)
    return Advice([found.sentence], [found])


def without_place(workload: Document) -> list[str]:
    """Quota counts amounts, not nodes: what the quota controller found out about those."""
    found = condition_of(workload, well_known.NO_NODE_FITS)
    return [answers.has_quota_but(str(found.get("message")))] if found.get("status") == "True" else []


def _workers(workload: Document) -> list[str]:
    """On the manager of a fleet: which worker has it, or which ones it was offered to."""
    status = workload.get("status") or {}
    if status.get("clusterName"):
        return [answers.given_to_worker(status["clusterName"])]
    offered = [str(name) for name in status.get("nominatedClusterNames") or ()]
    return [answers.offered_to_workers(offered)] if offered else []


def state_of_workload(named: str, workload: Document) -> tuple[str, str]:
    """(state, sentence); `named` is what the sentence calls it."""
    finished, admitted, reserved, evicted = (
        condition_of(workload, each)
        for each in (well_known.FINISHED, well_known.ADMITTED, well_known.QUOTA_RESERVED, well_known.EVICTED)
    )
    if finished.get("status") == "True":
        return "finished", answers.workload_has_finished(named, _said(finished))
    if evicted.get("status") == "True" and reserved.get("status") == "True":
        return "leaving", answers.workload_is_evicted(named, _said(evicted))
    queue = ((workload.get("status") or {}).get("admission") or {}).get("clusterQueue", "")
    worker = (workload.get("status") or {}).get("clusterName", "")
    if admitted.get("status") == "True":
        return "running", answers.workload_is_admitted(named, queue, worker)
    if reserved.get("status") == "True":
        return "waiting", answers.workload_waits_for_checks(named, queue)
    if (workload.get("spec") or {}).get("active") is False:
        return "stopped", answers.workload_is_inactive(named)
    reason = reserved.get("message") or answers.NO_CYCLE_LOOKED
    return "waiting", answers.workload_waits_for_quota(named, reason)


def _said(condition: Mapping[str, Any]) -> str:
    return str(condition.get("message") or condition.get("reason"))
