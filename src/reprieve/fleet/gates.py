"""Preemption gates: which workers wait for one, whose turn it is, and opening one at a time (KEP-8303).

A *signal* is a worker that could preempt if its gate were open. Two orders of signals, both ending in the
cluster's name so that equal inputs give equal results:

`first-come` (the proposal):
  1. clusters that had no turn yet, then the one whose last turn began longest ago,
  2. the oldest signal,
  3. the name.

`least-cost` (beyond the proposal):
  1. as above,
  2. signals with a cost before those without,
  3. the cheaper preemption (`PreemptionCost`),
  4. the oldest signal,
  5. the name.

A *turn* is the time in which one cluster may preempt. Upstream measures it by the times that workers report
and sees only workers in reach. Here the manager's ledger comes first: it holds the turn of a worker out of
reach, and a wrong clock can neither shorten nor stretch it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from reprieve.fleet import sentences
from reprieve.fleet.actions import Action, CloseGate, OpenGate, SaveLedger
from reprieve.fleet.cost import PreemptionCost, cost_in
from reprieve.fleet.group import Group, Turn
from reprieve.fleet.reading import blocked_by_gate, declares_gate, gate_is_open, moment, opened_at
from reprieve.fleet.settings import LEAST_COST, FleetSettings

_NEVER = datetime.min.replace(tzinfo=UTC)
_UNKNOWN = PreemptionCost(0, 0, 0)


class Signal(msgspec.Struct, frozen=True):
    """A worker that could preempt for the workload if its gate were open."""

    cluster: str
    since: datetime
    cost: PreemptionCost | None = None


class GateStep(msgspec.Struct, frozen=True):
    """What to do about the gates, strictly in order, and when to look again."""

    actions: tuple[Action, ...] = ()
    requeue_after: float = 0.0
    reasons: tuple[str, ...] = ()


def gate_step(group: Group, settings: FleetSettings, now: datetime) -> GateStep:
    """Open the next gate, or compute how long to wait.

    1. No signals: nothing to do.
    2. A turn is not over: wait for its end.
    3. `least-cost`, within the grace: wait for workers that may need no preemption at all.
    4. Close what is open, write down the turn, open the chosen gate; look again after the timeout. In this
       order: the ledger must name the last holder until its gate is known to be closed, and the next one
       before its gate opens.
    """
    tidy = _tidy(group, settings, now)
    waiting = signals(group, now)
    if not waiting:
        return GateStep(tidy)
    window = _current_window(group, settings, now)
    if window is not None:
        left = (window.until - now).total_seconds()
        return GateStep(tidy, left, (sentences.has_its_turn(window.cluster, left),))
    if settings.gate_policy == LEAST_COST:
        grace = _grace_left(group, [signal.since for signal in waiting], settings, now)
        if grace > timedelta(0):
            return GateStep(tidy, grace.total_seconds(), (sentences.MAY_ADMIT_WITHOUT_PREEMPTION,))
    interrupted = _interrupted_turn(group, settings, now)
    if interrupted is not None:
        waiting = [signal for signal in waiting if signal.cluster == interrupted.cluster]
    return _open(group, choose(waiting, group.ledger.past, settings.gate_policy), settings, now)


def _open(group: Group, chosen: Signal, settings: FleetSettings, now: datetime) -> GateStep:
    timeout = settings.timeout.total_seconds()
    if not declares_gate(group.copies[chosen.cluster]):
        return GateStep((), timeout, (sentences.has_no_gate(chosen.cluster),))
    cost = str(chosen.cost) if chosen.cost is not None else ""
    return GateStep(
        (
            *_close_all_but(chosen.cluster, group, settings, now),
            SaveLedger(group.ledger.begin(chosen.cluster, now)),
            OpenGate(chosen.cluster, now),
        ),
        timeout,
        (sentences.may_preempt(chosen.cluster, cost),),
    )


def _close_all_but(
    cluster: str, group: Group, settings: FleetSettings, now: datetime
) -> tuple[CloseGate, ...]:
    """Close every other gate that is open or may be: also the last holder's, even if it looks closed."""
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
    foreign = _unaccounted(group, settings, now)
    noted: tuple[Action, ...] = (SaveLedger(group.ledger.adopt(foreign, now)),) if foreign else ()
    gates = _open_gates(group, now)
    if len(gates) < 2:
        return noted
    turn = group.ledger.turn
    held = {name for _, name in gates}
    keep = turn.cluster if turn is not None and turn.cluster in held else gates[-1][1]
    return (*noted, *_close_all_but(keep, group, settings, now))


def signals(group: Group, now: datetime) -> list[Signal]:
    """Every visible copy that is blocked by its closed gate."""
    found = []
    for cluster, copy in group.copies.items():
        blocked = blocked_by_gate(copy)
        if blocked is None or gate_is_open(copy):
            continue
        since = moment(blocked.get("lastTransitionTime")) or now
        found.append(Signal(cluster, since, cost_in(str(blocked.get("message", "")))))
    return found


def choose(waiting: list[Signal], past: Mapping[str, datetime], policy: str) -> Signal:
    """The next cluster to preempt, by the orders in the module's docstring."""

    def first_come(signal: Signal) -> tuple[datetime, datetime, str]:
        return past.get(signal.cluster, _NEVER), signal.since, signal.cluster

    def least_cost(signal: Signal) -> tuple[datetime, bool, PreemptionCost, datetime, str]:
        turn, since, cluster = first_come(signal)
        return turn, signal.cost is None, signal.cost or _UNKNOWN, since, cluster

    return min(waiting, key=least_cost) if policy == LEAST_COST else min(waiting, key=first_come)


class _Window(msgspec.Struct, frozen=True, order=True):
    """The time until which `cluster` alone may preempt."""

    until: datetime
    cluster: str


def _open_gates(group: Group, now: datetime) -> list[tuple[datetime, str]]:
    """Visible open gates, oldest first, by their own time; a time in the future counts as now."""
    return sorted(
        (min(opened_at(copy) or now, now), cluster)
        for cluster, copy in group.copies.items()
        if gate_is_open(copy)
    )


def _current_window(group: Group, settings: FleetSettings, now: datetime) -> _Window | None:
    """Whose turn it is, or None when the next gate may open.

    1. The ledger's cluster, if it is out of reach: until its own lease must have ended.
    2. The ledger's cluster, if its gate is open: until the timeout, by the manager's clock.
    3. Any other open gate: until the timeout, from the time in its status.
    """
    turn = group.ledger.turn if settings.close_at_timeout else None
    windows = [
        _Window(at + settings.timeout, cluster)
        for at, cluster in _open_gates(group, now)
        if turn is None or cluster != turn.cluster
    ]
    if turn is not None and turn.cluster in group.unavailable:
        windows.append(_Window(turn.opened + settings.lease, turn.cluster))
    elif turn is not None and turn.cluster in group.copies and gate_is_open(group.copies[turn.cluster]):
        windows.append(_Window(turn.since + settings.timeout, turn.cluster))
    window = max(windows, default=None)
    return window if window is not None and now < window.until else None


def _interrupted_turn(group: Group, settings: FleetSettings, now: datetime) -> Turn | None:
    """A turn whose worker still waits at a closed gate. The opening may have been lost: it goes on."""
    turn = group.ledger.turn
    if turn is None or not settings.close_at_timeout or now >= turn.since + settings.timeout:
        return None
    copy = group.copies.get(turn.cluster)
    return turn if copy is not None and blocked_by_gate(copy) is not None and not gate_is_open(copy) else None


def _unaccounted(group: Group, settings: FleetSettings, now: datetime) -> str | None:
    """A cluster whose gate was opened in the future. Its clock is wrong: measure by ours from now on."""
    turn = group.ledger.turn
    if turn is not None and turn.cluster in group.unavailable and now < turn.opened + settings.lease:
        return None  # the turn in the ledger must not be lost
    for cluster, copy in group.copies.items():
        at = opened_at(copy)
        if at is not None and at > now and (turn is None or turn.cluster != cluster):
            return cluster
    return None


def _grace_left(group: Group, since: list[datetime], settings: FleetSettings, now: datetime) -> timedelta:
    """`least-cost`: how long a worker that needs no preemption may still win outright.

    The grace runs from the oldest signal. A clock that runs ahead buys no delay, and once every worker in
    reach has signalled there is none left to wait for. A copy that holds quota but waits for its checks
    counts as one that may still win.
    """
    past = [moment for moment in since if moment <= now]
    nothing = timedelta(0)
    all_signalled = len(since) == len(group.connected)
    if all_signalled or len(past) < len(since) or group.ledger.past:
        return nothing
    return max(nothing, min(past) + settings.grace - now)
