"""All quota trees: which queue hangs under which cohort, kept up to date as either comes, changes or goes.

A cohort without an object that is named as a parent exists without quota. Cohorts whose parents go round in a
circle have no root: the queues below them are set aside until the circle is broken. Changes are only noted;
`refresh` recomputes the trees they touch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from reprieve.objects import ClusterQueue, Cohort
from reprieve.quota.queue import QueueNode, limits_of, weight_of
from reprieve.quota.rules import Rules
from reprieve.quota.tree import CohortNode, recompute


class Forest:
    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.queues: dict[str, QueueNode] = {}
        self.cohorts: dict[str, CohortNode] = {}
        self.circular: set[str] = set()
        """Names of queues below a circle of cohorts."""
        self._parent: dict[str, str] = {}
        self._home: dict[str, str] = {}
        self._cohorts_of: defaultdict[str, set[str]] = defaultdict(set)
        self._queues_of: defaultdict[str, set[str]] = defaultdict(set)
        self._stale_cohorts: set[str] = set()
        self._stale_queues: set[str] = set()

    def put_queue(self, queue: ClusterQueue) -> QueueNode:
        node = self.queues.get(queue.name)
        if node is None:
            node = self.queues[queue.name] = QueueNode(queue, self._rules)
        else:
            node.configure(queue, self._rules)
        self._move_queue(queue.name, queue.spec.cohort_name)
        return node

    def drop_queue(self, name: str) -> None:
        self._move_queue(name, "")
        self._home.pop(name, None)
        self.queues.pop(name, None)
        self.circular.discard(name)
        self._stale_queues.discard(name)

    def _move_queue(self, name: str, cohort: str) -> None:
        old = self._home.get(name, "")
        self._queues_of[old].discard(name)
        self._home[name] = cohort
        if cohort:
            self._queues_of[cohort].add(name)
        self._stale_cohorts |= {each for each in (old, cohort) if each}
        self._stale_queues.add(name)

    def put_cohort(self, cohort: Cohort) -> None:
        node = self._cohort(cohort.name)
        node.limits = limits_of(cohort.spec.resource_groups)
        node.weight = weight_of(cohort.spec.fair_sharing)
        self._move_cohort(cohort.name, cohort.spec.parent_name)

    def drop_cohort(self, name: str) -> None:
        """Without its object a cohort has neither quota nor parent, but its queues still share through it."""
        if name in self.cohorts:
            self.cohorts[name].limits = {}
            self.cohorts[name].weight = 1.0
            self._move_cohort(name, "")

    def _move_cohort(self, name: str, parent: str) -> None:
        old = self._parent.get(name, "")
        self._cohorts_of[old].discard(name)
        self._parent[name] = parent
        if parent:
            self._cohorts_of[parent].add(name)
        self._stale_cohorts |= {each for each in (name, old, parent) if each}

    def _cohort(self, name: str) -> CohortNode:
        node = self.cohorts.get(name)
        if node is None:
            node = self.cohorts[name] = CohortNode(name)
        return node

    def touch(self, queue: str) -> None:
        """The queue became active or inactive."""
        self._stale_queues.add(queue)
        if self._home.get(queue):
            self._stale_cohorts.add(self._home[queue])

    def touch_all(self) -> None:
        """Every tree is to be computed anew."""
        self._stale_queues.update(self.queues)
        self._stale_cohorts.update(self.cohorts)

    @property
    def is_stale(self) -> bool:
        """Whether a tree has changed and is not up to date."""
        return bool(self._stale_cohorts or self._stale_queues)

    def refresh(self) -> set[str]:
        """Bring every tree with a change up to date; the names of the queues in those trees."""
        changed: set[str] = set()
        alone = {name for name in self._stale_queues if not self._home.get(name)}
        for name in sorted(alone):
            self._set_apart(name)
            changed.add(name)
        seen: set[str] = set()
        for name in sorted(self._stale_cohorts):
            if name in seen:
                continue
            root, circle = self._root_of(name)
            below = set(self._below(root))
            seen |= below
            queues = {queue for cohort in below for queue in self._queues_of[cohort]}
            if circle:
                for queue in sorted(queues):
                    self._set_apart(queue)
                self.circular |= queues
            else:
                self.circular -= queues
                recompute(self._build(root))
            changed |= queues
        self._stale_cohorts.clear()
        self._stale_queues.clear()
        for name in changed:
            self.queues[name].generation += 1
        return changed

    def _set_apart(self, name: str) -> None:
        """A tree of its own: it neither lends nor borrows."""
        self.circular.discard(name)
        self.queues[name].parent = None
        recompute(self.queues[name])

    def _root_of(self, name: str) -> tuple[str, bool]:
        """(the top of the tree, or a cohort of the circle above; whether it is a circle)."""
        seen = {name}
        while self._parent.get(name):
            name = self._parent[name]
            if name in seen:
                return name, True
            seen.add(name)
        return name, False

    def _below(self, name: str) -> Iterator[str]:
        seen, todo = {name}, [name]
        while todo:
            current = todo.pop()
            yield current
            fresh = self._cohorts_of[current] - seen
            seen |= fresh
            todo.extend(fresh)

    def _build(self, root: str) -> CohortNode:
        top = self._cohort(root)
        top.parent = None
        todo = [top]
        while todo:
            node = todo.pop()
            node.cohorts = [self._cohort(child) for child in sorted(self._cohorts_of[node.name])]
            for child in node.cohorts:
                child.parent = node
            todo.extend(node.cohorts)
            queues = [self.queues[queue] for queue in sorted(self._queues_of[node.name])]
            for queue in queues:
                queue.parent = node
            node.members = list(queues)
            node.queues = [queue for queue in queues if queue.active]
        return top
