"""Where one pod goes: the feasible nodes, their total scores, and the best of them.

Total score: 3 x taints + 2 x node affinity + fit + balance + 2 x spread + 2 x pod affinity + images + free
storage. Equal totals are decided as kube-scheduler's heap decides them: the first in pre-order of the
implicit binary tree over the list of feasible nodes.
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass, Rows
from reprieve.placement.affinity import affinity_scores, may_score
from reprieve.placement.filters import PodFilters
from reprieve.placement.preorder import preorder
from reprieve.placement.resources import DEFAULT, Scoring
from reprieve.placement.scan import Scan, scan_of
from reprieve.placement.spread import soft_constraints, spread_scores


def feasible_list(cluster: Cluster, feasible: Mask) -> Rows:
    """Feasible slots in the scheduler's order."""
    order = cluster.nodes.order
    return order[feasible[order]]


def totals(cluster: Cluster, cls: PodClass, scan: Scan, slots: Rows) -> Ints:
    """The total score of each feasible node."""
    total = scan.scores[slots] + scaled_totals(cls, scan, slots)
    for extra in (spread_scores(cluster, cls, slots), affinity_scores(cluster, cls, slots)):
        if extra is not None:
            total += 2 * extra
    return total


def scaled_totals(cls: PodClass, scan: Scan, slots: Rows) -> Ints:
    """Taints and node preferences: independent of usage, but scaled over the list of feasible nodes."""
    total = 3 * _fewest_best(scan.static.taints[slots])
    if cls.preferred_nodes:
        total += 2 * _most_best(scan.static.preferred[slots])
    return total


def best(slots: Rows, total: Ints) -> int:
    """The slot with the highest total."""
    ties = np.flatnonzero(total == total.max())
    if len(ties) == 1:
        return int(slots[ties[0]])
    return int(slots[ties[np.argmin(preorder(len(slots))[ties])]])


def _most_best(raw: Ints) -> Ints:
    """Scaled so that the most gets 100."""
    most = int(raw.max(initial=0))
    return 100 * raw // most if most else raw


def _fewest_best(raw: Ints) -> Ints:
    """Scaled so that none gets 100 and the most gets 0."""
    most = int(raw.max(initial=0))
    return 100 - 100 * raw // most if most else np.full(len(raw), 100, dtype=np.int64)


def feasible_mask(filters: PodFilters, scoring: Scoring = DEFAULT, within: Mask | None = None) -> Mask:
    """Nodes that pass every filter, with capacity kept for nominated pods."""
    return _feasible(filters, scan_of(filters.cluster, filters.cls, scoring), within)


def _feasible(filters: PodFilters, scan: Scan, within: Mask | None) -> Mask:
    cluster, mask = filters.cluster, scan.fits.copy()
    if within is not None:
        mask &= within
    if filters.volumes is not None and filters.volumes.error(mask):
        mask[:] = False
    if filters.cls.ports or not filters.plain:
        mask &= ~filters.refused()
    if filters.devices is not None:
        mask &= filters.devices.verdict(mask).fits
    for name in cluster.nominated:
        slot = cluster.nodes.slot_of.get(name)
        if slot is not None and mask[slot] and filters.nominated(slot):
            mask[slot] = filters.allows(slot)
    return mask


def place(filters: PodFilters, scoring: Scoring = DEFAULT, within: Mask | None = None) -> int | None:
    """The slot for a pod, or None.

    1. Its nominated node, if that passes the filters: nothing is scored then.
    2. The only feasible node.
    3. The feasible node with the highest score.
    """
    cluster = filters.cluster
    nominated = nominated_slot(cluster, filters.row)
    if nominated is not None and passes(filters, nominated, scoring, within):
        return nominated
    scan = scan_of(cluster, filters.cls, scoring)
    if within is None and _ranks_alone(filters, scan):
        return scan.first()
    feasible = feasible_list(cluster, _feasible(filters, scan, within))
    if len(feasible) == 0:
        return None
    if len(feasible) == 1:
        return int(feasible[0])
    total = totals(cluster, filters.cls, scan, feasible)
    if filters.volumes is not None and (stored := filters.volumes.scores(feasible)) is not None:
        total = total + stored
    if filters.devices is not None and (served := filters.devices.scores(feasible)) is not None:
        total = total + 2 * served
    return best(feasible, total)


def _ranks_alone(filters: PodFilters, scan: Scan) -> bool:
    """Whether only a node's own resources and images make a difference, as for most pods.

    Nothing is set aside for others, and whatever else is scored is the same on every node.
    """
    cluster, cls = filters.cluster, filters.cls
    return (
        not cluster.nominated
        and not scan.rescales
        and not cls.ports
        and filters.plain
        and not soft_constraints(cluster, cls)[0]
        and not may_score(cluster, cls)
    )


def nominated_slot(cluster: Cluster, row: int) -> int | None:
    """The slot of the node that the pod's status nominates."""
    name = cluster.pods.info[row].nominated_node
    return cluster.nodes.slot_of.get(name) if name else None


def passes(filters: PodFilters, slot: int, scoring: Scoring = DEFAULT, within: Mask | None = None) -> bool:
    """All filters for one node."""
    if within is not None and not within[slot]:
        return False
    return bool(scan_of(filters.cluster, filters.cls, scoring).static.fine[slot]) and filters.allows(slot)
