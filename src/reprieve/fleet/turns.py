"""How long a cluster's turn to preempt lasts.

Upstream measures by the times that workers report and sees only workers in reach. Here the manager's ledger comes
first: it holds the window for a worker out of reach, and a wrong clock cannot shorten or stretch it.
"""

from datetime import datetime, timedelta

import msgspec

from reprieve.fleet.group import Group
from reprieve.fleet.ledger import Turn
from reprieve.fleet.names import BLOCKED
from reprieve.fleet.reading import gate_is_open, is_true, opened_at
from reprieve.fleet.settings import FleetSettings


class Window(msgspec.Struct, frozen=True, order=True):
    """The time until which `cluster` alone may preempt."""

    until: datetime
    cluster: str


def open_gates(group: Group, now: datetime) -> list[tuple[datetime, str]]:
    """Open gates in sight, oldest first, by the time they claim; a time yet to come is read as now."""
    return sorted(
        (min(opened_at(copy) or now, now), cluster)
        for cluster, copy in group.copies.items()
        if gate_is_open(copy)
    )


def current_window(group: Group, settings: FleetSettings, now: datetime) -> Window | None:
    """Whose turn it is, or None when the next gate may open.

    1. The ledger's cluster, if it is out of reach: until its own lease must have ended.
    2. The ledger's cluster, if its gate is open: until the timeout, by the manager's clock.
    3. Any other gate that is open: until the timeout after the time it claims.
    """
    turn = group.ledger.turn if settings.close_at_timeout else None
    windows = [
        Window(at + settings.timeout, cluster)
        for at, cluster in open_gates(group, now)
        if turn is None or cluster != turn.cluster
    ]
    if turn is not None and turn.cluster in group.unavailable:
        windows.append(Window(turn.opened + settings.lease, turn.cluster))
    elif turn is not None and turn.cluster in group.copies and gate_is_open(group.copies[turn.cluster]):
        windows.append(Window(turn.since + settings.timeout, turn.cluster))
    window = max(windows, default=None)
    return window if window is not None and now < window.until else None


def interrupted_turn(group: Group, settings: FleetSettings, now: datetime) -> Turn | None:
    """A turn whose gate is closed although its worker still asks: the opening may not have arrived. It goes on."""
    turn = group.ledger.turn
    if turn is None or not settings.close_at_timeout or now >= turn.since + settings.timeout:
        return None
    copy = group.copies.get(turn.cluster)
    return turn if copy is not None and is_true(copy, BLOCKED) and not gate_is_open(copy) else None


def unaccounted(group: Group, settings: FleetSettings, now: datetime) -> str | None:
    """A cluster whose gate is open since a time yet to come. Its clock is wrong: measure by ours from now on."""
    turn = group.ledger.turn
    if turn is not None and turn.cluster in group.unavailable and now < turn.opened + settings.lease:
        return None  # the turn in the ledger must not be lost
    for cluster, copy in group.copies.items():
        at = opened_at(copy)
        if at is not None and at > now and (turn is None or turn.cluster != cluster):
            return cluster
    return None


def grace_left(group: Group, since: list[datetime], settings: FleetSettings, now: datetime) -> timedelta:
    """`least-cost`: how long a worker that needs no preemption may still win outright.

    The grace runs from the oldest signal. A clock that runs ahead buys no delay, and when every worker in reach has
    asked there is nobody left to wait for. A copy that holds quota but waits for its checks is waited for, too.
    """
    past = [moment for moment in since if moment <= now]
    nothing = timedelta(0)
    everybody = len(since) == len(group.connected)
    if everybody or len(past) < len(since) or group.ledger.past:
        return nothing
    return max(nothing, min(past) + settings.grace - now)
