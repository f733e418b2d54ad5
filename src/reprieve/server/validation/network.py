"""Services, endpoints, network policies: what kube-apiserver refuses of what we store."""

import ipaddress
from typing import Any

from reprieve.objects import Document
from reprieve.server.documents import at, items
from reprieve.server.errors import Cause, duplicate, invalid_value, not_supported, required

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_POLICY_TYPES = ("Ingress", "Egress")
_LAST_PORT = 65535
_PORT = f"must be between 1 and {_LAST_PORT}, inclusive"


def validate_service(new: Document, old: Document | None) -> list[Cause]:
    kind = at(new, "spec", "type", default="ClusterIP")
    if kind not in _TYPES:
        return [not_supported("spec.type", kind, _TYPES)]
    ports = items(new, "spec", "ports")
    headless = at(new, "spec", "clusterIP") == "None"
    causes = []
    if not ports and kind != "ExternalName" and not headless:
        causes.append(required("spec.ports"))
    if kind == "ExternalName" and not at(new, "spec", "externalName"):
        causes.append(required("spec.externalName"))
    names: set[str] = set()
    for index, port in enumerate(ports):
        causes += _service_port(port, f"spec.ports[{index}]", len(ports) > 1, names)
    return causes + _same_address(new, old)


def _service_port(port: Document, path: str, several: bool, names: set[str]) -> list[Cause]:
    causes = []
    name = port.get("name") or ""
    if not name and several:
        causes.append(required(f"{path}.name"))
    elif name in names:
        causes.append(duplicate(f"{path}.name", name))
    names.add(name)
    for field in ("port", "targetPort"):
        value = port.get(field)
        if isinstance(value, int) and not 0 < value <= _LAST_PORT:
            causes.append(invalid_value(f"{path}.{field}", value, _PORT))
    if (protocol := port.get("protocol", "TCP")) not in _PROTOCOLS:
        causes.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    return causes


def _same_address(new: Document, old: Document | None) -> list[Cause]:
    before, after = at(old, "spec", "clusterIP"), at(new, "spec", "clusterIP")
    if not before or before == after or "ExternalName" in (at(old, "spec", "type"), at(new, "spec", "type")):
        return []
    return [invalid_value("spec.clusterIPs[0]", after, "may not change once set")]


def validate_endpoints(new: Document, old: Document | None) -> list[Cause]:
    del old
    causes = []
    for index, subset in enumerate(items(new, "subsets")):
        for field in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(items(subset, field)):
                if not _is_address(address.get("ip")):
                    path = f"subsets[{index}].{field}[{number}].ip"
                    causes.append(invalid_value(path, address.get("ip"), "must be a valid IP address"))
    return causes


def _is_address(text: Any) -> bool:
    try:
        ipaddress.ip_address(str(text))
    except ValueError:
        return False
    return True


def validate_network_policy(new: Document, old: Document | None) -> list[Cause]:
    del old
    types = at(new, "spec", "policyTypes") or []
    return [
        not_supported(f"spec.policyTypes[{index}]", each, _POLICY_TYPES)
        for index, each in enumerate(types)
        if each not in _POLICY_TYPES
    ]
