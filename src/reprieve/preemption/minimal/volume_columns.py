"""Volumes of the waiting pods, in the problem's terms: slots of CSI drivers are resources, rivals are bars.

What the columns leave out makes the problem easier, never harder, so its bound stays a bound: a volume that
two victims share counts as freed by either, and a claim that only one pod may use bars its user's node alone.
The real filters check every answer.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from reprieve.cluster import Cluster, Rows
from reprieve.placement import NO_LIMIT, PodFilters, VolumeState
from reprieve.preemption.minimal.problem import Flags, Ints

PLENTY = 1 << 40
"""Free slots of a driver that a node does not limit."""


class VolumeColumns:
    """For classes of waiting pods, each with its volumes or None."""

    def __init__(self, cluster: Cluster, states: Sequence[VolumeState | None]) -> None:
        self._cluster = cluster
        self._states = states
        self._limits = [None if each is None or each.refusal else each.limits for each in states]
        self._drivers = sorted({name for each in self._limits if each is not None for name in each.drivers})

    @property
    def has_rivals(self) -> bool:
        return any(state is not None and not state.refusal and state.restrictions is not None
                   for state in self._states)  # fmt: skip

    def admitted(self) -> Flags:
        """[class, slot] where the volumes can be had, whoever is evicted."""
        width = self._cluster.nodes.slots
        rows = []
        for state in self._states:
            if state is None:
                rows.append(np.ones(width, np.bool_))
            elif state.refusal:
                rows.append(np.zeros(width, np.bool_))
            else:
                rows.append(state.fixed)
        return np.array(rows, np.bool_)

    def free(self, slots: Rows) -> Ints:
        """[node, driver] slots that are left."""
        columns = [np.full(len(slots), PLENTY, np.int64) for _ in self._drivers]
        for limits in self._limits:
            for column, name in zip(columns, self._drivers, strict=True):
                if limits is not None and name in limits.drivers:
                    limit = limits.limit[name][slots]
                    left = np.where(limit == NO_LIMIT, PLENTY, limit - limits.attached[name][slots])
                    np.minimum(column, left, out=column)
        return np.array(columns, np.int64).reshape(len(self._drivers), len(slots)).T

    def requests(self) -> Ints:
        """[class, driver] volumes that a pod brings, at least: not those of another waiting pod, too."""
        found = np.zeros((len(self._states), len(self._drivers)), np.int64)
        users = Counter(own.number for each in self._limits if each is not None for own in each.own)
        for number, limits in enumerate(self._limits):
            for index, name in enumerate(self._drivers):
                if limits is not None and name in limits.drivers and len(limits.new[name]):
                    together = sum(own.driver == name and users[own.number] > 1 for own in limits.own)
                    found[number, index] = max(0, int(limits.new[name].min()) - together)
        return found

    def pod_requests(self, rows: Rows) -> Ints:
        """[pod, driver] slots that evicting a pod gives back, at most."""
        found = np.zeros((len(rows), len(self._drivers)), np.int64)
        for limits in self._limits:
            for index, name in enumerate(self._drivers):
                if limits is not None and name in limits.drivers:
                    found[:, index] = np.maximum(found[:, index], limits.held(name)[rows])
        return found

    def bars(self, rows: Rows) -> Flags:
        """[class, pod] pods next to which a pod of the class cannot be."""
        found = np.zeros((len(self._states), len(rows)), np.bool_)
        for number, state in enumerate(self._states):
            restrictions = None if state is None or state.refusal else state.restrictions
            if restrictions is not None:
                rivals = restrictions.rivals | restrictions.users()
                found[number] = np.isin(rows, list(rivals))
        return found


def volume_states(cluster: Cluster, firsts: Sequence[int]) -> list[VolumeState | None]:
    return [
        PodFilters(cluster, row, faithful=False).volumes if row in cluster.storage.pods else None
        for row in firsts
    ]
