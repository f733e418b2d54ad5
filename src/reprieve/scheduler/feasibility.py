"""Whether promised places are still good, and whom a taken place leaves without."""

from collections.abc import Iterable, Mapping

from reprieve.cluster import Cluster
from reprieve.placement import PodFilters, static_fit


def holds(cluster: Cluster, promised: Mapping[str, str], victims: Iterable[str] = ()) -> bool:
    """Would every pod fit on the node it was promised, all at once, when the pods being preempted are gone?

    `victims` are gone as well, even if the watch has not shown their deletion yet.
    """
    mark = cluster.checkpoint()
    try:
        for row in _leaving(cluster, set(promised.values()), victims):
            cluster.detach(row)
        return all(_fits(cluster, key, node) for key, node in promised.items())
    finally:
        cluster.rollback(mark)


def making_way(cluster: Cluster, nodes: Iterable[str]) -> bool:
    """Whether a preempted pod is still on its way out on one of these nodes."""
    return any(leaving_from(cluster, node) for node in nodes)


def leaving_from(cluster: Cluster, node: str) -> list[str]:
    """Preempted pods that are on their way out on this node."""
    slot = cluster.nodes.slot_of.get(node)
    rows = () if slot is None else cluster.residents[slot]
    return [cluster.pods.keys[row] for row in rows if cluster.pods.preempted[row]]


def _leaving(cluster: Cluster, nodes: set[str], victims: Iterable[str]) -> list[int]:
    pods = cluster.pods
    slots = [slot for node in nodes if (slot := cluster.nodes.slot_of.get(node)) is not None]
    rows = {row for slot in slots for row in cluster.residents[slot] if pods.preempted[row]}
    rows |= {row for key in victims if (row := pods.row_of.get(key, -1)) >= 0 and pods.node[row] >= 0}
    return sorted(rows)


def _fits(cluster: Cluster, key: str, node: str) -> bool:
    row, slot = cluster.pods.row_of.get(key), cluster.nodes.slot_of.get(node)
    if row is None or slot is None:
        return False
    if not static_fit(cluster, cluster.class_of(row)).fine[slot] or not PodFilters(cluster, row).allows(slot):
        return False
    cluster.attach(row, slot)
    return True
