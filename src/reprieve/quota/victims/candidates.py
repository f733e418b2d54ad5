"""What both searches share: who may be preempted, does the preemptor fit, and giving back whoever can stay.

A search takes workloads out of the tree and puts them back; when it ends, the tree is as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from reprieve.quota.claims import Claim
from reprieve.quota.queue import ANY, LOWER_OR_NEWER_EQUAL, LOWER_PRIORITY, QueueNode, Ranked
from reprieve.quota.tree import FlavorResource


class Victim(NamedTuple):
    claim: Claim
    reason: str
    queue: QueueNode

    def leave(self) -> None:
        cell = self.queue.cell
        for key, amount in self.claim.held.items():
            cell(key).remove(amount)

    def stay(self) -> None:
        cell = self.queue.cell
        for key, amount in self.claim.held.items():
            cell(key).add(amount)


class Ask(NamedTuple):
    """Who needs room, how much, and in which flavors' resources it is short."""

    claim: Claim
    queue: QueueNode
    requests: Mapping[FlavorResource, int]
    short: frozenset[FlavorResource]
    protected: frozenset[str] = frozenset()
    """Workloads that are no candidates."""

    def fits(self, borrowing: bool) -> bool:
        cells = self.queue.cells
        for key, amount in self.requests.items():
            cell = cells[key]
            if (not borrowing and cell.borrows_with(amount)) or amount > cell.available():
                return False
        return True


def candidates(ask: Ask, queue: QueueNode, evicted: bool) -> Iterator[Ranked]:
    """Workloads of the queue that use what the preemptor is short of and that the policy gives it, in order."""
    policy = ask.queue.within_policy if queue is ask.queue else ask.queue.reclaim_policy
    ranked = queue.roster.using(ask.short, evicted)
    if ask.protected:
        ranked = (item for item in ranked if item[-1].key not in ask.protected)
    if policy == ANY:
        return (item for item in ranked if not item[-1].away)
    if policy == LOWER_PRIORITY:
        return _lower(ranked, ask.claim.priority)
    if policy == LOWER_OR_NEWER_EQUAL:
        return _lower_or_newer(ranked, ask.claim)
    return iter(())


def all_candidates(ask: Ask, queue: QueueNode) -> Iterator[Ranked]:
    """Those on their way out first."""
    if not queue.roster.evicted:
        return candidates(ask, queue, evicted=False)
    return chain(candidates(ask, queue, evicted=True), candidates(ask, queue, evicted=False))


def _lower(ranked: Iterable[Ranked], priority: int) -> Iterator[Ranked]:
    for item in ranked:
        if item[0] >= priority:
            return
        if not item[-1].away:
            yield item


def _lower_or_newer(ranked: Iterable[Ranked], claim: Claim) -> Iterator[Ranked]:
    priority, since = claim.priority, claim.queued_at
    for item in ranked:
        if item[0] > priority:
            return
        if (item[0] < priority or since < item[-1].queued_at) and not item[-1].away:
            yield item


def give_back(ask: Ask, victims: list[Victim], borrowing: bool) -> list[Victim]:
    """Spare whoever is not needed, the last taken first; the very last one is what made it fit."""
    for index in range(len(victims) - 2, -1, -1):
        victims[index].stay()
        if ask.fits(borrowing):
            victims[index] = victims[-1]
            victims.pop()
        else:
            victims[index].leave()
    return victims


def restore(victims: Collection[Victim]) -> None:
    for victim in victims:
        victim.stay()
