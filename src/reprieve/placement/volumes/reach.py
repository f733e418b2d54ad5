"""From which nodes a volume can be reached: node affinities as slots, each distinct one evaluated once."""

import numpy as np

from reprieve.cluster import Cluster, Mask, NodeTable, Rows
from reprieve.objects import NodeSelector, NodeSelectorTerm, node_term_matches, storage
from reprieve.placement.node_selectors import term_mask


class Reach:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self.read = len(nodes.changes)
        self._masks: dict[NodeSelector, Mask] = {}
        self._slots: dict[NodeSelector | None, Rows] = {}

    def mask(self, required: NodeSelector | None) -> Mask:
        """Nodes that an affinity accepts; None accepts every node."""
        if required is None:
            return np.ones(self._nodes.slots, dtype=np.bool_)
        found = self._masks.get(required)
        if found is None:
            found = self._masks[required] = self._evaluate(required)
        return found

    def slots(self, required: NodeSelector | None) -> Rows:
        found = self._slots.get(required)
        if found is None:
            mask = self._nodes.known if required is None else self._evaluate(required)
            found = self._slots[required] = np.flatnonzero(mask).astype(np.int32)
        return found

    def _evaluate(self, required: NodeSelector) -> Mask:
        """Only labels are looked at: fields are compared with an empty name."""
        mask = np.zeros(self._nodes.slots, dtype=np.bool_)
        for term in required.node_selector_terms:
            if term.match_fields:
                if not node_term_matches(NodeSelectorTerm(match_fields=term.match_fields), {}, ""):
                    continue
                if not term.match_expressions:
                    mask[:] = True
            mask |= term_mask(self._nodes, NodeSelectorTerm(match_expressions=term.match_expressions))
        return mask


def reach_of(cluster: Cluster) -> Reach:
    """Cached until a node changes."""
    found: Reach | None = cluster.lasting.get("volume reach")
    if found is None or found.read != len(cluster.nodes.changes):
        found = cluster.lasting["volume reach"] = Reach(cluster.nodes)
    return found


def required_of(volume: storage.PersistentVolume) -> NodeSelector | None:
    affinity = volume.spec.node_affinity
    return affinity.required if affinity is not None else None
