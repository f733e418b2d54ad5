"""Pods, and pod templates inside other kinds."""

from typing import Any

from reprieve.objects import Document, state_requests, well_known
from reprieve.server.documents import items, section

_SPEC_DEFAULTS: dict[str, Any] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": well_known.DEFAULT_SCHEDULER,
}
_CONTAINER_DEFAULTS: dict[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_EVICTION_DELAY_TAINTS = (well_known.NOT_READY_TAINT, well_known.UNREACHABLE_TAINT)


def default_pod_spec(spec: Document) -> None:
    """For pods and templates alike: nothing here depends on where the pod runs."""
    for key, value in _SPEC_DEFAULTS.items():
        if key not in spec:
            spec[key] = value
    if "securityContext" not in spec:
        spec["securityContext"] = {}
    for container in items(spec, "containers"):
        _default_container(container)
    for container in items(spec, "initContainers"):
        _default_container(container)


def _default_container(container: Document) -> None:
    for key, value in _CONTAINER_DEFAULTS.items():
        if key not in container:
            container[key] = value
    if "resources" not in container:
        container["resources"] = {}
    if "imagePullPolicy" not in container:
        image = container.get("image") or ""
        tag = image.rpartition("/")[2].partition(":")[2] if isinstance(image, str) else ""
        latest = tag in ("", "latest") and "@" not in str(image)
        container["imagePullPolicy"] = "Always" if latest else "IfNotPresent"
    for port in items(container, "ports"):
        port.setdefault("protocol", "TCP")


def default_pod(document: Document, timestamp: str) -> None:
    del timestamp
    spec = section(document, "spec")
    default_pod_spec(spec)
    if "enableServiceLinks" not in spec:
        spec["enableServiceLinks"] = True
    if spec.get("hostNetwork"):
        for container in [*items(spec, "containers"), *items(spec, "initContainers")]:
            for port in items(container, "ports"):
                port["hostPort"] = port.get("hostPort") or port.get("containerPort")
    state_requests(spec)


def new_pod(document: Document, timestamp: str) -> None:
    """What admission adds to a pod that is created: account, tolerations, a fresh status."""
    spec = section(document, "spec")
    account = spec.get("serviceAccountName") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec["tolerations"] = _with_default_tolerations(spec.get("tolerations"))
    status: Document = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": well_known.POD_SCHEDULED,
                "status": "False",
                "reason": well_known.SCHEDULING_GATED,
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "lastTransitionTime": timestamp,
            }
        ]
    document["status"] = status


def _with_default_tolerations(tolerations: Any) -> list[Document]:
    result = [t for t in tolerations if isinstance(t, dict)] if isinstance(tolerations, list) else []
    for taint in _EVICTION_DELAY_TAINTS:
        covered = any(
            t.get("key") in (None, "", taint) and t.get("effect") in (None, "", "NoExecute") for t in result
        )
        if not covered:
            result.append(
                {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            )
    return result


def qos_class(spec: Document) -> str:
    """Guaranteed: every container requests exactly its limits of cpu and memory. BestEffort: none has any."""
    containers = [*items(spec, "containers"), *items(spec, "initContainers")]
    guaranteed = True
    anything = False
    for container in containers:
        resources = container.get("resources") or {}
        requests = {k: v for k, v in (resources.get("requests") or {}).items() if k in ("cpu", "memory")}
        limits = {k: v for k, v in (resources.get("limits") or {}).items() if k in ("cpu", "memory")}
        anything = anything or bool(requests) or bool(limits)
        guaranteed = guaranteed and len(limits) == 2 and requests == limits
    if not anything:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"
