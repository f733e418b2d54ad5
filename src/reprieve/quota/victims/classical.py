"""The classical search for victims: by cohort, priority and age.

Candidates, in the order in which they are taken:

1. those on their way out already, then the others; within each
2. "hierarchy": in subtrees that borrow although the preemptor's own subtree has quota for it; no priority protects them
3. "priority": other borrowers, if `borrowWithinCohort` and its threshold allow, or as long as the preemptor need not borrow
4. the preemptor's own queue
5. within a list: lower priority, then the more recent reservation, then the UID

One or two attempts are made, with and without borrowing. Workloads are taken until the preemptor fits; then everybody who turns
out not to be needed is spared.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain
from typing import NamedTuple

from reprieve.objects import well_known
from reprieve.quota.claims import Claim
from reprieve.quota.queue import NEVER, QueueNode, Ranked
from reprieve.quota.tree import CohortNode, FlavorResource
from reprieve.quota.victims.candidates import Ask, Victim, all_candidates, candidates, give_back, restore


class _Source(NamedTuple):
    """A queue whose workloads are candidates, and the nodes that must exceed their quota for that."""

    queue: QueueNode
    watched: tuple[QueueNode | CohortNode, ...]

    def protected(self, short: frozenset[FlavorResource]) -> bool:
        """The queue, or a cohort between it and the common ancestor, is within its quota by now."""
        return any(node.within_nominal(short) for node in self.watched)


def find_victims(ask: Ask) -> list[Victim]:
    """Whom to preempt so that the request fits; nobody when that is impossible."""
    search = _Search(ask)
    for borrowing in search.attempts():
        victims = search.run(borrowing)
        if victims:
            return victims
    return []


class _Search:
    __slots__ = ("_ask", "_hierarchy", "_own", "_priority")

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._hierarchy: list[_Source] = []
        self._priority: list[_Source] = []
        self._own: list[_Source] = []
        if ask.queue.within_policy != NEVER:
            self._own.append(_Source(ask.queue, ()))
        if ask.queue.parent is not None and ask.queue.reclaim_policy != NEVER:
            self._collect_others()

    def _collect_others(self) -> None:
        """Walk up from the queue; from where the request fits in a subtree's own quota on, it has the advantage."""
        ask = self._ask
        advantage, rest = ask.queue.fits_in_quota(ask.requests)
        below: CohortNode | None = None
        for ancestor in ask.queue.path():
            found = self._hierarchy if advantage else self._priority
            self._walk(ancestor, below, (), found)
            fits, rest = ancestor.fits_in_quota(rest)
            advantage = advantage or fits
            below = ancestor

    def _walk(
        self,
        cohort: CohortNode,
        skip: CohortNode | None,
        watched: tuple[CohortNode, ...],
        found: list[_Source],
    ) -> None:
        short = self._ask.short
        for child in cohort.cohorts:
            if child is not skip and not child.within_nominal(short):
                self._walk(child, None, (*watched, child), found)
        for queue in cohort.queues:
            if queue is self._ask.queue or queue.within_nominal(short) or not isinstance(queue, QueueNode):
                continue
            if next(all_candidates(self._ask, queue), None) is not None:
                found.append(_Source(queue, (queue, *watched)))

    def attempts(self) -> tuple[bool, ...]:
        """Whether to allow borrowing, attempt by attempt."""
        queue = self._ask.queue
        never_borrow = queue.borrow_policy == NEVER
        under = all(queue.cells[key].subtree > queue.cells[key].usage for key in self._ask.short)
        if not (self._hierarchy or self._priority) or (never_borrow and not under):
            return (True,)
        if never_borrow and not self._hierarchy:
            return (False, True)
        return (True, False)

    def run(self, borrowing: bool) -> list[Victim]:
        ask = self._ask
        victims: list[Victim] = []
        for source, claim, reason in self._in_order(borrowing):
            if source.protected(ask.short):
                continue
            victim = Victim(claim, reason, source.queue)
            victim.leave()
            victims.append(victim)
            if ask.fits(borrowing):
                found = give_back(ask, victims, borrowing)
                restore(found)
                return found
        restore(victims)
        return []

    def _in_order(self, borrowing: bool) -> Iterator[tuple[_Source, Claim, str]]:
        sources = (*self._hierarchy, *self._priority, *self._own)
        states = (True, False) if any(source.queue.roster.evicted for source in sources) else (False,)
        return chain.from_iterable(self._of_state(evicted, borrowing) for evicted in states)

    def _of_state(self, evicted: bool, borrowing: bool) -> Iterator[tuple[_Source, Claim, str]]:
        for source, claim in self._merged(self._hierarchy, evicted):
            yield source, claim, well_known.IN_COHORT_RECLAMATION
        if not borrowing:
            for source, claim in self._merged(self._priority, evicted):
                yield source, claim, self._reason(claim)
        elif self._ask.queue.borrow_policy != NEVER:
            for source, claim in self._merged(self._priority, evicted):
                if self._reason(claim) == well_known.IN_COHORT_RECLAIM_WHILE_BORROWING:
                    yield source, claim, well_known.IN_COHORT_RECLAIM_WHILE_BORROWING
        for source, claim in self._merged(self._own, evicted):
            yield source, claim, well_known.IN_CLUSTER_QUEUE

    def _merged(self, sources: list[_Source], evicted: bool) -> Iterator[tuple[_Source, Claim]]:
        by_queue = {source.queue.name: source for source in sources}
        for item in merge(*(self._while_exposed(source, evicted) for source in sources)):
            claim = item[-1]
            yield by_queue[claim.queue], claim

    def _while_exposed(self, source: _Source, evicted: bool) -> Iterator[Ranked]:
        """Usage only falls during an attempt: a queue that became protected stays so."""
        for item in candidates(self._ask, source.queue, evicted):
            yield item
            if source.protected(self._ask.short):
                return

    def _reason(self, claim: Claim) -> str:
        """Of a candidate without the advantage: may it go even though the preemptor borrows?"""
        ask = self._ask
        threshold = ask.queue.borrow_threshold
        if (
            ask.queue.borrow_policy == NEVER
            or claim.priority >= ask.claim.priority
            or (threshold is not None and claim.priority > threshold)
        ):
            return well_known.IN_COHORT_RECLAMATION
        return well_known.IN_COHORT_RECLAIM_WHILE_BORROWING
