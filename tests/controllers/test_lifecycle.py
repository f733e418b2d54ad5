"""What becomes of a workload between admission cycles."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from reprieve.controllers.quota.lifecycle import FINISHED, RUNNING, Owner, Situation, next_state
from reprieve.objects import Condition, find_condition
from reprieve.objects.kueue import (
    Admission,
    AdmissionCheckState,
    PreemptionGate,
    PreemptionGateState,
    Workload,
    WorkloadSpec,
    WorkloadStatus,
)
from reprieve.quota.workload_info import is_true

NOW = datetime(2026, 8, 23, 12, 0, tzinfo=UTC)
RESERVED = Condition(type="QuotaReserved", status="True", reason="QuotaReserved")


def evicted(reason: str) -> Condition:
    return Condition(type="Evicted", status="True", reason=reason, message="why")


def workload_with(
    *conditions: Condition, active: bool = True, checks: tuple[str, ...] = (), gates=(), positions=()
):
    states = tuple(AdmissionCheckState(name=f"check{n}", state=state) for n, state in enumerate(checks))
    return Workload(
        spec=WorkloadSpec(active=active, preemption_gates=tuple(PreemptionGate(name=name) for name in gates)),
        status=WorkloadStatus(
            conditions=conditions,
            admission=Admission(cluster_queue="cq") if RESERVED in conditions else None,
            admission_checks=states,
            preemption_gates=tuple(PreemptionGateState(name=name, position=at) for name, at in positions),
        ),
    )


def after(given: Workload, owner: Owner | None = None, **more) -> Workload:
    names = tuple(state.name for state in given.status.admission_checks)
    situation = Situation(given, owner or Owner(), **{"checks": names, **more})
    return next_state(situation, NOW).workload


def reason(of: Workload, type: str) -> str:
    found = find_condition(of.status.conditions, type)
    return found.reason if found is not None else ""


def test_without_checks_quota_means_admission() -> None:
    assert is_true(after(workload_with(RESERVED)), "Admitted")


def test_a_pending_check_holds_admission_back() -> None:
    seen = after(workload_with(RESERVED, checks=("Ready", "Pending")))
    assert not is_true(seen, "Admitted")
    assert reason(seen, "Admitted") == "UnsatisfiedAdmissionChecks"
    assert is_true(after(workload_with(RESERVED, checks=("Ready", "Ready"))), "Admitted")


def test_checks_that_apply_are_listed_as_pending_and_others_go() -> None:
    seen = after(workload_with(RESERVED, checks=("Ready",)), checks=("new",))
    assert [(state.name, state.state) for state in seen.status.admission_checks] == [("new", "Pending")]


def test_a_check_that_says_retry_evicts() -> None:
    seen = after(workload_with(RESERVED, checks=("Retry",)))
    assert (is_true(seen, "Evicted"), reason(seen, "Evicted")) == (True, "AdmissionCheck")
    assert [state.state for state in seen.status.admission_checks] == ["Pending"]


def test_a_rejected_workload_is_switched_off() -> None:
    given = workload_with(RESERVED, checks=("Rejected",))
    step = next_state(Situation(given, checks=("check0",)), NOW)
    assert step.deactivate
    assert reason(step.workload, "Evicted") == "DeactivatedDueToAdmissionCheck"


def test_a_switched_off_workload_is_evicted() -> None:
    assert reason(after(workload_with(RESERVED, active=False)), "Evicted") == "Deactivated"


def test_a_deactivation_target_is_switched_off_for_its_cause() -> None:
    target = Condition(
        type="DeactivationTarget", status="True", reason="EvictedOnManagerCluster", message="m"
    )
    step = next_state(Situation(workload_with(RESERVED, target)), NOW)
    assert step.deactivate
    assert reason(step.workload, "Evicted") == "DeactivatedDueToEvictedOnManagerCluster"


def timed(limit: int, since: int, past: int | None = None, *conditions: Condition) -> Workload:
    """Admitted so many seconds ago."""
    admitted = Condition(
        type="Admitted", status="True", reason="Admitted", last_transition_time=NOW - timedelta(seconds=since)
    )
    made = workload_with(RESERVED, admitted, *conditions)
    return msgspec.structs.replace(
        made,
        spec=msgspec.structs.replace(made.spec, maximum_execution_time_seconds=limit),
        status=msgspec.structs.replace(made.status, accumulated_past_execution_time_seconds=past),
    )


def test_a_workload_whose_time_is_up_is_stopped_and_switched_off_with_the_reason() -> None:
    early = next_state(Situation(timed(60, 20, past=30), Owner(RUNNING)), NOW)
    assert (early.deactivate, early.after) == (False, 10.0)
    late = next_state(Situation(timed(60, 30, past=30), Owner(RUNNING)), NOW)
    assert late.deactivate
    found = find_condition(late.workload.status.conditions, "Evicted")
    assert found is not None
    assert found.reason == "DeactivatedDueToMaximumExecutionTimeExceeded"
    assert found.message == "exceeding the maximum execution time of 60 seconds"
    switched_off = msgspec.structs.replace(
        timed(60, 60), spec=WorkloadSpec(active=False, maximum_execution_time_seconds=60)
    )
    again = next_state(Situation(switched_off, Owner(RUNNING)), NOW)
    reason = find_condition(again.workload.status.conditions, "Evicted")
    assert reason is not None
    assert reason.reason == found.reason, "also if the controller was killed in between"


def test_the_time_before_an_eviction_counts() -> None:
    gone = Condition(
        type="Evicted", status="True", reason="Preempted", last_transition_time=NOW - timedelta(seconds=5)
    )
    freed = next_state(Situation(timed(60, 25, 10, gone)), NOW).workload
    assert not is_true(freed, "QuotaReserved")
    assert freed.status.accumulated_past_execution_time_seconds == 30


def test_a_drained_queue_evicts_all_workloads() -> None:
    assert (
        reason(after(workload_with(RESERVED), stopped="ClusterQueueStopped"), "Evicted")
        == "ClusterQueueStopped"
    )


def test_evicted_quota_is_free_only_when_nothing_runs_any_more() -> None:
    given = workload_with(RESERVED, evicted("Preempted"))
    assert after(given, Owner(RUNNING)) == given
    freed = after(given)
    assert not is_true(freed, "QuotaReserved")
    assert freed.status.admission is None
    assert is_true(freed, "Requeued"), "a preempted workload queues again at once"


def test_a_workload_that_a_check_sent_back_queues_again_at_once() -> None:
    assert reason(after(workload_with(RESERVED, evicted("AdmissionCheck"))), "Requeued") == "BackoffFinished"


@pytest.mark.parametrize(
    ("cause", "again"),
    [
        ("ClusterQueueStopped", "ClusterQueueRestarted"),
        ("LocalQueueStopped", "LocalQueueRestarted"),
        ("Deactivated", "Reactivated"),
        ("DeactivatedDueToAdmissionCheck", "Reactivated"),
    ],
)
def test_others_queue_again_when_the_cause_is_gone(cause: str, again: str) -> None:
    waiting = workload_with(Condition(type="Requeued", status="False", reason=cause))
    assert after(waiting, stopped="ClusterQueueStopped") == waiting
    assert after(waiting, held="LocalQueueStopped") == waiting
    assert reason(after(waiting), "Requeued") == again
    inactive = workload_with(Condition(type="Requeued", status="False", reason=cause), active=False)
    assert after(inactive) == inactive


def test_the_end_of_the_job_is_the_end_of_the_workload() -> None:
    seen = after(workload_with(RESERVED), Owner(FINISHED, "Failed", "out of memory"))
    found = find_condition(seen.status.conditions, "Finished")
    assert found is not None
    assert (found.status, found.reason, found.message) == ("True", "Failed", "out of memory")
    assert after(seen, Owner(FINISHED, "Succeeded", "")) == seen, "and it stays so"


def test_gates_get_a_closed_position_and_lose_it_with_the_spec() -> None:
    given = workload_with(gates=("a", "b"), positions=(("b", "Open"), ("old", "Open")))
    seen = after(given, publish_gates=True)
    assert [(gate.name, gate.position) for gate in seen.status.preemption_gates] == [
        ("b", "Open"),
        ("a", "Closed"),
    ]
    assert after(given, publish_gates=False) == given


def test_following_up_twice_changes_nothing_more() -> None:
    for given in (
        workload_with(RESERVED, checks=("Retry",)),
        workload_with(RESERVED, evicted("Preempted")),
        workload_with(RESERVED),
        workload_with(gates=("a",)),
    ):
        once = after(given, Owner(RUNNING), publish_gates=True)
        assert after(once, Owner(RUNNING), publish_gates=True) == once
