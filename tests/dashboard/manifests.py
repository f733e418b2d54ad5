"""What a page shows, as documents: pods and groups of the namespace `dev`, and workers of a fleet."""

from functools import partial

from reprieve.dashboard.inventory import Inventory
from tests import builders
from tests.builders import Document, kueue, views

node = partial(builders.node, memory="8Gi")
pod = partial(
    builders.pod, namespace="dev", priority=0, metadata={"creationTimestamp": "2026-11-15T20:00:00Z"}
)
pod_group = partial(builders.pod_group, namespace="dev", mode="all")


def put(inventory: Inventory, *documents: Document) -> None:
    for each in views(*documents):
        inventory.put(each)


def unplaced(message: str) -> Document:
    """The status of a group that cannot be scheduled."""
    condition = {"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}
    return {"conditions": [{**condition, "message": message}]}


def worker_cluster(name: str, active: bool) -> Document:
    reason = "Active" if active else "ClientConnectionFailed"
    return {
        **kueue("MultiKueueCluster", name, {"clusterSource": {"kubeConfig": {"location": name}}}),
        "status": {"conditions": [{"type": "Active", "status": str(active), "reason": reason}]},
    }
