"""Workloads that wait for quota: one queue for each ClusterQueue, in the order in which they are tried.

A waiting workload is active (will be tried), inadmissible (parked until something changes) or in flight (being tried).
Order of the active ones:

1. the workload whose victims are leaving (BestEffortFIFO only)
2. higher priority
3. earlier queue time
4. UID
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

from reprieve.quota.claims import Claim

FAILED_AFTER_NOMINATION = "FailedAfterNomination"
PENDING_PREEMPTION = "PendingPreemption"
PREEMPTION_GATED = "PreemptionGated"
PREEMPTION_NO_CANDIDATES = "PreemptionNoCandidates"
NAMESPACE_MISMATCH = "NamespaceMismatch"
NO_FIT = "NoFit"
GENERIC = ""
_AT_ONCE = (FAILED_AFTER_NOMINATION, PENDING_PREEMPTION)
_PARK_EQUALS = (NO_FIT, PREEMPTION_NO_CANDIDATES)


_Place = tuple[bool, int, float, str, str, int, Claim]


class Scan(NamedTuple):
    """How far the flavors of a workload were looked through."""

    tried: tuple[dict[str, int], ...]
    generation: int
    cycle: int
    fingerprint: str

    @property
    def unfinished(self) -> bool:
        return any(index != -1 for each in self.tried for index in each.values())


class PendingQueue:
    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.active: dict[str, Claim] = {}
        self.inadmissible: dict[str, Claim] = {}
        self.in_flight: Claim | None = None
        self.preemptor = ""
        """Key of the workload whose victims are leaving."""
        self.parked_kinds: dict[str, str] = {}
        """Fingerprints of workloads found hopeless since the last flush, and the reason of their condition."""
        self._heap: list[_Place] = []
        self._places: dict[str, _Place] = {}
        """The valid place of each active workload; others in the heap are left over."""
        self._pushes = 0
        self._pops = 0
        self._flushed_at = -1

    def __contains__(self, key: str) -> bool:
        return key in self.active or key in self.inadmissible or self._is_in_flight(key)

    def _is_in_flight(self, key: str) -> bool:
        return self.in_flight is not None and self.in_flight.key == key

    def find(self, key: str) -> Claim | None:
        if self._is_in_flight(key):
            return self.in_flight
        return self.active.get(key) or self.inadmissible.get(key)

    def put(self, claim: Claim, ready: bool, unchanged: Callable[[Claim], bool]) -> None:
        """Add a workload or take note of its change; what matters to nobody leaves a parked one parked."""
        key = claim.key
        if self._is_in_flight(key):
            self.in_flight = claim
            return
        parked = self.inadmissible.get(key)
        if parked is not None and unchanged(parked):
            self.inadmissible[key] = claim
            return
        self.inadmissible.pop(key, None)
        if (not ready and key not in self.active) or (
            not self.strict and key not in self.active and claim.fingerprint in self.parked_kinds
        ):
            self.inadmissible[key] = claim
        else:
            self._activate(claim)

    def remove(self, key: str) -> None:
        if key in self.active:
            self._deactivate(key)
        self.inadmissible.pop(key, None)
        if self._is_in_flight(key):
            self.in_flight = None
        if self.preemptor == key:
            self.preemptor = ""

    def pop(self) -> Claim | None:
        """Take the first one out to be tried."""
        self._pops += 1
        while self._heap:
            place = heappop(self._heap)
            claim = place[-1]
            if self._places.get(claim.key) is place:
                self._deactivate(claim.key)
                self.in_flight = claim
                return claim
        return None

    def requeue(self, claim: Claim, reason: str, ready: bool, scan: Scan | None, condition: str) -> None:
        """Put back a workload that was tried and got nothing."""
        self.in_flight = None
        at_once = reason != NAMESPACE_MISMATCH if self.strict else reason in _AT_ONCE
        if reason == PENDING_PREEMPTION:
            self._mark_preemptor(claim.key)
        unfinished = scan is not None and scan.unfinished
        if ready and (at_once or self._flushed_at >= self._pops or unfinished):
            self._activate(claim)
            return
        self.inadmissible[claim.key] = claim
        if reason in _PARK_EQUALS and not self.strict:
            self._park_equals(claim.fingerprint, condition)

    def _mark_preemptor(self, key: str) -> None:
        """Only one at a time; the former one falls back to its ordinary place."""
        former, self.preemptor = self.preemptor, key
        if former != key and former in self.active:
            self._activate(self.active[former])

    def _park_equals(self, fingerprint: str, condition: str) -> None:
        self.parked_kinds[fingerprint] = condition
        for key in [k for k, claim in self.active.items() if claim.fingerprint == fingerprint]:
            self.inadmissible[key] = self._deactivate(key)

    def flush(self, ready: Callable[[Claim], bool]) -> bool:
        """Something changed: everybody parked may be tried again."""
        self._flushed_at = self._pops
        self.parked_kinds.clear()
        woken = [claim for claim in self.inadmissible.values() if ready(claim)]
        for claim in woken:
            del self.inadmissible[claim.key]
            self._activate(claim)
        return bool(woken)

    def _activate(self, claim: Claim) -> None:
        self.active[claim.key] = claim
        sticky = not self.strict and claim.key == self.preemptor
        self._pushes += 1
        place = (not sticky, -claim.priority, claim.queued_at, claim.uid, claim.key, self._pushes, claim)
        self._places[claim.key] = place
        heappush(self._heap, place)
        if len(self._heap) > 2 * len(self._places) + 64:
            self._heap = sorted(self._places.values())

    def _deactivate(self, key: str) -> Claim:
        del self._places[key]
        return self.active.pop(key)
