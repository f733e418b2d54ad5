"""Domains in the same state: what one of them answers, its twins answer, too, node by node.

Racks are built alike, and many are as empty, or as full, as their neighbours. Where only free resources
decide, a gang is placed in one of them, and the places are carried over to the others.
"""

from collections.abc import Sequence

import numpy as np

from reprieve.cluster import Cluster, Ints, Rows
from reprieve.placement.domains import Domain
from reprieve.placement.filters import PodFilters
from reprieve.placement.gang import GangPlacement
from reprieve.placement.single import feasible_list
from reprieve.placement.static import static_fit
from reprieve.placement.waves import goes_in_waves

FEW = 3
"""Below this many domains there is nothing to gain."""


def first_twins(
    cluster: Cluster, rows: Sequence[int], domains: Sequence[Domain], *, faithful: bool
) -> list[int]:
    """For each domain the number of the first one in the same state, which may be its own."""
    if len(domains) < FEW or not _alike(cluster, rows, faithful):
        return list(range(len(domains)))
    state = _state(cluster, rows[0])
    seen: dict[bytes, int] = {}
    return [
        seen.setdefault(state[_slots(cluster, domain)].tobytes(), number)
        for number, domain in enumerate(domains)
    ]


def carried_over(cluster: Cluster, placement: GangPlacement, there: Domain, here: Domain) -> GangPlacement:
    """The same placement in a twin."""
    slots = dict(zip(_slots(cluster, there).tolist(), _slots(cluster, here).tolist(), strict=True))
    return placement._replace(assigned=[each._replace(slot=slots[each.slot]) for each in placement.assigned])


def _slots(cluster: Cluster, domain: Domain) -> Rows:
    return cluster.nodes.order if domain.nodes is None else feasible_list(cluster, domain.nodes)


def _alike(cluster: Cluster, rows: Sequence[int], faithful: bool) -> bool:
    """Whether all pods are of one shape, and nothing but free resources decides where they go."""
    if not rows:
        return False
    info, storage = cluster.pods.info, cluster.storage.pods
    if any(info[row].nominated_node or row in storage for row in rows):
        return False
    classes = {int(number) for number in cluster.pods.cls[list(rows)]}
    if len({cluster.classes.all[number].shape for number in classes}) > 1:
        return False
    first = {int(cluster.pods.cls[row]): row for row in reversed(rows)}
    return all(goes_in_waves(PodFilters(cluster, row, faithful)) for row in first.values())


def _state(cluster: Cluster, row: int) -> Ints:
    """All that decides about a node, by slot."""
    nodes, static = cluster.nodes, static_fit(cluster, cluster.class_of(row))
    width = nodes.slots
    usage = [nodes.allocatable[:, :width], nodes.used[:, :width], nodes.filled[:, :width]]
    own = [static.fine, static.taints, static.preferred, static.images]
    columns = [*usage, np.stack([each[:width].astype(np.int64) for each in own])]
    state: Ints = np.ascontiguousarray(np.concatenate(columns).T)
    return state
