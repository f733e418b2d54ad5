"""The free volumes of a storage class, and the smallest one that fits a claim, for every node at once.

Volumes with the same node affinity stand in one *reach group*. The best volume of a group is the same for
all its nodes, except where an earlier claim of the pod took it: so a claim that is the n-th to choose looks
at the n smallest that fit in each group, however many there are.
"""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows
from reprieve.objects import matches, nano, storage
from reprieve.placement.volumes.reach import Reach, reach_of, required_of

NONE = -1


class _Signature(NamedTuple):
    """What a volume is, apart from its size and place."""

    mode: str
    attributes_class: str
    access_modes: frozenset[str]


class Pool:
    """Volumes of a class that are free, smallest first; equal ones by name (kube-scheduler: at random)."""

    def __init__(self, cluster: Cluster, name: str, reach: Reach) -> None:
        table = cluster.storage
        self.version = table.pool_versions[name]
        self.reach = reach
        free = [
            volume
            for volume in table.unbound.get(name, {}).values()
            if volume.status.phase == "Available" and volume.metadata.deletion_timestamp is None
        ]
        self.volumes = sorted(free, key=lambda volume: (nano(volume.size), volume.name))
        self.rank_of = {volume.name: rank for rank, volume in enumerate(self.volumes)}
        self._sizes = [nano(volume.size) for volume in self.volumes]
        signatures: dict[_Signature, int] = {}
        groups: dict[object, int] = {}
        self._signature: Rows = np.array(
            [signatures.setdefault(_signature(each), len(signatures)) for each in self.volumes], np.int32
        )
        self._signatures = list(signatures)
        self._group: Rows = np.array(
            [groups.setdefault(required_of(each), len(groups)) for each in self.volumes], np.int32
        )
        slots = [reach.slots(required) for required in groups]  # type: ignore[arg-type]
        self._count: Ints = np.array([len(each) for each in slots], dtype=np.int64)
        self._start: Ints = np.cumsum(self._count) - self._count
        self._slots: Rows = np.concatenate([*slots, np.zeros(0, np.int32)])

    def eligible(self, claim: storage.PersistentVolumeClaim, taken: dict[str, str]) -> Mask:
        """Volumes that suit the claim, wherever they are."""
        spec = claim.spec
        suits = np.array([_suits(each, spec) for each in self._signatures], dtype=np.bool_)
        fitting: Mask = suits[self._signature]
        fitting[: bisect_left(self._sizes, nano(claim.request))] = False
        for name in taken:
            rank = self.rank_of.get(name)
            if rank is not None:
                fitting[rank] = False
        if spec.selector is not None:
            for rank in np.flatnonzero(fitting).tolist():
                fitting[rank] = matches(spec.selector, self.volumes[rank].metadata.labels)
        return fitting

    def choices(self, eligible: Mask, depth: int) -> tuple[Rows, Rows]:
        """(slots, ranks): for each node the `depth` smallest eligible volumes of each of its groups."""
        ranks = np.flatnonzero(eligible).astype(np.int32)
        groups = self._group[ranks]
        order = np.argsort(groups, kind="stable")
        ranks, groups = ranks[order], groups[order]
        turn = np.arange(len(groups)) - np.searchsorted(groups, groups)
        ranks, groups = ranks[turn < depth], groups[turn < depth]
        counts = self._count[groups]
        total = int(counts.sum())
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        slots = self._slots[np.repeat(self._start[groups], counts) + within]
        return slots, np.repeat(ranks, counts)

    def smallest(self, eligible: Mask, earlier: list[Rows], width: int) -> Rows:
        """For each node the smallest eligible volume, by rank; `earlier`: ranks that are taken there."""
        slots, ranks = self.choices(eligible, len(earlier) + 1)
        for taken in earlier:
            left = taken[slots] != ranks
            slots, ranks = slots[left], ranks[left]
        best: Rows = np.full(width, NONE, dtype=np.int32)
        order = np.argsort(-ranks, kind="stable")
        best[slots[order]] = ranks[order]  # of several for one node the last, the smallest, stays
        return best


def pool_of(cluster: Cluster, name: str) -> Pool:
    """Cached until a free volume of the class or a node changes."""
    key, reach = ("volume pool", name), reach_of(cluster)
    found: Pool | None = cluster.lasting.get(key)
    if found is None or found.version != cluster.storage.pool_versions[name] or found.reach is not reach:
        found = cluster.lasting[key] = Pool(cluster, name, reach)
    return found


def _signature(volume: storage.PersistentVolume) -> _Signature:
    spec = volume.spec
    return _Signature(spec.volume_mode, spec.volume_attributes_class_name, frozenset(spec.access_modes))


def _suits(signature: _Signature, spec: storage.PersistentVolumeClaimSpec) -> bool:
    return (
        signature.mode == spec.volume_mode
        and signature.attributes_class == spec.volume_attributes_class_name
        and signature.access_modes.issuperset(spec.access_modes)
    )


def suits_as_kept(volume: storage.PersistentVolume, claim: storage.PersistentVolumeClaim) -> bool:
    """What is asked of a volume that is kept for the claim: not its phase, selector or access modes."""
    return (
        nano(volume.size) >= nano(claim.request)
        and volume.spec.volume_mode == claim.spec.volume_mode
        and volume.spec.volume_attributes_class_name == claim.spec.volume_attributes_class_name
        and volume.metadata.deletion_timestamp is None
    )
