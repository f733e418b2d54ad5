"""One cluster preempts at a time: who, when, and what happens to the others."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reprieve.fleet import FleetSettings, sentences, step
from reprieve.fleet.actions import CloseGate, OpenGate, SaveLedger
from reprieve.fleet.cost import PreemptionCost
from reprieve.fleet.group import Ledger, Turn
from reprieve.fleet.settings import LEAST_COST
from tests.fleet.build import NOW, ago, away, blocked, copy, group, is_so, local

SETTINGS = FleetSettings()
UPSTREAM = FleetSettings(close_at_timeout=False)
CHEAPEST = FleetSettings(gate_policy=LEAST_COST)


def opened(decision):
    return [action.cluster for action in decision.actions if isinstance(action, OpenGate)]


def closed(decision):
    return [action.cluster for action in decision.actions if isinstance(action, CloseGate)]


def remembered(decision):
    return next((action.ledger for action in decision.chain if isinstance(action, SaveLedger)), None)


def turn(cluster: str, seconds_ago: float, opened_ago: float | None = None) -> Ledger:
    since = ago(seconds_ago)
    return Ledger(
        Turn(cluster, since, ago(opened_ago if opened_ago is not None else seconds_ago)), {cluster: since}
    )


def test_the_oldest_signal_goes_first() -> None:
    decision = step(group(local(), a=blocked(10), b=blocked(20)), SETTINGS, NOW)
    assert opened(decision) == ["b"]
    assert decision.requeue_after == 300


def test_equal_signals_go_by_name() -> None:
    assert opened(step(group(local(), b=blocked(10), a=blocked(10)), SETTINGS, NOW)) == ["a"]


def test_a_gate_without_a_position_counts_as_closed() -> None:
    assert opened(step(group(local(), a=blocked(10, gate="")), SETTINGS, NOW)) == ["a"]


def test_without_signals_no_gate_opens() -> None:
    decision = step(
        group(local(), a=copy(), b=copy(is_so("BlockedOnPreemptionGates", status="False"))), SETTINGS, NOW
    )
    assert opened(decision) == []
    assert decision.requeue_after == 0


def test_the_second_cluster_waits_for_the_rest_of_the_timeout() -> None:
    decision = step(group(local(), a=blocked(10), b=copy(gate="Open", moved=100)), SETTINGS, NOW)
    assert opened(decision) == []
    assert decision.requeue_after == 200


def test_the_timeout_is_configurable() -> None:
    settings = FleetSettings(timeout=timedelta(seconds=30))
    decision = step(group(local(), a=blocked(10), b=copy(gate="Open", moved=31)), settings, NOW)
    assert opened(decision) == ["a"]
    assert decision.requeue_after == 30


def test_at_the_timeout_the_earlier_gate_closes_before_the_next_opens() -> None:
    decision = step(group(local(), a=blocked(10), b=copy(gate="Open", moved=300)), SETTINGS, NOW)
    kinds = [
        type(action) for action in decision.chain if isinstance(action, SaveLedger | CloseGate | OpenGate)
    ]
    assert kinds == [CloseGate, SaveLedger, OpenGate], (
        "the ledger names the last holder until its gate is closed"
    )
    assert (closed(decision), opened(decision)) == (["b"], ["a"])


def test_the_switch_keeps_upstreams_behaviour_and_leaves_the_earlier_gate_open() -> None:
    decision = step(group(local(), a=blocked(10), b=copy(gate="Open", moved=300)), UPSTREAM, NOW)
    assert (closed(decision), opened(decision)) == ([], ["a"])


def test_a_copy_without_the_gate_is_never_opened_but_the_window_is_kept() -> None:
    decision = step(group(local(), a=blocked(10, declared=False)), SETTINGS, NOW)
    assert opened(decision) == []
    assert decision.requeue_after == 300


def test_the_turn_is_written_down_before_the_gate_opens() -> None:
    decision = step(group(local(), a=blocked(10)), SETTINGS, NOW)
    assert remembered(decision) == Ledger(Turn("a", NOW, NOW), {"a": NOW})


def test_a_cluster_that_had_its_turn_goes_behind_those_that_had_none() -> None:
    ledger = turn("a", 300)
    decision = step(group(local(ledger=ledger), a=blocked(500), b=blocked(10)), SETTINGS, NOW)
    assert opened(decision) == ["b"]
    assert closed(decision) == ["a"], "the last holder's gate is closed even if it looks closed"


def test_a_worker_out_of_reach_keeps_its_turn_until_its_own_lease_must_have_ended() -> None:
    remotes: dict[str, Any] = {"a": away("a"), "b": blocked(10)}
    waiting = step(group(local(ledger=turn("a", 305)), **remotes), SETTINGS, NOW)
    assert (opened(waiting), waiting.requeue_after) == ([], 5)
    assert opened(step(group(local(ledger=turn("a", 310)), **remotes), SETTINGS, NOW)) == ["b"]


def test_a_worker_clock_that_is_behind_does_not_shorten_the_turn() -> None:
    remotes = {"a": copy(gate="Open", moved=7200), "b": blocked(10)}
    decision = step(group(local(ledger=turn("a", 100)), **remotes), SETTINGS, NOW)
    assert (opened(decision), decision.requeue_after) == ([], 200)


def test_a_worker_clock_that_is_ahead_does_not_stretch_the_turn() -> None:
    remotes = {"a": copy(gate="Open", moved=-7200), "b": blocked(10)}
    assert opened(step(group(local(ledger=turn("a", 300)), **remotes), SETTINGS, NOW)) == ["b"]


def test_a_gate_opened_by_hand_in_the_future_is_measured_by_our_clock_from_now_on() -> None:
    remotes = {"a": copy(gate="Open", moved=-7200), "b": blocked(10)}
    decision = step(group(local(), **remotes), SETTINGS, NOW)
    assert decision.requeue_after == 300
    assert remembered(decision).turn == Turn("a", NOW, NOW)


def test_a_turn_in_reach_does_not_keep_a_wrong_clock_from_being_noticed() -> None:
    remotes = {"a": copy(), "b": copy(gate="Open", moved=-7200), "c": blocked(10)}
    decision = step(group(local(ledger=turn("a", 20)), **remotes), SETTINGS, NOW)
    assert remembered(decision).turn == Turn("b", NOW, NOW)


@pytest.mark.parametrize(("opened_ago", "noticed"), [(309, False), (310, True)])
def test_a_turn_out_of_reach_is_not_forgotten_for_a_wrong_clock_before_its_lease_has_ended(
    opened_ago: float, noticed: bool
) -> None:
    remotes: dict[str, Any] = {"a": away("a"), "b": copy(gate="Open", moved=-7200), "c": blocked(10)}
    decision = step(group(local(ledger=turn("a", opened_ago)), **remotes), SETTINGS, NOW)
    noted = [action for action in decision.actions if isinstance(action, SaveLedger)]
    assert [action.ledger.turn for action in noted] == ([Turn("b", NOW, NOW)] if noticed else [])


def test_an_opening_that_got_lost_is_repeated_within_the_same_turn() -> None:
    ledger = turn("a", 20)
    decision = step(group(local(ledger=ledger), a=blocked(500), b=blocked(900)), SETTINGS, NOW)
    assert opened(decision) == ["a"]
    assert remembered(decision).turn == Turn("a", ago(20), NOW), "the turn does not grow longer"


def test_of_two_open_gates_the_one_with_the_turn_stays() -> None:
    remotes = {"a": copy(gate="Open", moved=10), "b": copy(gate="Open", moved=20)}
    assert closed(step(group(local(ledger=turn("b", 20)), **remotes), SETTINGS, NOW)) == ["a"]
    assert closed(step(group(local(), **remotes), SETTINGS, NOW)) == ["b"], "without a turn the latest stays"


def test_least_cost_opens_the_cheapest_gate() -> None:
    cheap, dear = PreemptionCost(10, 500, 4), PreemptionCost(20, 1, 1)
    decision = step(group(local(), a=blocked(90, dear), b=blocked(30, cheap), c=blocked(99)), CHEAPEST, NOW)
    assert opened(decision) == ["b"]


def test_the_reason_names_the_cluster_and_its_price() -> None:
    priced = step(group(local(), a=blocked(30, PreemptionCost(1, 2, 3))), CHEAPEST, NOW)
    assert priced.reasons == (sentences.may_preempt("a", "highestPriority=1 lostPodSeconds=2 victims=3"),)
    assert step(group(local(), a=blocked(30)), SETTINGS, NOW).reasons == (sentences.may_preempt("a", ""),)


def test_least_cost_first_waits_for_a_worker_that_needs_no_preemption() -> None:
    waiting = step(group(local(), a=blocked(4), b=copy()), CHEAPEST, NOW)
    assert (opened(waiting), waiting.requeue_after) == ([], 6)
    assert opened(step(group(local(), a=blocked(10), b=copy()), CHEAPEST, NOW)) == ["a"]


def test_the_grace_ends_when_every_worker_has_asked() -> None:
    assert opened(step(group(local(), a=blocked(1), b=blocked(2)), CHEAPEST, NOW)) == ["b"]


def test_a_signal_from_the_future_buys_no_delay() -> None:
    assert opened(step(group(local(), a=blocked(-3600), b=copy()), CHEAPEST, NOW)) == ["a"]


def test_with_the_feature_off_no_gate_is_touched() -> None:
    decision = step(group(local(), a=blocked(10)), FleetSettings(gated=False), NOW)
    assert opened(decision) == []


seconds = st.integers(-600, 900)
remote = st.one_of(
    st.none(),
    st.builds(
        lambda s, moved, gate: blocked(s, gate=gate, moved=moved),
        seconds,
        seconds,
        st.sampled_from(["Open", "Closed", ""]),
    ),
    st.builds(lambda moved, gate: copy(gate=gate, moved=moved), seconds, st.sampled_from(["Open", "Closed"])),
    st.just(away("?")),
)
ledgers = st.one_of(st.none(), st.builds(turn, st.sampled_from("abc"), st.integers(0, 900)))


@given(a=remote, b=remote, c=remote, ledger=ledgers, policy=st.sampled_from([SETTINGS, CHEAPEST]))
def test_after_any_step_at_most_one_gate_in_sight_is_open(a, b, c, ledger, policy) -> None:
    remotes = {
        name: structs.replace(seen, cluster=name) if hasattr(seen, "cluster") else seen
        for name, seen in zip("abc", (a, b, c), strict=True)
    }
    seen = group(local(ledger=ledger), **remotes)
    decision = step(seen, policy, NOW)
    before = {
        cluster
        for cluster, document in seen.copies.items()
        if any(gate["position"] == "Open" for gate in document["status"].get("preemptionGates", []))
    }
    assert len((before - set(closed(decision))) | set(opened(decision))) <= 1
    assert len(opened(decision)) <= 1
    if opened(decision):
        assert remembered(decision).turn.cluster == opened(decision)[0]


@given(a=remote, b=remote, ledger=ledgers)
def test_a_step_is_a_function_of_what_it_sees(a, b, ledger) -> None:
    remotes = {
        name: structs.replace(seen, cluster=name) if hasattr(seen, "cluster") else seen
        for name, seen in zip("ab", (a, b), strict=True)
    }
    assert step(group(local(ledger=ledger), **remotes), SETTINGS, NOW) == step(
        group(local(ledger=ledger), **remotes), SETTINGS, NOW
    )


@pytest.mark.parametrize("broken", ["", "{", '{"turn": 3}', "null"])
def test_a_ledger_that_cannot_be_read_counts_as_none(broken: str) -> None:
    workload = local()
    workload["metadata"]["annotations"]["reprieve.dev/fleet-ledger"] = broken
    assert opened(step(group(workload, a=blocked(10)), SETTINGS, NOW)) == ["a"]
