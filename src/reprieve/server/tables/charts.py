"""Columns of kinds that charts bring: ingresses, autoscalers, storage, webhooks, endpoint slices."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from reprieve.admission import is_default
from reprieve.objects import Document
from reprieve.server.documents import at, items
from reprieve.server.tables.column import AGE, NAME, NONE, Column, field, join, text

_SHOWN = 3


def _few(values: list[str]) -> str:
    """The first three, and how many more there are."""
    more = f" + {len(values) - _SHOWN} more..." if len(values) > _SHOWN else ""
    return join(values[:_SHOWN]) + more


def _hosts(doc: Document, _: datetime) -> str:
    return _few([str(rule["host"]) for rule in items(doc, "spec", "rules") if rule.get("host")]) or "*"


def _addresses(doc: Document, _: datetime) -> str:
    found = items(doc, "status", "loadBalancer", "ingress")
    return join(str(each.get("ip") or each.get("hostname") or "") for each in found)


def _ingress_ports(doc: Document, _: datetime) -> str:
    return "80, 443" if at(doc, "spec", "tls") else "80"


def _parameters(doc: Document, _: datetime) -> str:
    found = at(doc, "spec", "parameters", default={})
    parts = [found.get("kind", ""), found.get("apiGroup", "")]
    return f"{'.'.join(filter(None, parts))}/{found.get('name', '')}" if found else NONE


def _target(doc: Document, _: datetime) -> str:
    found = at(doc, "spec", "scaleTargetRef", default={})
    return f"{found.get('kind', '')}/{found.get('name', '')}"


def _metrics(doc: Document, _: datetime) -> str:
    """Nothing is measured here, so what it is now is unknown."""
    shown = []
    for metric in items(doc, "spec", "metrics"):
        source = metric.get(str(metric.get("type", ""))[:1].lower() + str(metric.get("type", ""))[1:]) or {}
        goal = source.get("target") or {}
        wanted = goal.get("averageUtilization")
        wanted = f"{wanted}%" if wanted is not None else goal.get("averageValue") or goal.get("value") or ""
        name = source.get("name") or at(source, "metric", "name", default="")
        shown.append(
            f"{name}: <unknown>/{wanted}" if metric.get("type") == "Resource" else f"<unknown>/{wanted}"
        )
    percentage = at(doc, "spec", "targetCPUUtilizationPercentage")
    if percentage is not None:
        shown.append(f"<unknown>/{percentage}%")
    return _few(shown) or NONE


def _class_name(doc: Document, _: datetime) -> str:
    return str(at(doc, "metadata", "name", default="")) + (" (default)" if is_default(doc) else "")


def _slice_ports(doc: Document, _: datetime) -> str:
    return _few([str(port.get("port", "*")) for port in items(doc, "ports")]) or "<unset>"


def _slice_addresses(doc: Document, _: datetime) -> str:
    found = [str(address) for each in items(doc, "endpoints") for address in each.get("addresses") or ()]
    return _few(found) or "<unset>"


def _controller(doc: Document, _: datetime) -> str:
    owners = [each for each in items(doc, "metadata", "ownerReferences") if each.get("controller")]
    if not owners:
        return NONE
    group = str(owners[0].get("apiVersion", "")).rpartition("/")[0]
    kind = str(owners[0].get("kind", "")).lower()
    return f"{kind}.{group}/{owners[0].get('name')}" if group else f"{kind}/{owners[0].get('name')}"


def _count(*path: str) -> Callable[[Document, datetime], Any]:
    return lambda doc, _: len(items(doc, *path))


_WEBHOOKS = (NAME, Column("Webhooks", _count("webhooks"), type="integer"), AGE)

CHART_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    ("networking.k8s.io", "Ingress"): (
        NAME,
        Column("Class", text("spec", "ingressClassName")),
        Column("Hosts", _hosts),
        Column("Address", _addresses),
        Column("Ports", _ingress_ports),
        AGE,
    ),
    ("networking.k8s.io", "IngressClass"): (
        NAME,
        Column("Controller", field("spec", "controller")),
        Column("Parameters", _parameters),
        AGE,
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        NAME,
        Column("Reference", _target),
        Column("Targets", _metrics),
        Column("MinPods", text("spec", "minReplicas", default="<unset>")),
        Column("MaxPods", field("spec", "maxReplicas", default=0)),
        Column("Replicas", field("status", "currentReplicas", default=0)),
        AGE,
    ),
    ("storage.k8s.io", "StorageClass"): (
        Column("Name", _class_name, format="name", description="Name of the object."),
        Column("Provisioner", field("provisioner")),
        Column("ReclaimPolicy", text("reclaimPolicy", default="Delete")),
        Column("VolumeBindingMode", text("volumeBindingMode", default="Immediate")),
        Column("AllowVolumeExpansion", field("allowVolumeExpansion", default=False)),
        AGE,
    ),
    ("storage.k8s.io", "CSINode"): (NAME, Column("Drivers", _count("spec", "drivers"), type="integer"), AGE),
    ("storage.k8s.io", "VolumeAttachment"): (
        NAME,
        Column("Attacher", field("spec", "attacher")),
        Column("PV", field("spec", "source", "persistentVolumeName")),
        Column("Node", field("spec", "nodeName")),
        Column("Attached", field("status", "attached", default=False), type="boolean"),
        AGE,
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOKS,
    ("node.k8s.io", "RuntimeClass"): (NAME, Column("Handler", field("handler")), AGE),
    ("discovery.k8s.io", "EndpointSlice"): (
        NAME,
        Column("AddressType", field("addressType")),
        Column("Ports", _slice_ports),
        Column("Endpoints", _slice_addresses),
        AGE,
    ),
    ("apps", "ControllerRevision"): (
        NAME,
        Column("Controller", _controller),
        Column("Revision", field("revision", default=0), type="integer"),
        AGE,
    ),
}
