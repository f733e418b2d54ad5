"""Pods: what a new one needs, and the few things that may change in one that exists."""

from typing import Any

from reprieve.objects import Document, QuantityError, dns_label, dns_subdomain, nano
from reprieve.server.defaults.shape import items, peek
from reprieve.server.errors import Cause, forbidden_field, invalid_value, not_supported, required

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_MUTABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)"
)
_FREE_FIELDS = ("activeDeadlineSeconds", "terminationGracePeriodSeconds", "schedulingGates", "tolerations")
_FREE_WHILE_GATED = ("nodeSelector", "affinity")


def validate_pod(new: Document, old: Document | None) -> list[Cause]:
    return validate_pod_spec(new.get("spec") or {}, "spec") if old is None else _validate_update(new, old)


def validate_pod_spec(spec: Document, path: str) -> list[Cause]:
    causes = []
    containers = items(spec, "containers")
    if not containers:
        causes.append(required(f"{path}.containers"))
    for field in ("containers", "initContainers"):
        for i, container in enumerate(items(spec, field)):
            causes += _validate_container(container, f"{path}.{field}[{i}]")
    if spec.get("restartPolicy", "Always") not in _RESTART_POLICIES:
        causes.append(not_supported(f"{path}.restartPolicy", spec["restartPolicy"], _RESTART_POLICIES))
    grace = spec.get("terminationGracePeriodSeconds", 30)
    if not isinstance(grace, int) or grace < 0:
        causes.append(
            invalid_value(
                f"{path}.terminationGracePeriodSeconds", grace, "must be greater than or equal to 0"
            )
        )
    node = spec.get("nodeName")
    if node and dns_subdomain(node) is not None:
        causes.append(invalid_value(f"{path}.nodeName", node, str(dns_subdomain(node))))
    if node and spec.get("schedulingGates"):
        causes.append(
            forbidden_field(f"{path}.nodeName", "cannot be set until all schedulingGates have been cleared")
        )
    return causes


def _validate_container(container: Document, path: str) -> list[Cause]:
    causes = []
    name = container.get("name")
    if not name:
        causes.append(required(f"{path}.name"))
    elif not isinstance(name, str) or dns_label(name) is not None:
        causes.append(invalid_value(f"{path}.name", name, dns_label(str(name)) or ""))
    if not container.get("image"):
        causes.append(required(f"{path}.image"))
    return causes + _validate_limits(container.get("resources"), f"{path}.resources")


def _validate_limits(resources: Any, path: str) -> list[Cause]:
    """Nobody may ask for more than they limit themselves to. Unreadable quantities are named elsewhere."""
    limits, requests = peek(resources, "limits"), peek(resources, "requests")
    if not isinstance(limits, dict) or not isinstance(requests, dict):
        return []
    causes = []
    for name, quantity in requests.items():
        try:
            excess = name in limits and nano(quantity) > nano(limits[name])
        except (QuantityError, TypeError):
            continue
        if excess:
            message = f"must be less than or equal to {name} limit of {limits[name]}"
            causes.append(invalid_value(f"{path}.requests", str(quantity), message))
    return causes


def _validate_update(new: Document, old: Document) -> list[Cause]:
    """Compare the specs with everything that may change taken out."""
    was, now = old.get("spec") or {}, new.get("spec") or {}
    free = _FREE_FIELDS + (_FREE_WHILE_GATED if was.get("schedulingGates") else ())
    causes = []
    if _frozen(now, free) != _frozen(was, free):
        causes.append(forbidden_field("spec", f"pod updates may not change fields other than {_MUTABLE}"))
    before = [peek(g, "name") for g in items(was, "schedulingGates")]
    if any(peek(g, "name") not in before for g in items(now, "schedulingGates")):
        causes.append(forbidden_field("spec.schedulingGates", "only deletion is allowed"))
    if any(t not in items(now, "tolerations") for t in items(was, "tolerations")):
        causes.append(
            forbidden_field(
                "spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"
            )
        )
    return causes


def _frozen(spec: Document, free: tuple[str, ...]) -> Document:
    result = {k: v for k, v in spec.items() if k not in free}
    for field in ("containers", "initContainers"):
        if field in result:
            result[field] = [{k: v for k, v in c.items() if k != "image"} for c in items(spec, field)]
    return result
