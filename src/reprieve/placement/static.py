"""Filters and scores that do not depend on other pods: cordons, taints, node selection, preferences, images.

Computed once for each pod class and kept until a node changes; then only that node is computed again.
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, NodeTable, PodClass, Rows
from reprieve.objects import Taint, Toleration, tolerates, well_known
from reprieve.placement.node_selectors import (
    labels_mask,
    names_at,
    restricted_names,
    selector_mask,
    term_mask,
)

FINE, UNSCHEDULABLE_NODE, TAINTED, NOT_SELECTED, OUTSIDE = range(5)
"""Why a static filter refuses a node, in the order of the filters; `OUTSIDE` comes before them all."""

CORDON = Taint(key=well_known.UNSCHEDULABLE_TAINT, effect="NoSchedule")

MIB = 1024 * 1024
LEAST_IMAGE_BYTES = 23 * MIB
MOST_IMAGE_BYTES = 1000 * MIB  # for each container

MANY = 64
"""Above this many changed nodes, computing all nodes at once is faster."""


class StaticFit:
    """One pod class over all nodes, kept as nodes change."""

    def __init__(self, cluster: Cluster, cls: PodClass) -> None:
        self._cls = cls
        self.code: Rows = np.zeros(0, dtype=np.int32)
        self.fine: Mask = np.zeros(0, dtype=np.bool_)
        self.taints: Ints = np.zeros(0, dtype=np.int64)
        self.preferred: Ints = np.zeros(0, dtype=np.int64)
        self.images: Ints = np.zeros(0, dtype=np.int64)
        self.most_taints = 0
        self.conflict = _names(cls) == set()
        self.rescored = 0
        """Increases when a change of one node's images changed the scores of others."""
        self._image_version = -1
        self._read = 0
        self._widen(cluster.nodes.slots)
        self._look(cluster, None)

    def refresh(self, cluster: Cluster) -> None:
        """Catch up with nodes that came, went or changed."""
        nodes = cluster.nodes
        if self._read == len(nodes.changes) and self._image_version == nodes.images.version:
            return
        self._widen(nodes.slots)
        changed = sorted(set(nodes.changes[self._read :]))
        self._look(cluster, np.array(changed, dtype=np.int32) if len(changed) <= MANY else None)

    def _look(self, cluster: Cluster, at: Rows | None) -> None:
        nodes, cls = cluster.nodes, self._cls
        here: Rows | slice = slice(None) if at is None else at
        self.code[here] = _codes(nodes, cls, at)
        self.fine[here] = self.code[here] == FINE
        self.taints[here] = _soft_taints(nodes, cls, at)
        self.preferred[here] = _preference(nodes, cls, at)
        self.most_taints = int(self.taints.max(initial=0))
        if self._image_version != nodes.images.version:
            images = image_scores(cluster, cls)
            elsewhere = np.delete(images, here), np.delete(self.images, here)
            self.rescored += at is None or not np.array_equal(*elsewhere)
            self.images = images
        self._image_version = nodes.images.version
        self._read = len(nodes.changes)

    def _widen(self, slots: int) -> None:
        more = slots - len(self.code)
        if more:
            for name in ("code", "fine", "taints", "preferred", "images"):
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros(more, dtype=column.dtype)]))


def static_fit(cluster: Cluster, cls: PodClass) -> StaticFit:
    """The class's static filters and scores, cached: classes that differ in labels only share them."""
    key = ("static", cls.shape)
    found: StaticFit | None = cluster.lasting.get(key)
    if found is None:
        found = cluster.lasting[key] = StaticFit(cluster, cls)
    else:
        found.refresh(cluster)
    return found


def selected_mask(nodes: NodeTable, cls: PodClass, at: Rows | None = None) -> Mask:
    """Nodes that the pod's node selector and required node affinity accept."""
    mask = labels_mask(nodes, cls.spec.node_selector, at)
    affinity = cls.spec.affinity
    if affinity and affinity.node_affinity:
        required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
        if required is not None:
            mask &= selector_mask(nodes, required, at)
    return mask


def tolerated_mask(nodes: NodeTable, cls: PodClass, at: Rows | None = None) -> Mask:
    """Nodes without a hard taint that the pod does not tolerate."""
    fine = [not _repelled(taints, cls.spec.tolerations) for _, taints in nodes.taint_sets]
    return np.array(fine, dtype=np.bool_)[_taint_numbers(nodes, at)]


def cordoned_mask(nodes: NodeTable, cls: PodClass, at: Rows | None = None) -> Mask:
    """Nodes that are unschedulable, for pods that do not tolerate that."""
    cordoned = [cordon and not tolerates(cls.spec.tolerations, CORDON) for cordon, _ in nodes.taint_sets]
    return np.array(cordoned, dtype=np.bool_)[_taint_numbers(nodes, at)]


def _taint_numbers(nodes: NodeTable, at: Rows | None) -> Rows:
    return nodes.taint_set[: nodes.slots] if at is None else nodes.taint_set[at]


def _codes(nodes: NodeTable, cls: PodClass, at: Rows | None) -> Rows:
    names = names_at(nodes, at)
    code = np.full(len(names), FINE, dtype=np.int32)
    code[~selected_mask(nodes, cls, at)] = NOT_SELECTED
    code[~tolerated_mask(nodes, cls, at)] = TAINTED
    code[cordoned_mask(nodes, cls, at)] = UNSCHEDULABLE_NODE
    only = _names(cls)
    if only is not None:
        code[[name not in only for name in names]] = OUTSIDE
    code[[not name for name in names]] = OUTSIDE  # an empty slot
    return code


def _names(cls: PodClass) -> set[str] | None:
    affinity = cls.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    required = affinity.node_affinity.required_during_scheduling_ignored_during_execution
    return None if required is None else restricted_names(required)


def _repelled(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> bool:
    return any(t.effect in ("NoSchedule", "NoExecute") and not tolerates(tolerations, t) for t in taints)


def _soft_taints(nodes: NodeTable, cls: PodClass, at: Rows | None) -> Ints:
    """How many `PreferNoSchedule` taints of each node the pod does not tolerate."""
    soft = [each for each in cls.spec.tolerations if each.effect in ("", "PreferNoSchedule")]
    counts = [
        sum(t.effect == "PreferNoSchedule" and not tolerates(soft, t) for t in taints)
        for _, taints in nodes.taint_sets
    ]
    return np.array(counts, dtype=np.int64)[_taint_numbers(nodes, at)]


def _preference(nodes: NodeTable, cls: PodClass, at: Rows | None) -> Ints:
    """Sum of the weights of the preferred node affinity terms that each node matches."""
    total = np.zeros(nodes.slots if at is None else len(at), dtype=np.int64)
    for each in cls.preferred_nodes:
        if each.weight:
            total[term_mask(nodes, each.preference, at)] += each.weight
    return total


def image_scores(cluster: Cluster, cls: PodClass) -> Ints:
    """ImageLocality, 0 to 100 for each node: the bytes it need not pull, less for rare images."""
    nodes = cluster.nodes
    saved = np.zeros(nodes.slots, dtype=np.int64)
    for image in cls.images:
        holders = nodes.images.holders.get(image)
        if holders:
            saved[list(holders)] += int(_size(cluster, holders) * (len(holders) / len(nodes)))
    most = MOST_IMAGE_BYTES * max(cls.container_count, 1)
    return np.asarray(
        100 * (np.clip(saved, LEAST_IMAGE_BYTES, most) - LEAST_IMAGE_BYTES) // (most - LEAST_IMAGE_BYTES),
        dtype=np.int64,
    )


def _size(cluster: Cluster, holders: dict[int, int]) -> int:
    """The size of an image as reported by the first node in the scheduler's order."""
    sizes = set(holders.values())
    if len(sizes) == 1:
        return sizes.pop()
    return holders[next(slot for slot in cluster.nodes.order.tolist() if slot in holders)]
