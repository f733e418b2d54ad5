"""The search for victims under fair sharing: the queue that borrows the largest share loses workloads first.

Queues are visited in the order of their dominant share, from the root down, one workload at a time:

1. a workload of the preemptor's own queue is always taken (InClusterQueue)
2. a preemptor that stays within its nominal quota takes from any borrower (InCohortReclamation)
3. otherwise the first strategy compares the shares just below the common ancestor (InCohortFairSharing):
   LessThanOrEqualToFinalShare, the preemptor's share may not exceed the victim's after it left;
   LessThanInitialShare, it must be smaller than the victim's before
4. candidates that failed are tried once more under the second strategy, one workload of each queue

The request counts as used during the whole search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from reprieve.objects import well_known
from reprieve.quota.queue import NEVER, QueueNode, Ranked
from reprieve.quota.rules import LESS_THAN_INITIAL_SHARE, Rules
from reprieve.quota.shares import NOTHING_BELOW, Share, compare, share
from reprieve.quota.tree import CohortNode, QuotaNode, cohorts_below
from reprieve.quota.victims.candidates import PreemptionRequest, Victim, all_candidates, restore, spare
from reprieve.quota.workload_info import WorkloadInfo


class _Source:
    """The remaining candidates of one queue, first victim first."""

    __slots__ = ("_items", "head", "own", "queue")

    def __init__(self, queue: QueueNode, own: bool, items: Iterable[Ranked]) -> None:
        self.queue = queue
        self.own = own
        self._items = iter(items)
        self.head: Ranked | None = next(self._items, None)

    def pop(self) -> Ranked:
        item = self.head
        assert item is not None
        self.head = next(self._items, None)
        return item

    def rest(self) -> Iterator[Ranked]:
        while self.head is not None:
            yield self.pop()

    @property
    def place(self) -> tuple[object, ...]:
        """Where its first candidate stands among all: evicted ones first, own queue last, then rank."""
        head = self.head
        assert head is not None
        return (not head[-1].evicted, self.own, *head[:-1])


def find_victims(request: PreemptionRequest, rules: Rules) -> list[Victim]:
    """The victims whose quota makes the request fit; none when that is impossible."""
    sources = _sources(request)
    if not sources:
        return []
    search = _Search(request, sources)
    for key, amount in request.usage.items():
        request.queue.cells[key].add(amount)
    bypass = rules.preempt_within_nominal and request.queue.within_nominal(request.short)
    done = search.first(rules.strategies[0], bypass)
    if not done and len(rules.strategies) > 1:
        done = search.second()
    for key, amount in request.usage.items():
        request.queue.cells[key].remove(amount)
    if not done:
        restore(search.victims)
        return []
    found = spare(request, search.victims, borrowing=True)
    restore(found)
    return found


def _sources(request: PreemptionRequest) -> dict[str, _Source]:
    queues: list[QueueNode] = []
    if request.queue.within_policy != NEVER:
        queues.append(request.queue)
    root = request.queue.root
    if isinstance(root, CohortNode) and request.queue.reclaim_policy != NEVER:
        queues += [
            queue
            for cohort in cohorts_below(root)
            for queue in cohort.queues
            if isinstance(queue, QueueNode)
            and queue is not request.queue
            and not queue.within_nominal(request.short)
        ]
    sources = (_Source(queue, queue is request.queue, all_candidates(request, queue)) for queue in queues)
    return {source.queue.name: source for source in sources if source.head is not None}


class _Search:
    __slots__ = ("_request", "_retry", "_sources", "victims")

    def __init__(self, request: PreemptionRequest, sources: dict[str, _Source]) -> None:
        self._request = request
        self._sources = sources
        self._retry: dict[str, list[Ranked]] = {}
        self.victims: list[Victim] = []

    def first(self, strategy: str, bypass: bool) -> bool:
        """Whether the preemptor fits at the end."""
        for source in _ByShare(self._request.queue, self._sources):
            if source.own or bypass:
                reason = well_known.IN_CLUSTER_QUEUE if source.own else well_known.IN_COHORT_RECLAMATION
                if self._take(source.pop()[-1], source.queue, reason):
                    return True
            elif self._compare_shares(source, strategy):
                return True
        return False

    def _compare_shares(self, source: _Source, strategy: str) -> bool:
        mine, theirs = _below_common_ancestor(self._request.queue, source.queue)
        new, initial = share(mine), share(theirs)
        hopeless = new.weighted == inf and initial.weighted != inf
        if strategy == LESS_THAN_INITIAL_SHARE and not hopeless:
            hopeless = compare(new, initial) >= 0
        if hopeless:
            self._retry.setdefault(source.queue.name, []).extend(source.rest())
            return False
        final_strategy = strategy != LESS_THAN_INITIAL_SHARE
        failed: set[tuple[tuple[object, int], ...]] = set()
        while source.head is not None:
            item = source.pop()
            info = item[-1]
            weight = tuple(info.usage.items())
            if final_strategy and (
                weight in failed or compare(new, self._after(info, source.queue, theirs)) > 0
            ):
                failed.add(weight)  # equal workloads change the share equally
                self._retry.setdefault(source.queue.name, []).append(item)
                continue
            return self._take(info, source.queue, well_known.IN_COHORT_FAIR_SHARING)
        return False

    def second(self) -> bool:
        """The candidates passed over so far, by their shares before any of them leaves; one of each queue."""
        sources = {
            name: _Source(self._sources[name].queue, self._sources[name].own, items)
            for name, items in self._retry.items()
        }
        by_share = _ByShare(self._request.queue, sources)
        for source in by_share:
            mine, theirs = _below_common_ancestor(self._request.queue, source.queue)
            info = source.pop()[-1]
            if compare(share(mine), share(theirs)) < 0 and self._take(
                info, source.queue, well_known.IN_COHORT_FAIR_SHARING
            ):
                return True
            by_share.drop(source.queue)
        return False

    def _after(self, info: WorkloadInfo, queue: QueueNode, node: QuotaNode) -> Share:
        """The share of the victim's side without the workload."""
        victim = Victim(info, "", queue)  # shares know no domains
        victim.leave()
        found = share(node)
        victim.stay()
        return found

    def _take(self, info: WorkloadInfo, queue: QueueNode, reason: str) -> bool:
        """Take the workload out; whether the preemptor fits now."""
        victim = Victim(info, reason, queue, self._request.capacity)
        victim.leave()
        self.victims.append(victim)
        return self._fits()

    def _fits(self) -> bool:
        cells = self._request.queue.cells
        for key, amount in self._request.usage.items():
            cells[key].remove(amount)
        fits = self._request.fits(borrowing=True)
        for key, amount in self._request.usage.items():
            cells[key].add(amount)
        return fits


class _ByShare:
    """Queues in the order in which they lose workloads, found anew each time because the shares change."""

    __slots__ = ("_ancestors", "_own", "_pruned", "_sources")

    def __init__(self, own: QueueNode, sources: dict[str, _Source]) -> None:
        self._own = own
        self._sources = sources
        self._pruned: set[int] = set()
        self._ancestors = {id(cohort) for cohort in own.path()}

    def drop(self, queue: QueueNode) -> None:
        self._pruned.add(id(queue))

    def __iter__(self) -> Iterator[_Source]:
        root = self._own.root
        if not isinstance(root, CohortNode):
            source = self._sources.get(self._own.name)
            while source is not None and source.head is not None:
                yield source
            return
        while id(root) not in self._pruned:
            found = self._next(root)
            if found is not None:
                yield found

    def _next(self, cohort: CohortNode) -> _Source | None:
        while True:
            source, queue_share = self._best_queue(cohort)
            child, child_share = self._best_cohort(cohort)
            if source is None and child is None:
                self._pruned.add(id(cohort))
                return None
            if child is None or compare(child_share, queue_share) < 0:
                return source
            cohort = child

    def _best_queue(self, cohort: CohortNode) -> tuple[_Source | None, Share]:
        best: _Source | None = None
        best_share = NOTHING_BELOW
        for queue in cohort.queues:
            if id(queue) in self._pruned:
                continue
            source = self._sources.get(queue.name)
            current = share(queue)
            if source is None or source.head is None or (not current.borrowing and queue is not self._own):
                self._pruned.add(id(queue))
                continue
            order = compare(current, best_share)
            if best is None or order > 0 or (order == 0 and source.place < best.place):
                best, best_share = source, current
        return best, best_share

    def _best_cohort(self, cohort: CohortNode) -> tuple[CohortNode | None, Share]:
        """Equal shares: the name decides, later names first."""
        best: CohortNode | None = None
        best_share = NOTHING_BELOW
        for child in cohort.cohorts:
            if id(child) in self._pruned:
                continue
            current = share(child)
            if not current.borrowing and id(child) not in self._ancestors:
                self._pruned.add(id(child))
                continue
            if best is None or compare(current, best_share) >= 0:
                best, best_share = child, current
        return best, best_share


def _below_common_ancestor(a: QuotaNode, b: QuotaNode) -> tuple[QuotaNode, QuotaNode]:
    """The nodes on both sides just below the lowest cohort that holds both."""
    sides = {id(ancestor): below for below, ancestor in _steps(a)}
    for below, ancestor in _steps(b):
        if id(ancestor) in sides:
            return sides[id(ancestor)], below
    raise ValueError(f"{a.name} and {b.name} are in different trees")


def _steps(node: QuotaNode) -> Iterator[tuple[QuotaNode, CohortNode]]:
    while node.parent is not None:
        yield node, node.parent
        node = node.parent
