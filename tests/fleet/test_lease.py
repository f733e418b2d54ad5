"""A worker closes its gate by itself, whatever the clocks say."""

from datetime import timedelta

import pytest

from reprieve.fleet.lease import LeaseState, lease_of
from reprieve.objects import well_known
from reprieve.objects.times import format_time
from tests.fleet.build import NOW, ago, copy


def leased(gate: str = "Open", moved: float = 60, seen: str = "", length: str | None = "5m"):
    document = copy(gate=gate, moved=moved)
    document["metadata"]["annotations"] = {
        well_known.GATE_LEASE_ANNOTATION: length,
        well_known.GATE_SEEN_ANNOTATION: seen,
    }
    return document


def test_a_gate_seen_opening_is_noted_first_and_then_held() -> None:
    lease = lease_of(leased(), True, NOW)
    assert lease.state is LeaseState.NOTE
    held = lease_of(leased(seen=lease.note), True, NOW + timedelta(seconds=100))
    assert (held.state, held.left) == (LeaseState.HOLD, timedelta(seconds=200))


def test_the_note_outlives_a_restart() -> None:
    note = f"{format_time(ago(60))} {format_time(ago(299))}"
    assert lease_of(leased(seen=note), False, NOW).state is LeaseState.HOLD


def test_at_the_end_of_the_lease_the_worker_closes() -> None:
    note = f"{format_time(ago(60))} {format_time(ago(300))}"
    assert lease_of(leased(seen=note), True, NOW).state is LeaseState.CLOSE


def test_an_open_gate_that_was_never_seen_opening_is_closed() -> None:
    assert lease_of(leased(moved=1), False, NOW).state is LeaseState.CLOSE


def test_a_note_about_an_earlier_opening_does_not_count() -> None:
    note = f"{format_time(ago(999))} {format_time(ago(1))}"
    assert lease_of(leased(seen=note), False, NOW).state is LeaseState.CLOSE


@pytest.mark.parametrize("hours", [-5, 0, 5])
def test_only_the_workers_own_clock_counts(hours: int) -> None:
    own = NOW + timedelta(hours=hours)
    note = lease_of(leased(), True, own).note
    assert lease_of(leased(seen=note), False, own + timedelta(seconds=299)).state is LeaseState.HOLD
    assert lease_of(leased(seen=note), False, own + timedelta(seconds=300)).state is LeaseState.CLOSE


@pytest.mark.parametrize("length", ["", "soon", None])
def test_without_a_lease_the_gate_is_simply_open(length: str | None) -> None:
    assert lease_of(leased(length=length), False, NOW).state is LeaseState.NONE


def test_a_closed_gate_needs_nothing() -> None:
    assert lease_of(leased(gate="Closed"), False, NOW).state is LeaseState.NONE
