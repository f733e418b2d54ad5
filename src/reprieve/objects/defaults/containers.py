"""Containers: what kube-apiserver writes into one, its probes and its hooks."""

from typing import Any

from reprieve.objects.meta import Document
from reprieve.objects.raw import at, fill, items

_CONTAINER: dict[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_HOOKS = ("postStart", "preStop")


def default_container(container: Document) -> None:
    for key, value in _CONTAINER.items():
        if not container.get(key):
            container[key] = value
    if "resources" not in container:
        container["resources"] = {}
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image"))
    if "ports" in container:
        for port in items(container, "ports"):
            port.setdefault("protocol", "TCP")
    if "env" in container:
        for variable in items(container, "env"):
            _default_source(variable)
    for name in _PROBES:
        if name in container:
            _default_probe(container[name])
    if "lifecycle" in container:
        for hook in _HOOKS:
            default_request(at(container, "lifecycle", hook, "httpGet"))


def pull_policy(image: Any) -> str:
    """An image by its newest tag, which is what no tag means, may be another one tomorrow."""
    name = image if isinstance(image, str) else ""
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") and "@" not in name else "IfNotPresent"


def default_request(action: Any) -> None:
    """An HTTP request that a probe or a hook makes."""
    if isinstance(action, dict):
        for key, value in (("path", "/"), ("scheme", "HTTP")):
            if not action.get(key):
                action[key] = value


def default_field_reference(reference: Any) -> None:
    fill(reference, apiVersion="v1")


def _default_source(variable: Document) -> None:
    default_field_reference(at(variable, "valueFrom", "fieldRef"))
    fill(at(variable, "valueFrom", "fileKeyRef"), optional=False)
    default_divisor(at(variable, "valueFrom", "resourceFieldRef"))


def default_divisor(reference: Any) -> None:
    """Go writes a quantity that nobody set as zero, and then zero means one."""
    fill(reference, divisor="0")


def _default_probe(probe: Any) -> None:
    if not isinstance(probe, dict):
        return
    for key, value in _PROBE.items():
        if not probe.get(key):
            probe[key] = value
    default_request(probe.get("httpGet"))
    fill(probe.get("grpc"), service="")
