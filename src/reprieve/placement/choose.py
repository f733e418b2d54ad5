"""The best of the feasible nodes.

Total score: 3 x taints + 2 x node affinity + fit + balance + 2 x spread + 2 x pod affinity + images. Equal totals are decided as
kube-scheduler's heap decides them: the first in pre-order of the implicit binary tree over the list of feasible nodes.
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass, Rows
from reprieve.placement.affinity import affinity_scores
from reprieve.placement.scan import Scan
from reprieve.placement.spread import spread_scores

_preorder: Ints = np.zeros(0, dtype=np.int64)


def preorder(size: int) -> Ints:
    """A number for each list position: smaller comes first in pre-order of the heap's tree.

    Position p has the path of p+1 in binary. Read left-aligned the paths sort as pre-order does, and of two that agree the
    shorter (the ancestor) comes first.
    """
    global _preorder  # noqa: PLW0603 - a table that only ever grows
    if size > len(_preorder):
        length = max(2 * size, 1024)
        paths = np.arange(1, length + 1, dtype=np.int64)
        depth = np.frexp(paths.astype(np.float64))[1].astype(np.int64)
        _preorder = (paths << (48 - depth)) * 64 + depth
    return _preorder[:size]


def feasible_list(cluster: Cluster, feasible: Mask) -> Rows:
    """Feasible slots in the scheduler's order."""
    order = cluster.nodes.order
    return order[feasible[order]]


def totals(cluster: Cluster, cls: PodClass, scan: Scan, slots: Rows) -> Ints:
    """What each feasible node scores."""
    total = scan.scores[slots] + scaled_totals(cls, scan, slots)
    for extra in (spread_scores(cluster, cls, slots), affinity_scores(cluster, cls, slots)):
        if extra is not None:
            total += 2 * extra
    return total


def scaled_totals(cls: PodClass, scan: Scan, slots: Rows) -> Ints:
    """The part that no usage changes, but the list of feasible nodes does: taints and preferences, scaled over it."""
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
