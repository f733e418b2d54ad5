"""What both searches share: the candidates, whether the preemptor fits, and sparing victims that are not
needed.

A search takes workloads out of the tree and puts them back. When it ends, the tree is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from reprieve.quota.queue import ANY, LOWER_OR_NEWER_EQUAL, LOWER_PRIORITY, QueueNode, Ranked
from reprieve.quota.topology.capacity import Capacity
from reprieve.quota.tree import FlavorResource
from reprieve.quota.workload_info import WorkloadInfo


class Victim(NamedTuple):
    info: WorkloadInfo
    reason: str
    queue: QueueNode
    capacity: Capacity | None = None
    """Where its domains are counted."""

    def leave(self) -> None:
        cell = self.queue.cell
        for key, amount in self.info.usage.items():
            cell(key).remove(amount)
        if self.capacity is not None and self.info.held:
            self.capacity.suppose(self.info.held, -1)

    def stay(self) -> None:
        cell = self.queue.cell
        for key, amount in self.info.usage.items():
            cell(key).add(amount)
        if self.capacity is not None and self.info.held:
            self.capacity.suppose(self.info.held, 1)


class PreemptionRequest(NamedTuple):
    """A workload that needs quota, how much, and the flavors' resources of which there is not enough."""

    preemptor: WorkloadInfo
    queue: QueueNode
    usage: Mapping[FlavorResource, int]
    short: frozenset[FlavorResource]
    protected: frozenset[str] = frozenset()
    """Keys of workloads that are no candidates."""
    placed: Callable[[], bool] | None = None
    """Whether the pods have domains on the capacity as it is; None: they need none."""
    capacity: Capacity | None = None
    """Where domains are counted; None: nobody who could make way holds any."""
    usage_of: Callable[[WorkloadInfo], float] | None = None
    """What the LocalQueue of a workload used, where admission is shared fairly."""

    def fits(self, borrowing: bool) -> bool:
        cells = self.queue.cells
        for key, amount in self.usage.items():
            cell = cells[key]
            if (not borrowing and cell.borrows_with(amount)) or amount > cell.available():
                return False
        return self.placed is None or self.placed()


def candidates(request: PreemptionRequest, queue: QueueNode, evicted: bool) -> Iterator[Ranked]:
    """Workloads of the queue that use what the preemptor is short of and that its policy allows, in order."""
    policy = request.queue.within_policy if queue is request.queue else request.queue.reclaim_policy
    ranked = queue.workloads.using(request.short, evicted)
    if request.protected:
        ranked = (item for item in ranked if item[-1].key not in request.protected)
    if queue.usage_based and request.usage_of is not None:
        return _by_usage(ranked, policy, request, request.usage_of)
    if policy == ANY:
        return (item for item in ranked if not item[-1].away)
    if policy == LOWER_PRIORITY:
        return _lower(ranked, request.preemptor.priority)
    if policy == LOWER_OR_NEWER_EQUAL:
        return _lower_or_newer(ranked, request.preemptor)
    return iter(())


def _by_usage(
    ranked: Iterable[Ranked],
    policy: str,
    request: PreemptionRequest,
    usage_of: Callable[[WorkloadInfo], float],
) -> Iterator[Ranked]:
    """LocalQueues that used more lose workloads first."""
    found = (
        (item for item in ranked if not item[-1].away)
        if policy == ANY
        else _lower(ranked, request.preemptor.priority)
        if policy == LOWER_PRIORITY
        else _lower_or_newer(ranked, request.preemptor)
        if policy == LOWER_OR_NEWER_EQUAL
        else iter(())
    )
    return iter(sorted(found, key=lambda item: -usage_of(item[-1])))


def all_candidates(request: PreemptionRequest, queue: QueueNode) -> Iterator[Ranked]:
    """Evicted ones first: they leave anyway."""
    if not queue.workloads.evicted:
        return candidates(request, queue, evicted=False)
    return chain(candidates(request, queue, evicted=True), candidates(request, queue, evicted=False))


def _lower(ranked: Iterable[Ranked], priority: int) -> Iterator[Ranked]:
    for item in ranked:
        if item[0] >= priority:
            return
        if not item[-1].away:
            yield item


def _lower_or_newer(ranked: Iterable[Ranked], info: WorkloadInfo) -> Iterator[Ranked]:
    priority, since = info.priority, info.queued_at
    for item in ranked:
        if item[0] > priority:
            return
        if (item[0] < priority or since < item[-1].queued_at) and not item[-1].away:
            yield item


def spare(request: PreemptionRequest, victims: list[Victim], borrowing: bool) -> list[Victim]:
    """Drop victims that are not needed, the last taken first. The very last one made it fit, so it stays."""
    for index in range(len(victims) - 2, -1, -1):
        victims[index].stay()
        if request.fits(borrowing):
            victims[index] = victims[-1]
            victims.pop()
        else:
            victims[index].leave()
    return victims


def restore(victims: Collection[Victim]) -> None:
    for victim in victims:
        victim.stay()
