"""Pods that say something unusual, and everything that a cluster has in its tables."""

from typing import Any

from reprieve.cluster import Cluster
from tests import builders
from tests.builders import Document
from tests.strategies.choices import Choices

COLUMNS = (
    "node", "cls", "group", "priority", "own_priority", "preemption_class", "start", "checkpoint", "leader",
    "min_runtime_end", "sequence", "terminating", "preempted",
)  # fmt: skip
EXTRAS: tuple[Document, ...] = (
    {"annotations": {"reprieve.dev/min-runtime": "5m"}},
    {"annotations": {"prometheus.io/scrape": "true"}},
    {"annotations": {"reprieve.dev/preemption-priority-class": "high"}},
    {"deletionTimestamp": "2026-01-01T00:00:00Z"},
    {
        "annotations": {
            "reprieve.dev/disruption-role": "leader",
            "reprieve.dev/checkpointed-at": "2026-03-01T00:00:00Z",
        }
    },
    {"labels": {"scheduling.x-k8s.io/pod-group": "elsewhere"}},
)
SPECS: tuple[Document, ...] = (
    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
    {"volumes": [{"name": "v", "emptyDir": {}}]},
    {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]},
    {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]},
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}]},
    {"schedulingGates": [{"name": "wait"}]},
    {"priorityClassName": "system-node-critical"},
    {"preemptionPolicy": "Never"},
    {"priorityClassName": "meek"},
    {"priorityClassName": "unknown"},
    {"nodeName": "not-there"},
)
STATUSES: tuple[Document, ...] = (
    {"phase": "Succeeded"},
    {"nominatedNodeName": "node-0"},
    {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]},
    {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]},
    {"startTime": "9999-12-31T23:59:59.999999Z"},
    {"startTime": None},
)
CLASSES = (
    builders.document("PriorityClass", "high", value=50),
    builders.document("PriorityClass", "meek", value=5, preemptionPolicy="Never"),
)


def everything(cluster: Cluster) -> dict[str, Any]:
    """The very tables, rows and numbers included."""
    pods, nodes, rows = cluster.pods, cluster.nodes, cluster.pods.rows
    return {
        **{name: getattr(pods, name)[:rows].tolist() for name in COLUMNS},
        "nodes": (nodes.names, nodes.objects, nodes.slot_of, nodes.resources, nodes.order.tolist()),
        "offered": nodes.allocatable[:, : nodes.slots].tolist(),
        "taints": (nodes.taint_set[: nodes.slots].tolist(), nodes.taint_sets),
        "zones": (nodes._zones, nodes._zone[: nodes.slots].tolist()),
        "topologies": {
            key: (each.values, each.ids[: nodes.slots].tolist()) for key, each in nodes._topologies.items()
        },
        "images": nodes.images.holders,
        "changes": set(nodes.changes),
        "noted": pods.noted,
        "keys": pods.keys,
        "rows": pods.row_of,
        "info": pods.info,
        "classes": [each.key for each in cluster.classes.all],
        "used": nodes.used[:, : nodes.slots].tolist(),
        "filled": nodes.filled[:, : nodes.slots].tolist(),
        "residents": [list(each) for each in cluster.residents],
        "nominated": {name: list(each) for name, each in cluster.nominated.items()},
        "groups": (cluster.groups.number_of, [list(each) for each in cluster.groups.members]),
        "without priority": list(cluster.ranking.without_priority),
        "volumes": (cluster.storage.pods, cluster.storage.users, cluster.storage.disks),
        "classes of priority": cluster.priorities.number_of,
        "pods of classes": (cluster.classes._pods, cluster.classes._idle),
        "ended": (cluster.groups._ended, cluster.groups._succeeded, cluster.groups._failed),
        "ports": cluster.ports._users,
        "lost": {name: list(each) for name, each in cluster._lost.items()},
        "touched": set(cluster.touched),
        "moved": set(cluster.moved),
    }


def dressed_up(choices: Choices, document: Document) -> Document:
    """A pod that says something unusual, now and then."""
    if document["kind"] != "Pod" or choices.chance(50):
        return document
    meta = {**document["metadata"], **choices.one_of(({}, *EXTRAS))}
    spec = {**document["spec"], **choices.one_of(({}, *SPECS))}
    if choices.chance(20):
        spec.pop("priority", None)
    status = {**document.get("status", {}), **choices.one_of(({}, *STATUSES))}
    return {**document, "metadata": meta, "spec": spec, "status": status}
