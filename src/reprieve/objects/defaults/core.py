"""Namespaces, nodes, secrets, events, services, endpoints, limit ranges, role bindings, definitions."""

import base64

from reprieve.objects import well_known
from reprieve.objects.meta import Document
from reprieve.objects.raw import at, items, section


def new_namespace(document: Document) -> None:
    section(document, "spec")["finalizers"] = ["kubernetes"]
    document["status"] = {"phase": "Active"}


def default_namespace(document: Document) -> None:
    metadata = document["metadata"]
    section(metadata, "labels")[well_known.NAMESPACE_NAME_LABEL] = metadata.get("name", "")


def default_node(document: Document) -> None:
    """Without `allocatable` all of the capacity can be allocated."""
    section(document, "spec")
    capacity = at(document, "status", "capacity")
    if isinstance(capacity, dict) and not at(document, "status", "allocatable"):
        document["status"]["allocatable"] = dict(capacity)


def default_secret(document: Document) -> None:
    document.setdefault("type", "Opaque")
    plain = document.pop("stringData", None)
    if isinstance(plain, dict):
        data = section(document, "data")
        for key, value in plain.items():
            data[key] = base64.b64encode(str(value).encode("utf-8", "surrogatepass")).decode()


def default_event(document: Document) -> None:
    """Times that nobody set are null, as Go writes them: kubectl sorts by a field only if it is there."""
    for field in ("firstTimestamp", "lastTimestamp", "eventTime"):
        document.setdefault(field, None)
    document.setdefault("source", {})
    document.setdefault("reportingComponent", "")
    document.setdefault("reportingInstance", "")


_OUTSIDE = ("NodePort", "LoadBalancer")
_THREE_HOURS = 10800


def default_service(document: Document) -> None:
    spec = section(document, "spec")
    kind = spec.setdefault("type", "ClusterIP")
    _default_affinity(spec)
    for port in items(spec, "ports"):
        port.setdefault("protocol", "TCP")
        if "port" in port and not port.get("targetPort"):
            port["targetPort"] = port["port"]
    if kind in _OUTSIDE or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in (*_OUTSIDE, "ClusterIP"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    section(document, "status", "loadBalancer")


def _default_affinity(spec: Document) -> None:
    if spec.setdefault("sessionAffinity", "None") == "None":
        spec.pop("sessionAffinityConfig", None)
    elif at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _THREE_HOURS}}


def default_endpoints(document: Document) -> None:
    for subset in items(document, "subsets"):
        for port in items(subset, "ports"):
            port.setdefault("protocol", "TCP")


def default_limit_range(document: Document) -> None:
    """Containers get the maximum as their limit, and their limit, or else the minimum, as their request."""
    for item in items(document, "spec", "limits"):
        if item.get("type") == "Container":
            item["default"] = {**(item.get("max") or {}), **(item.get("default") or {})}
            given = item.get("defaultRequest") or {}
            item["defaultRequest"] = {**(item.get("min") or {}), **item["default"], **given}


def default_binding(document: Document) -> None:
    if isinstance(at(document, "roleRef"), dict):
        document["roleRef"].setdefault("apiGroup", well_known.RBAC_API)
    for subject in items(document, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", well_known.RBAC_API)


def default_definition(document: Document) -> None:
    spec = section(document, "spec")
    names = section(spec, "names")
    if names.get("kind"):
        names["singular"] = names.get("singular") or str(names["kind"]).lower()
        names["listKind"] = names.get("listKind") or f"{names['kind']}List"
    section(spec, "conversion").setdefault("strategy", "None")
    service = at(spec, "conversion", "webhook", "clientConfig", "service")
    if isinstance(service, dict):
        service.setdefault("port", 443)
