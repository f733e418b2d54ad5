"""What the volumes of one pod say about every node, during a decision.

Made once for a pod, then updated for every pod that is supposed to come or go. Binding and zones say the same
whoever comes or goes; only limits and restrictions change.
"""

from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodVolumes, Rows
from reprieve.placement.reasons import Code, Reason
from reprieve.placement.volumes.binding import Binding
from reprieve.placement.volumes.claims import Claims, sort_claims
from reprieve.placement.volumes.limits import Limits
from reprieve.placement.volumes.restrictions import Restrictions
from reprieve.placement.volumes.zones import refused_zones


class Objection(NamedTuple):
    """The nodes that one filter refuses."""

    helped: bool
    """Whether evicting pods might help."""
    reasons: tuple[tuple[Reason, Mask], ...]
    """A node may have several reasons."""

    @property
    def mask(self) -> Mask:
        found: Mask = np.logical_or.reduce([mask for _, mask in self.reasons])
        return found


class VolumeState:
    """`faithful`: as kube-scheduler does it, oversights included."""

    def __init__(self, cluster: Cluster, row: int, pod: PodVolumes, *, faithful: bool) -> None:
        self._cluster = cluster
        self.claims: Claims = sort_claims(cluster.storage, pod)
        if self.refusal:
            return
        self.limits: Limits | None = Limits(cluster, row)
        if self.limits.idle:
            self.limits = None
        self.restrictions: Restrictions | None = Restrictions(cluster, pod, faithful=faithful)
        if self.restrictions.idle:
            self.restrictions = None
        self.binding = Binding(cluster, self.claims, exact=not faithful)
        self._zones = refused_zones(cluster, self.claims.labelled)
        self.missing: dict[str, Mask] = self.limits.missing() if self.limits is not None else {}
        fixed = ~self.binding.refused
        if self._zones is not None:
            fixed &= ~self._zones
        for mask in self.missing.values():
            fixed &= ~mask
        self.fixed: Mask = fixed
        """Nodes that no eviction would make unfit, or fit: bindings, zones and installed drivers."""

    @property
    def refusal(self) -> Reason | None:
        """Why the pod fits nowhere, whoever is evicted; None when that depends on the node."""
        if self.claims.error:
            return Reason(Code.ATTEMPT_FAILS, (self.claims.error,))
        return self.claims.refusal

    @property
    def checks_others(self) -> bool:
        """Whether it matters which other pods are on nodes."""
        return not self.refusal and (self.limits is not None or self.restrictions is not None)

    @property
    def is_local(self) -> bool:
        """Whether a pod elsewhere makes no difference to a node."""
        return self.refusal is not None or self.restrictions is None or not self.restrictions.exclusive

    @property
    def countable(self) -> bool:
        """Whether, of what depends on other pods, only numbers of attached volumes matter."""
        return not self.refusal and self.restrictions is None

    # --- pods that come and go ------------------------------------------------------------------------------

    def change(self, row: int, slot: int, delta: int) -> None:
        if row not in self._cluster.storage.pods or self.refusal:
            return
        if self.limits is not None:
            self.limits.change(row, slot, delta)
        if self.restrictions is not None:
            self.restrictions.change(row, slot, delta)

    def matters(self, row: int) -> bool:
        """Whether a pod can make a difference at all."""
        if row not in self._cluster.storage.pods or self.refusal:
            return False
        limits, restrictions = self.limits, self.restrictions
        return bool(
            (limits is not None and limits.matters(row))
            or (restrictions is not None and restrictions.matters(row))
        )

    def emptied(self, before: "VolumeState", rows: Rows) -> None:
        """This state was made with these pods gone from all nodes. Let each node see only its own gone."""
        if not self.refusal and not before.refusal and before.restrictions is not None:
            self.restrictions = before.restrictions.emptied(self.restrictions, rows)

    def copy(self) -> "VolumeState":
        if not self.checks_others:
            return self
        twin = object.__new__(VolumeState)
        twin.__dict__ |= self.__dict__
        twin.limits = self.limits.copy() if self.limits is not None else None
        twin.restrictions = self.restrictions.copy() if self.restrictions is not None else None
        return twin

    # --- answers --------------------------------------------------------------------------------------------

    def allows(self, slot: int) -> bool:
        if self.refusal or not self.fixed[slot]:
            return False
        if self.limits is not None and not self.limits.allows(slot):
            return False
        return self.restrictions is None or self.restrictions.allows(slot)

    def refused(self) -> Mask:
        width = self._cluster.nodes.slots
        if self.refusal:
            return np.ones(width, dtype=np.bool_)
        mask = ~self.fixed
        if self.limits is not None:
            mask |= self.limits.exceeded()
        if self.restrictions is not None:
            mask |= self._disks() | self.restrictions.in_use
        return mask

    def objections(self) -> list[Objection]:
        """What each filter refuses, in the order of the filters."""
        found = []
        if self.restrictions is not None:
            found.append(Objection(True, ((Reason(Code.DISK_IN_USE), self._disks()),)))
            found.append(Objection(True, ((Reason(Code.CLAIM_IN_USE), self.restrictions.busy()),)))
        if self.limits is not None:
            for driver, mask in self.missing.items():
                found.append(Objection(True, ((Reason(Code.DRIVER_NOT_INSTALLED, (driver,)), mask),)))
            found.append(Objection(True, ((Reason(Code.TOO_MANY_VOLUMES), self.limits.exceeded()),)))
        masks = self.binding
        found.append(
            Objection(
                False,
                (
                    (Reason(Code.VOLUME_FAR), masks.far),
                    (Reason(Code.NO_VOLUME), masks.nothing),
                    (Reason(Code.STORAGE_FULL), masks.full),
                    (Reason(Code.VOLUME_LOST), masks.lost),
                ),
            )
        )
        if self._zones is not None:
            found.append(Objection(False, ((Reason(Code.VOLUME_ZONE), self._zones),)))
        return found

    def error(self, left: Mask) -> str:
        """Why kube-scheduler's attempt fails altogether: a filter that cannot tell, on one of these nodes."""
        if self.refusal:
            return self.claims.error
        if self.restrictions is not None:
            left = left & ~self._disks() & (not self.restrictions.in_use)
        if self.limits is not None:
            for slot, text in self.limits.unclear().items():
                if left[slot]:
                    return text
            left = left & ~self.limits.exceeded()
        return self.binding.error if (left & self.binding.unclear).any() else ""

    def _disks(self) -> Mask:
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        if self.restrictions is not None:
            mask[[slot for slot, pods in self.restrictions.disks.items() if pods > 0]] = True
        return mask

    def scores(self, slots: Rows) -> Ints | None:
        """Up to 100 for each node, None where storage tells none apart."""
        return self.binding.scores(slots)

    def volumes_at(self, slot: int) -> dict[str, str]:
        """Volumes that would be bound on a node, each with its claim, in the order in which they are."""
        return {volume.name: claim.key for volume, claim in self.binding.volumes_at(slot)}

    def provisions_at(self, slot: int) -> list[str]:
        """Claims that would be provisioned on a node."""
        return [claim.key for claim in self.binding.provisions_at(slot)]
