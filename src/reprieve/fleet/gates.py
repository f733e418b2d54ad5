"""Opening gates: one cluster preempts at a time (KEP-8303), and the reasons in words."""

from datetime import datetime, timedelta

import msgspec

from reprieve.fleet.actions import Action, CloseGate, OpenGate, Remember
from reprieve.fleet.group import Group
from reprieve.fleet.reading import declares_gate, gate_is_open
from reprieve.fleet.settings import LEAST_COST, FleetSettings
from reprieve.fleet.signals import Signal, choose, signals
from reprieve.fleet.turns import current_window, grace_left, interrupted_turn, open_gates, unaccounted


class GateStep(msgspec.Struct, frozen=True):
    """What to do about the gates, strictly in order, and when to look again."""

    actions: tuple[Action, ...] = ()
    requeue_after: float = 0.0
    reasons: tuple[str, ...] = ()


def gate_step(group: Group, settings: FleetSettings, now: datetime) -> GateStep:
    """Open the next gate, or say how long to wait.

    1. Nobody asks: nothing to do.
    2. Somebody's turn is not over: wait for its end.
    3. `least-cost`, within the grace: wait for workers that may need no preemption at all.
    4. Close what is open, write down the turn, open the chosen gate; look again after the timeout. In this order: the
       ledger must name the last holder until its gate is known to be closed, and the next one before its gate opens.
    """
    tidy = _tidy(group, settings, now)
    waiting = signals(group, now)
    if not waiting:
        return GateStep(tidy)
    window = current_window(group, settings, now)
    if window is not None:
        left = (window.until - now).total_seconds()
        return GateStep(tidy, left, (f"{window.cluster} has its turn to preempt for {left:g} s more",))
    if settings.gate_policy == LEAST_COST:
        grace = grace_left(group, [signal.since for signal in waiting], settings, now)
        if grace > timedelta(0):
            return GateStep(tidy, grace.total_seconds(), ("a worker may still admit without preemption",))
    interrupted = interrupted_turn(group, settings, now)
    if interrupted is not None:
        waiting = [signal for signal in waiting if signal.cluster == interrupted.cluster]
    return _open(group, choose(waiting, group.ledger.past, settings.gate_policy), settings, now)


def _open(group: Group, chosen: Signal, settings: FleetSettings, now: datetime) -> GateStep:
    timeout = settings.timeout.total_seconds()
    if not declares_gate(group.copies[chosen.cluster]):
        return GateStep((), timeout, (f"the copy in {chosen.cluster} has no gate to open",))
    price = f" ({chosen.cost})" if chosen.cost is not None else ""
    return GateStep(
        (
            *_close_all_but(chosen.cluster, group, settings, now),
            Remember(group.ledger.begin(chosen.cluster, now)),
            OpenGate(chosen.cluster, now),
        ),
        timeout,
        (f"{chosen.cluster} may preempt{price}",),
    )


def _close_all_but(
    cluster: str, group: Group, settings: FleetSettings, now: datetime
) -> tuple[CloseGate, ...]:
    """Close every other gate that is open or may be: the last holder is told even if its gate looks closed."""
    if not settings.close_at_timeout:
        return ()
    turn = group.ledger.turn
    maybe = {turn.cluster} & group.copies.keys() if turn is not None else set()
    opened = {name for name, copy in group.copies.items() if gate_is_open(copy)}
    return tuple(CloseGate(name, now) for name in sorted((opened | maybe) - {cluster}))


def _tidy(group: Group, settings: FleetSettings, now: datetime) -> tuple[Action, ...]:
    """Never more than one open gate, and never one that only a wrong clock accounts for."""
    if not settings.close_at_timeout:
        return ()
    foreign = unaccounted(group, settings, now)
    noted: tuple[Action, ...] = (Remember(group.ledger.adopt(foreign, now)),) if foreign else ()
    gates = open_gates(group, now)
    if len(gates) < 2:
        return noted
    turn = group.ledger.turn
    held = {name for _, name in gates}
    keep = turn.cluster if turn is not None and turn.cluster in held else gates[-1][1]
    return (*noted, *_close_all_but(keep, group, settings, now))
