"""Which kinds we use, their paths and typed views, and which of them a server serves.

A `Resource` is one served version of one kind. `view` is the typed struct of `reprieve.objects` that its
documents become; `dict` keeps them raw.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import msgspec

from reprieve.jobs import JobKind
from reprieve.kube.errors import ApiError
from reprieve.objects import (
    STAND_IN_GROUP,
    Object,
    batch,
    core,
    devices,
    kueue,
    policy,
    scheduling,
    storage,
    well_known,
)


@dataclass(frozen=True, slots=True)
class Resource:
    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    view: type[Any] = dict
    stand_in: str = ""
    """The group that has the kind on servers whose own group lacks it (`manifests crds`)."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """The path of the group and version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of the collection, of one object, or of a subresource of it."""
        parts = [self.root]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)

    def at(self, version: str, group: str | None = None) -> "Resource":
        return replace(self, version=version, group=self.group if group is None else group)

    def raw(self) -> "Resource":
        """The same resource, its documents left as they came."""
        return replace(self, view=dict)


def _resource(group: str, version: str, view: type[Object], plural: str, namespaced: bool = True) -> Resource:
    return Resource(group, version, view.__name__, plural, namespaced, view)


SCHEDULING = well_known.SCHEDULING_API
KUEUE = well_known.KUEUE_API
STORAGE = well_known.STORAGE_API

PODS = _resource("", "v1", core.Pod, "pods")
NODES = _resource("", "v1", core.Node, "nodes", namespaced=False)
NAMESPACES = _resource("", "v1", core.Namespace, "namespaces", namespaced=False)
LIMIT_RANGES = _resource("", "v1", core.LimitRange, "limitranges")
JOBS = _resource("batch", "v1", batch.Job, "jobs")
BUDGETS = _resource("policy", "v1", policy.PodDisruptionBudget, "poddisruptionbudgets")
PRIORITY_CLASSES = _resource(SCHEDULING, "v1", scheduling.PriorityClass, "priorityclasses", namespaced=False)
POD_GROUPS = replace(
    _resource(SCHEDULING, "v1beta1", scheduling.PodGroup, "podgroups"), stand_in=STAND_IN_GROUP
)
COMPOSITE_POD_GROUPS = _resource(SCHEDULING, "v1alpha3", scheduling.CompositePodGroup, "compositepodgroups")
WORKLOADS = replace(
    _resource(SCHEDULING, "v1beta1", scheduling.Workload, "workloads"), stand_in=STAND_IN_GROUP
)
RUNTIME_CLASSES = Resource("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", namespaced=False)
CRON_JOBS = Resource("batch", "v1", "CronJob", "cronjobs")
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments")
REPLICA_SETS = Resource("apps", "v1", "ReplicaSet", "replicasets")
STATEFUL_SETS = Resource("apps", "v1", "StatefulSet", "statefulsets")
DAEMON_SETS = Resource("apps", "v1", "DaemonSet", "daemonsets")
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")
EVENTS = Resource("events.k8s.io", "v1", "Event", "events")

CLUSTER_QUEUES = _resource(KUEUE, "v1beta2", kueue.ClusterQueue, "clusterqueues", namespaced=False)
LOCAL_QUEUES = _resource(KUEUE, "v1beta2", kueue.LocalQueue, "localqueues")
TOPOLOGIES = _resource(KUEUE, "v1beta2", kueue.Topology, "topologies", namespaced=False)
RESOURCE_FLAVORS = _resource(KUEUE, "v1beta2", kueue.ResourceFlavor, "resourceflavors", namespaced=False)
COHORTS = _resource(KUEUE, "v1beta2", kueue.Cohort, "cohorts", namespaced=False)
KUEUE_WORKLOADS = _resource(KUEUE, "v1beta2", kueue.Workload, "workloads")
WORKLOAD_PRIORITY_CLASSES = _resource(
    KUEUE, "v1beta2", kueue.WorkloadPriorityClass, "workloadpriorityclasses", namespaced=False
)
ADMISSION_CHECKS = _resource(KUEUE, "v1beta2", kueue.AdmissionCheck, "admissionchecks", namespaced=False)
MULTIKUEUE_CONFIGS = _resource(
    KUEUE, "v1beta2", kueue.MultiKueueConfig, "multikueueconfigs", namespaced=False
)
MULTIKUEUE_CLUSTERS = _resource(
    KUEUE, "v1beta2", kueue.MultiKueueCluster, "multikueueclusters", namespaced=False
)

VOLUMES = _resource("", "v1", storage.PersistentVolume, "persistentvolumes", namespaced=False)
CLAIMS = _resource("", "v1", storage.PersistentVolumeClaim, "persistentvolumeclaims")
STORAGE_KINDS = (
    _resource(STORAGE, "v1", storage.StorageClass, "storageclasses", namespaced=False),
    _resource(STORAGE, "v1", storage.CSIDriver, "csidrivers", namespaced=False),
    _resource(STORAGE, "v1", storage.CSINode, "csinodes", namespaced=False),
    _resource(STORAGE, "v1", storage.CSIStorageCapacity, "csistoragecapacities"),
    VOLUMES,
    CLAIMS,
    _resource(STORAGE, "v1", storage.VolumeAttachment, "volumeattachments", namespaced=False),
)
"""What decides where the volumes of a pod can be had."""

RESOURCE_CLAIMS = _resource("resource.k8s.io", "v1", devices.ResourceClaim, "resourceclaims")
CLAIM_TEMPLATES = _resource("resource.k8s.io", "v1", devices.ResourceClaimTemplate, "resourceclaimtemplates")
DEVICE_CLASSES = _resource("resource.k8s.io", "v1", devices.DeviceClass, "deviceclasses", namespaced=False)
RESOURCE_SLICES = _resource(
    "resource.k8s.io", "v1", devices.ResourceSlice, "resourceslices", namespaced=False
)
DEVICE_KINDS = (
    DEVICE_CLASSES,
    RESOURCE_SLICES,
    _resource("resource.k8s.io", "v1", devices.DeviceTaintRule, "devicetaintrules", namespaced=False),
    RESOURCE_CLAIMS,
)
"""What decides which devices a pod gets; older servers do not have them."""

SCHEDULER_KINDS = (
    NAMESPACES,
    NODES,
    PODS,
    BUDGETS,
    PRIORITY_CLASSES,
    POD_GROUPS,
    COMPOSITE_POD_GROUPS,
    *STORAGE_KINDS,
    *DEVICE_KINDS,
)
"""What decides where a pod goes and which pods it preempts."""

OWNER_KINDS = (JOBS, CRON_JOBS, DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS)
"""What creates pods."""

QUOTA_KINDS = (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    RESOURCE_FLAVORS,
    COHORTS,
    KUEUE_WORKLOADS,
    WORKLOAD_PRIORITY_CLASSES,
    ADMISSION_CHECKS,
    MULTIKUEUE_CONFIGS,
    MULTIKUEUE_CLUSTERS,
    LIMIT_RANGES,
)
"""What decides which workload may run."""


def job_resources(kinds: Iterable[JobKind]) -> list[Resource]:
    """Jobs of these kinds, raw."""
    return [Resource(each.group, each.versions[0], each.kind, each.plural) for each in kinds]


class Discovery:
    def __init__(self, request: Callable[[str, str], Awaitable[bytes]]) -> None:
        """`request(method, path)` returns the body of a success."""
        self._request = request
        self._found: dict[tuple[str, str, str], Resource] = {}
        self._documents: dict[str, dict[str, Any]] = {}

    async def find(self, resource: Resource) -> Resource | None:
        """The resource in the wanted version, else in the server's preferred one that has it, else in the
        group that stands in for its own; None if there is none."""
        key = (resource.group, resource.version, resource.plural)
        if key not in self._found:
            found = await self._look(resource)
            if found is None:
                self._documents.clear()  # it may be installed later
                return None
            self._found[key] = found
        return resource.at(self._found[key].version, self._found[key].group)

    async def groups(self) -> set[str]:
        """The groups that are served now; what was found before is forgotten."""
        self._found.clear()
        self._documents.clear()
        listed = (await self._document("/apis")).get("groups") or ()
        return {str(each.get("name")) for each in listed}

    async def _look(self, resource: Resource) -> Resource | None:
        found = await self._look_in(resource)
        if found is None and resource.stand_in:
            found = await self._look_in(resource.at(resource.version, resource.stand_in))
        return found

    async def _look_in(self, resource: Resource) -> Resource | None:
        """In the group that the resource names, and no other."""
        versions = [resource.version]
        if resource.group:
            group = await self._document(f"/apis/{resource.group}")
            versions = [entry["version"] for entry in group.get("versions") or ()]
        for version in sorted(versions, key=lambda each: each != resource.version):
            candidate = resource.at(version)
            listed = (await self._document(candidate.root)).get("resources") or ()
            if any(entry["name"] == resource.plural for entry in listed):
                return candidate
        return None

    async def _document(self, path: str) -> dict[str, Any]:
        """A discovery document; empty where there is none."""
        if path not in self._documents:
            try:
                self._documents[path] = msgspec.json.decode(await self._request("GET", path))
            except ApiError as error:
                if not error.not_found:
                    raise
                return {}
        return self._documents[path]
