"""What a decision does to the status of a workload: reserve, wait, evict, release.

Each takes a Workload and returns the changed one; the controller writes the difference.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from reprieve.objects import (
    Admission,
    AdmissionCheckState,
    Conditions,
    Workload,
    WorkloadStatus,
    find_condition,
    well_known,
    with_condition,
)
from reprieve.quota import sentences


def reserve(workload: Workload, admission: Admission, checks: frozenset[str], now: datetime) -> Workload:
    """Give quota. It is admitted at once when every check that applies to its flavors is ready."""
    generation = workload.metadata.generation
    conditions = with_condition(
        workload.status.conditions,
        well_known.QUOTA_RESERVED,
        True,
        well_known.QUOTA_RESERVED,
        sentences.quota_reserved(admission.cluster_queue),
        now,
        generation,
    )
    if workload.status.conditions:
        for type in (well_known.EVICTED, well_known.PREEMPTED, well_known.BLOCKED_ON_PREEMPTION_GATES):
            conditions = _turned_off(conditions, type, well_known.QUOTA_RESERVED, now, generation)
    states = workload.status.admission_checks
    if checks <= {state.name for state in states}:
        ready = all(state.state == well_known.READY for state in states)
        conditions = _with_admitted(conditions, ready, admission.topology_pending, now, generation)
    return with_status(workload, conditions=conditions, admission=admission, unhealthy_nodes=())


def with_admitted(workload: Workload, ready: bool, now: datetime) -> Workload:
    """A workload with quota is admitted when all its checks are `ready` and its domains are known."""
    pending, generation = workload.topology_pending, workload.metadata.generation
    conditions = _with_admitted(workload.status.conditions, ready, pending, now, generation)
    return with_status(workload, conditions=conditions)


def _with_admitted(
    conditions: Conditions, ready: bool, pending: bool, now: datetime, generation: int
) -> Conditions:
    """`pending`: it is still to be told its domains."""
    reason, message = well_known.ADMITTED, sentences.ADMITTED
    if not ready:
        reason, message = well_known.UNSATISFIED_CHECKS, sentences.CHECKS_NOT_READY
    elif pending:
        reason = well_known.PENDING_DELAYED_TOPOLOGY
        message = sentences.TOPOLOGY_PENDING
    admitted = ready and not pending
    return with_condition(conditions, well_known.ADMITTED, admitted, reason, message, now, generation)


def placed_elsewhere(workload: Workload) -> Workload:
    """Another cluster runs it and has found its domains: here nothing is left to be placed."""
    admission = workload.status.admission
    if admission is None or not workload.topology_pending:
        return workload
    assignments = tuple(
        msgspec.structs.replace(each, delayed_topology_request="Ready")
        if each.delayed_topology_request == "Pending"
        else each
        for each in admission.pod_set_assignments
    )
    return with_status(
        workload, admission=msgspec.structs.replace(admission, pod_set_assignments=assignments)
    )


def wait(workload: Workload, reason: str, message: str, now: datetime, gated: bool = False) -> Workload:
    """Say what the workload waits for; a gated one also signals that it could preempt."""
    generation = workload.metadata.generation
    conditions = with_condition(
        workload.status.conditions, well_known.QUOTA_RESERVED, False, reason, message, now, generation
    )
    conditions = with_condition(
        conditions,
        well_known.ADMITTED,
        False,
        "NoReservation",
        sentences.NO_RESERVATION,
        now,
        generation,
    )
    if gated:
        conditions = with_condition(
            conditions,
            well_known.BLOCKED_ON_PREEMPTION_GATES,
            True,
            well_known.PREEMPTION_GATED,
            message,
            now,
            generation,
        )
    return with_status(workload, conditions=conditions, admission=None)


def preempt(workload: Workload, reason: str, message: str, now: datetime) -> Workload:
    """Evict it for another workload. It keeps its quota until its pods are gone."""
    generation = workload.metadata.generation
    conditions = with_condition(
        workload.status.conditions, well_known.PREEMPTED, True, reason, message, now, generation
    )
    changed = with_status(workload, conditions=conditions)
    return evict(changed, well_known.PREEMPTED, message, now)


def evict(workload: Workload, reason: str, message: str, now: datetime) -> Workload:
    """Every admission check starts over, every preemption gate is closed again, and nodes that failed are
    the past: it will be placed anew."""
    generation = workload.metadata.generation
    status = workload.status
    conditions = with_condition(status.conditions, well_known.EVICTED, True, reason, message, now, generation)
    blocked = find_condition(conditions, well_known.BLOCKED_ON_PREEMPTION_GATES)
    if blocked is not None and blocked.status == "True":
        conditions = with_condition(
            conditions, well_known.BLOCKED_ON_PREEMPTION_GATES, False, reason, message, now, generation
        )
    return with_status(
        workload,
        conditions=conditions,
        cluster_name="",
        nominated_cluster_names=(),
        unhealthy_nodes=(),
        admission_checks=tuple(_reset(check, now) for check in status.admission_checks),
        preemption_gates=tuple(
            msgspec.structs.replace(gate, position=well_known.GATE_CLOSED, last_transition_time=now)
            for gate in status.preemption_gates
        ),
    )


def _reset(check: AdmissionCheckState, now: datetime) -> AdmissionCheckState:
    if check.state == "Pending":
        return check
    message = sentences.check_was_reset(check.state)
    return msgspec.structs.replace(check, state="Pending", message=message, last_transition_time=now)


def release(workload: Workload, now: datetime) -> Workload:
    """The pods of an evicted workload are gone: its quota is free and it queues again."""
    generation = workload.metadata.generation
    evicted = find_condition(workload.status.conditions, well_known.EVICTED)
    reason, message = (evicted.reason, evicted.message) if evicted is not None else ("", "")
    conditions = with_condition(
        workload.status.conditions,
        well_known.REQUEUED,
        reason in (well_known.PREEMPTED, well_known.NODE_FAILURES),
        reason,
        message,
        now,
        generation,
    )
    changed = with_status(workload, conditions=conditions)
    return wait(changed, well_known.PENDING_EVALUATION, message, now)


def replace_slice(workload: Workload, by: str, now: datetime) -> Workload:
    """Another workload has its place with another number of pods: this one is finished."""
    conditions = with_condition(
        workload.status.conditions,
        well_known.FINISHED,
        True,
        well_known.SLICE_REPLACED,
        sentences.slice_was_replaced(by),
        now,
        workload.metadata.generation,
    )
    return with_status(workload, conditions=conditions)


def _turned_off(
    conditions: Conditions, type: str, reason: str, now: datetime, generation: int = 0
) -> Conditions:
    """A True condition becomes False and says what it was."""
    old = find_condition(conditions, type)
    if old is None or old.status != "True":
        return conditions
    return with_condition(conditions, type, False, reason, sentences.previously(old.message), now, generation)


def with_status(workload: Workload, **changes: object) -> Workload:
    status: WorkloadStatus = msgspec.structs.replace(workload.status, **changes)
    return msgspec.structs.replace(workload, status=status)
