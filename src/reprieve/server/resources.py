"""The built-in resources: what the table of kinds (`objects.kinds`) does not say of a kind that is served."""

from typing import Any

from reprieve.objects import TABLE, well_known
from reprieve.server.kueue_versions import to_v1beta1
from reprieve.server.registry import ALL_VERBS, ResourceInfo, ScalePaths

CREATE_ONLY = ("create",)
_ALL, _EXTENSIONS = ("all",), ("api-extensions",)

STORED = "stored, not checked: nothing here acts on it"
"""What anybody who creates such an object is warned of."""


def _served(group: str, kind: str, *subresources: str, version: str = "", **more: Any) -> ResourceInfo:
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
        **more,
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
        _served("", "LimitRange"),
        _served("", "ResourceQuota"),
        _served("", "PersistentVolumeClaim"),
        _served("", "PersistentVolume"),
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


_NETWORKING, _WEBHOOKS = "networking.k8s.io", "admissionregistration.k8s.io"
_COUNTED: dict[str, Any] = {"has_generation": True}
_SHARED: dict[str, Any] = {"unconditional_update": False}
_STORED: dict[tuple[str, str], dict[str, Any]] = {
    ("", "Service"): {"categories": _ALL},
    (_NETWORKING, "NetworkPolicy"): _COUNTED,
    (_NETWORKING, "Ingress"): _COUNTED,
    ("autoscaling", "HorizontalPodAutoscaler"): {"categories": _ALL, **_COUNTED},
    (_WEBHOOKS, "ValidatingWebhookConfiguration"): {"categories": _EXTENSIONS, **_COUNTED, **_SHARED},
    (_WEBHOOKS, "MutatingWebhookConfiguration"): {"categories": _EXTENSIONS, **_COUNTED, **_SHARED},
    (well_known.STORAGE_API, "CSIDriver"): _SHARED,
    (well_known.STORAGE_API, "CSINode"): _SHARED,
    (well_known.STORAGE_API, "CSIStorageCapacity"): _SHARED,
    (well_known.STORAGE_API, "VolumeAttachment"): _SHARED,
}
"""Kinds that charts bring and no controller here acts on: a new one is answered with a warning."""


def _stored() -> list[ResourceInfo]:
    return [_served(*key, inert=STORED, **more) for key, more in _STORED.items()]


def _mentioned() -> list[ResourceInfo]:
    """Kinds that mean something by being there."""
    return [
        _served("", "Endpoints"),
        _served("", "PodTemplate", has_generation=True),
        _served(_NETWORKING, "IngressClass", has_generation=True),
        _served("discovery.k8s.io", "EndpointSlice"),
        _served(well_known.STORAGE_API, "StorageClass"),
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
        *_stored(),
        *_mentioned(),
        *_devices(),
        *_scheduling(),
        *_definitions(),
        *_access(),
        _served("events.k8s.io", "Event", twin=events, renames=EVENT_FIELDS),
        *_kueue(),
    ]
