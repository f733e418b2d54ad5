"""Where one pod goes, as the cluster is supposed to be now."""

from reprieve.cluster import Cluster, Mask
from reprieve.placement.choose import best, feasible_list, totals
from reprieve.placement.filters import PodFilters
from reprieve.placement.resources import DEFAULT, Scoring
from reprieve.placement.scan import scan_of


def feasible_mask(filters: PodFilters, scoring: Scoring = DEFAULT, within: Mask | None = None) -> Mask:
    """Nodes that pass every filter, room for promised pods included."""
    cluster = filters.cluster
    mask = scan_of(cluster, filters.cls, scoring).fits.copy()
    if within is not None:
        mask &= within
    if filters.cls.ports or not filters.plain:
        mask &= ~filters.refused()
    for name in cluster.nominated:
        slot = cluster.nodes.slot_of.get(name)
        if slot is not None and mask[slot] and filters.nominated(slot):
            mask[slot] = filters.allows(slot)
    return mask


def place(filters: PodFilters, scoring: Scoring = DEFAULT, within: Mask | None = None) -> int | None:
    """The slot for a pod, or None.

    1. A node it was promised, if it passes the filters: nothing is scored then.
    2. The only feasible node.
    3. The feasible node with the highest score.
    """
    cluster = filters.cluster
    nominated = nominated_slot(cluster, filters.row)
    if nominated is not None and passes(filters, nominated, scoring, within):
        return nominated
    feasible = feasible_list(cluster, feasible_mask(filters, scoring, within))
    if len(feasible) == 0:
        return None
    if len(feasible) == 1:
        return int(feasible[0])
    scan = scan_of(cluster, filters.cls, scoring)
    return best(feasible, totals(cluster, filters.cls, scan, feasible))


def nominated_slot(cluster: Cluster, row: int) -> int | None:
    """The slot of the node that the pod's status nominates."""
    name = cluster.pods.info[row].nominated_node
    return cluster.nodes.slot_of.get(name) if name else None


def passes(filters: PodFilters, slot: int, scoring: Scoring = DEFAULT, within: Mask | None = None) -> bool:
    """All filters for one node."""
    if within is not None and not within[slot]:
        return False
    return bool(scan_of(filters.cluster, filters.cls, scoring).static.fine[slot]) and filters.allows(slot)
