"""The filters of one pod during a decision, with counts that change as other pods are attached and detached.

`PodFilters` is what kube-scheduler calls a cycle state: made once (PreFilter), then updated for every pod
that is supposed to come or go.
"""

import copy
from collections.abc import Iterable, Sequence

import numpy as np

from reprieve.cluster import NOWHERE, Cluster, Mask, PodClass, ports_conflict
from reprieve.placement.affinity import AffinityState, may_refuse
from reprieve.placement.counting import DomainLimit, class_table, weights_by_node
from reprieve.placement.devices import DeviceFilter, device_filter
from reprieve.placement.resources import delegated
from reprieve.placement.spread import SpreadState
from reprieve.placement.volumes.state import VolumeState


class PodFilters:
    """`faithful`: repeat two shortcuts of kube-scheduler 1.37 that overlook pods put back in a what-if.

    1. A pod that met no anti-affinity when the cycle began does not check for any later.
    2. The least crowded domain is cached, not searched again.
    """

    def __init__(self, cluster: Cluster, row: int, faithful: bool = True) -> None:
        self.cluster = cluster
        self.row = row
        self.cls: PodClass = cluster.class_of(row)
        self.spread = SpreadState(cluster, self.cls, exact=not faithful) if self.cls.spread else None
        self.affinity: AffinityState | None = None
        if may_refuse(cluster, self.cls):
            state = AffinityState(cluster, self.cls)
            if not (faithful and state.idle):
                self.affinity = state
        volumes = cluster.storage.pods.get(row)
        self.volumes = None if volumes is None else VolumeState(cluster, row, volumes, faithful=faithful)
        self.devices: DeviceFilter | None = device_filter(cluster, row)

    @property
    def plain(self) -> bool:
        """Only the node's own resources and host ports decide: pods elsewhere do not matter."""
        return self.local and self.volumes is None

    @property
    def local(self) -> bool:
        """What a node says depends only on the node and the pods there."""
        elsewhere = self.spread is not None or self.affinity is not None or self.devices is not None
        return not elsewhere and (self.volumes is None or self.volumes.is_local)

    @property
    def countable(self) -> bool:
        """Only amounts decide: resources, slots of CSI drivers, and pods in the node's domains."""
        if self.devices is not None or any(rule.max_skew < 1 for rule in self.cls.spread):
            return False
        return self.volumes is None or (self.volumes.is_local and self.volumes.countable)

    def domain_limits(self) -> list[DomainLimit]:
        """Host ports, spread constraints and anti-affinity as numbers, while pods of one node come and go."""
        found: list[DomainLimit] = []
        cluster, cls = self.cluster, self.cls
        if cls.ports:
            taken = class_table(cluster, ("ports", cls), lambda other: ports_conflict(cls.ports, other.ports))
            everywhere = np.ones(cluster.nodes.slots, dtype=np.bool_)
            found.append(DomainLimit(taken, everywhere, True, -weights_by_node(cluster, taken)))
        if self.spread is not None:
            found += self.spread.limits()
        if self.affinity is not None:
            found += self.affinity.limits()
        return found

    def change(self, row: int, slot: int, delta: int) -> None:
        """A pod comes to (+1) or leaves (-1) a node."""
        if slot < 0:
            return
        if self.spread is not None:
            self.spread.change(row, slot, delta)
        if self.affinity is not None:
            self.affinity.change(row, slot, delta)
        if self.volumes is not None:
            self.volumes.change(row, slot, delta)

    def others_allow(self, slot: int) -> bool:
        """Volumes, spread and affinity, for one node."""
        if self.volumes is not None and not self.volumes.allows(slot):
            return False
        if self.spread is not None and not self.spread.allows(slot):
            return False
        return self.affinity is None or self.affinity.allows(slot)

    def forked(self) -> "PodFilters":
        """A copy whose counts change on their own."""
        twin = copy.copy(self)
        twin.spread = self.spread.copy() if self.spread is not None else None
        twin.affinity = self.affinity.copy() if self.affinity is not None else None
        twin.volumes = self.volumes.copy() if self.volumes is not None else None
        return twin

    # --- nominated pods -------------------------------------------------------------------------------------

    def nominated(self, slot: int) -> list[int]:
        """Other waiting pods nominated for this node and at least as important: capacity is kept for them."""
        cluster = self.cluster
        if not cluster.nominated:
            return []
        name = cluster.nodes.names[slot]
        rows = cluster.nominated.get(name, ())
        if cluster.nominated_later and cluster.pods.info[self.row].nominated_node != name:
            rows = (*rows, *cluster.nominated_later.get(name, ()))
        own = cluster.pods.priority[self.row]
        return [
            row
            for row in rows
            if row != self.row and cluster.pods.node[row] == NOWHERE and cluster.pods.priority[row] >= own
        ]

    def allows(self, slot: int, mates: Sequence[int] = ()) -> bool:
        """All dynamic filters for one node, on top of its static ones.

        `mates` are pods of the same gang that are supposed there already and part of the counts. Where pods
        are nominated for the node, the filters must pass both with and without them.
        """
        nominated = self.nominated(slot)
        if not self._allows(slot, mates, ()):
            return False
        return not nominated or self._allows(slot, mates, nominated)

    def allows_alone(self, slot: int) -> bool:
        """The same, as if no pod was nominated for the node."""
        return self._allows(slot, (), ())

    def _allows(self, slot: int, mates: Sequence[int], nominated: Sequence[int]) -> bool:
        cluster, cls = self.cluster, self.cls
        guests = (*mates, *nominated)
        if cls.ports and (cluster.ports.conflicts(cls, slot) or self._guest_ports_conflict(guests)):
            return False
        if not self._has_capacity(slot, guests):
            return False
        if self.plain:
            return True
        if self.devices is not None and not self.devices.allows(slot):
            return False
        if not nominated:
            return self.others_allow(slot)
        twin = self.forked()
        for row in nominated:
            twin.change(row, slot, 1)
        return twin.others_allow(slot)

    def _guest_ports_conflict(self, guests: Iterable[int]) -> bool:
        return any(ports_conflict(self.cls.ports, self.cluster.class_of(row).ports) for row in guests)

    def _has_capacity(self, slot: int, guests: Iterable[int]) -> bool:
        cluster = self.cluster
        nodes, requests = cluster.nodes, cluster.classes.requests
        classes = [cluster.pods.cls[row] for row in guests]
        elsewhere = delegated(cluster, self.cls)
        for index, number in self.cls.requested:
            if index in elsewhere and not nodes.allocatable[index, slot]:
                continue
            taken = nodes.used[index, slot] + sum(int(requests[index, each]) for each in classes)
            if nodes.allocatable[index, slot] - taken < number:
                return False
        return True

    def refused(self) -> Mask:
        """Nodes that ports, volumes, spread or affinity refuse."""
        mask = np.zeros(self.cluster.nodes.slots, dtype=np.bool_)
        if self.cls.ports:
            mask[list(self.cluster.ports.taken(self.cls))] = True
        if self.volumes is not None:
            mask |= self.volumes.refused()
        if self.spread is not None:
            for part in self.spread.refused():
                mask |= part
        if self.affinity is not None:
            for part in self.affinity.refused():
                mask |= part
        return mask
