"""The built-in resources: what the table of kinds (`objects.kinds`) does not say of a kind that is served."""

from typing import Any

from reprieve.admission import limit_ranges, runtime_classes
from reprieve.objects import (
    TABLE,
    Document,
    builtin_problems,
    dns_label,
    on_write,
    size_problems,
    well_known,
)
from reprieve.server.errors import Cause, cause_of, forbidden
from reprieve.server.kueue_versions import to_v1beta1
from reprieve.server.metadata import path_segment
from reprieve.server.registry import ALL_VERBS, ResourceInfo, ScalePaths, Scene

CREATE_ONLY = ("create",)
_ALL, _EXTENSIONS = ("all",), ("api-extensions",)

STORED = "stored, not checked: nothing here acts on it"
"""The warning that a new object of such a kind is answered with."""


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
        default=on_write,
        validate=_problems,
        **more,
    )


def _problems(new: Document, old: Document | None) -> list[Cause]:
    """What kube-apiserver refuses of its own kinds."""
    return [cause_of(each) for each in [*builtin_problems(new, old), *size_problems(new)]]


def _complete_pod(pod: Document, scene: Scene) -> None:
    """403 for a RuntimeClass that does not exist or contradicts the pod."""
    if name := runtime_classes.named(pod):
        found = scene.find("runtimeclasses.node.k8s.io", name)
        problem = f'RuntimeClass "{name}" not found'
        if found is not None:
            problem = runtime_classes.complete(pod, found)
        if problem:
            raise forbidden("", "pods", pod["metadata"].get("name", ""), f"pod rejected: {problem}")
    if scene.limits:
        limit_ranges.fill_in(pod, scene.limits)


_RUNS = {"categories": _ALL, "has_generation": True, "has_pods": True}
"""What makes pods."""
_SCALED = {**_RUNS, "scale_paths": ScalePaths()}
_OFTEN = {"often_written": True, "judged_by_spec": True, "returns_deleted": True}
_COUNTED: dict[str, Any] = {"has_generation": True}
_SHARED: dict[str, Any] = {"unconditional_update": False}
_GROUP = {**_COUNTED, **_SHARED}
_UPSERTED = {"create_on_update": True}
_RBAC = {**_UPSERTED, "name_problem": path_segment}
_DEFINED = {"categories": _EXTENSIONS, **_GROUP}
_STORAGE = {"returns_deleted": True, **_SHARED, "inert": STORED}
_NETWORKING, _WEBHOOKS = "networking.k8s.io", "admissionregistration.k8s.io"
_EVENT: dict[str, Any] = {
    **_UPSERTED,
    "selectable": (
        *(f"involvedObject.{name}" for name in (
            "kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath",
        )),
        "reason", "reportingComponent", "source", "type",
    ),
}  # fmt: skip
_ROWS: tuple[tuple[str, str, tuple[str, ...], dict[str, Any]], ...] = (
    ("", "Namespace", ("finalize",), {
        "verbs": tuple(verb for verb in ALL_VERBS if verb != "deletecollection"), "keeps_status": True,
        "name_problem": dns_label, "selectable": ("status.phase",),
    }),
    ("", "Node", (), {"often_written": True, "keeps_status": True, "selectable": ("spec.unschedulable",)}),
    ("", "Pod", ("binding", "eviction", "resize"), {
        **_RUNS, **_OFTEN, "keeps_status": True, "complete": _complete_pod,
        "selectable": (
            "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
            "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName",
        ),
    }),
    ("", "ConfigMap", (), {}),
    ("", "Secret", (), {"selectable": ("type",)}),
    ("", "ServiceAccount", ("token",), {"returns_deleted": True}),
    ("", "Event", (), _EVENT),
    ("", "LimitRange", (), _UPSERTED),
    ("", "ResourceQuota", (), {"returns_deleted": True}),
    ("", "PersistentVolumeClaim", (), {**_OFTEN, "limited": True}),
    ("", "PersistentVolume", (), _OFTEN),
    ("", "ReplicationController", ("scale",), {**_SCALED, "selectable": ("status.replicas",)}),
    ("", "Binding", (), {"verbs": CREATE_ONLY}),
    ("apps", "Deployment", ("scale",), {**_SCALED, "counts_annotations": True}),
    ("apps", "ReplicaSet", ("scale",), {**_SCALED, "selectable": ("status.replicas",)}),
    ("apps", "StatefulSet", ("scale",), _SCALED),
    ("apps", "DaemonSet", (), _RUNS),
    ("batch", "Job", (), {**_RUNS, "keeps_status": True, "selectable": ("status.successful",)}),
    ("batch", "CronJob", (), _RUNS),
    ("apps", "ControllerRevision", (), {}),
    ("policy", "PodDisruptionBudget", (), _GROUP),
    ("coordination.k8s.io", "Lease", (), {**_SHARED, **_UPSERTED}),
    # What charts bring and no controller here acts on: a new one is answered with a warning.
    ("", "Service", (), {"categories": _ALL, "returns_deleted": True, **_UPSERTED, "name_problem": dns_label,
                         "inert": STORED}),
    (_NETWORKING, "NetworkPolicy", (), {**_COUNTED, "inert": STORED}),
    (_NETWORKING, "Ingress", (), {**_COUNTED, "inert": STORED}),
    ("autoscaling", "HorizontalPodAutoscaler", (), {"categories": _ALL, **_COUNTED, "inert": STORED}),
    (_WEBHOOKS, "ValidatingWebhookConfiguration", (), {**_DEFINED, "inert": STORED}),
    (_WEBHOOKS, "MutatingWebhookConfiguration", (), {**_DEFINED, "inert": STORED}),
    (well_known.STORAGE_API, "CSIDriver", (), _STORAGE),
    (well_known.STORAGE_API, "CSINode", (), _STORAGE),
    (well_known.STORAGE_API, "CSIStorageCapacity", (), {**_SHARED, "inert": STORED}),
    (well_known.STORAGE_API, "VolumeAttachment", (), _STORAGE),
    # What means something by being there.
    ("", "Endpoints", (), _UPSERTED),
    ("", "PodTemplate", (), {**_COUNTED, "has_pods": True, "returns_deleted": True}),
    (_NETWORKING, "IngressClass", (), _COUNTED),
    ("discovery.k8s.io", "EndpointSlice", (), {}),
    (well_known.STORAGE_API, "StorageClass", (), {"returns_deleted": True}),
    ("node.k8s.io", "RuntimeClass", (), {**_SHARED, **_UPSERTED}),
    # Devices: who offers them, and who wants them.
    (well_known.DEVICE_API, "DeviceClass", (), _COUNTED),
    (well_known.DEVICE_API, "DeviceTaintRule", (), _COUNTED),
    (well_known.DEVICE_API, "ResourceClaim", (), {}),
    (well_known.DEVICE_API, "ResourceClaimTemplate", (), _COUNTED),
    (well_known.DEVICE_API, "ResourceSlice", (), {
        **_COUNTED, "selectable": ("spec.nodeName", "spec.driver"),
    }),
    (well_known.SCHEDULING_API, "PriorityClass", (), {**_COUNTED, "fixed_generation": True}),
    (well_known.SCHEDULING_API, "PodGroup", (), _GROUP),
    (well_known.SCHEDULING_API, "CompositePodGroup", (), _GROUP),
    (well_known.SCHEDULING_API, "Workload", (), _GROUP),
    ("apiextensions.k8s.io", "CustomResourceDefinition", (), _DEFINED),
    (well_known.RBAC_API, "Role", (), _RBAC),
    (well_known.RBAC_API, "RoleBinding", (), _RBAC),
    (well_known.RBAC_API, "ClusterRole", (), _RBAC),
    (well_known.RBAC_API, "ClusterRoleBinding", (), _RBAC),
)  # fmt: skip
_REVIEWS = (
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("authorization.k8s.io", "LocalSubjectAccessReview"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authentication.k8s.io", "TokenReview"),
)
"""Answered and not stored; what roles and bindings mean is in `security.rights`."""


def _review(group: str, kind: str) -> ResourceInfo:
    plural, namespaced = kind.lower() + "s", kind.startswith("Local")
    return ResourceInfo(
        group=group, version="v1", kind=kind, plural=plural, namespaced=namespaced, verbs=CREATE_ONLY
    )


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
    served = [_served(group, kind, *subresources, **more) for group, kind, subresources, more in _ROWS]
    events = next(each for each in served if each.kind == "Event")
    return [
        *served,
        *(_review(*each) for each in _REVIEWS),
        _served("events.k8s.io", "Event", twin=events, renames=EVENT_FIELDS, **_EVENT),
        *_kueue(),
    ]
