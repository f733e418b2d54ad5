"""The classical search for victims: by cohort, priority and age.

Candidates, in the order in which they are taken:

1. evicted workloads, then the others; within each
2. "hierarchy": subtrees that borrow although the preemptor's own subtree has quota for the request; no
   priority protects them
3. "priority": other borrowers, if `borrowWithinCohort` and its threshold allow it, or as long as the
   preemptor does not need to borrow
4. the preemptor's own queue
5. within a list: lower priority, then the more recent reservation, then the UID

One or two attempts are made, with and without borrowing. Workloads are taken until the preemptor fits; then
the ones that turn out not to be needed are spared.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain, takewhile
from typing import NamedTuple

from reprieve.objects import well_known
from reprieve.quota.queue import NEVER, QueueNode, Ranked
from reprieve.quota.tree import CohortNode, FlavorResource
from reprieve.quota.victims.candidates import (
    PreemptionRequest,
    Victim,
    all_candidates,
    candidates,
    restore,
    spare,
)
from reprieve.quota.workload_info import WorkloadInfo


class _Source(NamedTuple):
    """A queue whose workloads are candidates as long as all `watched` nodes exceed their quota."""

    queue: QueueNode
    watched: tuple[QueueNode | CohortNode, ...]

    def protected(self, short: frozenset[FlavorResource]) -> bool:
        """Whether the queue, or a cohort between it and the common ancestor, is within its quota by now."""
        for node in self.watched:  # noqa: SIM110 - asked before and after each candidate
            if node.within_nominal(short):
                return True
        return False


def find_victims(request: PreemptionRequest) -> list[Victim]:
    """The victims whose quota makes the request fit; none when that is impossible."""
    search = _Search(request)
    for borrowing in search.attempts():
        victims = search.run(borrowing)
        if victims:
            return victims
    return []


class _Search:
    __slots__ = ("_hierarchy", "_only_borrows", "_own", "_priority", "_request")

    def __init__(self, request: PreemptionRequest) -> None:
        self._request = request
        queue = request.queue
        under = all(queue.cells[key].subtree > queue.cells[key].usage for key in request.short)
        self._only_borrows = queue.borrow_policy == NEVER and not under
        """Its queue is full and may not preempt to borrow: no attempt looks at "priority" candidates."""
        self._hierarchy: list[_Source] = []
        self._priority: list[_Source] = []
        self._own: list[_Source] = []
        if queue.within_policy != NEVER and next(all_candidates(request, queue), None) is not None:
            self._own.append(_Source(queue, ()))
        if queue.parent is not None and queue.reclaim_policy != NEVER:
            self._collect_others()

    def _collect_others(self) -> None:
        """Walk up from the queue. Once a subtree's own quota covers the request, it has the advantage."""
        request = self._request
        advantage, rest = request.queue.fits_in_quota(request.usage)
        below: CohortNode | None = None
        for ancestor in request.queue.path():
            if advantage:
                self._hierarchy += self._sources(ancestor, below)
            elif not self._only_borrows:
                self._priority += self._sources(ancestor, below)
            fits, rest = ancestor.fits_in_quota(rest)
            advantage = advantage or fits
            below = ancestor

    def _sources(self, top: CohortNode, skip: CohortNode | None) -> Iterator[_Source]:
        """Queues below a cohort that use more than their quota, the lowest first; not below `skip`."""
        request = self._request
        for cohort in self._borrowing(top, skip):
            for queue in cohort.queues:
                if (
                    queue is not request.queue
                    and isinstance(queue, QueueNode)
                    and not queue.within_nominal(request.short)
                    and next(all_candidates(request, queue), None) is not None
                ):
                    yield _Source(queue, (queue, *_between(queue, top)))

    def _borrowing(self, top: CohortNode, skip: CohortNode | None) -> Iterator[CohortNode]:
        """The cohort and those below it that use more than their quota, each after its children."""
        found, todo = [], [top]
        while todo:
            cohort = todo.pop()
            found.append(cohort)
            todo += [
                child
                for child in cohort.cohorts
                if child is not skip and not child.within_nominal(self._request.short)
            ]
        return reversed(found)

    def attempts(self) -> tuple[bool, ...]:
        """Whether to allow borrowing, attempt by attempt."""
        if not (self._hierarchy or self._priority):
            return (True,) if self._own else ()
        if self._only_borrows:
            return (True,)
        if self._request.queue.borrow_policy == NEVER and not self._hierarchy:
            return (False, True)
        return (True, False)

    def run(self, borrowing: bool) -> list[Victim]:
        request = self._request
        victims: list[Victim] = []
        for source, info, reason in self._in_order(borrowing):
            if source.protected(request.short):
                continue
            victim = Victim(info, reason, source.queue, request.capacity)
            victim.leave()
            victims.append(victim)
            if request.fits(borrowing):
                found = spare(request, victims, borrowing)
                restore(found)
                return found
        restore(victims)
        return []

    def _in_order(self, borrowing: bool) -> Iterator[tuple[_Source, WorkloadInfo, str]]:
        sources = (*self._hierarchy, *self._priority, *self._own)
        states = (True, False) if any(source.queue.workloads.evicted for source in sources) else (False,)
        return chain.from_iterable(self._of_state(evicted, borrowing) for evicted in states)

    def _of_state(self, evicted: bool, borrowing: bool) -> Iterator[tuple[_Source, WorkloadInfo, str]]:
        for source, info in self._merged(self._hierarchy, evicted):
            yield source, info, well_known.IN_COHORT_RECLAMATION
        if not borrowing:
            for source, info in self._merged(self._priority, evicted):
                yield source, info, self._reason(info)
        elif self._request.queue.borrow_policy != NEVER:
            for source, info in self._merged(self._priority, evicted):
                if self._reason(info) == well_known.IN_COHORT_RECLAIM_WHILE_BORROWING:
                    yield source, info, well_known.IN_COHORT_RECLAIM_WHILE_BORROWING
        for source, info in self._merged(self._own, evicted):
            yield source, info, well_known.IN_CLUSTER_QUEUE

    def _merged(self, sources: list[_Source], evicted: bool) -> Iterator[tuple[_Source, WorkloadInfo]]:
        if len(sources) == 1:
            for item in self._while_exposed(sources[0], evicted):
                yield sources[0], item[-1]
            return
        if not sources:
            return
        by_queue = {source.queue.name: source for source in sources}
        for item in merge(*(self._while_exposed(source, evicted) for source in sources)):
            info = item[-1]
            yield by_queue[info.queue], info

    def _while_exposed(self, source: _Source, evicted: bool) -> Iterator[Ranked]:
        """Usage only falls during an attempt, so a queue that became protected stays protected."""
        for item in candidates(self._request, source.queue, evicted):
            yield item
            if source.protected(self._request.short):
                return

    def _reason(self, info: WorkloadInfo) -> str:
        """Of a "priority" candidate: may it be preempted even if the preemptor borrows?"""
        request = self._request
        threshold = request.queue.borrow_threshold
        if (
            request.queue.borrow_policy == NEVER
            or info.priority >= request.preemptor.priority
            or (threshold is not None and info.priority > threshold)
        ):
            return well_known.IN_COHORT_RECLAMATION
        return well_known.IN_COHORT_RECLAIM_WHILE_BORROWING


def _between(queue: QueueNode, top: CohortNode) -> Iterator[CohortNode]:
    """The cohorts above a queue, up to and without `top`."""
    return takewhile(lambda cohort: cohort is not top, queue.path())
