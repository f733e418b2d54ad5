"""Filters and raw scores that no pod's coming or going can change: cordons, taints, node selection, preferences, images.

Worked out once for each pod class and kept until a node changes; then only that node is looked at again.
"""

import numpy as np

from reprieve.cluster import Cluster
from reprieve.cluster.classes import PodClass
from reprieve.cluster.columns import Ints, Mask, Rows
from reprieve.cluster.nodes import NodeTable
from reprieve.objects.core import Taint, Toleration
from reprieve.objects.selectors import tolerates
from reprieve.placement.images import image_scores
from reprieve.placement.selection import labels_mask, restricted_names, selector_mask, term_mask

FINE, UNSCHEDULABLE_NODE, TAINTED, NOT_SELECTED, OUTSIDE = range(5)
"""Why a static filter refuses a node, in the order in which the filters are asked; `OUTSIDE` comes before them all."""

CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


class StaticFit:
    """One pod class over all nodes."""

    def __init__(self, cluster: Cluster, cls: PodClass) -> None:
        nodes, slots = cluster.nodes, cluster.nodes.slots
        self.code = _codes(nodes, cls)
        self.fine: Mask = self.code == FINE
        self.taints: Ints = _soft_taints(nodes, cls)
        self.preferred: Ints = _preference(nodes, cls)
        self.images: Ints = image_scores(cluster, cls)
        self.most_taints = int(self.taints.max(initial=0))
        self.conflict = _names(cls) == set()
        self.seen = (len(nodes.changes), nodes.image_version, slots)


def static_fit(cluster: Cluster, cls: PodClass) -> StaticFit:
    """The class's static filters and scores, from memory where no node has changed."""
    nodes = cluster.nodes
    key = ("static", cls.id)
    found: StaticFit | None = cluster.lasting.get(key)
    if found is None or found.seen != (len(nodes.changes), nodes.image_version, nodes.slots):
        found = cluster.lasting[key] = StaticFit(cluster, cls)
    return found


def selected_mask(nodes: NodeTable, cls: PodClass) -> Mask:
    """Nodes that the pod's node selector and required node affinity accept."""
    mask = labels_mask(nodes, cls.spec.node_selector)
    affinity = cls.spec.affinity
    if affinity and affinity.node_affinity:
        required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
        if required is not None:
            mask &= selector_mask(nodes, required)
    return mask


def tolerated_mask(nodes: NodeTable, cls: PodClass) -> Mask:
    """Nodes without a hard taint that the pod does not tolerate."""
    fine = [not _repelled(taints, cls.spec.tolerations) for _, taints in nodes.taint_sets]
    return np.array(fine, dtype=np.bool_)[nodes.taint_set[: nodes.slots]]


def _codes(nodes: NodeTable, cls: PodClass) -> Rows:
    tolerations = cls.spec.tolerations
    cordoned = [cordon and not tolerates(tolerations, CORDON) for cordon, _ in nodes.taint_sets]
    code = np.full(nodes.slots, FINE, dtype=np.int32)
    code[~selected_mask(nodes, cls)] = NOT_SELECTED
    code[~tolerated_mask(nodes, cls)] = TAINTED
    code[np.array(cordoned, dtype=np.bool_)[nodes.taint_set[: nodes.slots]]] = UNSCHEDULABLE_NODE
    names = _names(cls)
    if names is not None:
        code[[name not in names for name in nodes.names]] = OUTSIDE
    code[~nodes.known] = OUTSIDE
    return code


def _names(cls: PodClass) -> set[str] | None:
    affinity = cls.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
    return None if required is None else restricted_names(required)


def _repelled(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> bool:
    return any(t.effect in ("NoSchedule", "NoExecute") and not tolerates(tolerations, t) for t in taints)


def _soft_taints(nodes: NodeTable, cls: PodClass) -> Ints:
    """How many `PreferNoSchedule` taints of each node the pod does not tolerate."""
    soft = [each for each in cls.spec.tolerations if each.effect in ("", "PreferNoSchedule")]
    counts = [
        sum(t.effect == "PreferNoSchedule" and not tolerates(soft, t) for t in taints)
        for _, taints in nodes.taint_sets
    ]
    return np.array(counts, dtype=np.int64)[nodes.taint_set[: nodes.slots]]


def _preference(nodes: NodeTable, cls: PodClass) -> Ints:
    """Sum of the weights of the preferred node affinity terms that each node matches."""
    total = np.zeros(nodes.slots, dtype=np.int64)
    for each in cls.preferred_nodes:
        if each.weight:
            total[term_mask(nodes, each.preference)] += each.weight
    return total
