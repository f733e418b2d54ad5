"""Nominations: nodes set aside for waiting pods, as the scheduler means them, which may be ahead of the API.

Between a decision and the moment its patch comes back through the watch, other changes of the same pod still
carry the old value. So a nomination made or withdrawn here wins over the API's value; where none was made
here (after a restart, or by somebody else) the API's value counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from reprieve.cluster import Cluster
from reprieve.objects import Pod, Reference
from reprieve.placement import PodFilters, static_fit
from reprieve.scheduler.waiting import unit_of


class Nominations:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._made: dict[str, str] = {}
        """Pod to the node nominated here; empty where the nomination was withdrawn here."""
        self._unit: dict[str, Reference] = {}
        self._turn: dict[Reference, int] = {}
        """Units in the order of their first nomination."""
        self._turns = 0

    def reconcile(self, pod: Pod) -> None:
        """A waiting pod was read from the API: what was nominated here counts, shown there or not."""
        made = self._made.get(pod.key)
        if made is not None and made != pod.status.nominated_node_name:
            self._cluster.nominate(pod.key, made)
        elif made is None and pod.status.nominated_node_name:
            self._take_turn(pod)

    def make(self, pod: Pod, node: str) -> None:
        """Nominate a node for a waiting pod; an empty one withdraws the nomination."""
        self._made[pod.key] = node
        self._cluster.nominate(pod.key, node)
        if node:
            self._take_turn(pod)

    def node(self, key: str) -> str:
        """The node that a pod is nominated for; empty for none."""
        row = self._cluster.pods.row_of.get(key)
        return "" if row is None else self._cluster.pods.info[row].nominated_node

    def nominated(self, keys: Iterable[str]) -> dict[str, str]:
        """Those of the pods that have a nomination, each with its node."""
        return {key: node for key in keys if (node := self.node(key))}

    def forget(self, key: str) -> None:
        """The pod does not wait any more."""
        self._made.pop(key, None)
        self._unit.pop(key, None)

    def end_turn(self, unit: Reference) -> None:
        """The unit is placed, or starts over."""
        self._turn.pop(unit, None)

    @contextmanager
    def in_order(self, unit: Reference, pods: Iterable[str], priority: int) -> Iterator[None]:
        """A what-if in which each of these pods may go to its own node whoever was nominated for it later.

        Each nomination was made with the earlier ones in place. If the later ones counted as well, equals
        that are nominated for one node would wait for each other. On any other node all of them count: a pod
        whose own place is not free yet does not take that of an equal.
        """
        nominated = self.nominated(pods)
        later = self._later_equals(unit, nominated, priority) if nominated else ()
        checkpoint = self._cluster.checkpoint()
        try:
            if later:
                self._cluster.set_nominations_aside(later)
            yield
        finally:
            self._cluster.rollback(checkpoint)

    @contextmanager
    def all_kept(self, priority: int) -> Iterator[None]:
        """A what-if in which less important pods keep their nominations, too: no plan takes those places."""
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

    def _later_equals(self, unit: Reference, nominated: dict[str, str], priority: int) -> set[int]:
        """Rows of other pods with the same priority that were nominated for the same nodes later."""
        cluster, turn = self._cluster, self._turn.get(unit, 0)
        return {
            row
            for node in set(nominated.values())
            for row in cluster.nominated.get(node, ())
            if (key := cluster.pods.keys[row]) not in nominated
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


def still_fit(cluster: Cluster, nominated: Mapping[str, str], victims: Iterable[str] = ()) -> bool:
    """Whether all of these pods would fit on their nominated nodes at once when the preempted pods are gone.

    `victims` count as gone as well, even if the watch has not shown their deletion yet.
    """
    checkpoint = cluster.checkpoint()
    try:
        for row in _leaving(cluster, set(nominated.values()), victims):
            cluster.detach(row)
        return all(_fits(cluster, key, node) for key, node in nominated.items())
    finally:
        cluster.rollback(checkpoint)


def leaving_from(cluster: Cluster, node: str) -> list[str]:
    """Preempted pods that are on their way out of this node."""
    slot = cluster.nodes.slot_of.get(node)
    rows = () if slot is None else cluster.residents[slot]
    return [cluster.pods.keys[row] for row in rows if cluster.pods.preempted[row]]


def _leaving(cluster: Cluster, nodes: set[str], victims: Iterable[str]) -> list[int]:
    pods = cluster.pods
    slots = [slot for node in nodes if (slot := cluster.nodes.slot_of.get(node)) is not None]
    rows = {row for slot in slots for row in cluster.residents[slot] if pods.preempted[row]}
    rows |= {row for key in victims if (row := pods.row_of.get(key, -1)) >= 0 and pods.node[row] >= 0}
    return sorted(rows)


def _fits(cluster: Cluster, key: str, node: str) -> bool:
    row, slot = cluster.pods.row_of.get(key), cluster.nodes.slot_of.get(node)
    if row is None or slot is None:
        return False
    if not static_fit(cluster, cluster.class_of(row)).fine[slot] or not PodFilters(cluster, row).allows(slot):
        return False
    cluster.attach(row, slot)
    return True
