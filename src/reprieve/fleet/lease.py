"""The worker's side of a gate: an open gate ends by itself.

The manager may lose a worker whose gate is open. It can then neither close that gate nor wait for ever, so
a copy says how long an open gate holds (`reprieve.dev/gate-lease`), and the worker counts that time by its
own clock from the moment it saw the gate open. That the two clocks disagree does not matter; only that each
of them runs evenly.

A worker that starts and finds a gate open which it never saw opening cannot know how old it is. It closes
it; a manager in reach opens it again.
"""

from datetime import datetime, timedelta
from enum import Enum

import msgspec

from reprieve.fleet.reading import gate_entry, gate_is_open, moment
from reprieve.objects import Document, format_time, parse_duration, well_known


class LeaseState(Enum):
    """What a worker does about the gate of one copy."""

    NONE = "nothing: the gate is closed, or open without a lease"
    NOTE = "write down that the gate was seen opening, then obey it"
    HOLD = "obey the open gate until the lease ends"
    CLOSE = "close the gate: its lease has ended, or its beginning is not known"


class Lease(msgspec.Struct, frozen=True):
    state: LeaseState
    left: timedelta = timedelta(0)
    note: str = ""
    """NOTE: the annotation's value."""


def lease_of(copy: Document, witnessed: bool, now: datetime) -> Lease:
    """`witnessed`: this process saw the gate closed before it was open. `now` is the worker's own time."""
    annotations = (copy.get("metadata") or {}).get("annotations") or {}
    length = _length(annotations.get(well_known.GATE_LEASE_ANNOTATION))
    if length is None or not gate_is_open(copy):
        return Lease(LeaseState.NONE)
    opening = str((gate_entry(copy) or {}).get("lastTransitionTime", ""))
    noted_opening, _, seen = str(annotations.get(well_known.GATE_SEEN_ANNOTATION, "")).partition(" ")
    since = moment(seen) if noted_opening == opening else None
    if since is None:
        if witnessed:
            return Lease(LeaseState.NOTE, length, f"{opening} {format_time(now)}")
        return Lease(LeaseState.CLOSE)
    left = since + length - now
    return Lease(LeaseState.HOLD, left) if left > timedelta(0) else Lease(LeaseState.CLOSE)


def _length(text: object) -> timedelta | None:
    if not isinstance(text, str):
        return None
    try:
        return timedelta(seconds=parse_duration(text))
    except ValueError:
        return None
