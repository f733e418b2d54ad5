"""Kinds that charts bring: autoscalers, webhook configurations, custom resources, endpoint slices."""

import copy

from reprieve.objects.meta import Document
from reprieve.objects.raw import at, items, section

_CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
_PERCENT = {"type": "Percent", "value": 100, "periodSeconds": 15}
_SCALE_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, _PERCENT],
}
_SCALE_DOWN = {"selectPolicy": "Max", "policies": [_PERCENT]}


def default_autoscaler(document: Document) -> None:
    spec = section(document, "spec")
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        spec["metrics"] = [copy.deepcopy(_CPU)]
    behavior = spec.get("behavior")
    if isinstance(behavior, dict):
        for name, rules in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
            behavior[name] = {**copy.deepcopy(rules), **(behavior.get(name) or {})}


def default_webhooks(document: Document) -> None:
    for webhook in items(document, "webhooks"):
        webhook.setdefault("failurePolicy", "Fail")
        webhook.setdefault("matchPolicy", "Equivalent")
        webhook.setdefault("namespaceSelector", {})
        webhook.setdefault("objectSelector", {})
        webhook.setdefault("timeoutSeconds", 10)
        if document.get("kind") == "MutatingWebhookConfiguration":
            webhook.setdefault("reinvocationPolicy", "Never")
        for rule in items(webhook, "rules"):
            rule.setdefault("scope", "*")
        service = at(webhook, "clientConfig", "service")
        if isinstance(service, dict):
            service.setdefault("port", 443)


def default_endpoint_slice(document: Document) -> None:
    for port in items(document, "ports"):
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def default_ingress_class(document: Document) -> None:
    parameters = at(document, "spec", "parameters")
    if isinstance(parameters, dict):
        parameters.setdefault("scope", "Cluster")


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
