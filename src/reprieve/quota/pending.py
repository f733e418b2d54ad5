"""Workloads that wait for quota: one queue for each ClusterQueue, in the order in which they are tried.

A waiting workload is active (will be tried), inadmissible (parked until something changes) or in flight
(being tried). Order of the active ones:

0. where a ClusterQueue shares admission fairly: the LocalQueue that used less
1. the workload whose victims are leaving (BestEffortFIFO only)
2. higher priority
3. earlier queue time
4. UID, key

Workloads that admission cannot tell apart are of one kind. When one of a kind is hopeless all are: kinds
are parked and woken as a whole, whatever their size. What the one that was tried waits for is remembered for
its kind, so that each of the others can be told, too (`take_untold`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from reprieve.objects import Condition, find_condition, well_known
from reprieve.quota.workload_info import WorkloadInfo

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

    __slots__ = ("offered", "parked", "places", "size", "untold")

    def __init__(self, parked: bool) -> None:
        self.parked = parked
        self.places: list[Place] = []
        """A heap; places that are no longer valid are dropped when they come up."""
        self.size = 0
        self.offered: Place | None = None
        """The place that stands for the kind in the queue's heap; never behind the kind's first one."""
        self.untold: dict[str, None] = {}
        """Those that joined without a condition that says what they wait for."""


class PendingQueue:
    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.usage_of: Callable[[WorkloadInfo], float] | None = None
        """What the LocalQueue of a workload used, if that comes before everything else."""
        self.in_flight: WorkloadInfo | None = None
        self.preemptor = ""
        """Key of the workload whose victims are leaving."""
        self._workloads: dict[str, WorkloadInfo] = {}
        """All but the one in flight."""
        self._places: dict[str, Place] = {}
        """The valid place of each, except of those parked without a kind."""
        self._kind_of: dict[str, _Kind] = {}
        """The kind of each workload whose place is with its kind."""
        self._alone: set[str] = set()
        """Those with a place of their own."""
        self._kinds: dict[object, dict[str, _Kind]] = {}
        """{fingerprint: {namespace: kind}}"""
        self._hopeless: dict[object, Condition | None] = {}
        """Fingerprints that were parked since the last flush, with what the one that was tried waits for."""
        self._untold: dict[str, None] = {}
        """Those that were parked without being tried, and know nothing of it."""
        self._offers: list[tuple[Place, _Kind | None]] = []
        """A heap of the places that may come next: of single workloads, and the first ones of kinds."""
        self.ready = 0
        """How many can be tried."""
        self._pushes = 0
        self._pops = 0
        self._flushed_at = -1

    # --- looking ------------------------------------------------------------------------------------

    def __contains__(self, key: str) -> bool:
        return key in self._workloads or self._is_in_flight(key)

    def __iter__(self) -> Iterator[WorkloadInfo]:
        yield from self._workloads.values()
        if self.in_flight is not None:
            yield self.in_flight

    def find(self, key: str) -> WorkloadInfo | None:
        return self.in_flight if self._is_in_flight(key) else self._workloads.get(key)

    @property
    def active(self) -> dict[str, WorkloadInfo]:
        return {key: info for key, info in self._workloads.items() if self._is_active(key)}

    @property
    def inadmissible(self) -> dict[str, WorkloadInfo]:
        return {key: info for key, info in self._workloads.items() if not self._is_active(key)}

    def parked_for(self, info: WorkloadInfo) -> Condition | None:
        """What a workload waits for that was parked along with an equal one; None for all others."""
        kind = self._kind_of.get(info.key)
        return self._hopeless.get(info.fingerprint) if kind is not None and kind.parked else None

    def take_untold(self) -> list[WorkloadInfo]:
        """The workloads that were parked without being tried and were not told yet."""
        keys, self._untold = self._untold, {}
        found = []
        for info in (self._workloads[key] for key in keys if key in self._workloads):
            if _is_told(info):
                continue
            if self.parked_for(info) is not None:
                found.append(info)
            elif (kind := self._kind_of.get(info.key)) is not None:
                kind.untold[info.key] = None  # woken meanwhile
        return found

    def _is_active(self, key: str) -> bool:
        kind = self._kind_of.get(key)
        return key in self._places and (kind is None or not kind.parked)

    def _is_in_flight(self, key: str) -> bool:
        return self.in_flight is not None and self.in_flight.key == key

    # --- coming and going ---------------------------------------------------------------------------

    def put(self, info: WorkloadInfo, ready: bool, unchanged: Callable[[WorkloadInfo], bool]) -> None:
        """Add or update a workload; a parked one stays parked if the change cannot matter to admission."""
        key = info.key
        if self._is_in_flight(key):
            self.in_flight = info
            return
        old, was_active = self._workloads.get(key), self._is_active(key)
        if old is not None and not was_active and unchanged(old):
            self._workloads[key] = info
            return
        if old is not None:
            self._take_out(key)
        self._workloads[key] = info
        if was_active or (ready and (self.strict or info.fingerprint not in self._hopeless)):
            self._activate(info)
        elif ready:
            self._join_kind(info)

    def remove(self, key: str) -> None:
        if key in self._workloads:
            self._take_out(key)
        if self._is_in_flight(key):
            self.in_flight = None
        if self.preemptor == key:
            self.preemptor = ""

    def pop(self) -> WorkloadInfo | None:
        """Take the first one out to be tried."""
        self._pops += 1
        if self.usage_of is not None:
            return self._pop_by_usage(self.usage_of)
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
            info = self.in_flight = self._workloads[key]
            self._take_out(key)
            if kind is not None:
                self._offer(kind)
            return info
        return None

    def _pop_by_usage(self, usage_of: Callable[[WorkloadInfo], float]) -> WorkloadInfo | None:
        """Usage changes with every admission, so the first one is looked for each time."""
        known: dict[tuple[str, str], float] = {}
        best: tuple[float, Place] | None = None
        for key, place in self._places.items():
            if not self._is_active(key):
                continue
            info = self._workloads[key]
            queue = info.workload.metadata.namespace, info.workload.spec.queue_name
            if queue not in known:
                known[queue] = usage_of(info)
            if best is None or (known[queue], place) < best:
                best = known[queue], place
        if best is None:
            return None
        key = best[1][4]
        info = self.in_flight = self._workloads[key]
        kind = self._kind_of.get(key)
        self._take_out(key)
        if kind is not None:
            self._offer(kind)
        return info

    def requeue(self, info: WorkloadInfo, reason: str, ready: bool, unfinished: bool = False) -> None:
        """Put back a workload that was tried and got nothing; `unfinished`: it has flavors left to try."""
        self.in_flight = None
        self._workloads[info.key] = info
        at_once = reason != NAMESPACE_MISMATCH if self.strict else reason in _AT_ONCE
        if reason == PENDING_PREEMPTION:
            self._mark_preemptor(info.key)
        if ready and (at_once or self._flushed_at >= self._pops or unfinished):
            self._activate(info)
        elif reason in _PARK_KIND and not self.strict:
            self._park_kind(info)

    def flush_empty(self) -> bool:
        """As `flush` where nobody is parked; whether that was so."""
        self._flushed_at = self._pops
        if len(self._workloads) != self.ready:
            return False
        if self._hopeless:
            for fingerprint in self._hopeless:
                self._kinds.pop(fingerprint, None)  # nobody is left in it; whoever comes next is tried
            self._hopeless.clear()
        return True

    def flush(self, ready: Callable[[WorkloadInfo], bool]) -> None:
        """Something changed: all parked workloads may be tried again."""
        if self.flush_empty():
            return
        still_parked: dict[object, Condition | None] = {}
        for fingerprint, told in self._hopeless.items():
            kinds = self._kinds[fingerprint]
            for namespace in list(kinds):
                if not self._wake(kinds[namespace], ready):
                    still_parked[fingerprint] = told
                elif not kinds[namespace].size:
                    del kinds[namespace]
            if not kinds:
                del self._kinds[fingerprint]
        self._hopeless = still_parked
        if len(self._workloads) > len(self._places):
            for info in [c for key, c in self._workloads.items() if key not in self._places and ready(c)]:
                self._activate(info)

    # --- kinds and places ---------------------------------------------------------------------------

    def _mark_preemptor(self, key: str) -> None:
        """Only one at a time; the former one falls back to its ordinary place."""
        former, self.preemptor = self.preemptor, key
        if former != key and self._is_active(former):
            info = self._workloads[former]
            self._take_out(former)
            self._workloads[former] = info
            self._activate(info)

    def _activate(self, info: WorkloadInfo) -> None:
        """A preemptor, and a workload to be tried although its kind is parked, get a place of their own."""
        sticky = not self.strict and info.key == self.preemptor
        if self.strict or sticky or info.fingerprint in self._hopeless:
            heappush(self._offers, (self._place(info, sticky), None))
            self._alone.add(info.key)
            self.ready += 1
        else:
            self._join_kind(info)

    def _join_kind(self, info: WorkloadInfo) -> None:
        namespace, fingerprint = info.workload.metadata.namespace, info.fingerprint
        kinds = self._kinds.setdefault(fingerprint, {})
        kind = kinds.get(namespace)
        if kind is None:
            kind = kinds[namespace] = _Kind(parked=fingerprint in self._hopeless)
        place = self._place(info, sticky=False)
        self._kind_of[info.key] = kind
        kind.size += 1
        heappush(kind.places, place)
        if not _is_told(info):
            (self._untold if kind.parked else kind.untold)[info.key] = None
        if not kind.parked:
            self.ready += 1
            self._offer(kind)

    def _place(self, info: WorkloadInfo, sticky: bool) -> Place:
        self._pushes += 1
        place = (not sticky, -info.priority, info.queued_at, info.uid, info.key, self._pushes)
        self._places[info.key] = place
        return place

    def _first(self, kind: _Kind) -> Place | None:
        places = kind.places
        while places and self._places.get(places[0][4]) is not places[0]:
            heappop(places)
        return places[0] if places else None

    def _offer(self, kind: _Kind) -> None:
        """Put the first of an active kind on the queue's heap."""
        first = self._first(kind)
        if first is not None and not kind.parked and (kind.offered is None or first < kind.offered):
            kind.offered = first
            heappush(self._offers, (first, kind))

    def _take_out(self, key: str) -> None:
        if self._is_active(key):
            self.ready -= 1
        kind = self._kind_of.pop(key, None)
        if kind is not None:
            kind.size -= 1
            kind.untold.pop(key, None)
        self._alone.discard(key)
        self._places.pop(key, None)
        del self._workloads[key]

    def _park_kind(self, info: WorkloadInfo) -> None:
        fingerprint = info.fingerprint
        self._hopeless[fingerprint] = _told(info)
        for kind in self._kinds.get(fingerprint, {}).values():
            if not kind.parked:
                kind.parked = True
                self.ready -= kind.size
                self._untold |= kind.untold
                kind.untold = {}
        for other in [c for key in self._alone if (c := self._workloads[key]).fingerprint == fingerprint]:
            self._take_out(other.key)
            self._workloads[other.key] = other
            self._join_kind(other)
        self._join_kind(info)

    def _wake(self, kind: _Kind, ready: Callable[[WorkloadInfo], bool]) -> bool:
        """Whether the kind is active now. All are in one namespace, so one decides for all."""
        if kind.parked:
            first = self._first(kind)
            if first is not None and not ready(self._workloads[first[4]]):
                return False
            kind.parked = False
            self.ready += kind.size
            self._offer(kind)
        return True


def _told(info: WorkloadInfo) -> Condition | None:
    return find_condition(info.workload.status.conditions, well_known.QUOTA_RESERVED)


def _is_told(info: WorkloadInfo) -> bool:
    """Evaluation being pending is no answer to what it waits for."""
    condition = _told(info)
    return condition is not None and condition.reason != well_known.PENDING_EVALUATION
