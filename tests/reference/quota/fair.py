"""Fair sharing's victims by the rules: shares of all nodes computed anew before every step."""

import math

from tests.reference.quota.tree import Key, Node
from tests.reference.quota.victims import Job, World, fits, minimal, order, satisfies

Share = tuple[float, float, bool]
NONE: Share = (-1.0, 1.0, False)


def weighted(share: Share) -> float:
    ratio, weight, _ = share
    if ratio == 0:
        return 0.0
    return math.inf if weight == 0 else ratio / weight


def compare(a: Share, b: Share) -> int:
    infinite_a, infinite_b = a[1] == 0 and a[0] != 0, b[1] == 0 and b[0] != 0
    if infinite_a and infinite_b:
        return (a[0] > b[0]) - (a[0] < b[0])
    if infinite_a or infinite_b:
        return 1 if infinite_a else -1
    return (weighted(a) > weighted(b)) - (weighted(a) < weighted(b))


class FairSearch:
    def __init__(self, world: World, asking: Job, request: dict[Key, int], short: frozenset[Key]) -> None:
        self.world, self.asking, self.request, self.short = world, asking, request, short
        self.asker = Job("asking", "", 0, 0, asking.queue, request)
        world.count()
        self.lines = self._lines()
        world.jobs.append(self.asker)
        world.count()
        self.taken: list[tuple[Job, str]] = []
        self.retry: dict[str, list[Job]] = {}

    def _lines(self) -> dict[str, list[Job]]:
        asking, policy = self.asking, self.world.policies[self.asking.queue.name]
        found: dict[str, list[Job]] = {}
        tree = {id(queue) for queue in asking.queue.root().queues()}
        for job in self.world.jobs:
            own = job.queue is asking.queue
            if not own and (id(job.queue) not in tree or job.queue.within_nominal(self.short)):
                continue
            if satisfies(policy["within" if own else "reclaim"], asking, job) and self.short & set(job.usage):
                found.setdefault(job.queue.name, []).append(job)
        for jobs in found.values():
            jobs.sort(key=lambda job: order(asking, job))
        return found

    def run(self, strategies: tuple[str, ...], bypass_allowed: bool = True) -> dict[str, str]:
        if not self.lines:
            self.world.jobs.remove(self.asker)
            return {}
        bypass = bypass_allowed and self.asking.queue.within_nominal(self.short)
        done = self._first(strategies[0], bypass)
        if not done and len(strategies) > 1:
            done = self._second()
        self.world.jobs.remove(self.asker)
        if not done:
            self.world.out.clear()
            self.world.count()
            return {}
        self.world.count()
        return minimal(self.world, self.asking, self.request, self.taken, borrowing=True)

    def _take(self, job: Job, reason: str) -> bool:
        self.world.take(job)
        self.taken.append((job, reason))
        self.world.jobs.remove(self.asker)
        self.world.count()
        done = fits(self.asking, self.request, borrowing=True)
        self.world.jobs.append(self.asker)
        self.world.count()
        return done

    def _first(self, strategy: str, bypass: bool) -> bool:
        pruned: set[int] = set()
        while (queue := self._next(self.lines, pruned)) is not None:
            line = self.lines[queue.name]
            if queue is self.asking.queue or bypass:
                own = queue is self.asking.queue
                if self._take(line.pop(0), "InClusterQueue" if own else "InCohortReclamation"):
                    return True
                continue
            mine, theirs = self._sides(queue)
            new, initial = mine.share(), theirs.share()
            if weighted(new) == math.inf and weighted(initial) != math.inf:
                self.retry.setdefault(queue.name, []).extend(line)
                line.clear()
                continue
            while line:
                job = line.pop(0)
                self.world.take(job)
                final = theirs.share()
                self.world.give_back(job)
                passes = (
                    compare(new, final) <= 0
                    if strategy == "LessThanOrEqualToFinalShare"
                    else compare(new, initial) < 0
                )
                if not passes:
                    self.retry.setdefault(queue.name, []).append(job)
                    continue
                if self._take(job, "InCohortFairSharing"):
                    return True
                break
        return False

    def _second(self) -> bool:
        pruned: set[int] = set()
        while (queue := self._next(self.retry, pruned)) is not None:
            mine, theirs = self._sides(queue)
            job = self.retry[queue.name].pop(0)
            if compare(mine.share(), theirs.share()) < 0 and self._take(job, "InCohortFairSharing"):
                return True
            pruned.add(id(queue))
        return False

    def _next(self, lines: dict[str, list[Job]], pruned: set[int]) -> Node | None:
        root = self.asking.queue.root()
        if root is self.asking.queue:
            return root if lines.get(root.name) else None
        while id(root) not in pruned:
            found = self._below(root, lines, pruned)
            if found is not None:
                return found
        return None

    def _below(self, cohort: Node, lines: dict[str, list[Job]], pruned: set[int]) -> Node | None:
        own = self.asking.queue
        best_queue, queue_share, best_cohort, cohort_share = None, NONE, None, NONE
        for child in sorted(cohort.children, key=lambda node: node.name):
            if id(child) in pruned:
                continue
            share = child.share()
            if child.is_queue:
                if not lines.get(child.name) or (not share[2] and child is not own):
                    pruned.add(id(child))
                    continue
                step = compare(share, queue_share)
                if (
                    best_queue is None
                    or step > 0
                    or (step == 0 and self._head(lines, child) < self._head(lines, best_queue))
                ):
                    best_queue, queue_share = child, share
            elif not share[2] and child not in own.ancestors():
                pruned.add(id(child))
            elif best_cohort is None or compare(share, cohort_share) >= 0:
                best_cohort, cohort_share = child, share
        if best_queue is None and best_cohort is None:
            pruned.add(id(cohort))
            return None
        if best_cohort is not None and compare(cohort_share, queue_share) >= 0:
            return self._below(best_cohort, lines, pruned)
        return best_queue

    def _head(self, lines: dict[str, list[Job]], queue: Node) -> tuple[object, ...]:
        return order(self.asking, lines[queue.name][0])

    def _sides(self, other: Node) -> tuple[Node, Node]:
        mine = [self.asking.queue, *self.asking.queue.ancestors()]
        theirs = [other, *other.ancestors()]
        for index, node in enumerate(theirs):
            if node in mine[1:]:
                return mine[mine.index(node) - 1], theirs[index - 1]
        raise AssertionError("different trees")
