"""A tree that gets at least what it needs, where taking all that fits in order would not be enough.

kube-scheduler's order is greedy: an early group takes pods beyond its minimum, or the domain that only a
later one could use, and the tree fails although it fits. Here every group gets its minimum first, other
choices of groups and domains are tried, and what is left goes to pods and groups beyond the minimum.
"""

from collections.abc import Sequence

import numpy as np

from reprieve.cluster import Cluster, Mask
from reprieve.placement.filters import PodFilters
from reprieve.placement.gang import Assignment, GangPlacement, place_gang, reserve_claims, settle
from reprieve.placement.options import Way, Ways
from reprieve.placement.resources import DEFAULT, Scoring
from reprieve.placement.single import place
from reprieve.placement.trees import TreeGroup, TreePlacer

MOST_TRIES = 64
"""How often a pod group of the tree is placed before the search gives up."""


def place_with_least(cluster: Cluster, root: TreeGroup, scoring: Scoring = DEFAULT) -> GangPlacement | None:
    """Where the tree goes; None when no way was found. Nothing stays attached."""
    placed: dict[int, Assignment] = {}

    def visit(rows: Sequence[int], need: int, within: Mask | None) -> Sequence[int] | None:
        if not need:
            return ()
        found = place_gang(cluster, rows, need, 0, scoring, within, faithful=False)
        if not found.feasible:
            return None
        chosen = found.assigned[:need]
        _attach(cluster, chosen)
        placed.update({each.row: each for each in chosen})
        return [each.row for each in chosen]

    mark = cluster.checkpoint()
    for largest_first in (False, True):
        for way in Ways(cluster, MOST_TRIES, visit, largest_first=largest_first).of(root):
            assigned = [placed[row] for row, _ in way.needed]
            assigned += fill(cluster, way, scoring)
            if assigned:
                cluster.rollback(mark)
                return GangPlacement(True, assigned, [], "")
        cluster.rollback(mark)
    return None


def fill(cluster: Cluster, way: Way, scoring: Scoring = DEFAULT) -> list[Assignment]:
    """Pods and whole groups beyond the minimum that fit next to what is attached; they stay attached."""
    assigned: list[Assignment] = []
    for row, within in way.extra:
        filters = PodFilters(cluster, row, faithful=False)
        slot = place(filters, scoring, within)
        if slot is not None:
            settle(filters, slot)
            assigned.append(Assignment(row, slot, filters))
    placer = TreePlacer(cluster, scoring, faithful=False, tolerant=True)
    for group, within in way.left_out:
        found = placer.evaluate(group, within)
        if found.ok and found.assigned:
            _attach(cluster, found.assigned)
            assigned += found.assigned
    return assigned


def _attach(cluster: Cluster, assigned: Sequence[Assignment]) -> None:
    rows = np.array([each.row for each in assigned], np.int32)
    cluster.attach_all(rows, np.array([each.slot for each in assigned], np.int32))
    for each in assigned:
        reserve_claims(each.filters, each.slot)
