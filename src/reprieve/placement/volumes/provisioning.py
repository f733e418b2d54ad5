"""Where a claim's volume can be made: the topologies of its class, and the capacity that drivers publish."""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows
from reprieve.objects import LabelSelector, NodeSelectorTerm, amount, storage
from reprieve.objects import core as core_views
from reprieve.placement.node_selectors import labels_mask, term_mask

UNKNOWN = -1
"""The capacity of a node for which no pool is known."""


class Topologies:
    """The nodes that a class allows."""

    def __init__(self, cluster: Cluster, found: storage.StorageClass) -> None:
        self.found = found
        nodes = cluster.nodes
        self.read = len(nodes.changes)
        self.mask: Mask = np.zeros(nodes.slots, dtype=np.bool_)
        if not found.allowed_topologies:
            self.mask[:] = True
        for term in found.allowed_topologies:
            if not term.match_label_expressions:
                continue
            allowed = np.ones(nodes.slots, dtype=np.bool_)
            for each in term.match_label_expressions:
                topology = nodes.topology(each.key)
                numbers = [topology.number_of[value] for value in each.values if value in topology.number_of]
                allowed &= np.isin(topology.ids[: nodes.slots], numbers)
            self.mask |= allowed


def allowed_nodes(cluster: Cluster, found: storage.StorageClass) -> Mask:
    key = ("allowed topologies", found.name)
    kept: Topologies | None = cluster.lasting.get(key)
    if kept is None or kept.found is not found or kept.read != len(cluster.nodes.changes):
        kept = cluster.lasting[key] = Topologies(cluster, found)
    return kept.mask


class Capacities:
    """The pools of a class; of several that suffice the first by name counts (kube-scheduler: any)."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        nodes = cluster.nodes
        self.version = cluster.storage.capacity_versions[name]
        self.read = len(nodes.changes)
        pools = cluster.storage.capacities.get(name, {})
        usable = [pools[key] for key in sorted(pools, reverse=True) if pools[key].limit is not None]
        slots = [np.flatnonzero(_reaching(cluster, each.node_topology)).astype(np.int32) for each in usable]
        self._slot: Rows = np.concatenate([*slots, np.zeros(0, np.int32)])
        self._pool: Ints = np.repeat(np.arange(len(usable)), [len(each) for each in slots])
        self._limit: Ints = np.array([amount("storage", each.limit or 0) for each in usable], np.int64)
        self._capacity: Ints = np.array([amount("storage", each.capacity or 0) for each in usable], np.int64)

    def capacity(self, request: int, width: int) -> Ints:
        """For each node, what the pool has that would serve the request; `UNKNOWN` where none would."""
        found: Ints = np.full(width, UNKNOWN, dtype=np.int64)
        enough = self._limit[self._pool] >= request
        found[self._slot[enough]] = self._capacity[self._pool[enough]]
        return found


def capacities_of(cluster: Cluster, name: str) -> Capacities:
    key = ("capacities", name)
    kept: Capacities | None = cluster.lasting.get(key)
    if (
        kept is None
        or kept.version != cluster.storage.capacity_versions[name]
        or kept.read != len(cluster.nodes.changes)
    ):
        kept = cluster.lasting[key] = Capacities(cluster, name)
    return kept


def _reaching(cluster: Cluster, selector: LabelSelector | None) -> Mask:
    """Nodes that a pool can be reached from. No selector: none; an empty one: all."""
    nodes = cluster.nodes
    if selector is None:
        return np.zeros(nodes.slots, dtype=np.bool_)
    mask = labels_mask(nodes, selector.match_labels)
    if selector.match_expressions:
        expressions = tuple(
            core_views.NodeSelectorRequirement(key=each.key, operator=each.operator, values=each.values)
            for each in selector.match_expressions
        )
        mask &= term_mask(nodes, NodeSelectorTerm(match_expressions=expressions))
        if any(each.operator in ("Gt", "Lt") for each in selector.match_expressions):
            mask[:] = False
    return mask
