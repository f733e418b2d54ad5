"""How the victims of a gang are chosen: as kube-scheduler does, or by KEP-5710's search.

KEP-5710 spares whole priorities before it spares single units:

1. Everyone below the gang's priority is out; the gang is placed; budget breakers that can stay, stay.
2. Binary search over priorities for the lowest cut-off N at which the gang still finds places when only units
   up to N are out.
3. Units above N stay. The gang is placed again, and the rest are reprieved in order of importance.

Placing a gang is greedy and can fail at a cut-off at which an earlier placement still stands; then that one
is used. So no victim is more important than the most important one of step 1 alone, and no more budgets are
broken.

Where the selection of step 1 breaks no budget, has as few victims as any plan for the gang, and no gang fits
without its most important victims, no other can be better: steps 2 and 3 are left out.
"""

import numpy as np

from reprieve.cluster import Mask
from reprieve.placement import GangPlacement
from reprieve.preemption.gangs import GangSearch
from reprieve.preemption.most_free import free_without
from reprieve.preemption.units import Selection, disruption


def select_below_cutoff(
    search: GangSearch, first: Selection | GangPlacement | None = None, ceiling: int | None = None
) -> Selection | GangPlacement:
    """`first`: what step 1 found, where that is known. `ceiling`: as in `select_for_gang`."""
    if first is None:
        first = search.select(search.everyone(), ceiling=ceiling)
    if isinstance(first, GangPlacement) or not first.victims or _cannot_be_beaten(search, first):
        return first
    out = search.everyone() & ~_spared_breakers(search, first)
    priorities = search.candidates.priorities
    levels = np.unique(priorities[out & (priorities <= first.highest)]).tolist()
    lowest, placement = _lowest_feasible(search, out, levels)
    out &= priorities <= lowest
    second = first if out.all() else search.select(out, placement, ceiling)
    if isinstance(second, GangPlacement):
        return first
    return min(first, second, key=lambda each: (each.cut_short, disruption(each)))


def _cannot_be_beaten(search: GangSearch, selection: Selection) -> bool:
    """Whether no selection has fewer broken budgets, a lower highest priority, fewer units or fewer pods."""
    units = len(selection.victims)
    if selection.cut_short or selection.broken or selection.pods > units:
        return False
    return units <= least_units(search) and not may_fit_below(search, selection.highest)


def least_units(search: GangSearch) -> int:
    """As many units at least must go, counting all nodes as one; 0 where that says nothing.

    What the smallest pods that make up the minimum request, less what is free, in units of the largest size.
    """
    gang, cluster = search.gang, search.view.cluster
    if gang.tree is not None or cluster.devices.classes:  # devices may serve what nodes do not offer
        return 0
    number = min(max(1, gang.min_count - gang.running), len(gang.rows))
    pods = np.bincount(cluster.pods.cls[list(gang.rows)])
    kinds = pods.nonzero()[0]
    requests = cluster.classes.requests[:, kinds]
    wanted = (
        requests[:, 0] * number
        if len(kinds) == 1
        else np.sort(np.repeat(requests, pods[kinds], axis=1))[:, :number].sum(axis=1)
    )
    short = wanted - cluster.nodes.free().clip(min=0).sum(axis=1)
    largest = search.candidates.largest()
    scarce = (wanted > 0) & (short > 0) & (largest > 0)
    return int((-(-short[scarce] // largest[scarce])).max(initial=0))


def may_fit_below(search: GangSearch, priority: int) -> bool:
    """Whether the gang may fit when only units below a priority are out; False only if it surely does not.

    Every class of its pods is counted on every node as if it were there alone.
    """
    gang, cluster, candidates = search.gang, search.view.cluster, search.candidates
    out = candidates.priorities < priority
    if not out.any():
        return False
    if gang.tree is not None or cluster.devices.classes or gang.min_count - gang.running < len(gang.rows):
        return True
    rows = candidates.pods_of(out)
    home = cluster.pods.node[rows]
    free = free_without(cluster, rows[home >= 0], home[home >= 0])
    pods = np.bincount(cluster.pods.cls[list(gang.rows)])
    for number in pods.nonzero()[0].tolist():
        requested = cluster.classes.all[number].requested
        fits = [free[index].clip(min=0) // amount for index, amount in requested]
        if np.min(fits, axis=0).sum() < pods[number]:
            return False
    return True


def _spared_breakers(search: GangSearch, selection: Selection) -> Mask:
    """Units that would break a budget and need not be evicted."""
    if not search.broken:
        return np.zeros(len(search.candidates), dtype=np.bool_)
    firsts = [unit.rows[0] for unit in selection.victims]
    spared: Mask = (search.breaks > 0) & ~np.isin(search.candidates.firsts, firsts)
    return spared


def _lowest_feasible(search: GangSearch, out: Mask, levels: list[int]) -> tuple[int, GangPlacement | None]:
    """The lowest level at which the gang finds places, and these; the highest one is known to work."""
    low, high = 0, len(levels) - 1
    found = None
    while low < high:
        middle = (low + high) // 2
        placement = search.place_without(out & (search.candidates.priorities <= levels[middle]))
        if placement.feasible:
            high, found = middle, placement
        else:
            low = middle + 1
    return levels[high], found


def select_for_gang(search: GangSearch, ceiling: int | None = None) -> Selection | GangPlacement:
    """Places and victims, or the placement that failed even with every lower unit out.

    kube-scheduler picks the domain first and its victims afterwards; KEP-5710 compares the cost of the
    domains. With a `ceiling` the selection may be cut short: the one that would be found has a victim above
    this priority, and who the others are is not asked.
    """
    if search.view.faithful:
        return search.select(search.everyone())
    if len(search.domains) <= 1:
        return select_below_cutoff(search, ceiling=ceiling)
    firsts = search.select_in_each(search.everyone())
    answers = [
        select_below_cutoff(search.inside(domain), first)
        for domain, first in zip(search.domains, firsts, strict=True)
    ]
    found = [answer for answer in answers if isinstance(answer, Selection)]
    return min(found, key=disruption) if found else search.select(search.everyone())
