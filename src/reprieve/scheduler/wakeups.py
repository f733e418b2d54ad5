"""Which change can help which waiting unit. A false yes costs a cycle, a false no up to five minutes.

1. A pod left a node: helps units that could go to that node, if they request something the pod held, or if
   they or the pod have rules about other pods.
2. A node was added, or changed labels, taints, cordon or resources: helps units that could go there now.
3. A pod was bound to a node or changed its labels: helps units with affinity or spreading rules.
4. A claim, a volume, a class or what a CSI driver publishes came or changed, or an attachment ended: helps
   units with volumes.
   So do claims, classes, slices and taint rules for units with devices.
5. A pod on a node lost its protection (annotations, start time, its group): helps more important units that
   could go to that node.

Everything else that helps (gates, groups, own spec) changes the unit itself and is not looked up here.
"""

from collections.abc import Iterable

import msgspec
import numpy as np

from reprieve.cluster import NOT_STARTED, Cluster, PodClass, PodVolumes
from reprieve.objects import Node, Object, storage
from reprieve.placement import static_fit
from reprieve.scheduler.queue import QueuedUnit


def pod_left(cluster: Cluster, unit: QueuedUnit, node: str, left: PodClass) -> bool:
    held = {index for index, amount in left.requested if amount}
    if cluster.storage.pods and _volumes_of(cluster, unit):
        return True  # it may have held a slot, a disk or a claim
    return any(
        (_asks(cls) & held and _could_host(cluster, node, cls))
        or cls.spread
        or cls.anti_affinity
        or left.anti_affinity
        for cls in classes_of(cluster, unit)
    )


def devices_changed(cluster: Cluster, unit: QueuedUnit) -> bool:
    """A claim, a slice, a class or a taint rule changed: helps units with claims or served resources."""
    rows = [row for key in unit.pods if (row := cluster.pods.row_of.get(key)) is not None]
    served = cluster.devices.serves_any
    return any(
        cluster.pods.info[row].claims is not None or served(cluster.class_of(row).requests) for row in rows
    )


def storage_changed(cluster: Cluster, unit: QueuedUnit, changed: Object) -> bool:
    """A claim helps the pods that name it, and so does a volume that is kept for it; free volumes, classes,
    and what drivers publish, all with volumes."""
    found = _volumes_of(cluster, unit)
    key = changed.key if isinstance(changed, storage.PersistentVolumeClaim) else ""
    if isinstance(changed, storage.PersistentVolume) and changed.spec.claim_ref is not None:
        key = changed.spec.claim_ref.key
    return any(claim.key == key for pod in found for claim in pod.claims) if key else bool(found)


def storage_matters(type: str, old: Object | None, new: Object) -> bool:
    """Whether it changed in a way that can help. Of what goes only an attachment gives something back."""
    if type == "DELETED":
        return isinstance(new, storage.VolumeAttachment)
    if isinstance(new, storage.VolumeAttachment):
        return False
    return (
        old is None
        or msgspec.structs.replace(old, metadata=new.metadata) != new
        or _notes(old) != _notes(new)
    )


def _notes(obj: Object) -> tuple[object, ...]:
    metadata = obj.metadata
    return metadata.labels, metadata.annotations, metadata.deletion_timestamp, metadata.owner_references


def _volumes_of(cluster: Cluster, unit: QueuedUnit) -> list[PodVolumes]:
    rows = (cluster.pods.row_of.get(key) for key in unit.pods) if cluster.storage.pods else ()
    found = (None if row is None else cluster.storage.pods.get(row) for row in rows)
    return [each for each in found if each is not None]


def pod_came(cluster: Cluster, unit: QueuedUnit) -> bool:
    return any(cls.affinity or cls.spread or cls.anti_affinity for cls in classes_of(cluster, unit))


def node_changed(cluster: Cluster, unit: QueuedUnit, node: str) -> bool:
    gone = node not in cluster.nodes.slot_of
    return any(cls.spread if gone else _could_host(cluster, node, cls) for cls in classes_of(cluster, unit))


def may_be_taken(cluster: Cluster, unit: QueuedUnit, rows: Iterable[int]) -> bool:
    """Whether one of these pods, if nothing protects it any more, could make way for the unit."""
    pods = cluster.pods
    nodes = [
        cluster.nodes.names[pods.node[row]]
        for row in rows
        if pods.node[row] >= 0 and int(pods.priority[row]) < unit.priority
    ]
    return bool(nodes) and any(
        _could_host(cluster, node, cls) for cls in classes_of(cluster, unit) for node in nodes
    )


def next_to_be_taken(cluster: Cluster, priority: int, now: int, protection: int = 0) -> int | None:
    """When the first less important pod may be taken that may not be now (microseconds since 1970): its
    minimum run time ends, or the longest `protection` of any pod; None: never."""
    pods = cluster.pods
    ends = pods.min_runtime_end[: pods.rows]
    if protection:
        until = np.where(pods.start[: pods.rows] < NOT_STARTED, pods.start[: pods.rows] + protection, 0)
        ends = np.where(ends > now, ends, until)
    if not ends.any():
        return None
    later = ends[(ends > now) & (ends < NOT_STARTED) & (pods.node[: pods.rows] >= 0)
                 & (pods.priority[: pods.rows] < priority)]  # fmt: skip
    return int(later.min()) if len(later) else None


def _could_host(cluster: Cluster, node: str, cls: PodClass) -> bool:
    """Whether the node would take such a pod if it were empty."""
    slot = cluster.nodes.slot_of.get(node)
    if slot is None or not static_fit(cluster, cls).fine[slot]:
        return False
    return all(cluster.nodes.allocatable[index, slot] >= amount for index, amount in cls.requested)


def node_matters(old: Node | None, new: Node) -> bool:
    """Whether it changed in a way that can help; heartbeats and conditions do not."""
    return (
        old is None
        or old.metadata.labels != new.metadata.labels
        or old.spec != new.spec
        or old.status.allocatable != new.status.allocatable
    )


def classes_of(cluster: Cluster, unit: QueuedUnit) -> list[PodClass]:
    rows = (cluster.pods.row_of.get(key) for key in unit.pods)
    ids = {int(cluster.pods.cls[row]) for row in rows if row is not None}
    return [cluster.classes[id] for id in sorted(ids)]


def _asks(cls: PodClass) -> set[int]:
    return {index for index, amount in cls.requested if amount}
