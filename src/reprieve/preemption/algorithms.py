"""`preemption.algorithm`: which search answers for a gang."""

from reprieve.placement import GangPlacement
from reprieve.preemption.cutoff import select_below_cutoff
from reprieve.preemption.gangs import GangSearch
from reprieve.preemption.selection import Selection


def select_for_gang(search: GangSearch) -> Selection | GangPlacement:
    """Places and victims, or the placement that failed even with every lower unit out."""
    if search.view.faithful:
        return search.select(search.everyone())
    return select_below_cutoff(search)
