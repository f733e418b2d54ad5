"""The search for victims under fair sharing: whoever borrows the largest share makes way first.

Queues are visited in the order of their dominant share, from the root down, and asked for one workload at a time:

1. the preemptor's own queue always gives (InClusterQueue)
2. a preemptor that stays within its nominal quota takes from any borrower (InCohortReclamation)
3. otherwise the first strategy compares the shares just below the common ancestor (InCohortFairSharing):
   LessThanOrEqualToFinalShare, the preemptor's share may not exceed the victim's after it left;
   LessThanInitialShare, it must be smaller than the victim's before
4. whoever failed is looked at once more under the second strategy, one workload of each queue

The request counts as used during the whole search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from reprieve.objects import well_known
from reprieve.quota.claims import Claim
from reprieve.quota.queue import NEVER, QueueNode, Ranked
from reprieve.quota.rules import LESS_THAN_INITIAL_SHARE, Rules
from reprieve.quota.shares import NOTHING_BELOW, Share, compare, share
from reprieve.quota.tree import CohortNode, Node
from reprieve.quota.victims.candidates import Ask, Victim, all_candidates, give_back, restore


class _Line:
    """The remaining candidates of one queue, first to go first."""

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
        """Where its first candidate stands among all: on their way out first, own queue last, then rank."""
        head = self.head
        assert head is not None
        return (not head[-1].evicted, self.own, *head[:-1])


def find_victims(ask: Ask, rules: Rules) -> list[Victim]:
    """Whom to preempt so that the request fits; nobody when that is impossible."""
    lines = _lines(ask)
    if not lines:
        return []
    search = _Search(ask, lines)
    for key, amount in ask.requests.items():
        ask.queue.cells[key].add(amount)
    bypass = rules.preempt_within_nominal and ask.queue.within_nominal(ask.short)
    done = search.first(rules.strategies[0], bypass)
    if not done and len(rules.strategies) > 1:
        done = search.second()
    for key, amount in ask.requests.items():
        ask.queue.cells[key].remove(amount)
    if not done:
        restore(search.victims)
        return []
    found = give_back(ask, search.victims, borrowing=True)
    restore(found)
    return found


def _lines(ask: Ask) -> dict[str, _Line]:
    queues: list[QueueNode] = []
    if ask.queue.within_policy != NEVER:
        queues.append(ask.queue)
    root = ask.queue.root
    if isinstance(root, CohortNode) and ask.queue.reclaim_policy != NEVER:
        queues += [
            queue for queue in _leaves(root) if queue is not ask.queue and not queue.within_nominal(ask.short)
        ]
    lines = (_Line(queue, queue is ask.queue, all_candidates(ask, queue)) for queue in queues)
    return {line.queue.name: line for line in lines if line.head is not None}


def _leaves(cohort: CohortNode) -> Iterator[QueueNode]:
    for queue in cohort.queues:
        if isinstance(queue, QueueNode):
            yield queue
    for child in cohort.cohorts:
        yield from _leaves(child)


class _Search:
    __slots__ = ("_ask", "_lines", "_retry", "victims")

    def __init__(self, ask: Ask, lines: dict[str, _Line]) -> None:
        self._ask = ask
        self._lines = lines
        self._retry: dict[str, list[Ranked]] = {}
        self.victims: list[Victim] = []

    def first(self, strategy: str, bypass: bool) -> bool:
        """Whether the preemptor fits at the end."""
        for line in _Tour(self._ask.queue, self._lines):
            if line.own or bypass:
                reason = well_known.IN_CLUSTER_QUEUE if line.own else well_known.IN_COHORT_RECLAMATION
                if self._take(line.pop()[-1], line.queue, reason):
                    return True
            elif self._compare_shares(line, strategy):
                return True
        return False

    def _compare_shares(self, line: _Line, strategy: str) -> bool:
        mine, theirs = _below_common_ancestor(self._ask.queue, line.queue)
        new, initial = share(mine), share(theirs)
        hopeless = new.weighted == inf and initial.weighted != inf
        if strategy == LESS_THAN_INITIAL_SHARE and not hopeless:
            hopeless = compare(new, initial) >= 0
        if hopeless:
            self._retry.setdefault(line.queue.name, []).extend(line.rest())
            return False
        final_strategy = strategy != LESS_THAN_INITIAL_SHARE
        failed: set[tuple[tuple[object, int], ...]] = set()
        while line.head is not None:
            item = line.pop()
            claim = item[-1]
            weight = tuple(claim.held.items())
            if final_strategy and (
                weight in failed or compare(new, self._after(claim, line.queue, theirs)) > 0
            ):
                failed.add(weight)  # equal workloads change the share equally
                self._retry.setdefault(line.queue.name, []).append(item)
                continue
            return self._take(claim, line.queue, well_known.IN_COHORT_FAIR_SHARING)
        return False

    def second(self) -> bool:
        """Whoever was passed over, by their shares before anybody leaves; one workload of a queue."""
        lines = {
            name: _Line(self._lines[name].queue, self._lines[name].own, items)
            for name, items in self._retry.items()
        }
        tour = _Tour(self._ask.queue, lines)
        for line in tour:
            mine, theirs = _below_common_ancestor(self._ask.queue, line.queue)
            claim = line.pop()[-1]
            if compare(share(mine), share(theirs)) < 0 and self._take(
                claim, line.queue, well_known.IN_COHORT_FAIR_SHARING
            ):
                return True
            tour.drop(line.queue)
        return False

    def _after(self, claim: Claim, queue: QueueNode, node: Node) -> Share:
        """The share of the victim's side if the claim left."""
        victim = Victim(claim, "", queue)
        victim.leave()
        found = share(node)
        victim.stay()
        return found

    def _take(self, claim: Claim, queue: QueueNode, reason: str) -> bool:
        """Take the workload out; whether the preemptor fits now."""
        victim = Victim(claim, reason, queue)
        victim.leave()
        self.victims.append(victim)
        return self._fits()

    def _fits(self) -> bool:
        cells = self._ask.queue.cells
        for key, amount in self._ask.requests.items():
            cells[key].remove(amount)
        fits = self._ask.fits(borrowing=True)
        for key, amount in self._ask.requests.items():
            cells[key].add(amount)
        return fits


class _Tour:
    """Queues in the order in which they should give, looked up anew each time because the shares change."""

    __slots__ = ("_ancestors", "_lines", "_own", "_pruned")

    def __init__(self, own: QueueNode, lines: dict[str, _Line]) -> None:
        self._own = own
        self._lines = lines
        self._pruned: set[int] = set()
        self._ancestors = {id(cohort) for cohort in own.path()}

    def drop(self, queue: QueueNode) -> None:
        self._pruned.add(id(queue))

    def __iter__(self) -> Iterator[_Line]:
        root = self._own.root
        if not isinstance(root, CohortNode):
            line = self._lines.get(self._own.name)
            while line is not None and line.head is not None:
                yield line
            return
        while id(root) not in self._pruned:
            found = self._next(root)
            if found is not None:
                yield found

    def _next(self, cohort: CohortNode) -> _Line | None:
        line, line_share = self._best_queue(cohort)
        child, child_share = self._best_cohort(cohort)
        if line is None and child is None:
            self._pruned.add(id(cohort))
            return None
        if child is not None and compare(child_share, line_share) >= 0:
            return self._next(child)
        return line

    def _best_queue(self, cohort: CohortNode) -> tuple[_Line | None, Share]:
        best: _Line | None = None
        best_share = NOTHING_BELOW
        for queue in cohort.queues:
            if id(queue) in self._pruned:
                continue
            line = self._lines.get(queue.name)
            current = share(queue)
            if line is None or line.head is None or (not current.borrowing and queue is not self._own):
                self._pruned.add(id(queue))
                continue
            order = compare(current, best_share)
            if best is None or order > 0 or (order == 0 and line.place < best.place):
                best, best_share = line, current
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


def _below_common_ancestor(a: Node, b: Node) -> tuple[Node, Node]:
    """The nodes on both sides just below the lowest cohort that holds both."""
    sides = {id(ancestor): below for below, ancestor in _steps(a)}
    for below, ancestor in _steps(b):
        if id(ancestor) in sides:
            return sides[id(ancestor)], below
    raise ValueError(f"{a.name} and {b.name} are in different trees")


def _steps(node: Node) -> Iterator[tuple[Node, CohortNode]]:
    while node.parent is not None:
        yield node, node.parent
        node = node.parent
