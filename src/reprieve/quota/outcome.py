"""What one cycle decided, as data: whoever drives the core carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from reprieve.objects import Workload
from reprieve.quota.assignment import Assignment
from reprieve.quota.claims import Claim
from reprieve.quota.sentences import Event
from reprieve.quota.victims.search import Victim


class Reservation(NamedTuple):
    """Give quota: write `workload`, which has the admission and its conditions."""

    claim: Claim
    assignment: Assignment
    workload: Workload


class Eviction(NamedTuple):
    """Stop a workload: write `workload`, stop its pods, and release its quota when they are gone."""

    victim: Victim
    preemptor: Claim
    message: str
    workload: Workload


class Waiting(NamedTuple):
    """A workload that got nothing, and what it waits for."""

    claim: Claim
    reason: str
    message: str
    gated: bool
    """Could preempt, but a closed preemption gate forbids it."""
    workload: Workload | None
    """With new conditions, or None when they say the same as before."""


@dataclass(slots=True)
class Outcome:
    number: int
    reserved: list[Reservation] = field(default_factory=list)
    evicted: list[Eviction] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    skipped_preemptions: dict[str, int] = field(default_factory=dict)
    """For each queue, preemptions that were given up because another entry was faster."""

    @property
    def made_progress(self) -> bool:
        return bool(self.reserved or self.evicted)
