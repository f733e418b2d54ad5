"""Nominations as the scheduler means them, which may be ahead of what the API shows.

Between a decision and the moment its patch comes back through the watch, other changes of the same pod still carry the old
value. What was promised here wins; a promise taken back stays taken back. Where nothing was promised here (after a restart, or
a nomination made by someone else) the API's value counts.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from reprieve.cluster import Cluster
from reprieve.objects import Pod, Reference
from reprieve.scheduler.waiting import unit_of


class Nominations:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._said: dict[str, str] = {}
        self._unit: dict[str, Reference] = {}
        self._turn: dict[Reference, int] = {}
        """Units in the order in which they first held a promise."""
        self._turns = 0

    def reconcile(self, pod: Pod) -> None:
        """A waiting pod was read from the API: put back what we said, if the API does not say it yet."""
        said = self._said.get(pod.key)
        if said is not None and said != pod.status.nominated_node_name:
            self._cluster.nominate(pod.key, said)
        elif said is None and pod.status.nominated_node_name:
            self._take_turn(pod)

    def make(self, pod: Pod, node: str) -> None:
        """Promise a node to a waiting pod; an empty one takes the promise back."""
        self._said[pod.key] = node
        self._cluster.nominate(pod.key, node)
        if node:
            self._take_turn(pod)

    def node(self, key: str) -> str:
        row = self._cluster.pods.row_of.get(key)
        return "" if row is None else self._cluster.pods.info[row].nominated_node

    def holders(self, keys: Iterable[str]) -> dict[str, str]:
        """Those of the pods that have a promise, and where."""
        return {key: node for key in keys if (node := self.node(key))}

    def forget(self, key: str) -> None:
        """The pod waits no more."""
        self._said.pop(key, None)
        self._unit.pop(key, None)

    def end_turn(self, unit: Reference) -> None:
        """The unit has its place, or starts over."""
        self._turn.pop(unit, None)

    @contextmanager
    def in_order(self, unit: Reference, pods: Iterable[str], priority: int) -> Iterator[None]:
        """A what-if without the later nominations of equals on the nodes that these pods are nominated for.

        Each nomination was made with the earlier ones in place; without this, equals that are nominated for one
        node would wait for each other.
        """
        held = self.holders(pods)
        later = self._later_equals(unit, held, priority) if held else ()
        checkpoint = self._cluster.checkpoint()
        try:
            if later:
                self._cluster.set_nominations_aside(later)
            yield
        finally:
            self._cluster.rollback(checkpoint)

    @contextmanager
    def all_kept(self, priority: int) -> Iterator[None]:
        """A what-if in which less important pods keep their nominations, too: nobody plans with those places."""
        priorities = self._cluster.pods.priority
        rows = [
            row for rows in self._cluster.nominated.values() for row in rows if priorities[row] < priority
        ]
        checkpoint = self._cluster.checkpoint()
        try:
            self._cluster.raise_priority(rows, priority)
            yield
        finally:
            self._cluster.rollback(checkpoint)

    def _later_equals(self, unit: Reference, held: dict[str, str], priority: int) -> set[int]:
        """Rows of pods that are nominated for the same nodes, as important, and got there later."""
        cluster, turn = self._cluster, self._turn.get(unit, 0)
        return {
            row
            for node in set(held.values())
            for row in cluster.nominated.get(node, ())
            if (key := cluster.pods.keys[row]) not in held
            and self._turn_of(key) > turn
            and int(cluster.pods.priority[row]) == priority
        }

    def _turn_of(self, key: str) -> int:
        unit = self._unit.get(key)
        return 0 if unit is None else self._turn.get(unit, 0)

    def _take_turn(self, pod: Pod) -> None:
        unit = self._unit[pod.key] = unit_of(pod)
        if unit not in self._turn:
            self._turns += 1
            self._turn[unit] = self._turns
