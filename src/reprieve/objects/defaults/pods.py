"""Pods, and pod templates inside other kinds."""

from typing import Any

from reprieve.objects import well_known
from reprieve.objects.defaults.containers import default_container
from reprieve.objects.defaults.resources import state_requests
from reprieve.objects.defaults.storage import default_pod_volume
from reprieve.objects.meta import Document
from reprieve.objects.raw import items, section

_SPEC_DEFAULTS: dict[str, Any] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": well_known.DEFAULT_SCHEDULER,
}
_EVICTION_DELAY_TAINTS = (well_known.NOT_READY_TAINT, well_known.UNREACHABLE_TAINT)


def default_pod_spec(spec: Document) -> None:
    """For pods and templates alike: nothing here depends on where the pod runs."""
    for key, value in _SPEC_DEFAULTS.items():
        if spec.get(key) in (None, ""):
            spec[key] = value
    if "securityContext" not in spec:
        spec["securityContext"] = {}
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in items(spec, "containers"):
        default_container(container)
    for container in items(spec, "initContainers"):
        default_container(container)
    if "volumes" in spec:
        for volume in items(spec, "volumes"):
            default_pod_volume(volume)


def default_pod(document: Document) -> None:
    spec = section(document, "spec")
    default_pod_spec(spec)
    grace = spec["terminationGracePeriodSeconds"]
    if isinstance(grace, int) and grace < 0:
        spec["terminationGracePeriodSeconds"] = 1
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
