"""The one table of kinds: how each is spelled, which versions are read, and what its documents become."""

from typing import NamedTuple

from reprieve.objects import batch, core, devices, kueue, policy, scheduling, storage, well_known
from reprieve.objects.errors import InvalidObject
from reprieve.objects.meta import Document, Object

_POD_GROUP_VERSIONS = ("v1beta1", "v1alpha3", "v1alpha2")
_KUEUE_VERSIONS = ("v1beta2", "v1beta1")
_DEVICE_VERSIONS = ("v1", "v1beta2")
_SCHEDULING, _KUEUE, _STORAGE = well_known.SCHEDULING_API, well_known.KUEUE_API, well_known.STORAGE_API
_DEVICES, _NETWORKING = well_known.DEVICE_API, "networking.k8s.io"
_RBAC, _WEBHOOKS = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"

STAND_IN_GROUP = "scheduling.reprieve.dev"
"""Where PodGroup and Workload live on API servers that do not serve them.

Not in their own group: a kube-apiserver serves scheduling.k8s.io itself, and no CustomResourceDefinition can
add a kind to a group that the server answers for.
"""
_MEANT_GROUPS = {STAND_IN_GROUP: _SCHEDULING}


class Kind(NamedTuple):
    """What any room needs to know to name a kind, to ask for it and to serve it."""

    group: str
    kind: str
    plural: str
    versions: tuple[str, ...] = ("v1",)
    """Preferred one first; all that are read have the same shape after normalisation."""
    view: type[Object] | None = None
    """What its documents become where a decision reads them; None: no decision does."""
    short_names: tuple[str, ...] = ()
    """What kubectl takes for the plural."""
    namespaced: bool = True
    has_status: bool = False
    """Whether its status is written through a subresource."""


_ROWS = (
    Kind("", "Pod", "pods", view=core.Pod, short_names=("po",), has_status=True),
    Kind("", "Node", "nodes", view=core.Node, short_names=("no",), namespaced=False, has_status=True),
    Kind("", "Namespace", "namespaces", view=core.Namespace, short_names=("ns",), namespaced=False,
         has_status=True),
    Kind("", "LimitRange", "limitranges", view=core.LimitRange, short_names=("limits",)),
    Kind("", "ResourceQuota", "resourcequotas", short_names=("quota",), has_status=True),
    Kind("", "PersistentVolume", "persistentvolumes", view=storage.PersistentVolume,
         short_names=("pv",), namespaced=False, has_status=True),
    Kind("", "PersistentVolumeClaim", "persistentvolumeclaims", view=storage.PersistentVolumeClaim,
         short_names=("pvc",), has_status=True),
    Kind("", "ConfigMap", "configmaps", short_names=("cm",)),
    Kind("", "Secret", "secrets"),
    Kind("", "ServiceAccount", "serviceaccounts", short_names=("sa",)),
    Kind("", "Event", "events", short_names=("ev",)),
    Kind("", "Service", "services", short_names=("svc",), has_status=True),
    Kind("", "Endpoints", "endpoints", short_names=("ep",)),
    Kind("", "PodTemplate", "podtemplates"),
    Kind("", "ReplicationController", "replicationcontrollers", short_names=("rc",), has_status=True),
    Kind("", "Binding", "bindings"),
    Kind("apps", "Deployment", "deployments", short_names=("deploy",), has_status=True),
    Kind("apps", "ReplicaSet", "replicasets", short_names=("rs",), has_status=True),
    Kind("apps", "StatefulSet", "statefulsets", short_names=("sts",), has_status=True),
    Kind("apps", "DaemonSet", "daemonsets", short_names=("ds",), has_status=True),
    Kind("apps", "ControllerRevision", "controllerrevisions"),
    Kind("batch", "Job", "jobs", view=batch.Job, has_status=True),
    Kind("batch", "CronJob", "cronjobs", short_names=("cj",), has_status=True),
    Kind("policy", "PodDisruptionBudget", "poddisruptionbudgets", ("v1", "v1beta1"),
         view=policy.PodDisruptionBudget, short_names=("pdb",), has_status=True),
    Kind("coordination.k8s.io", "Lease", "leases"),
    Kind("events.k8s.io", "Event", "events", short_names=("ev",)),
    Kind("autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers", ("v2",),
         short_names=("hpa",), has_status=True),
    Kind(_NETWORKING, "NetworkPolicy", "networkpolicies", short_names=("netpol",)),
    Kind(_NETWORKING, "Ingress", "ingresses", short_names=("ing",), has_status=True),
    Kind(_NETWORKING, "IngressClass", "ingressclasses", namespaced=False),
    Kind("discovery.k8s.io", "EndpointSlice", "endpointslices"),
    Kind("node.k8s.io", "RuntimeClass", "runtimeclasses", namespaced=False),
    Kind("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions",
         short_names=("crd", "crds"), namespaced=False, has_status=True),
    Kind(_WEBHOOKS, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", namespaced=False),
    Kind(_WEBHOOKS, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", namespaced=False),
    Kind(_RBAC, "Role", "roles"),
    Kind(_RBAC, "RoleBinding", "rolebindings"),
    Kind(_RBAC, "ClusterRole", "clusterroles", namespaced=False),
    Kind(_RBAC, "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    Kind(_STORAGE, "StorageClass", "storageclasses", view=storage.StorageClass, short_names=("sc",),
         namespaced=False),
    Kind(_STORAGE, "CSIDriver", "csidrivers", view=storage.CSIDriver, namespaced=False),
    Kind(_STORAGE, "CSINode", "csinodes", view=storage.CSINode, namespaced=False, has_status=True),
    Kind(_STORAGE, "CSIStorageCapacity", "csistoragecapacities", ("v1", "v1beta1"),
         view=storage.CSIStorageCapacity),
    Kind(_STORAGE, "VolumeAttachment", "volumeattachments", view=storage.VolumeAttachment,
         namespaced=False, has_status=True),
    Kind(_DEVICES, "DeviceClass", "deviceclasses", _DEVICE_VERSIONS, view=devices.DeviceClass,
         namespaced=False),
    Kind(_DEVICES, "DeviceTaintRule", "devicetaintrules", _DEVICE_VERSIONS,
         view=devices.DeviceTaintRule, namespaced=False, has_status=True),
    Kind(_DEVICES, "ResourceClaim", "resourceclaims", _DEVICE_VERSIONS, view=devices.ResourceClaim,
         has_status=True),
    Kind(_DEVICES, "ResourceClaimTemplate", "resourceclaimtemplates", _DEVICE_VERSIONS,
         view=devices.ResourceClaimTemplate),
    Kind(_DEVICES, "ResourceSlice", "resourceslices", _DEVICE_VERSIONS, view=devices.ResourceSlice,
         namespaced=False),
    Kind(_SCHEDULING, "PriorityClass", "priorityclasses", view=scheduling.PriorityClass,
         short_names=("pc",), namespaced=False),
    Kind(_SCHEDULING, "PodGroup", "podgroups", _POD_GROUP_VERSIONS, view=scheduling.PodGroup,
         has_status=True),
    Kind(_SCHEDULING, "CompositePodGroup", "compositepodgroups", ("v1alpha3",),
         view=scheduling.CompositePodGroup, has_status=True),
    Kind(_SCHEDULING, "Workload", "workloads", _POD_GROUP_VERSIONS, view=scheduling.Workload),
    Kind(_KUEUE, "ClusterQueue", "clusterqueues", _KUEUE_VERSIONS, view=kueue.ClusterQueue,
         short_names=("cq",), namespaced=False, has_status=True),
    Kind(_KUEUE, "Cohort", "cohorts", _KUEUE_VERSIONS, view=kueue.Cohort, namespaced=False, has_status=True),
    Kind(_KUEUE, "LocalQueue", "localqueues", _KUEUE_VERSIONS, view=kueue.LocalQueue,
         short_names=("queue", "queues", "lq"), has_status=True),
    Kind(_KUEUE, "ResourceFlavor", "resourceflavors", _KUEUE_VERSIONS, view=kueue.ResourceFlavor,
         short_names=("flavor", "flavors", "rf"), namespaced=False),
    Kind(_KUEUE, "Workload", "workloads", _KUEUE_VERSIONS, view=kueue.Workload, short_names=("wl",),
         has_status=True),
    Kind(_KUEUE, "WorkloadPriorityClass", "workloadpriorityclasses", _KUEUE_VERSIONS,
         view=kueue.WorkloadPriorityClass, namespaced=False),
    Kind(_KUEUE, "AdmissionCheck", "admissionchecks", _KUEUE_VERSIONS, view=kueue.AdmissionCheck,
         namespaced=False, has_status=True),
    Kind(_KUEUE, "Topology", "topologies", _KUEUE_VERSIONS, view=kueue.Topology, namespaced=False),
    Kind(_KUEUE, "MultiKueueConfig", "multikueueconfigs", _KUEUE_VERSIONS, view=kueue.MultiKueueConfig,
         namespaced=False),
    Kind(_KUEUE, "MultiKueueCluster", "multikueueclusters", _KUEUE_VERSIONS,
         view=kueue.MultiKueueCluster, namespaced=False, has_status=True),
    Kind(_KUEUE, "ProvisioningRequestConfig", "provisioningrequestconfigs", _KUEUE_VERSIONS,
         namespaced=False),
)  # fmt: skip
TABLE: dict[tuple[str, str], Kind] = {(row.group, row.kind): row for row in _ROWS}
"""Every kind that Reprieve names, by API group and kind. Kinds of jobs of other projects: `jobs.kinds`."""

KINDS: dict[tuple[str, str], type[Object]] = {key: row.view for key, row in TABLE.items() if row.view}
"""Those that decisions read, with their typed view."""


def resource_name(group: str, name: str) -> str:
    """`Pod/status` as roles and paths have it: `pods/status`."""
    kind, slash, subresource = name.partition("/")
    return f"{TABLE[_MEANT_GROUPS.get(group, group), kind].plural}{slash}{subresource}"


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


def refuse_unread_version(document: Document) -> None:
    """Of a kind that decisions read: another version may mean something else by the same words."""
    key, version = kind_key(document), group_version(document)[1]
    if key in KINDS and version not in TABLE[key].versions:
        raise InvalidObject("apiVersion", document.get("apiVersion"), unread_version(key, version))


def unread_version(key: tuple[str, str], version: str) -> str:
    """The sentence about a version of a known kind that is not read."""
    text = f"version {version!r} is not one of {', '.join(TABLE[key].versions)}"
    more = _ONCE_READ.get((*key, version))
    return f"{text}; {more}" if more else text
