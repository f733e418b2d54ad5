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
from reprieve.objects import STAND_IN_GROUP, TABLE, well_known


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


def _of(group: str, kind: str, stand_in: str = "") -> Resource:
    """In the preferred version; documents of a kind that decisions read become views."""
    row = TABLE[group, kind]
    return Resource(group, row.versions[0], kind, row.plural, row.namespaced, row.view or dict, stand_in)


_SCHEDULING, _KUEUE, _STORAGE = well_known.SCHEDULING_API, well_known.KUEUE_API, well_known.STORAGE_API
_DEVICES = well_known.DEVICE_API

PODS = _of("", "Pod")
NODES = _of("", "Node")
NAMESPACES = _of("", "Namespace")
LIMIT_RANGES = _of("", "LimitRange")
JOBS = _of("batch", "Job")
BUDGETS = _of("policy", "PodDisruptionBudget")
PRIORITY_CLASSES = _of(_SCHEDULING, "PriorityClass")
POD_GROUPS = _of(_SCHEDULING, "PodGroup", STAND_IN_GROUP)
COMPOSITE_POD_GROUPS = _of(_SCHEDULING, "CompositePodGroup")
WORKLOADS = _of(_SCHEDULING, "Workload", STAND_IN_GROUP)
RUNTIME_CLASSES = _of("node.k8s.io", "RuntimeClass")
CRON_JOBS = _of("batch", "CronJob")
DEPLOYMENTS = _of("apps", "Deployment")
REPLICA_SETS = _of("apps", "ReplicaSet")
STATEFUL_SETS = _of("apps", "StatefulSet")
DAEMON_SETS = _of("apps", "DaemonSet")
SECRETS = _of("", "Secret")
RESOURCE_QUOTAS = _of("", "ResourceQuota")
WEBHOOKS = _of("admissionregistration.k8s.io", "MutatingWebhookConfiguration")
LEASES = _of("coordination.k8s.io", "Lease")
EVENTS = _of("events.k8s.io", "Event")
CORE_EVENTS = _of("", "Event")

CLUSTER_QUEUES = _of(_KUEUE, "ClusterQueue")
LOCAL_QUEUES = _of(_KUEUE, "LocalQueue")
TOPOLOGIES = _of(_KUEUE, "Topology")
RESOURCE_FLAVORS = _of(_KUEUE, "ResourceFlavor")
COHORTS = _of(_KUEUE, "Cohort")
KUEUE_WORKLOADS = _of(_KUEUE, "Workload")
WORKLOAD_PRIORITY_CLASSES = _of(_KUEUE, "WorkloadPriorityClass")
ADMISSION_CHECKS = _of(_KUEUE, "AdmissionCheck")
MULTIKUEUE_CONFIGS = _of(_KUEUE, "MultiKueueConfig")
MULTIKUEUE_CLUSTERS = _of(_KUEUE, "MultiKueueCluster")

VOLUMES = _of("", "PersistentVolume")
CLAIMS = _of("", "PersistentVolumeClaim")
STORAGE_KINDS = (
    _of(_STORAGE, "StorageClass"),
    _of(_STORAGE, "CSIDriver"),
    _of(_STORAGE, "CSINode"),
    _of(_STORAGE, "CSIStorageCapacity"),
    VOLUMES,
    CLAIMS,
    _of(_STORAGE, "VolumeAttachment"),
)
"""What decides where the volumes of a pod can be had."""

RESOURCE_CLAIMS = _of(_DEVICES, "ResourceClaim")
CLAIM_TEMPLATES = _of(_DEVICES, "ResourceClaimTemplate")
DEVICE_CLASSES = _of(_DEVICES, "DeviceClass")
RESOURCE_SLICES = _of(_DEVICES, "ResourceSlice")
DEVICE_KINDS = (
    DEVICE_CLASSES,
    RESOURCE_SLICES,
    _of(_DEVICES, "DeviceTaintRule"),
    RESOURCE_CLAIMS,
)
"""What decides which devices a pod gets; older servers do not have them."""

SELECTING_KINDS = (
    _of("", "Service"),
    _of("", "ReplicationController"),
    REPLICA_SETS,
    STATEFUL_SETS,
)
"""What decides how pods that say nothing are spread."""

SCHEDULER_KINDS = (
    NAMESPACES,
    NODES,
    PODS,
    BUDGETS,
    PRIORITY_CLASSES,
    POD_GROUPS,
    COMPOSITE_POD_GROUPS,
    *SELECTING_KINDS,
    *STORAGE_KINDS,
    *DEVICE_KINDS,
)
"""What decides where a pod goes and which pods it preempts."""

ADMISSION_KINDS = (LIMIT_RANGES, RESOURCE_QUOTAS, RUNTIME_CLASSES)
"""What an API server does to new pods by; who asks what would happen reads them, a scheduler does not."""

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
