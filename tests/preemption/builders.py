"""Short ways to say a cluster."""

from typing import Any

from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.preemption import Plan, decide
from reprieve.whatif.pods import load

Document = dict[str, Any]


def node(name: str, cpu: str = "4", labels: dict[str, str] | None = None, **extra: Any) -> Document:
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta,
        "status": {"allocatable": {"cpu": cpu, "pods": "20"}},
        **extra,
    }


def pod(
    name: str,
    cpu: str = "1",
    on: str = "",
    priority: int = 0,
    group: str = "",
    start: str = "2026-01-01T00:00:00Z",
    annotations: dict[str, str] | None = None,
    status: Document | None = None,
    **spec: Any,
) -> Document:
    meta: Document = {
        "name": name,
        "namespace": "a",
        "labels": {"app": name.split("-")[0]},
        "annotations": annotations or {},
    }
    if spec.pop("terminating", False):
        meta["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    body: Document = {
        "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
        **spec,
    }
    if on:
        body["nodeName"] = on
    if group:
        body["schedulingGroup"] = {"podGroupName": group}
    default = {"phase": "Running", "startTime": start} if on else {"phase": "Pending"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": body,
        "status": {**default, **(status or {})},
    }


def group(name: str, priority: int = 0, minimum: int = 1, mode: str = "single", **spec: Any) -> Document:
    annotations = spec.pop("annotations", {})
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "a", "annotations": annotations},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": minimum}},
            "disruptionMode": {mode: {}},
            "priority": priority,
            **spec,
        },
    }


def gang(size: int, cpu: str = "2", priority: int = 100, **spec: Any) -> list[Document]:
    return [
        group("gang", priority, size, **spec),
        *(pod(f"gang-{i}", cpu, priority=priority, group="gang") for i in range(size)),
    ]


def budget(app: str, allowed: int) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "a"},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed},
    }


def priority_class(name: str, value: int, **extra: Any) -> Document:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **extra,
    }


def plan(
    documents: list[Document], target: str, algorithm: str = "kep-5710", now: int = 0, **gates: bool
) -> Plan:
    config = Configuration.load({"preemption": {"algorithm": algorithm}, "featureGates": gates})
    return decide(load(documents), Reference.parse(target), config, now)


def victims(plan: Plan) -> list[str]:
    return [victim.pod.removeprefix("a/") for victim in plan.victims]
