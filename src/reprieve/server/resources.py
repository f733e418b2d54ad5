"""The built-in resources: what the table of kinds (`objects.kinds`) does not say of a kind that is served."""

from reprieve.objects import TABLE, well_known
from reprieve.server.autoscaler_versions import autoscaler_to_v1, autoscaler_to_v2
from reprieve.server.kueue_versions import to_v1beta1
from reprieve.server.registry import ALL_VERBS, ResourceInfo, ScalePaths

CREATE_ONLY = ("create",)
_ALL, _EXTENSIONS = ("all",), ("api-extensions",)

_NO_ADDRESS = "stored, but there is no network here: nothing answers at its address, and it gets no endpoints"
_NO_NETWORK = "stored, but there is no network here: nothing applies it to any traffic"
_NO_VOLUMES = "stored, but no storage driver runs here: nothing acts on it"
_NO_WEBHOOKS = "stored, but this server calls no webhooks: nothing is checked or changed by it"
_NO_LOAD = "stored, but pods on fake nodes have no load: nothing scales its target"


def _served(group: str, kind: str, *subresources: str, version: str = "", **more: object) -> ResourceInfo:
    """A kind of the table, in its preferred version or another one."""
    row = TABLE[group, kind]
    return ResourceInfo(
        group=group,
        version=version or row.versions[0],
        kind=kind,
        plural=row.plural,
        namespaced=row.namespaced,
        short_names=row.short_names,
        subresources=frozenset(("status", *subresources) if row.has_status else subresources),
        **more,  # type: ignore[arg-type]
    )


def _core() -> list[ResourceInfo]:
    scaled = ScalePaths()
    no_collection = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
    return [
        _served("", "Namespace", "finalize", verbs=no_collection),
        _served("", "Node"),
        _served("", "Pod", "binding", "eviction", "resize", categories=_ALL, has_generation=True),
        _served("", "ConfigMap"),
        _served("", "Secret"),
        _served("", "ServiceAccount", "token"),
        _served("", "Event"),
        _served("", "Service", categories=_ALL, inert=_NO_ADDRESS),
        _served("", "Endpoints"),
        _served("", "LimitRange"),
        _served("", "ResourceQuota"),
        _served("", "PersistentVolumeClaim"),
        _served("", "PersistentVolume"),
        _served("", "PodTemplate", has_generation=True),
        _served(
            "", "ReplicationController", "scale", categories=_ALL, scale_paths=scaled, has_generation=True
        ),
        _served("", "Binding", verbs=CREATE_ONLY),
    ]


def _workloads() -> list[ResourceInfo]:
    def scaled(kind: str) -> ResourceInfo:
        return _served("apps", kind, "scale", categories=_ALL, scale_paths=ScalePaths(), has_generation=True)

    return [
        scaled("Deployment"),
        scaled("ReplicaSet"),
        scaled("StatefulSet"),
        _served("apps", "DaemonSet", categories=_ALL, has_generation=True),
        _served("batch", "Job", categories=_ALL, has_generation=True),
        _served("batch", "CronJob", categories=_ALL, has_generation=True),
        _served("apps", "ControllerRevision"),
    ]


def _policies() -> list[ResourceInfo]:
    return [
        _served("policy", "PodDisruptionBudget", has_generation=True, unconditional_update=False),
        _served("coordination.k8s.io", "Lease", unconditional_update=False),
    ]


def _networking() -> list[ResourceInfo]:
    return [
        _served("networking.k8s.io", "NetworkPolicy", has_generation=True, inert=_NO_NETWORK),
        _served("networking.k8s.io", "Ingress", has_generation=True, inert=_NO_NETWORK),
        _served("networking.k8s.io", "IngressClass", has_generation=True),
        _served("discovery.k8s.io", "EndpointSlice"),
    ]


def _storage() -> list[ResourceInfo]:
    def storage(kind: str) -> ResourceInfo:
        return _served(well_known.STORAGE_API, kind, unconditional_update=False, inert=_NO_VOLUMES)

    return [
        _served(well_known.STORAGE_API, "StorageClass"),
        storage("CSIDriver"),
        storage("CSINode"),
        storage("CSIStorageCapacity"),
        storage("VolumeAttachment"),
    ]


def _inert() -> list[ResourceInfo]:
    """Kinds that charts bring and nothing here acts on: stored, and a new one is answered with a warning."""

    def webhooks(kind: str) -> ResourceInfo:
        return _served(
            "admissionregistration.k8s.io",
            kind,
            categories=_EXTENSIONS,
            has_generation=True,
            unconditional_update=False,
            inert=_NO_WEBHOOKS,
        )

    def autoscaler(version: str) -> ResourceInfo:
        return _served(
            "autoscaling",
            "HorizontalPodAutoscaler",
            version=version,
            storage_version="v2",
            categories=_ALL,
            inert=_NO_LOAD,
            has_generation=True,
            upgrade=autoscaler_to_v2 if version == "v1" else None,
            downgrade=autoscaler_to_v1 if version == "v1" else None,
        )

    return [
        webhooks("ValidatingWebhookConfiguration"),
        webhooks("MutatingWebhookConfiguration"),
        autoscaler("v2"),
        autoscaler("v1"),
        _served("node.k8s.io", "RuntimeClass", unconditional_update=False),
    ]


def _devices() -> list[ResourceInfo]:
    """Who offers devices, and who wants them."""
    return [
        _served(well_known.DEVICE_API, kind, has_generation=kind != "ResourceClaim")
        for kind in (
            "DeviceClass",
            "DeviceTaintRule",
            "ResourceClaim",
            "ResourceClaimTemplate",
            "ResourceSlice",
        )
    ]


def _scheduling() -> list[ResourceInfo]:
    def group(kind: str) -> ResourceInfo:
        return _served(well_known.SCHEDULING_API, kind, has_generation=True, unconditional_update=False)

    return [
        _served(well_known.SCHEDULING_API, "PriorityClass", has_generation=True),
        group("PodGroup"),
        group("CompositePodGroup"),
        group("Workload"),
    ]


def _definitions() -> list[ResourceInfo]:
    group, kind = "apiextensions.k8s.io", "CustomResourceDefinition"
    return [_served(group, kind, categories=_EXTENSIONS, has_generation=True, unconditional_update=False)]


def _access() -> list[ResourceInfo]:
    """Reviews are answered and not stored; what roles and bindings mean is in `security.rights`."""

    def review(group: str, kind: str, namespaced: bool = False) -> ResourceInfo:
        plural = kind.lower() + "s"
        return ResourceInfo(
            group=group, version="v1", kind=kind, plural=plural, namespaced=namespaced, verbs=CREATE_ONLY
        )

    return [
        review("authorization.k8s.io", "SelfSubjectAccessReview"),
        review("authorization.k8s.io", "SelfSubjectRulesReview"),
        review("authorization.k8s.io", "SubjectAccessReview"),
        review("authorization.k8s.io", "LocalSubjectAccessReview", namespaced=True),
        review("authentication.k8s.io", "SelfSubjectReview"),
        review("authentication.k8s.io", "TokenReview"),
        *(
            _served(well_known.RBAC_API, kind)
            for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
        ),
    ]


EVENT_FIELDS = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""The newer API for events, in the words of the older one; both show the same ones."""


def _kueue() -> list[ResourceInfo]:
    """All versions that are read; the storage version is the newest one."""
    rows = [row for row in TABLE.values() if row.group == well_known.KUEUE_API]
    return [
        _served(
            row.group,
            row.kind,
            version=version,
            storage_version=row.versions[0],
            categories=("kueue",),
            has_generation=True,
            unconditional_update=False,
            downgrade=to_v1beta1 if version == "v1beta1" else None,
        )
        for version in rows[0].versions
        for row in rows
    ]


def builtin_resources() -> list[ResourceInfo]:
    """A fresh list in discovery order."""
    core = _core()
    events = next(each for each in core if each.kind == "Event")
    return [
        *core,
        *_workloads(),
        *_policies(),
        *_networking(),
        *_storage(),
        *_inert(),
        *_devices(),
        *_scheduling(),
        *_definitions(),
        *_access(),
        _served("events.k8s.io", "Event", twin=events, renames=EVENT_FIELDS),
        *_kueue(),
    ]
