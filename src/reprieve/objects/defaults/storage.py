"""Volumes of pods, claims, persistent volumes, storage classes and drivers."""

from typing import Any

from reprieve.objects.defaults.containers import default_divisor, default_field_reference, pull_policy
from reprieve.objects.meta import Document
from reprieve.objects.raw import at, fill, items, section

_READABLE = 0o644
_HOUR = 3600
_FILES = ("secret", "configMap", "downwardAPI", "projected")
"""Volumes made of files that the kubelet writes."""
_SOURCES: dict[str, dict[str, Any]] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def default_pod_volume(volume: Document) -> None:
    """A volume of nothing is an empty directory."""
    if len(volume) == 1 and "name" in volume:
        volume["emptyDir"] = {}
        return
    for kind in _FILES:
        fill(volume.get(kind), defaultMode=_READABLE)
    _default_downward(volume.get("downwardAPI"))
    for source in items(volume, "projected", "sources"):
        _default_downward(source.get("downwardAPI"))
        fill(source.get("serviceAccountToken"), expirationSeconds=_HOUR)
    default_source(volume)
    if isinstance(volume.get("image"), dict):
        fill(volume["image"], pullPolicy=pull_policy(volume["image"].get("reference")))
    if isinstance(at(volume, "ephemeral", "volumeClaimTemplate"), dict):
        fill(section(volume["ephemeral"]["volumeClaimTemplate"], "spec"), volumeMode="Filesystem")


def default_source(volume: Document) -> None:
    """Where the files of a volume come from, for the kinds that pods and persistent volumes share."""
    for kind, defaults in _SOURCES.items():
        if kind in volume:
            fill(volume[kind], **defaults)


def _default_downward(volume: Any) -> None:
    for item in items(volume, "items"):
        default_field_reference(item.get("fieldRef"))
        default_divisor(item.get("resourceFieldRef"))


def default_claim(document: Document) -> None:
    section(document, "spec").setdefault("volumeMode", "Filesystem")
    section(document, "spec", "resources")
    section(document, "status").setdefault("phase", "Pending")


def default_volume(document: Document) -> None:
    spec = section(document, "spec")
    fill(spec, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    default_source(spec)
    section(document, "status").setdefault("phase", "Pending")


def protect(document: Document, finalizer: str) -> None:
    """A new claim or volume is not removed while it is in use."""
    finalizers = section(document, "metadata").setdefault("finalizers", [])
    if finalizer not in finalizers:
        finalizers.append(finalizer)


def default_storage_class(document: Document) -> None:
    fill(document, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def default_driver(document: Document) -> None:
    spec = section(document, "spec")
    spec.setdefault("attachRequired", True)
    for field in ("podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"):
        spec.setdefault(field, False)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
