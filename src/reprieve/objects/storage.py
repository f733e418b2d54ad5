"""Volumes, claims, storage classes and what CSI drivers publish: the parts that scheduling reads."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty dict

from reprieve.objects import well_known
from reprieve.objects.core import NodeSelector, Quantity, ResourceList, ResourceRequirements
from reprieve.objects.meta import Int32, LabelSelector, Object, View
from reprieve.objects.volumes import CSISource, InTreeDisks


class ClaimReference(View):
    """Which claim a volume is bound to, or kept for."""

    namespace: str = ""
    name: str = ""
    uid: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class VolumeNodeAffinity(View):
    required: NodeSelector | None = None


class PersistentVolumeSpec(InTreeDisks):
    capacity: ResourceList = {}
    access_modes: tuple[str, ...] = ()
    storage_class_name: str = ""
    volume_mode: str = "Filesystem"
    volume_attributes_class_name: str = ""
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSISource | None = None


class PersistentVolumeStatus(View):
    phase: str = ""


class PersistentVolume(Object):
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()

    @property
    def storage_class(self) -> str:
        """By the old annotation, else by its field; empty for none."""
        return self.metadata.annotations.get(well_known.OLD_STORAGE_CLASS, self.spec.storage_class_name)

    @property
    def size(self) -> Quantity:
        return self.spec.capacity.get("storage", 0)


class PersistentVolumeClaimSpec(View):
    access_modes: tuple[str, ...] = ()
    storage_class_name: str | None = None
    volume_name: str = ""
    volume_mode: str = "Filesystem"
    volume_attributes_class_name: str = ""
    selector: LabelSelector | None = None
    resources: ResourceRequirements = ResourceRequirements()


class PersistentVolumeClaimStatus(View):
    phase: str = ""


class PersistentVolumeClaim(Object):
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @property
    def storage_class(self) -> str:
        """By the old annotation, else by its field; empty for none."""
        return self.metadata.annotations.get(well_known.OLD_STORAGE_CLASS, self.spec.storage_class_name or "")

    @property
    def request(self) -> Quantity:
        return self.spec.resources.requests.get("storage", 0)

    @property
    def fully_bound(self) -> bool:
        """Bound, and the controller has finished with it."""
        return bool(self.spec.volume_name) and well_known.BIND_COMPLETED in self.metadata.annotations

    @property
    def owner_uid(self) -> str:
        """The UID of its controller: of the pod that an ephemeral volume's claim was made for."""
        return next((each.uid for each in self.metadata.owner_references if each.controller), "")


class TopologyRequirement(View):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologyTerm(View):
    match_label_expressions: tuple[TopologyRequirement, ...] = ()


class StorageClass(Object):
    provisioner: str = ""
    volume_binding_mode: str = ""
    allowed_topologies: tuple[TopologyTerm, ...] = ()


class VolumeNodeResources(View):
    count: Int32 | None = None


class CSINodeDriver(View):
    name: str = ""
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(View):
    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(Object):
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(View):
    storage_capacity: bool = False
    prevent_pod_scheduling_if_missing: bool = False


class CSIDriver(Object):
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Object):
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None

    @property
    def limit(self) -> Quantity | None:
        """The largest volume that can be made from it; None when it does not say."""
        return self.capacity if self.maximum_volume_size is None else self.maximum_volume_size


class AttachmentSource(View):
    persistent_volume_name: str = ""


class VolumeAttachmentSpec(View):
    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(Object):
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()


STORAGE_KINDS: tuple[type[Object], ...] = (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
)
