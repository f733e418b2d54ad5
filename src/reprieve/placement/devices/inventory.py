"""Which devices each node has and who holds them, as one number for each node: its *situation*.

Nodes whose pools differ only in names, and whose devices are held alike, are in the same situation. A search
answers for all of them at once: of thousands of equal nodes a handful is looked at.
"""

from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, PoolId
from reprieve.placement.devices.pools import Catalogue, Pool
from reprieve.placement.devices.search import Answer

MOST_ANSWERS = 100_000


class NodePools(NamedTuple):
    pools: tuple[Pool, ...]
    shape: int


class Inventory:
    """Kept as slices, nodes and holders change; only what changed is looked at again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._table = cluster.devices
        self.situation: Ints = np.zeros(0, dtype=np.int64)
        self._version = -1
        self._slices_read = 0
        self._nodes_read = 0
        self._pools_read = 0
        self._nodes: list[NodePools | None] = []
        self._slots_of: dict[PoolId, set[int]] = {}
        self._shapes: dict[object, int] = {}
        self._situations: dict[object, int] = {}
        self.answers: dict[object, Answer] = {}
        """What searches have found: for equal claims in equal situations it holds again."""
        self._catalogue: Catalogue
        self.refresh()

    def remember(self, key: object, answer: Answer) -> None:
        if len(self.answers) >= MOST_ANSWERS:
            self.answers.clear()
        self.answers[key] = answer

    def pools(self, slot: int) -> tuple[Pool, ...]:
        found = self._nodes[slot]
        return found.pools if found is not None else ()

    def refresh(self) -> None:
        """Catch up with what has changed."""
        stale = self._stale_nodes()
        if stale:
            self._read_pools(stale)
        if self._pools_read < len(self._table.pool_changes):
            changed = set(self._table.pool_changes[self._pools_read :])
            self._pools_read = len(self._table.pool_changes)
            for id in changed:
                stale |= self._slots_of.get(id, set())
        for slot in stale:
            self._situate(slot)

    def _stale_nodes(self) -> set[int]:
        nodes, table = self._cluster.nodes, self._table
        slots = nodes.slots
        if len(self._nodes) < slots:
            self._nodes += [None] * (slots - len(self._nodes))
            self.situation = np.concatenate(
                [self.situation, np.zeros(slots - len(self.situation), dtype=np.int64)]
            )
        stale: set[int] = set()
        if self._version != table.version:
            changed = set(table.slice_changes[self._slices_read :])
            self._catalogue = Catalogue(table)
            if self._version < 0 or "" in changed:
                stale = set(range(slots))
            else:
                stale = {nodes.slot_of[name] for name in changed if name in nodes.slot_of}
                stale |= self._neighbours(stale)
            self._version, self._slices_read = table.version, len(table.slice_changes)
        if self._nodes_read < len(nodes.changes):
            stale |= set(nodes.changes[self._nodes_read :])
        self._nodes_read = len(nodes.changes)
        return stale

    def _neighbours(self, slots: set[int]) -> set[int]:
        """Nodes that share a pool with these: whether a pool is complete depends on all its slices."""
        found: set[int] = set()
        names = {self._cluster.nodes.names[slot] for slot in slots}
        for name in names:
            for slice in self._catalogue.on_node.get(name, ()):
                found |= self._slots_of.get((slice.spec.driver, slice.spec.pool.name), set())
        for slot in slots:
            for pool in self.pools(slot):
                found |= self._slots_of.get(pool.id, set())
        return found

    def _read_pools(self, slots: set[int]) -> None:
        nodes = self._cluster.nodes
        for slot in slots:
            for pool in self.pools(slot):
                self._slots_of[pool.id].discard(slot)
            node = nodes.objects[slot]
            if node is None:
                self._nodes[slot] = None
                continue
            pools = self._catalogue.pools_for((node.name, node.metadata.labels))
            for pool in pools:
                self._slots_of.setdefault(pool.id, set()).add(slot)
            shape = tuple(pool.shape for pool in pools)
            self._nodes[slot] = NodePools(pools, self._shapes.setdefault(shape, len(self._shapes)))

    def _situate(self, slot: int) -> None:
        node = self._nodes[slot]
        if node is None:
            return
        at = self._pools_read
        states = []
        for pool in node.pools:
            if pool.state_at != at:
                pool.state, pool.state_at = pool.holders(self._table), at
            states.append(pool.state)
        key = (node.shape, *states)
        number = self._situations.get(key)
        if number is None:
            number = self._situations[key] = len(self._situations) + 1
        self.situation[slot] = number


def inventory_of(cluster: Cluster) -> Inventory:
    found: Inventory | None = cluster.lasting.get("devices")
    if found is None:
        found = cluster.lasting["devices"] = Inventory(cluster)
    else:
        found.refresh()
    return found
