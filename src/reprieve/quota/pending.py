"""Workloads that wait for quota: one queue for each ClusterQueue, in the order in which they are tried.

A waiting workload is active (will be tried), inadmissible (parked until something changes) or in flight (being tried).
Order of the active ones:

1. the workload whose victims are leaving (BestEffortFIFO only)
2. higher priority
3. earlier queue time
4. UID, key

Workloads between which admission cannot tell a difference are of one kind. When one of a kind is hopeless all are: kinds are parked and
woken as a whole, whatever their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from reprieve.quota.claims import Claim

FAILED_AFTER_NOMINATION = "FailedAfterNomination"
PENDING_PREEMPTION = "PendingPreemption"
PREEMPTION_NO_CANDIDATES = "PreemptionNoCandidates"
NAMESPACE_MISMATCH = "NamespaceMismatch"
NO_FIT = "NoFit"
GENERIC = ""
_AT_ONCE = (FAILED_AFTER_NOMINATION, PENDING_PREEMPTION)
_PARK_KIND = (NO_FIT, PREEMPTION_NO_CANDIDATES)

Place = tuple[bool, int, float, str, str, int]
"""Where a workload stands: the order above, its key, and a number that makes every place unique."""


class Scan(NamedTuple):
    """How far the flavors of a workload were looked through; kept only while some are left."""

    tried: tuple[dict[str, int], ...]
    generation: int
    cycle: int
    fingerprint: object


class _Kind:
    """Workloads of one namespace that are equal to admission."""

    __slots__ = ("offered", "parked", "places", "size")

    def __init__(self, parked: bool) -> None:
        self.parked = parked
        self.places: list[Place] = []
        """A heap; places that are no longer valid are dropped when they come up."""
        self.size = 0
        self.offered: Place | None = None
        """The place that speaks for the kind in the heap of the queue; never behind its first one."""


class PendingQueue:
    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.in_flight: Claim | None = None
        self.preemptor = ""
        """Key of the workload whose victims are leaving."""
        self._claims: dict[str, Claim] = {}
        """Everybody but the one in flight."""
        self._places: dict[str, Place] = {}
        """The valid place of everybody who is not parked alone."""
        self._kind_of: dict[str, _Kind] = {}
        """Of everybody whose place is with the kind."""
        self._alone: set[str] = set()
        """Those with a place of their own."""
        self._kinds: dict[object, dict[str, _Kind]] = {}
        """{fingerprint: {namespace: kind}}"""
        self._hopeless: set[object] = set()
        """Fingerprints that were parked since the last flush."""
        self._offers: list[tuple[Place, _Kind | None]] = []
        """A heap of the places that may come next: of single workloads, and the first ones of kinds."""
        self._active = 0
        self._pushes = 0
        self._pops = 0
        self._flushed_at = -1

    # --- looking ------------------------------------------------------------------------------------

    def __contains__(self, key: str) -> bool:
        return key in self._claims or self._is_in_flight(key)

    def __iter__(self) -> Iterator[Claim]:
        yield from self._claims.values()
        if self.in_flight is not None:
            yield self.in_flight

    def find(self, key: str) -> Claim | None:
        return self.in_flight if self._is_in_flight(key) else self._claims.get(key)

    @property
    def has_active(self) -> bool:
        return self._active > 0

    @property
    def active(self) -> dict[str, Claim]:
        return {key: claim for key, claim in self._claims.items() if self._is_active(key)}

    @property
    def inadmissible(self) -> dict[str, Claim]:
        return {key: claim for key, claim in self._claims.items() if not self._is_active(key)}

    def _is_active(self, key: str) -> bool:
        kind = self._kind_of.get(key)
        return key in self._places and (kind is None or not kind.parked)

    def _is_in_flight(self, key: str) -> bool:
        return self.in_flight is not None and self.in_flight.key == key

    # --- coming and going ---------------------------------------------------------------------------

    def put(self, claim: Claim, ready: bool, unchanged: Callable[[Claim], bool]) -> None:
        """Add a workload or take note of its change; what matters to nobody leaves a parked one parked."""
        key = claim.key
        if self._is_in_flight(key):
            self.in_flight = claim
            return
        old, was_active = self._claims.get(key), self._is_active(key)
        if old is not None and not was_active and unchanged(old):
            self._claims[key] = claim
            return
        if old is not None:
            self._take_out(key)
        self._claims[key] = claim
        if was_active or (ready and (self.strict or claim.fingerprint not in self._hopeless)):
            self._activate(claim)
        elif ready:
            self._join_kind(claim)

    def remove(self, key: str) -> None:
        if key in self._claims:
            self._take_out(key)
        if self._is_in_flight(key):
            self.in_flight = None
        if self.preemptor == key:
            self.preemptor = ""

    def pop(self) -> Claim | None:
        """Take the first one out to be tried."""
        self._pops += 1
        while self._offers:
            place, kind = heappop(self._offers)
            key = place[4]
            if kind is not None:
                if kind.offered is not place:
                    continue
                kind.offered = None
                if kind.parked or self._first(kind) is not place:
                    self._offer(kind)
                    continue
            elif self._places.get(key) is not place:
                continue
            claim = self.in_flight = self._claims[key]
            self._take_out(key)
            if kind is not None:
                self._offer(kind)
            return claim
        return None

    def requeue(self, claim: Claim, reason: str, ready: bool, unfinished: bool = False) -> None:
        """Put back a workload that was tried and got nothing; `unfinished`: it has flavors left to try."""
        self.in_flight = None
        self._claims[claim.key] = claim
        at_once = reason != NAMESPACE_MISMATCH if self.strict else reason in _AT_ONCE
        if reason == PENDING_PREEMPTION:
            self._mark_preemptor(claim.key)
        if ready and (at_once or self._flushed_at >= self._pops or unfinished):
            self._activate(claim)
        elif reason in _PARK_KIND and not self.strict:
            self._park_kind(claim)

    def flush(self, ready: Callable[[Claim], bool]) -> None:
        """Something changed: everybody parked may be tried again."""
        self._flushed_at = self._pops
        if len(self._claims) == self._active:
            self._hopeless.clear()
            return
        asleep: set[object] = set()
        for fingerprint in self._hopeless:
            kinds = self._kinds[fingerprint]
            for namespace in list(kinds):
                if not self._wake(kinds[namespace], ready):
                    asleep.add(fingerprint)
                elif not kinds[namespace].size:
                    del kinds[namespace]
            if not kinds:
                del self._kinds[fingerprint]
        self._hopeless = asleep
        if len(self._claims) > len(self._places):
            for claim in [c for key, c in self._claims.items() if key not in self._places and ready(c)]:
                self._activate(claim)

    # --- kinds and places ---------------------------------------------------------------------------

    def _mark_preemptor(self, key: str) -> None:
        """Only one at a time; the former one falls back to its ordinary place."""
        former, self.preemptor = self.preemptor, key
        if former != key and self._is_active(former):
            claim = self._claims[former]
            self._take_out(former)
            self._claims[former] = claim
            self._activate(claim)

    def _activate(self, claim: Claim) -> None:
        """A preemptor that goes first, and whoever is to be tried although its kind is parked, stand alone."""
        sticky = not self.strict and claim.key == self.preemptor
        if self.strict or sticky or claim.fingerprint in self._hopeless:
            heappush(self._offers, (self._place(claim, sticky), None))
            self._alone.add(claim.key)
            self._active += 1
        else:
            self._join_kind(claim)

    def _join_kind(self, claim: Claim) -> None:
        namespace, fingerprint = claim.workload.metadata.namespace, claim.fingerprint
        kinds = self._kinds.setdefault(fingerprint, {})
        kind = kinds.get(namespace)
        if kind is None:
            kind = kinds[namespace] = _Kind(parked=fingerprint in self._hopeless)
        place = self._place(claim, sticky=False)
        self._kind_of[claim.key] = kind
        kind.size += 1
        heappush(kind.places, place)
        if not kind.parked:
            self._active += 1
            self._offer(kind)

    def _place(self, claim: Claim, sticky: bool) -> Place:
        self._pushes += 1
        place = (not sticky, -claim.priority, claim.queued_at, claim.uid, claim.key, self._pushes)
        self._places[claim.key] = place
        return place

    def _first(self, kind: _Kind) -> Place | None:
        places = kind.places
        while places and self._places.get(places[0][4]) is not places[0]:
            heappop(places)
        return places[0] if places else None

    def _offer(self, kind: _Kind) -> None:
        """Make sure the first of an active kind can come up."""
        first = self._first(kind)
        if first is not None and not kind.parked and (kind.offered is None or first < kind.offered):
            kind.offered = first
            heappush(self._offers, (first, kind))

    def _take_out(self, key: str) -> None:
        if self._is_active(key):
            self._active -= 1
        kind = self._kind_of.pop(key, None)
        if kind is not None:
            kind.size -= 1
        self._alone.discard(key)
        self._places.pop(key, None)
        del self._claims[key]

    def _park_kind(self, claim: Claim) -> None:
        fingerprint = claim.fingerprint
        self._hopeless.add(fingerprint)
        for kind in self._kinds.get(fingerprint, {}).values():
            if not kind.parked:
                kind.parked = True
                self._active -= kind.size
        for other in [c for key in self._alone if (c := self._claims[key]).fingerprint == fingerprint]:
            self._take_out(other.key)
            self._claims[other.key] = other
            self._join_kind(other)
        self._join_kind(claim)

    def _wake(self, kind: _Kind, ready: Callable[[Claim], bool]) -> bool:
        """Whether the kind is active now. All of it are in one namespace, so one may speak for all."""
        if kind.parked:
            first = self._first(kind)
            if first is not None and not ready(self._claims[first[4]]):
                return False
            kind.parked = False
            self._active += kind.size
            self._offer(kind)
        return True
