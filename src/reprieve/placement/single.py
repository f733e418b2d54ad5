"""Where one pod goes, as the cluster is supposed to be now."""

from reprieve.cluster import Cluster, Mask
from reprieve.placement.choose import best, feasible_list, totals
from reprieve.placement.filters import PodFilters
from reprieve.placement.resources import DEFAULT, Scoring
from reprieve.placement.scan import scan_of


def feasible_mask(cycle: PodFilters, scoring: Scoring = DEFAULT, within: Mask | None = None) -> Mask:
    """Nodes that pass every filter, room for promised pods included."""
    cluster = cycle.cluster
    mask = scan_of(cluster, cycle.cls, scoring).fits.copy()
    if within is not None:
        mask &= within
    if cycle.cls.ports or not cycle.plain:
        mask &= ~cycle.refused()
    for name in cluster.nominated:
        slot = cluster.nodes.slot_of.get(name)
        if slot is not None and mask[slot] and cycle.promised(slot):
            mask[slot] = cycle.allows(slot)
    return mask


def place(cycle: PodFilters, scoring: Scoring = DEFAULT, within: Mask | None = None) -> int | None:
    """The slot for a pod, or None.

    1. A node it was promised, if it passes the filters: nothing is scored then.
    2. The only feasible node.
    3. The feasible node with the highest score.
    """
    cluster = cycle.cluster
    promised = nominated_slot(cluster, cycle.row)
    if promised is not None and passes(cycle, promised, scoring, within):
        return promised
    feasible = feasible_list(cluster, feasible_mask(cycle, scoring, within))
    if len(feasible) == 0:
        return None
    if len(feasible) == 1:
        return int(feasible[0])
    scan = scan_of(cluster, cycle.cls, scoring)
    return best(feasible, totals(cluster, cycle.cls, scan, feasible))


def nominated_slot(cluster: Cluster, row: int) -> int | None:
    """The slot of the node that the pod's status nominates."""
    name = cluster.pods.about[row].nominated
    return cluster.nodes.slot_of.get(name) if name else None


def passes(cycle: PodFilters, slot: int, scoring: Scoring = DEFAULT, within: Mask | None = None) -> bool:
    """All filters for one node."""
    if within is not None and not within[slot]:
        return False
    return bool(scan_of(cycle.cluster, cycle.cls, scoring).static.fine[slot]) and cycle.allows(slot)
