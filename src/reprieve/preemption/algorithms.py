"""How the victims of a gang are chosen: as kube-scheduler does, or by KEP-5710's search.

KEP-5710 spares whole priorities before it spares single units:

1. Everyone below the gang's priority is out; the gang is placed; budget breakers that can stay, stay.
2. Binary search over priorities for the lowest cut-off N at which the gang still finds places when only units
   up to N are out.
3. Units above N stay. The gang is placed again, and the rest are reprieved in order of importance.

Placing a gang is greedy and can fail at a cut-off at which an earlier placement still stands; then that one
is used. So no victim is more important than the most important one of step 1 alone, and no more budgets are
broken.
"""

import numpy as np

from reprieve.cluster import Mask
from reprieve.placement import GangPlacement
from reprieve.preemption.gangs import GangSearch
from reprieve.preemption.units import Selection, disruption


def select_below_cutoff(
    search: GangSearch, first: Selection | GangPlacement | None = None
) -> Selection | GangPlacement:
    """`first`: what step 1 found, where that is known."""
    if first is None:
        first = search.select(search.everyone())
    if isinstance(first, GangPlacement) or not first.victims:
        return first
    out = search.everyone() & ~_spared_breakers(search, first)
    priorities = search.candidates.priorities
    levels = np.unique(priorities[out & (priorities <= first.highest)]).tolist()
    lowest, placement = _lowest_feasible(search, out, levels)
    out &= priorities <= lowest
    second = first if out.all() else search.select(out, placement)
    if isinstance(second, GangPlacement):
        return first
    return min(first, second, key=disruption)


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


def select_for_gang(search: GangSearch) -> Selection | GangPlacement:
    """Places and victims, or the placement that failed even with every lower unit out.

    kube-scheduler picks the domain first and its victims afterwards; KEP-5710 compares the cost of the
    domains.
    """
    if search.view.faithful:
        return search.select(search.everyone())
    if len(search.domains) <= 1:
        return select_below_cutoff(search)
    firsts = search.select_in_each(search.everyone())
    answers = [
        select_below_cutoff(search.inside(domain), first)
        for domain, first in zip(search.domains, firsts, strict=True)
    ]
    found = [answer for answer in answers if isinstance(answer, Selection)]
    return min(found, key=disruption) if found else search.select(search.everyone())
