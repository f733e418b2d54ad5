"""Small builders for the objects a page shows."""

from typing import Any

from reprieve.objects import core, kueue, scheduling
from reprieve.objects.decode import decode


def node(name: str, cpu: str = "4", zone: str = "", **spec: Any) -> core.Node:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    document = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }
    view = decode(document)
    assert isinstance(view, core.Node)
    return view


def pod(
    name: str, node: str = "", cpu: str = "1", priority: int = 0, group: str = "", **status: Any
) -> core.Pod:
    spec: dict[str, Any] = {
        "priority": priority,
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}],
    }
    if node:
        spec["nodeName"] = node
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    metadata = {"name": name, "namespace": "dev", "creationTimestamp": "2026-11-15T20:00:00Z"}
    view = decode({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status})
    assert isinstance(view, core.Pod)
    return view


def group(name: str, min_count: int, priority: int = 0, message: str = "") -> scheduling.PodGroup:
    conditions = (
        [
            {
                "type": "PodGroupInitiallyScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": message,
            }
        ]
        if message
        else []
    )
    view = decode(
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "dev"},
            "spec": {
                "priority": priority,
                "schedulingPolicy": {"gang": {"minCount": min_count}},
                "disruptionMode": {"all": {}},
            },
            "status": {"conditions": conditions},
        }
    )
    assert isinstance(view, scheduling.PodGroup)
    return view


def worker_cluster(name: str, active: bool) -> kueue.MultiKueueCluster:
    condition = {
        "type": "Active",
        "status": str(active),
        "reason": "Active" if active else "ClientConnectionFailed",
    }
    view = decode(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "MultiKueueCluster",
            "metadata": {"name": name},
            "spec": {"clusterSource": {"kubeConfig": {"location": name}}},
            "status": {"conditions": [condition]},
        }
    )
    assert isinstance(view, kueue.MultiKueueCluster)
    return view
