"""Topology domains: a group with a topology constraint goes into one domain, never across two."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Mask
from reprieve.placement.gang import GangPlacement
from reprieve.placement.resources import BALANCED, Scoring
from reprieve.placement.sentences import groups as sentences


class Domain(NamedTuple):
    """Nodes considered together; None means all of them."""

    name: str
    nodes: Mask | None


EVERYWHERE = (Domain("", None),)


def domains_of(cluster: Cluster, key: str, running: Iterable[int]) -> list[Domain]:
    """One domain for each value of the label, by name; nodes without it are in none.

    Running members pin the group to their domain; when they span several, no domain is left.
    """
    return domains_within(cluster, key, running, None)


def domains_within(cluster: Cluster, key: str, running: Iterable[int], within: Mask | None) -> list[Domain]:
    """The same for some of the nodes: each domain is what lies inside them."""
    topology = cluster.nodes.topology(key)
    ids = topology.ids[: cluster.nodes.slots]
    if within is not None:
        ids = np.where(within, ids, -1)
    present = {int(each) for each in np.unique(ids[cluster.nodes.order]) if each >= 0}
    taken = {int(topology.ids[slot]) for slot in running if slot >= 0}
    chosen = present & taken if len(taken) == 1 else (set() if taken else present)
    return [
        Domain(topology.values[each], ids == each) for each in sorted(chosen, key=topology.values.__getitem__)
    ]


def best_domain(
    cluster: Cluster,
    tried: Sequence[tuple[Domain, GangPlacement]],
    running: int,
    scoring: Scoring,
    domains: int | None = None,
) -> GangPlacement:
    """The placement in the best domain: pods placed and fullness of the domain count equally, then the name.

    When none is feasible, the status of the first one, prefixed with the number of domains.
    """
    feasible = [(domain, placement) for domain, placement in tried if placement.feasible]
    if not feasible:
        if not tried:
            return GangPlacement(False, [], [], sentences.unschedulable(sentences.NO_PLACEMENTS))
        first = tried[0][1]
        text = sentences.no_domain_available(domains or len(tried), first.status)
        return first if len(tried) == 1 and tried[0][0].nodes is None else first._replace(status=text)
    if len(feasible) == 1:
        return feasible[0][1]
    proposals = [(domain, [each.row for each in placement.assigned]) for domain, placement in feasible]
    return feasible[best_of(cluster, proposals, running, scoring)][1]


def best_of(
    cluster: Cluster, proposals: Sequence[tuple[Domain, list[int]]], running: int, scoring: Scoring
) -> int:
    """Which of the domains is best, given the pods that each would get; the first of several."""
    most = max(running + len(rows) for _, rows in proposals)
    scores = [
        (running + len(rows)) * 100 // most + _fullness(cluster, domain, rows, scoring)
        for domain, rows in proposals
    ]
    return scores.index(max(scores))


def _fullness(cluster: Cluster, domain: Domain, rows: list[int], scoring: Scoring) -> int:
    """How full the whole domain would be, 0 to 100."""
    nodes = cluster.nodes
    inside = nodes.known if domain.nodes is None else domain.nodes
    classes = cluster.pods.cls[np.array(rows, dtype=np.int32)]
    total = weights = 0
    for index, weight in scoring.weights:
        offered = int(nodes.allocatable[index, : nodes.slots][inside].sum())
        if not offered:
            continue
        used = nodes.filled if index in BALANCED else nodes.used
        requests = cluster.classes.filled if index in BALANCED else cluster.classes.requests
        wanted = int(used[index, : nodes.slots][inside].sum()) + int(requests[index, classes].sum())
        total += weight * (min(wanted, offered) * 100 // offered)
        weights += weight
    return total // weights if weights else 0
