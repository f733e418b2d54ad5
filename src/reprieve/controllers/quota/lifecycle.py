"""One workload between admission cycles: a pure function from its situation to its next state.

The cycle gives quota and evicts victims. Everything that follows is here: checks, admission, eviction for
other reasons, releasing the quota, queueing again, the end.
"""

from datetime import datetime

import msgspec

from reprieve.config import WaitForPodsReady
from reprieve.controllers.quota.readiness import (
    given_up,
    patience_left,
    pause_left,
    starting_over,
    with_pods_ready,
    without_pause,
)
from reprieve.objects import (
    AdmissionCheckState,
    PreemptionGateState,
    ReclaimablePod,
    UnhealthyNode,
    Workload,
    counted,
    find_condition,
    well_known,
    with_condition,
)
from reprieve.quota import evict, is_true, placed_elsewhere, release, with_admitted, with_status

RUNNING, STOPPED, FINISHED = "running", "stopped", "finished"

WAITS_FOR_ITS_CAUSE = {
    "ClusterQueueStopped": "ClusterQueueRestarted",
    "LocalQueueStopped": "LocalQueueRestarted",
    "Deactivated": "Reactivated",
    "AdmissionCheck": "BackoffFinished",
    well_known.PODS_READY_TIMEOUT: "BackoffFinished",
}
"""Evictions after which a workload queues again only when the cause is gone, and the reason it has then."""


class Owner(msgspec.Struct, frozen=True):
    """The state of the workload's owner: stopped, running, or finished with an outcome."""

    state: str = STOPPED
    reason: str = ""
    message: str = ""
    done: dict[str, int] = {}
    """By pod set, pods whose quota is no longer needed."""
    ready: bool | None = None
    """All its pods are ready or done; None: nobody here can tell."""


SEVERAL_NODES = "Workload eviction triggered due to multiple TAS assigned node failures, including: "


class Situation(msgspec.Struct, frozen=True):
    workload: Workload
    owner: Owner = Owner()
    checks: tuple[str, ...] = ()
    """Admission checks that apply to the flavors it got."""
    stopped: str = ""
    """`ClusterQueueStopped` or `LocalQueueStopped` when its queue evicts all workloads."""
    held: str = ""
    """The same when its queue only stops admitting."""
    publish_gates: bool = False
    failed_nodes: tuple[UnhealthyNode, ...] = ()
    """Nodes that it was sent to and that cannot run its pods."""
    no_place: str = ""
    """Why no node could ever hold one of its pods."""
    patience: WaitForPodsReady | None = None
    """How long it may hold quota without all its pods ready; None: for ever."""


class Next(msgspec.Struct, frozen=True):
    workload: Workload
    deactivate: bool = False
    """Also deactivate the workload (`spec.active`): a rejected one must not come back."""
    after: float = 0.0
    """Look again after so many seconds, although nothing happens; 0: no need."""


def next_state(situation: Situation, now: datetime) -> Next:
    """The first of these that applies, after the gates' positions:

    1. it has finished: nothing more;
    2. what it stands for is over: so is the workload;
    3. it holds quota and was evicted: when nothing runs any more the quota is free and it queues again;
    4. it holds quota and must go: switched off, time up, rejected or retried by a check, its queue drained;
    5. it holds quota: admitted as soon as every check is ready and its domains are known. A node of it that
       failed is named, so that the next cycle looks for another; two at once, and it must go. So must one
       whose pods do not get ready in time;
    6. it waits and the cause of its eviction is gone: it may queue again.
    """
    workload = situation.workload
    if is_true(workload, well_known.FINISHED):
        return Next(workload)
    if situation.owner.state == FINISHED:
        return Next(_finished(workload, situation.owner, now))
    if situation.publish_gates:
        workload = with_gate_positions(workload, now)
    if not is_true(workload, well_known.QUOTA_RESERVED):
        return _requeued(workload, situation, now)
    if is_true(workload, well_known.EVICTED):
        return Next(workload if situation.owner.state == RUNNING else _released(workload, now))
    workload = _with_checks(_with_reclaimable(workload, situation.owner), situation.checks, now)
    states = {check.name: check.state for check in workload.status.admission_checks}
    target = find_condition(workload.status.conditions, well_known.DEACTIVATION_TARGET)
    if target is not None and target.status == "True":
        return Next(evict(workload, f"DeactivatedDueTo{target.reason}", target.message, now), deactivate=True)
    if "Rejected" in states.values():
        return Next(_rejected(workload, states, now), deactivate=True)
    left = time_left(workload, now)
    if left is not None and left <= 0:
        return Next(_timed_out(workload, now), deactivate=True)
    workload, gone = _with_readiness(workload, situation, now)
    if gone is not None and (gone.deactivate or workload.spec.active):
        return gone
    if not workload.spec.active:  # last: what switched it off is still to be seen, and is its reason
        return Next(evict(workload, "Deactivated", "The workload is deactivated", now))
    if "Retry" in states.values():
        return Next(evict(workload, "AdmissionCheck", _named("Retry", states), now))
    if situation.stopped:
        message = "The queue is stopped and drained"
        return Next(evict(workload, situation.stopped, message, now))
    if situation.failed_nodes != workload.status.unhealthy_nodes:
        workload = with_status(workload, unhealthy_nodes=situation.failed_nodes)
    if len(situation.failed_nodes) > 1:
        names = ", ".join(node.name for node in situation.failed_nodes)
        return Next(evict(workload, well_known.NODE_FAILURES, f"{SEVERAL_NODES}{names}", now))
    ready = all(state == well_known.READY for state in states.values())
    if ready and workload.status.cluster_name:
        workload = placed_elsewhere(workload)
    admitted = _with_place(with_admitted(workload, ready, now), situation.no_place, now)
    return Next(admitted, after=_until_next(admitted, situation.patience, now))


def _with_readiness(workload: Workload, situation: Situation, now: datetime) -> tuple[Workload, Next | None]:
    """Whether its pods are ready; and what comes next if they have not got so in time."""
    rules, owner = situation.patience, situation.owner
    if rules is None or workload.status.cluster_name or not is_true(workload, well_known.ADMITTED):
        return workload, None  # what another cluster runs is looked after there
    if owner.state == RUNNING and owner.ready is None:
        return workload, None  # its job has not been read yet
    seen = with_pods_ready(workload, owner.ready, now)
    left = patience_left(seen, rules, now)
    if left is None or left > 0:
        return seen, None
    evicted, for_good = given_up(seen, rules, now)
    return seen, Next(evicted, deactivate=for_good)


def _until_next(workload: Workload, rules: WaitForPodsReady | None, now: datetime) -> float:
    """Seconds after which one that holds quota may have to go; 0 if nothing is limited."""
    waits = [time_left(workload, now)]
    if rules is not None and not workload.status.cluster_name:
        waits.append(patience_left(workload, rules, now))
    return min((left for left in waits if left is not None and left > 0), default=0.0)


def _with_place(workload: Workload, why: str, now: datetime) -> Workload:
    """Say that no node could hold it, and when that is over; nothing for all others."""
    known = find_condition(workload.status.conditions, well_known.NO_NODE_FITS)
    if not why and (known is None or known.status == "False"):
        return workload
    reason, message = ("NoNodeFits", why) if why else ("NodeFits", "there is a node that could hold it")
    generation = workload.metadata.generation
    conditions = with_condition(
        workload.status.conditions, well_known.NO_NODE_FITS, bool(why), reason, message, now, generation
    )
    return with_status(workload, conditions=conditions)


def time_left(workload: Workload, now: datetime) -> float | None:
    """Seconds that an admitted workload may still run; None if that is not limited."""
    limit = workload.spec.maximum_execution_time_seconds
    return None if limit is None else limit - _time_run(workload, now)


def _time_run(workload: Workload, now: datetime) -> float:
    """Seconds for which it was admitted, now and before earlier evictions."""
    before = workload.status.accumulated_past_execution_time_seconds or 0
    admitted = find_condition(workload.status.conditions, well_known.ADMITTED)
    if admitted is None or admitted.status != "True" or admitted.last_transition_time is None:
        return before
    return before + max(0.0, (now - admitted.last_transition_time).total_seconds())


def _timed_out(workload: Workload, now: datetime) -> Workload:
    """If somebody switches it on again, its time begins anew."""
    limit = counted(workload.spec.maximum_execution_time_seconds or 0, "second")
    message = f"exceeding the maximum execution time of {limit}"
    evicted = evict(workload, f"DeactivatedDueTo{well_known.MAX_TIME_EXCEEDED}", message, now)
    return with_status(evicted, accumulated_past_execution_time_seconds=None)


def with_gate_positions(workload: Workload, now: datetime) -> Workload:
    """Each gate of the spec has a position, at first closed; positions of other gates are dropped."""
    wanted = [gate.name for gate in workload.spec.preemption_gates]
    known = {gate.name: gate for gate in workload.status.preemption_gates}
    if set(wanted) == known.keys():
        return workload
    kept = [gate for gate in workload.status.preemption_gates if gate.name in wanted]
    new = [
        PreemptionGateState(name=name, position=well_known.GATE_CLOSED, last_transition_time=now)
        for name in wanted
        if name not in known
    ]
    return with_status(workload, preemption_gates=(*kept, *new))


def with_closed_gate(workload: Workload, **changes: object) -> Workload:
    """The manager's gate is closed, whatever its position; `changes` are other fields of its state."""
    gates = tuple(
        msgspec.structs.replace(gate, position=well_known.GATE_CLOSED, **changes)
        if gate.name == well_known.MULTIKUEUE_GATE
        else gate
        for gate in workload.status.preemption_gates
    )
    return with_status(workload, preemption_gates=gates)


def _finished(workload: Workload, owner: Owner, now: datetime) -> Workload:
    generation = workload.metadata.generation
    conditions = with_condition(
        workload.status.conditions, well_known.FINISHED, True, owner.reason, owner.message, now, generation
    )
    return with_status(workload, conditions=conditions)


def _released(workload: Workload, now: datetime) -> Workload:
    freed = starting_over(release(_with_time_run(workload), now), now)
    cause = find_condition(freed.status.conditions, well_known.EVICTED)
    if cause is None or cause.reason != "AdmissionCheck":
        return freed
    return _with_requeued(freed, "BackoffFinished", now)


def _with_time_run(workload: Workload) -> Workload:
    """What an evicted workload has run counts when it runs again, if its time is limited."""
    evicted = find_condition(workload.status.conditions, well_known.EVICTED)
    if workload.spec.maximum_execution_time_seconds is None or evicted is None:
        return workload
    if evicted.last_transition_time is None or evicted.reason.endswith(well_known.MAX_TIME_EXCEEDED):
        return workload
    run = int(_time_run(workload, evicted.last_transition_time))
    return with_status(workload, accumulated_past_execution_time_seconds=run or None)


def _requeued(workload: Workload, situation: Situation, now: datetime) -> Next:
    requeued = find_condition(workload.status.conditions, well_known.REQUEUED)
    if requeued is None or requeued.status != "False" or not workload.spec.active:
        return Next(workload)
    if situation.stopped or situation.held:
        return Next(workload)
    known = next((name for name in WAITS_FOR_ITS_CAUSE if requeued.reason.startswith(name)), "")
    if known == well_known.PODS_READY_TIMEOUT and (left := pause_left(workload, now)):
        return Next(workload, after=left)
    if not known:
        return Next(workload)
    return Next(_with_requeued(without_pause(workload), WAITS_FOR_ITS_CAUSE[known], now))


def _with_requeued(workload: Workload, reason: str, now: datetime) -> Workload:
    generation = workload.metadata.generation
    conditions = with_condition(
        workload.status.conditions, well_known.REQUEUED, True, reason, "", now, generation
    )
    return with_status(workload, conditions=conditions)


def _with_checks(workload: Workload, checks: tuple[str, ...], now: datetime) -> Workload:
    """The status lists exactly the checks that apply; new ones are pending."""
    known = {check.name: check for check in workload.status.admission_checks}
    if set(checks) == known.keys():
        return workload
    listed = tuple(
        known.get(name) or AdmissionCheckState(name=name, state="Pending", last_transition_time=now)
        for name in checks
    )
    return with_status(workload, admission_checks=listed)


def _with_reclaimable(workload: Workload, owner: Owner) -> Workload:
    """Finished pods release their quota early; the number never shrinks while the quota is held."""
    if not owner.done:
        return workload
    known = {each.name: each.count for each in workload.status.reclaimable_pods}
    done = {
        each.name: max(known.get(each.name, 0), min(each.count, owner.done.get(each.name, 0)))
        for each in workload.spec.pod_sets
    }
    done = {name: count for name, count in done.items() if count}
    if done == known:
        return workload
    reclaimable = tuple(ReclaimablePod(name=name, count=count) for name, count in done.items())
    return with_status(workload, reclaimable_pods=reclaimable)


def _rejected(workload: Workload, states: dict[str, str], now: datetime) -> Workload:
    return evict(workload, "DeactivatedDueToAdmissionCheck", _named("Rejected", states), now)


def _named(state: str, states: dict[str, str]) -> str:
    names = ", ".join(sorted(name for name, held in states.items() if held == state))
    return f"At least one admission check is {state}: {names}"
