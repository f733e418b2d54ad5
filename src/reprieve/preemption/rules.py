"""Rules beyond free resources as amounts, so that a sweep can judge all nodes at once.

Slots of CSI drivers, host ports, spread constraints and anti-affinity have one form: every entry of a
`Layout` wants an amount, and so much is left on its node once all potential victims there are gone. Required
affinity is met without them or not at all.
"""

from collections.abc import Iterator

import numpy as np

from reprieve.cluster import Ints, Mask
from reprieve.placement import NO_LIMIT, DomainLimit, PodFilters
from reprieve.preemption.layout import Layout
from reprieve.preemption.reprieve import UNLIMITED
from reprieve.preemption.view import View


class Rules:
    """The rules of one pod."""

    def __init__(self, view: View, filters: PodFilters, layout: Layout) -> None:
        self._view = view
        self._filters = filters
        self._layout = layout
        self._drivers = filters.volumes.limits if filters.volumes is not None else None
        self._limits = filters.domain_limits()
        self._near = filters.affinity.near_weights if filters.affinity is not None else None
        self.unclear: Mask = self._unclear()
        """Nodes on which amounts are not enough to decide."""

    def _unclear(self) -> Mask:
        """Pods nominated for a node count there, and a group that leaves changes other nodes, too."""
        view, cluster = self._view, self._view.cluster
        found: Mask = np.zeros(cluster.nodes.slots, dtype=np.bool_)
        for name in cluster.nominated.keys() | cluster.nominated_later.keys():
            slot = cluster.nodes.slot_of.get(name)
            if slot is not None and self._filters.nominated(slot):
                found[slot] = True
        if self._drivers is not None:
            found |= self._drivers.shared
        if self._layout.grouped.any():
            for weights in self._weights():
                counted = weights[cluster.pods.cls[: cluster.pods.rows]] > 0
                found |= self._layout.of_groups(view, counted).any(axis=0)
        return found

    def _weights(self) -> list[Ints]:
        """What each class counts for, of every rule about pods in the same domain."""
        return [*(each.weights for each in self._limits), *([] if self._near is None else [self._near])]

    def met_without(self, lower: Mask) -> Mask:
        """Nodes that meet what does not depend on who returns, once all lower entries are gone."""
        met: Mask = np.ones(lower.shape[1], dtype=np.bool_)
        if self._filters.volumes is not None:
            met &= self._filters.volumes.fixed
        if self._filters.affinity is not None and self._near is not None:
            pods = self._view.cluster.pods
            table = self._layout.by_entry(self._near[pods.cls[: pods.rows]])
            met &= self._filters.affinity.met_without(np.where(lower, table, 0).sum(axis=0))
        return met

    def amounts(self, lower: Mask) -> Iterator[tuple[Ints, Ints]]:
        """For each rule: what the lower entries want, by turn and node, and what is left without them."""
        if self._drivers is not None:
            for name in self._drivers.drivers:
                limit, new = self._drivers.limit[name], self._drivers.new[name]
                wanted = np.where(lower, self._layout.by_entry(self._drivers.held(name)), 0)
                left = limit - self._drivers.attached[name] - new + wanted.sum(axis=0)
                yield wanted, np.where((limit == NO_LIMIT) | (new == 0), UNLIMITED, left)
        for each in self._limits:
            wanted = np.where(lower & each.counted, self._layout.by_entry(self._counting(each)), 0)
            yield wanted, each.left + wanted.sum(axis=0)

    def _counting(self, limit: DomainLimit) -> Ints:
        """What each pod counts for when it comes or goes."""
        pods = self._view.cluster.pods
        weights = limit.weights[pods.cls[: pods.rows]]
        return weights if limit.terminating else np.where(pods.terminating[: pods.rows], 0, weights)
