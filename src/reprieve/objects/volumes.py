"""core/v1: the volumes of a pod and where the data of a volume lives, as far as scheduling reads it.

A pod names claims, or disks themselves. The in-tree disks below are served by CSI drivers today, so a node
counts them towards the driver's limit.
"""

import msgspec

from reprieve.objects.meta import View


class ClaimSource(View):
    """A claim of the pod's namespace, by name."""

    claim_name: str = ""
    read_only: bool = False


class EphemeralSource(View):
    """A claim that is made for the pod, `<pod>-<volume>`. Only that there is one matters here."""


class GCEPersistentDisk(View):
    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStore(View):
    volume_id: str = msgspec.field(name="volumeID", default="")
    read_only: bool = False


class AzureDisk(View):
    disk_uri: str = msgspec.field(name="diskURI", default="")


class Cinder(View):
    volume_id: str = msgspec.field(name="volumeID", default="")


class PortworxVolume(View):
    volume_id: str = msgspec.field(name="volumeID", default="")


class ISCSI(View):
    iqn: str = ""
    read_only: bool = False


class RBD(View):
    monitors: tuple[str, ...] = ()
    pool: str = ""
    image: str = ""
    read_only: bool = False


class CSISource(View):
    driver: str = ""
    volume_handle: str = ""


class InTreeDisks(View):
    """Disks that a pod names itself, or a PersistentVolume stands for."""

    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    cinder: Cinder | None = None
    portworx_volume: PortworxVolume | None = None


class Volume(InTreeDisks):
    """A volume of a pod. Kinds that bind a pod to no node (secrets, `emptyDir`) have a name only."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralSource | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
