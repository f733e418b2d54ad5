"""Copies, winners and losers: the rest of the manager's step."""

from copy import deepcopy
from datetime import timedelta

import pytest

from reprieve.fleet import FleetSettings, sentences, step
from reprieve.fleet.actions import (
    CreateCopy,
    DeactivateCopy,
    DeleteCopy,
    Finish,
    Nominate,
    OpenGate,
    SaveLedger,
    SetCheck,
    SyncJob,
    UpdateCopy,
)
from reprieve.fleet.group import Ledger, Turn
from reprieve.objects import well_known
from tests.fleet.build import NOW, ago, away, blocked, copy, group, is_so, local

SETTINGS = FleetSettings()


def of(kind, decision):
    return [action for action in decision.actions if isinstance(action, kind)]


def clusters(kind, decision):
    return [action.cluster for action in of(kind, decision)]


def test_every_connected_worker_gets_a_copy_born_with_the_gate() -> None:
    decision = step(group(local(), b=None, a=None, c=away("c")), SETTINGS, NOW)
    assert clusters(CreateCopy, decision) == ["a", "b"]
    document = of(CreateCopy, decision)[0].document
    assert document["spec"]["preemptionGates"] == [{"name": well_known.MULTIKUEUE_GATE}]
    assert document["metadata"]["labels"] == {well_known.ORIGIN_LABEL: "multikueue"}
    assert document["metadata"]["annotations"] == {well_known.GATE_LEASE_ANNOTATION: "5m0s"}
    assert of(Nominate, decision) == [Nominate(("a", "b"))]


def test_the_managers_ledger_is_not_copied() -> None:
    ledger = Ledger(Turn("z", NOW, NOW))
    decision = step(group(local(ledger=ledger), a=None), FleetSettings(gated=False), NOW)
    assert "annotations" not in of(CreateCopy, decision)[0].document["metadata"]


def test_the_uid_of_the_managers_job_is_not_copied() -> None:
    workload = local()
    workload["metadata"]["labels"] = {well_known.JOB_UID_LABEL: "u", "team": "ml"}
    [made] = of(CreateCopy, step(group(workload, a=None), SETTINGS, NOW))
    assert made.document["metadata"]["labels"] == {"team": "ml", well_known.ORIGIN_LABEL: "multikueue"}


def test_the_state_of_another_check_is_not_ours() -> None:
    workload = local()
    workload["status"]["admissionChecks"].insert(0, {"name": "budget", "state": "Ready", "message": "paid"})
    seen = group(workload, a=None)
    assert (seen.check_state, seen.check_message) == ("Pending", "")
    assert clusters(CreateCopy, step(seen, SETTINGS, NOW)) == ["a"]


def paths(document, before=()):
    """Every place in a document."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in pairs:
        yield (*before, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*before, key))


def without(document, path, null):
    found = deepcopy(document)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    if null and isinstance(parent, dict):
        parent[path[-1]] = None
    else:
        del parent[path[-1]]
    return found


SEEN = local(ledger=Ledger(Turn("a", NOW, NOW)), nominatedClusterNames=["a"])
LEAST = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload"}


@pytest.mark.parametrize("null", [False, True])
def test_whatever_a_workload_or_a_copy_lacks_the_step_is_made(null: bool) -> None:
    """Optional fields are missing or null on the wire, and the manager serves others meanwhile."""
    signal, open_one = blocked(), copy(gate="Open")
    for path in paths(SEEN):
        decision = step(group(without(SEEN, path, null), a=signal, b=open_one, c=None), SETTINGS, NOW)
        for made in of(CreateCopy, decision):
            metadata = made.document["metadata"]
            assert null or (isinstance(metadata["name"], str) and isinstance(metadata["namespace"], str))
    for document in (signal, open_one):
        for path in paths(document):
            step(group(SEEN, a=without(document, path, null), b=None), SETTINGS, NOW)
    step(group(LEAST, a=LEAST, b=None), SETTINGS, NOW)


def test_what_is_nominated_already_is_not_written_again() -> None:
    workload = local(nominatedClusterNames=["a"])
    assert of(Nominate, step(group(workload, a=copy()), SETTINGS, NOW)) == []


def test_nothing_is_dispatched_before_the_other_checks_are_ready() -> None:
    workload = local()
    workload["status"]["admissionChecks"].append({"name": "budget", "state": "Pending"})
    assert of(CreateCopy, step(group(workload, a=None), SETTINGS, NOW)) == []


def test_the_incremental_dispatcher_takes_the_next_workers_in_their_order() -> None:
    settings = FleetSettings(dispatcher="Incremental", step_size=2)
    remotes = {"d": None, "b": None, "c": None, "a": None}
    first = step(group(local(), **remotes), settings, NOW)
    assert of(Nominate, first) == [Nominate(("d", "b"))]
    assert clusters(CreateCopy, first) == ["b", "d"]
    assert first.requeue_after == 300
    workload = local(nominatedClusterNames=["d", "b"], ledger=Ledger(round_started=ago(100)))
    waiting = step(group(workload, **remotes), settings, NOW)
    assert (of(Nominate, waiting), waiting.requeue_after) == ([], 200)
    workload = local(nominatedClusterNames=["d", "b"], ledger=Ledger(round_started=ago(301)))
    assert of(Nominate, step(group(workload, **remotes), settings, NOW)) == [Nominate(("d", "b", "c", "a"))]


def test_the_first_to_admit_wins_and_the_others_are_withdrawn() -> None:
    early, late = copy(is_so("Admitted", 50)), copy(is_so("Admitted", 20))
    decision = step(group(local(), a=late, b=early, c=copy()), SETTINGS, NOW)
    assert decision.chain == (SetCheck("Ready", sentences.admitted_on("b"), "b"), SyncJob("b"))
    assert clusters(DeleteCopy, decision) == ["a", "c"]


def test_the_cluster_is_written_down_before_the_job_is_made() -> None:
    decision = step(group(local(), a=copy(is_so("Admitted"))), SETTINGS, NOW)
    assert [type(action) for action in decision.chain] == [SetCheck, SyncJob]


def test_once_a_cluster_is_chosen_no_other_can_win() -> None:
    workload = local(check="Ready", clusterName="b")
    decision = step(
        group(workload, a=copy(is_so("Admitted", 99)), b=copy(is_so("Admitted", 1))), SETTINGS, NOW
    )
    assert clusters(DeleteCopy, decision) == ["a"]
    assert clusters(SyncJob, decision) == ["b"]
    assert of(SetCheck, decision) == []


def test_a_worker_that_does_not_say_when_it_admitted_still_wins() -> None:
    undated = {"type": "Admitted", "status": "True", "lastTransitionTime": "yesterday"}
    assert clusters(SyncJob, step(group(local(), a=copy(undated), b=copy()), SETTINGS, NOW)) == ["a"]


def test_a_finished_copy_finishes_the_workload() -> None:
    done = copy(is_so("Admitted"), is_so("Finished", reason="Succeeded", message="all good"))
    decision = step(group(local(check="Ready", clusterName="a"), a=done), SETTINGS, NOW)
    assert decision.chain == (SyncJob("a", final=True), Finish("Succeeded", "all good"))


def test_a_copy_out_of_sync_with_its_job_starts_again() -> None:
    done = copy(is_so("Finished", reason="OutOfSync"))
    decision = step(group(local(check="Ready", clusterName="a"), a=done), SETTINGS, NOW)
    assert [action.state for action in of(SetCheck, decision)] == ["Retry"]


def test_a_copy_evicted_on_its_worker_starts_again() -> None:
    evicted = copy(is_so("Evicted"), is_so("Admitted", status="False"))
    decision = step(group(local(check="Ready", clusterName="a"), a=evicted), SETTINGS, NOW)
    [check] = of(SetCheck, decision)
    assert (check.state, check.message) == ("Retry", sentences.evicted_after_ready("a"))


def test_an_eviction_before_anybody_won_changes_nothing() -> None:
    evicted = copy(is_so("Evicted"))
    decision = step(group(local(nominatedClusterNames=["a", "b"]), a=evicted, b=copy()), SETTINGS, NOW)
    assert decision.actions == ()


def test_a_deleted_workload_is_withdrawn_and_not_written_to() -> None:
    workload = local(ledger=Ledger(Turn("a", ago(10), ago(10))))
    workload["metadata"]["deletionTimestamp"] = "2026-08-23T12:00:00Z"
    decision = step(group(workload, a=copy()), SETTINGS, NOW)
    assert decision.actions == (DeleteCopy("a"),)


def test_a_ready_check_without_a_cluster_gets_its_winner_written_down() -> None:
    decision = step(group(local(check="Ready"), a=copy(is_so("Admitted"))), SETTINGS, NOW)
    assert [check.cluster for check in of(SetCheck, decision)] == ["a"]


def test_a_turn_and_a_round_that_begin_together_are_one_note_before_the_gate_opens() -> None:
    settings = FleetSettings(dispatcher="Incremental", step_size=1)
    workload = local(nominatedClusterNames=["a"], ledger=Ledger(round_started=ago(301)))
    decision = step(group(workload, a=blocked(10), b=None), settings, NOW)
    assert [type(action) for action in decision.chain] == [SaveLedger, OpenGate, Nominate]
    [saved] = of(SaveLedger, decision)
    assert saved.ledger == Ledger(Turn("a", NOW, NOW), {"a": NOW}, NOW)


def test_the_last_round_needs_no_other() -> None:
    settings = FleetSettings(dispatcher="Incremental", step_size=2)
    assert step(group(local(), a=None, b=None), settings, NOW).requeue_after == 0
    workload = local(nominatedClusterNames=["a"], ledger=Ledger(round_started=ago(300)))
    assert of(Nominate, step(group(workload, a=copy(), b=None), settings, NOW)) == [], (
        "it lasts its whole length"
    )


def test_evicted_here_and_there_no_job_is_made_any_more() -> None:
    workload = local(is_so("QuotaReserved"), is_so("Evicted"), check="Ready", clusterName="a")
    decision = step(group(workload, a=copy(is_so("Evicted"))), SETTINGS, NOW)
    assert decision.actions == (SyncJob("a", final=True),)


def test_a_workload_evicted_here_is_stopped_there() -> None:
    workload = local(
        is_so("QuotaReserved"), is_so("Evicted", message="preempted"), check="Ready", clusterName="a"
    )
    decision = step(group(workload, a=copy(is_so("Admitted"))), SETTINGS, NOW)
    assert of(DeactivateCopy, decision) == [DeactivateCopy("a", sentences.evicted_on_manager("preempted"))]


def test_without_quota_here_every_copy_is_withdrawn() -> None:
    decision = step(group(local(is_so("QuotaReserved", status="False")), a=copy(), b=None), SETTINGS, NOW)
    assert clusters(DeleteCopy, decision) == ["a"]
    assert decision.requeue_after == 0


def test_copies_out_of_reach_are_withdrawn_later_and_their_turn_is_not_forgotten() -> None:
    ledger = Ledger(Turn("b", ago(10), ago(10)), {"b": ago(10)})
    workload = local(is_so("QuotaReserved", status="False"), ledger=ledger)
    decision = step(group(workload, a=copy(), b=away("b")), SETTINGS, NOW)
    assert decision.requeue_after == 900
    assert of(SaveLedger, decision) == [SaveLedger(Ledger(ledger.turn))]


def test_a_winner_out_of_reach_is_waited_for_and_then_replaced() -> None:
    workload = local(check="Ready", clusterName="a")
    waiting = step(group(workload, a=away("a", ago(300))), SETTINGS, NOW)
    assert (waiting.actions, waiting.requeue_after) == ((), 600)
    lost = step(group(workload, a=away("a", ago(900))), SETTINGS, NOW)
    assert [(action.state, action.message) for action in of(SetCheck, lost)] == [
        ("Retry", sentences.after_ready(sentences.REMOTE_IS_LOST))
    ]


def test_a_winner_in_reach_whose_copy_is_gone_is_replaced_at_once() -> None:
    decision = step(group(local(check="Ready", clusterName="a"), a=None, b=None), SETTINGS, NOW)
    assert of(SetCheck, decision)[0].message == sentences.after_ready(sentences.REMOTE_IS_GONE)


def test_a_new_priority_reaches_the_copies_and_keeps_their_gates() -> None:
    workload = local()
    workload["spec"]["priority"] = 7
    decision = step(group(workload, a=copy()), SETTINGS, NOW)
    [update] = of(UpdateCopy, decision)
    assert update.spec["priority"] == 7
    assert update.spec["preemptionGates"] == [{"name": well_known.MULTIKUEUE_GATE}]


def test_a_copy_that_a_worker_keeps_changing_is_replaced_and_never_holds_up_the_others() -> None:
    odd = copy()
    odd["spec"]["podSets"] = [{"name": "main", "count": 1}]
    decision = step(group(local(), a=odd, b=None), SETTINGS, NOW)
    assert clusters(DeleteCopy, decision) == ["a"]
    assert clusters(CreateCopy, decision) == ["b"], "a new copy for a comes when the old one is gone"


def test_an_owner_that_cannot_be_carried_is_rejected() -> None:
    workload = local()
    workload["metadata"]["ownerReferences"] = [
        {"apiVersion": "example.com/v1", "kind": "Conveyor", "name": "r", "controller": True}
    ]
    assert [action.state for action in of(SetCheck, step(group(workload, a=None), SETTINGS, NOW))] == [
        "Rejected"
    ]


def test_a_rejected_check_is_left_alone() -> None:
    assert step(group(local(check="Rejected"), a=None), SETTINGS, NOW).actions == ()


def test_a_worker_lost_timeout_is_configurable() -> None:
    settings = FleetSettings(worker_lost_timeout=timedelta(seconds=60))
    workload = local(check="Ready", clusterName="a")
    assert step(group(workload, a=away("a", ago(45))), settings, NOW).requeue_after == 15
