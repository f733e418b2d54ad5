"""Which kinds Reprieve knows: typed views, the versions it reads, and whether they live in a namespace."""

from typing import NamedTuple

from reprieve.objects import batch, core, devices, kueue, policy, scheduling, storage
from reprieve.objects.meta import Document, Object

_POD_GROUP_VERSIONS = ("v1beta1", "v1alpha3", "v1alpha2")
_KUEUE_VERSIONS = ("v1beta2", "v1beta1")
_DEVICE_VERSIONS = ("v1", "v1beta2")

STAND_IN_GROUP = "scheduling.reprieve.dev"
"""Where PodGroup and Workload live on API servers that do not serve them.

Not in their own group: a kube-apiserver serves scheduling.k8s.io itself, and no CustomResourceDefinition can
add a kind to a group that the server answers for.
"""
_MEANT_GROUPS = {STAND_IN_GROUP: "scheduling.k8s.io"}


class Kind(NamedTuple):
    view: type[Object]
    versions: tuple[str, ...]
    """Preferred one first; every one of them has, after normalisation, the same shape."""
    namespaced: bool


TABLE: dict[tuple[str, str], Kind] = {
    ("", "Pod"): Kind(core.Pod, ("v1",), True),
    ("", "Node"): Kind(core.Node, ("v1",), False),
    ("", "Namespace"): Kind(core.Namespace, ("v1",), False),
    ("", "LimitRange"): Kind(core.LimitRange, ("v1",), True),
    ("", "PersistentVolume"): Kind(storage.PersistentVolume, ("v1",), False),
    ("", "PersistentVolumeClaim"): Kind(storage.PersistentVolumeClaim, ("v1",), True),
    ("storage.k8s.io", "StorageClass"): Kind(storage.StorageClass, ("v1",), False),
    ("storage.k8s.io", "CSINode"): Kind(storage.CSINode, ("v1",), False),
    ("storage.k8s.io", "CSIDriver"): Kind(storage.CSIDriver, ("v1",), False),
    ("storage.k8s.io", "CSIStorageCapacity"): Kind(storage.CSIStorageCapacity, ("v1", "v1beta1"), True),
    ("storage.k8s.io", "VolumeAttachment"): Kind(storage.VolumeAttachment, ("v1",), False),
    ("batch", "Job"): Kind(batch.Job, ("v1",), True),
    ("policy", "PodDisruptionBudget"): Kind(policy.PodDisruptionBudget, ("v1", "v1beta1"), True),
    ("resource.k8s.io", "ResourceClaim"): Kind(devices.ResourceClaim, _DEVICE_VERSIONS, True),
    ("resource.k8s.io", "ResourceClaimTemplate"): Kind(devices.ResourceClaimTemplate, _DEVICE_VERSIONS, True),
    ("resource.k8s.io", "ResourceSlice"): Kind(devices.ResourceSlice, _DEVICE_VERSIONS, False),
    ("resource.k8s.io", "DeviceClass"): Kind(devices.DeviceClass, _DEVICE_VERSIONS, False),
    ("resource.k8s.io", "DeviceTaintRule"): Kind(devices.DeviceTaintRule, _DEVICE_VERSIONS, False),
    ("scheduling.k8s.io", "PriorityClass"): Kind(scheduling.PriorityClass, ("v1",), False),
    ("scheduling.k8s.io", "PodGroup"): Kind(scheduling.PodGroup, _POD_GROUP_VERSIONS, True),
    ("scheduling.k8s.io", "CompositePodGroup"): Kind(scheduling.CompositePodGroup, ("v1alpha3",), True),
    ("scheduling.k8s.io", "Workload"): Kind(scheduling.Workload, _POD_GROUP_VERSIONS, True),
    ("kueue.x-k8s.io", "ClusterQueue"): Kind(kueue.ClusterQueue, _KUEUE_VERSIONS, False),
    ("kueue.x-k8s.io", "Cohort"): Kind(kueue.Cohort, _KUEUE_VERSIONS, False),
    ("kueue.x-k8s.io", "LocalQueue"): Kind(kueue.LocalQueue, _KUEUE_VERSIONS, True),
    ("kueue.x-k8s.io", "ResourceFlavor"): Kind(kueue.ResourceFlavor, _KUEUE_VERSIONS, False),
    ("kueue.x-k8s.io", "WorkloadPriorityClass"): Kind(kueue.WorkloadPriorityClass, _KUEUE_VERSIONS, False),
    ("kueue.x-k8s.io", "Workload"): Kind(kueue.Workload, _KUEUE_VERSIONS, True),
    ("kueue.x-k8s.io", "Topology"): Kind(kueue.Topology, _KUEUE_VERSIONS, False),
    ("kueue.x-k8s.io", "AdmissionCheck"): Kind(kueue.AdmissionCheck, _KUEUE_VERSIONS, False),
    ("kueue.x-k8s.io", "MultiKueueConfig"): Kind(kueue.MultiKueueConfig, _KUEUE_VERSIONS, False),
    ("kueue.x-k8s.io", "MultiKueueCluster"): Kind(kueue.MultiKueueCluster, _KUEUE_VERSIONS, False),
}

KINDS: dict[tuple[str, str], type[Object]] = {key: kind.view for key, kind in TABLE.items()}
"""(API group, kind) to typed view."""


def group_version(document: Document) -> tuple[str, str]:
    """(group, version) of `apiVersion`, empty strings where it is missing. The core group is empty, too."""
    api_version = document.get("apiVersion")
    if not isinstance(api_version, str):
        return "", ""
    group, _, version = api_version.rpartition("/")
    return group, version


def kind_key(document: Document) -> tuple[str, str]:
    """The key of `TABLE` for a raw document."""
    kind, group = document.get("kind"), group_version(document)[0]
    return _MEANT_GROUPS.get(group, group), kind if isinstance(kind, str) else ""


_ONCE_READ = {
    ("scheduling.k8s.io", "Workload", "v1alpha1"): (
        "it held the pod groups themselves: write each of spec.podGroups as a PodGroup of v1beta1 "
        "(policy is spec.schedulingPolicy), and link its pods by spec.schedulingGroup.podGroupName"
    ),
}
"""What became of versions that had another model."""


def unread_version(key: tuple[str, str], version: str) -> str:
    """The sentence about a version of a known kind that is not read."""
    text = f"version {version!r} is not one of {', '.join(TABLE[key].versions)}"
    more = _ONCE_READ.get((*key, version))
    return f"{text}; {more}" if more else text
