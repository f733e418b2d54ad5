"""Workloads that hold quota and do not get their pods to run: after a while they give it back and are tried
again later, as with Kueue's `waitForPodsReady`. Pure.

A workload says whether its pods are ready (`PodsReady`): it waits for its start, has started, waits for
recovery after a pod was lost, has recovered.
"""

from datetime import datetime, timedelta

import msgspec

from reprieve.config import WaitForPodsReady
from reprieve.objects import RequeueState, Workload, find_condition, well_known, with_condition
from reprieve.quota import evict, is_true, with_status

WAIT_FOR_START, STARTED = "WaitForStart", "Started"
WAIT_FOR_RECOVERY, RECOVERED = "WaitForRecovery", "Recovered"
_MESSAGES = {
    WAIT_FOR_START: "Not all pods are ready or succeeded",
    WAIT_FOR_RECOVERY: "At least one pod has failed, waiting for recovery",
    STARTED: "All pods reached readiness and the workload is running",
    RECOVERED: "All pods reached readiness and the workload is running",
}
_LIMIT_MESSAGE = "exceeding the maximum number of re-queuing retries"


def with_pods_ready(workload: Workload, ready: bool | None, now: datetime) -> Workload:
    """Say how an admitted workload is. `ready`: whether all its pods are; None: somebody else says it."""
    if ready is None:
        return workload
    reason = _reason(workload, ready)
    conditions = with_condition(
        workload.status.conditions,
        well_known.PODS_READY,
        ready,
        reason,
        _MESSAGES[reason],
        now,
        workload.metadata.generation,
    )
    return with_status(workload, conditions=conditions)


def _reason(workload: Workload, ready: bool) -> str:
    known = find_condition(workload.status.conditions, well_known.PODS_READY)
    lost_one = known is not None and known.reason in (WAIT_FOR_RECOVERY, RECOVERED)
    if ready:
        return RECOVERED if lost_one else STARTED
    return WAIT_FOR_RECOVERY if lost_one or is_true(workload, well_known.PODS_READY) else WAIT_FOR_START


def starting_over(workload: Workload, now: datetime) -> Workload:
    """It has lost its quota: what its pods were is the past."""
    if find_condition(workload.status.conditions, well_known.PODS_READY) is None:
        return workload
    conditions = with_condition(
        workload.status.conditions,
        well_known.PODS_READY,
        False,
        WAIT_FOR_START,
        _MESSAGES[WAIT_FOR_START],
        now,
        workload.metadata.generation,
    )
    return with_status(workload, conditions=conditions)


def patience_left(workload: Workload, rules: WaitForPodsReady, now: datetime) -> float | None:
    """Seconds within which the pods of an admitted workload must be ready; None if nothing is awaited."""
    ready = find_condition(workload.status.conditions, well_known.PODS_READY)
    admitted = find_condition(workload.status.conditions, well_known.ADMITTED)
    if admitted is None or admitted.status != "True" or (ready is not None and ready.status == "True"):
        return None
    recovers = ready is not None and ready.reason == WAIT_FOR_RECOVERY
    if recovers and not rules.recovery:
        return None
    since = (ready if ready is not None and recovers else admitted).last_transition_time
    limit = rules.recovery if recovers else float(rules.timeout)
    return limit if since is None else limit - (now - since).total_seconds()


def given_up(workload: Workload, rules: WaitForPodsReady, now: datetime) -> tuple[Workload, bool]:
    """Evicted because its pods did not get ready; and whether that was the last time it was tried."""
    state = workload.status.requeue_state or RequeueState()
    strategy, count = rules.requeuing_strategy, (state.count or 0) + 1
    if strategy.backoff_limit_count is not None and count > strategy.backoff_limit_count:
        reason = f"DeactivatedDueTo{well_known.REQUEUING_LIMIT_EXCEEDED}"
        return with_status(evict(workload, reason, _LIMIT_MESSAGE, now), requeue_state=None), True
    # The exponent is bounded: a workload may have been tried more often than a float can count in.
    pause = min(strategy.backoff_base_seconds * 2.0 ** min(count - 1, 64), strategy.backoff_max_seconds)
    message = f"Exceeded the PodsReady timeout {workload.key}"
    evicted = evict(workload, well_known.PODS_READY_TIMEOUT, message, now)
    again = RequeueState(count=count, requeue_at=now + timedelta(seconds=pause))
    return with_status(evicted, requeue_state=again), False


def pause_left(workload: Workload, now: datetime) -> float:
    """Seconds until a workload that was given up is tried again; 0 if it need not wait."""
    state = workload.status.requeue_state
    if state is None or state.requeue_at is None:
        return 0.0
    return max(0.0, (state.requeue_at - now).total_seconds())


def without_pause(workload: Workload) -> Workload:
    """The pause is over. How often it was tried is still known."""
    state = workload.status.requeue_state
    if state is None or state.requeue_at is None:
        return workload
    return with_status(workload, requeue_state=msgspec.structs.replace(state, requeue_at=None))
