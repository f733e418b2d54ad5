"""The volumes of one pod that scheduling cares about: claims, and disks that the pod names itself.

They are kept beside the columns, by row, and are no part of a pod's class: every replica has its own claim.
"""

from typing import NamedTuple

from reprieve.cluster.in_tree import handle_of, plugin_of
from reprieve.objects import Pod, volumes


class Claimed(NamedTuple):
    """A claim that a volume of the pod names."""

    key: str
    name: str
    ephemeral: bool
    """Made for the pod, and its property."""


class Disk(NamedTuple):
    """A disk that two pods on one node cannot share."""

    kind: str
    id: str
    read_only: bool
    monitors: frozenset[str] = frozenset()

    def conflicts(self, other: "Disk") -> bool:
        if (self.kind, self.id) != (other.kind, other.id) or (self.read_only and other.read_only):
            return False
        return self.kind != "rbd" or not self.monitors.isdisjoint(other.monitors)


class PodVolumes(NamedTuple):
    pod: str
    """`namespace/name`."""
    uid: str
    claims: tuple[Claimed, ...]
    """In the order of the pod's volumes; a claim that two volumes name is there twice."""
    disks: tuple[Disk, ...]
    inline: tuple[tuple[str, str], ...]
    """(driver, handle) of in-tree disks that a CSI driver serves."""


def pod_volumes(pod: Pod) -> PodVolumes | None:
    """None for the many pods whose volumes bind them to no node."""
    claims: list[Claimed] = []
    disks: list[Disk] = []
    inline: list[tuple[str, str]] = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
            claims.append(Claimed(f"{pod.namespace}/{name}", name, ephemeral=False))
        elif volume.ephemeral is not None:
            name = f"{pod.name}-{volume.name}"
            claims.append(Claimed(f"{pod.namespace}/{name}", name, ephemeral=True))
        else:
            disk = _disk(volume)
            if disk is not None:
                disks.append(disk)
            plugin = plugin_of(volume)
            if plugin is not None and (handle := handle_of(volume, {})):
                inline.append((plugin.driver, handle))
    if not (claims or disks or inline):
        return None
    return PodVolumes(pod.key, pod.metadata.uid, tuple(claims), tuple(disks), tuple(inline))


def _disk(volume: volumes.Volume) -> Disk | None:
    if gce := volume.gce_persistent_disk:
        return Disk("gcePersistentDisk", gce.pd_name, gce.read_only)
    if aws := volume.aws_elastic_block_store:
        return Disk("awsElasticBlockStore", aws.volume_id, read_only=False)
    if iscsi := volume.iscsi:
        return Disk("iscsi", iscsi.iqn, iscsi.read_only)
    if rbd := volume.rbd:
        # A space cannot be part of either name.
        return Disk("rbd", f"{rbd.pool} {rbd.image}", rbd.read_only, frozenset(rbd.monitors))
    return None
