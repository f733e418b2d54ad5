"""What volumes keep a pod from."""

from reprieve.cluster import NOT_OWNER as _NOT_OWNER

# Kubernetes' own words: a node's objection.

FAR = "node(s) didn't match PersistentVolume's node affinity"
NOTHING = "node(s) didn't find available persistent volumes to bind"
FULL = "node(s) did not have enough free storage"
LOST = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
ZONE = "node(s) had no available volume zone"
TOO_MANY = "node(s) exceed max volume count"
DISK = "node(s) had no available disk"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)


def driver_not_installed(driver: str) -> str:
    return f"{driver} CSI driver is not installed on the node"


# Kubernetes' own words: claims that keep the pod from every node.

IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


def volume_not_found(volume: str) -> str:
    return f'persistentvolume "{volume}" not found'


def claim_not_found(claim: str) -> str:
    return f'persistentvolumeclaim "{claim}" not found'


def claim_not_made_yet(claim: str) -> str:
    return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{claim}"'


def claim_lost_its_volume(claim: str, volume: str) -> str:
    return f'persistentvolumeclaim "{claim}" bound to non-existent persistentvolume "{volume}"'


def claim_is_being_deleted(claim: str) -> str:
    return f'persistentvolumeclaim "{claim}" is being deleted'


def claim_of_another_pod(claim: str, pod: str) -> str:
    return _NOT_OWNER.format(claim=claim, pod=pod)


# Kubernetes' own words: attempts that fail.


def no_binding_mode(storage_class: str) -> str:
    text = f'VolumeBindingMode not set for StorageClass "{storage_class}"'
    return f'running PreFilter plugin "VolumeBinding": {text}'


def selector_is_invalid(claim: str) -> str:
    text = f"error creating internal label selector for claim: {claim}: not a valid selector"
    return f'running "VolumeBinding" filter plugin: {text}'


def volumes_cannot_be_counted(why: str) -> str:
    return f'running "NodeVolumeLimits" filter plugin: {why}'
