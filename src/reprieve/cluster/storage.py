"""Volumes, claims, classes and what CSI drivers publish, the pods that use them, and what is kept for whom.

Pods without such volumes are not in here and cost nothing. Two kinds of change, as in `state`: observed ones
(`set`, `remove`, `set_pod`), and reservations: what a pod that was placed and is not bound yet is going to
get, a volume for its claim or a node on which its claim is to be provisioned.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, cast

from reprieve.cluster.attached import AttachedTable, Use
from reprieve.cluster.in_tree import DRIVERS, NEVER_COUNTED, handle_of, plugin_of
from reprieve.cluster.nodes import NodeTable
from reprieve.cluster.pod_volumes import Disk, PodVolumes, pod_volumes
from reprieve.objects import Object, Pod, storage

NOT_OWNER = "PVC {claim} was not created for pod {pod} (pod is not owner)"


class StorageTable:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self.volumes: dict[str, storage.PersistentVolume] = {}
        self.claims: dict[str, storage.PersistentVolumeClaim] = {}
        self.classes: dict[str, storage.StorageClass] = {}
        self.drivers: dict[str, storage.CSIDriver] = {}
        self.csi_nodes: dict[str, storage.CSINode] = {}
        self.capacities: dict[str, dict[str, storage.CSIStorageCapacity]] = defaultdict(dict)
        """By class, then by key."""
        self.unbound: dict[str, dict[str, storage.PersistentVolume]] = defaultdict(dict)
        """Volumes without a claim, by class."""
        self.kept_for: dict[str, dict[str, None]] = defaultdict(dict)
        """Names of volumes with a `claimRef`, by the claim that it names."""
        self.taken: dict[str, str] = {}
        """Reserved volumes, each with the claim it is for."""
        self.selected: dict[str, str] = {}
        """Reserved claims, each with the node on which it is to be provisioned."""
        self.pods: dict[int, PodVolumes] = {}
        self.users: dict[str, dict[int, None]] = {}
        """Rows of the pods that name a claim."""
        self.disks: dict[tuple[str, str], dict[int, None]] = {}
        """Rows of the pods that name a disk."""
        self.faulty: dict[int, str] = {}
        """Pods whose ephemeral volume has somebody else's claim: nobody can count their volumes."""
        self.version = 0
        """Increases when what CSINodes say changes, or which nodes there are."""
        self.pool_versions: dict[str, int] = defaultdict(int)
        """For each class, increases when a volume without a claim comes, goes or changes."""
        self.capacity_versions: dict[str, int] = defaultdict(int)
        self._attached = AttachedTable()
        self._attachments: dict[str, storage.VolumeAttachment] = {}
        self._holders: dict[str, int] = {}
        self._attachment_of: dict[tuple[str, str], dict[str, None]] = {}
        """Names of VolumeAttachments by ("node", its name) and ("volume", its name)."""
        self._claims_of: dict[str, dict[str, None]] = {}
        """Claims by the volume they name."""
        self._stale: dict[int, None] = {}
        self._stale_attachments: dict[str, None] = {}

    # --- observed changes -----------------------------------------------------------------------------------

    def set(self, obj: Object) -> None:
        match obj:
            case storage.PersistentVolume():
                self._set_volume(obj)
            case storage.PersistentVolumeClaim():
                self._set_claim(obj)
            case storage.StorageClass():
                self.classes[obj.name] = obj
                self._stale |= dict.fromkeys(self.pods)
            case storage.CSIDriver():
                self.drivers[obj.name] = obj
            case storage.CSINode():
                self.csi_nodes[obj.name] = obj
                self.version += 1
            case storage.CSIStorageCapacity():
                self._drop_capacity(obj.key)
                self.capacities[obj.storage_class_name][obj.key] = obj
                self.capacity_versions[obj.storage_class_name] += 1
            case storage.VolumeAttachment():
                self._drop_attachment(obj.name)
                self._attachments[obj.name] = obj
                for place in _places(obj):
                    self._attachment_of.setdefault(place, {})[obj.name] = None
                self._stale_attachments[obj.name] = None

    def remove(self, kind: type[Object], key: str) -> None:
        if kind is storage.PersistentVolume:
            self._drop_volume(key)
        elif kind is storage.PersistentVolumeClaim:
            self._drop_claim(key)
        elif kind is storage.StorageClass and self.classes.pop(key, None) is not None:
            self._stale |= dict.fromkeys(self.pods)
        elif kind is storage.CSIDriver:
            self.drivers.pop(key, None)
        elif kind is storage.CSINode and self.csi_nodes.pop(key, None) is not None:
            self.version += 1
        elif kind is storage.CSIStorageCapacity:
            self._drop_capacity(key)
        elif kind is storage.VolumeAttachment:
            self._drop_attachment(key)

    def set_pod(self, row: int, pod: Pod) -> None:
        """What a pod that is new, or has changed, uses."""
        found = pod_volumes(pod) if pod.spec.volumes else None
        before = self.pods.get(row)
        if found == before:
            return
        if before is not None:
            self.remove_pod(row)
        if found is None:
            return
        self.pods[row] = found
        for claim in found.claims:
            self.users.setdefault(claim.key, {})[row] = None
        for disk in found.disks:
            self.disks.setdefault((disk.kind, disk.id), {})[row] = None
        self._stale[row] = None

    def remove_pod(self, row: int) -> None:
        found = self.pods.pop(row, None)
        if found is None:
            return
        for claim in found.claims:
            _discard(self.users, claim.key, row)
        for disk in found.disks:
            _discard(self.disks, (disk.kind, disk.id), row)
        self.faulty.pop(row, None)
        self._stale.pop(row, None)
        self._attached.set(self._attached.users, row, ())

    def node_changed(self, name: str) -> None:
        """A node came or went: it has another slot now, or none."""
        self.version += 1
        self._stale_attachments |= self._attachment_of.get(("node", name), {})

    def _set_volume(self, volume: storage.PersistentVolume) -> None:
        self._drop_volume(volume.name)
        self.volumes[volume.name] = volume
        if volume.spec.claim_ref is None:
            self.unbound[volume.storage_class][volume.name] = volume
            self.pool_versions[volume.storage_class] += 1
        else:
            self.kept_for[volume.spec.claim_ref.key][volume.name] = None

    def _drop_volume(self, name: str) -> None:
        self._touch_volume(name)
        old = self.volumes.pop(name, None)
        if old is None:
            return
        if old.spec.claim_ref is None:
            del self.unbound[old.storage_class][name]
            self.pool_versions[old.storage_class] += 1
        else:
            _discard(self.kept_for, old.spec.claim_ref.key, name)

    def _touch_volume(self, name: str) -> None:
        for claim in self._claims_of.get(name, ()):
            self._stale |= self.users.get(claim, {})
        self._stale_attachments |= self._attachment_of.get(("volume", name), {})

    def _set_claim(self, claim: storage.PersistentVolumeClaim) -> None:
        self._drop_claim(claim.key)
        self.claims[claim.key] = claim
        if claim.spec.volume_name:
            self._claims_of.setdefault(claim.spec.volume_name, {})[claim.key] = None

    def _drop_claim(self, key: str) -> None:
        self._stale |= self.users.get(key, {})
        old = self.claims.pop(key, None)
        if old is not None and old.spec.volume_name:
            _discard(self._claims_of, old.spec.volume_name, key)

    def _drop_capacity(self, key: str) -> None:
        for name, pools in self.capacities.items():
            if pools.pop(key, None) is not None:
                self.capacity_versions[name] += 1

    def _drop_attachment(self, name: str) -> None:
        old = self._attachments.pop(name, None)
        if old is not None:
            for place in _places(old):
                _discard(self._attachment_of, place, name)
            self._stale_attachments[name] = None

    # --- reservations ---------------------------------------------------------------------------------------

    def reserve(self, volumes: dict[str, str], nodes: dict[str, str]) -> tuple[list[Any], list[Any]]:
        """Keep volumes for claims, and nodes for claims; returns what `restore` needs."""
        before = (
            [(name, self.taken.get(name)) for name in volumes],
            [(claim, self.selected.get(claim)) for claim in nodes],
        )
        self.taken |= volumes
        self.selected |= nodes
        return before

    def restore(self, before: tuple[list[Any], list[Any]]) -> None:
        for table, entries in zip((self.taken, self.selected), before, strict=True):
            for key, value in entries:
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value

    # --- what is attached where -----------------------------------------------------------------------------

    @property
    def attached(self) -> AttachedTable:
        """Brought up to date for pods, claims, volumes and attachments that changed."""
        table = self._attached
        if self._stale:
            for row in self._stale:
                table.set(table.users, row, self._uses(row, self.pods[row]))
            self._stale.clear()
        if self._stale_attachments:
            names, self._stale_attachments = self._stale_attachments, {}
            slots = {self._holders.pop(name) for name in names if name in self._holders}
            for name in names:
                slot = self._slot_of(name)
                if slot is not None:
                    self._holders[name] = slot
                    slots.add(slot)
            for slot in slots:
                table.set(table.attachments, slot, self._attached_to(slot))
        return table

    def _slot_of(self, attachment: str) -> int | None:
        found = self._attachments.get(attachment)
        return None if found is None else self._nodes.slot_of.get(found.spec.node_name)

    def _attached_to(self, slot: int) -> tuple[Use, ...]:
        uses = []
        for name in self._attachment_of.get(("node", self._nodes.names[slot]), ()):
            spec = self._attachments[name].spec
            volume = self.volumes.get(spec.source.persistent_volume_name)
            if spec.attacher and volume is not None and volume.spec.csi is not None:
                uses.append(Use(spec.attacher, volume.spec.csi.volume_handle, in_tree=False))
        return tuple(uses)

    def _uses(self, row: int, pod: PodVolumes) -> tuple[Use, ...]:
        self.faulty.pop(row, None)
        uses = [Use(driver, handle, in_tree=True) for driver, handle in pod.inline]
        for each in pod.claims:
            claim = self.claims.get(each.key)
            if claim is None:
                continue
            if each.ephemeral and not owns(pod, claim):
                self.faulty.setdefault(row, NOT_OWNER.format(claim=claim.key, pod=pod.pod))
                continue
            use = self.use_of(claim)
            if use is not None:
                uses.append(use)
        return tuple(uses)

    def use_of(self, claim: storage.PersistentVolumeClaim) -> Use | None:
        """What a claim counts for; None when no driver attaches it."""
        volume = self.volumes.get(claim.spec.volume_name)
        if volume is None:
            return self._by_class(claim)
        if volume.spec.csi is not None:
            found = Use(volume.spec.csi.driver, volume.spec.csi.volume_handle, in_tree=False)
        else:
            plugin = plugin_of(volume.spec)
            if plugin is None:
                return None
            found = Use(plugin.driver, handle_of(volume.spec, volume.metadata.labels), in_tree=True)
        return found if found.driver and found.handle else None

    def _by_class(self, claim: storage.PersistentVolumeClaim) -> Use | None:
        """A claim without a volume counts for the provisioner of its class."""
        found = self.classes.get(claim.storage_class) if claim.storage_class else None
        if found is None or not found.provisioner or found.provisioner in NEVER_COUNTED:
            return None
        driver = DRIVERS.get(found.provisioner)
        # A space: no handle that a driver made is mistaken for it.
        handle = f"claim {claim.key}"
        return Use(driver or found.provisioner, handle, in_tree=driver is not None)

    # --- questions ------------------------------------------------------------------------------------------

    def volumes_for(self, claim: storage.PersistentVolumeClaim) -> list[storage.PersistentVolume]:
        """Volumes of the claim's class that are kept for it, by name."""
        names = dict.fromkeys(self.kept_for.get(claim.key, ()))
        names |= {name: None for name, key in self.taken.items() if key == claim.key}
        found = [self.volumes[name] for name in sorted(names) if name in self.volumes]
        return [
            volume
            for volume in found
            if volume.storage_class == claim.storage_class
            and self.taken.get(volume.name, claim.key) == claim.key
            and belongs(volume, claim)
        ]

    def conflicting(self, disk: Disk) -> Iterable[int]:
        """Rows of pods with a disk that cannot be on one node with this one."""
        for row in self.disks.get((disk.kind, disk.id), ()):
            if any(disk.conflicts(each) for each in self.pods[row].disks):
                yield row


def owns(pod: PodVolumes, claim: storage.PersistentVolumeClaim) -> bool:
    """Whether an ephemeral volume's claim was made for this pod, and not for an older one of its name."""
    return claim.owner_uid != "" and claim.owner_uid == pod.uid


def belongs(volume: storage.PersistentVolume, claim: storage.PersistentVolumeClaim) -> bool:
    """Whether a volume without `claimRef`, or one for this very claim."""
    kept = volume.spec.claim_ref
    return kept is None or (kept.key == claim.key and kept.uid in ("", claim.metadata.uid))


def _places(attachment: storage.VolumeAttachment) -> tuple[tuple[str, str], tuple[str, str]]:
    spec = attachment.spec
    return ("node", spec.node_name), ("volume", spec.source.persistent_volume_name)


def _discard(table: Any, key: Any, member: Any) -> None:
    members = cast("dict[Any, None]", table[key])
    members.pop(member, None)
    if not members:
        del table[key]
