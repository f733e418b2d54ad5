"""Namespaces, nodes, secrets, events, services, limit ranges."""

import base64

from reprieve.objects import Document, well_known
from reprieve.server.documents import at, items, section


def new_namespace(document: Document, timestamp: str) -> None:
    del timestamp
    section(document, "spec")["finalizers"] = ["kubernetes"]
    document["status"] = {"phase": "Active"}


def default_namespace(document: Document, timestamp: str) -> None:
    del timestamp
    metadata = document["metadata"]
    section(metadata, "labels")[well_known.NAMESPACE_NAME_LABEL] = metadata.get("name", "")


def default_node(document: Document, timestamp: str) -> None:
    """Without `allocatable` all of the capacity can be allocated."""
    del timestamp
    section(document, "spec")
    capacity = at(document, "status", "capacity")
    if isinstance(capacity, dict) and not at(document, "status", "allocatable"):
        document["status"]["allocatable"] = dict(capacity)


def default_secret(document: Document, timestamp: str) -> None:
    del timestamp
    document.setdefault("type", "Opaque")
    plain = document.pop("stringData", None)
    if isinstance(plain, dict):
        data = section(document, "data")
        for key, value in plain.items():
            data[key] = base64.b64encode(str(value).encode("utf-8", "surrogatepass")).decode()


def default_event(document: Document, timestamp: str) -> None:
    """Times that nobody set are null, as Go writes them: kubectl sorts by a field only if it is there."""
    del timestamp
    for field in ("firstTimestamp", "lastTimestamp", "eventTime"):
        document.setdefault(field, None)
    document.setdefault("source", {})
    document.setdefault("reportingComponent", "")
    document.setdefault("reportingInstance", "")


def default_service(document: Document, timestamp: str) -> None:
    del timestamp
    spec = section(document, "spec")
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    for port in items(spec, "ports"):
        port.setdefault("protocol", "TCP")
        if "port" in port:
            port.setdefault("targetPort", port["port"])


def default_limit_range(document: Document, timestamp: str) -> None:
    """Containers get the maximum as their limit, and their limit, or else the minimum, as their request."""
    del timestamp
    for item in items(document, "spec", "limits"):
        if item.get("type") == "Container":
            item["default"] = {**(item.get("max") or {}), **(item.get("default") or {})}
            given = item.get("defaultRequest") or {}
            item["defaultRequest"] = {**(item.get("min") or {}), **item["default"], **given}
