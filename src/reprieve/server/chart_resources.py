"""Built-in resources that charts bring and little here acts on: networking, storage, autoscaling, webhooks.

An `inert` one is stored, so that a chart can be applied, and whoever creates one is told why nothing comes
of it.
"""

from reprieve.server.autoscaler_versions import autoscaler_to_v1, autoscaler_to_v2
from reprieve.server.registry import ResourceInfo

STATUS = frozenset({"status"})

_NO_NETWORK = "stored, but there is no network here: nothing applies it to any traffic"
_NO_VOLUMES = "stored, but no storage driver runs here: nothing acts on it"
_NO_WEBHOOKS = "stored, but this server calls no webhooks: nothing is checked or changed by it"
_NO_LOAD = "stored, but pods on fake nodes have no load: nothing scales its target"


def _networking() -> list[ResourceInfo]:
    def networking(kind: str, plural: str, short: tuple[str, ...] = (), **more: object) -> ResourceInfo:
        return ResourceInfo(
            group="networking.k8s.io",
            version="v1",
            kind=kind,
            plural=plural,
            short_names=short,
            has_generation=True,
            **more,  # type: ignore[arg-type]
        )

    return [
        networking("NetworkPolicy", "networkpolicies", ("netpol",), inert=_NO_NETWORK),
        networking("Ingress", "ingresses", ("ing",), subresources=STATUS, inert=_NO_NETWORK),
        networking("IngressClass", "ingressclasses", namespaced=False),
        ResourceInfo(group="discovery.k8s.io", version="v1", kind="EndpointSlice", plural="endpointslices"),
    ]


def _storage() -> list[ResourceInfo]:
    def storage(kind: str, plural: str, **more: object) -> ResourceInfo:
        options: dict[str, object] = {"namespaced": False, "unconditional_update": False, **more}
        return ResourceInfo(group="storage.k8s.io", version="v1", kind=kind, plural=plural, **options)  # type: ignore[arg-type]

    return [
        storage("StorageClass", "storageclasses", short_names=("sc",), unconditional_update=True),
        storage("CSIDriver", "csidrivers", inert=_NO_VOLUMES),
        storage("CSINode", "csinodes", subresources=STATUS, inert=_NO_VOLUMES),
        storage("CSIStorageCapacity", "csistoragecapacities", namespaced=True, inert=_NO_VOLUMES),
        storage("VolumeAttachment", "volumeattachments", subresources=STATUS, inert=_NO_VOLUMES),
    ]


def _inert() -> list[ResourceInfo]:
    """Kinds that charts bring and nobody here acts on: stored, and a new one is answered with a warning."""

    def webhooks(kind: str) -> ResourceInfo:
        return ResourceInfo(
            group="admissionregistration.k8s.io",
            version="v1",
            kind=kind,
            plural=kind.lower() + "s",
            namespaced=False,
            categories=("api-extensions",),
            has_generation=True,
            unconditional_update=False,
            inert=_NO_WEBHOOKS,
        )

    def autoscaler(version: str) -> ResourceInfo:
        return ResourceInfo(
            group="autoscaling",
            version=version,
            storage_version="v2",
            kind="HorizontalPodAutoscaler",
            plural="horizontalpodautoscalers",
            short_names=("hpa",),
            categories=("all",),
            subresources=STATUS,
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
        ResourceInfo(
            group="node.k8s.io",
            version="v1",
            kind="RuntimeClass",
            plural="runtimeclasses",
            namespaced=False,
            unconditional_update=False,
        ),
    ]


def _devices() -> list[ResourceInfo]:
    """Who offers devices, and who wants them."""
    kinds = {
        "DeviceClass": ("deviceclasses", False),
        "DeviceTaintRule": ("devicetaintrules", False),
        "ResourceClaim": ("resourceclaims", True),
        "ResourceClaimTemplate": ("resourceclaimtemplates", True),
        "ResourceSlice": ("resourceslices", False),
    }
    return [
        ResourceInfo(
            group="resource.k8s.io",
            version="v1",
            kind=kind,
            plural=plural,
            namespaced=namespaced,
            has_generation=kind != "ResourceClaim",
            subresources=STATUS if kind in ("ResourceClaim", "DeviceTaintRule") else frozenset(),
        )
        for kind, (plural, namespaced) in kinds.items()
    ]


def chart_resources() -> list[ResourceInfo]:
    return [*_networking(), *_storage(), *_inert(), *_devices()]
