"""`preemption.algorithm`: which search answers for a gang."""

from reprieve.placement import GangPlacement
from reprieve.preemption.cutoff import disruption, select_below_cutoff
from reprieve.preemption.gangs import GangSearch
from reprieve.preemption.selection import Selection


def select_for_gang(search: GangSearch) -> Selection | GangPlacement:
    """Places and victims, or the placement that failed even with every lower unit out.

    kube-scheduler picks the domain first and its victims afterwards; we compare what each domain would cost.
    """
    if search.view.faithful:
        return search.select(search.everyone())
    if len(search.domains) <= 1:
        return select_below_cutoff(search)
    answers = [select_below_cutoff(GangSearch(search.view, search.gang, [each])) for each in search.domains]
    found = [answer for answer in answers if isinstance(answer, Selection)]
    return min(found, key=disruption) if found else search.select(search.everyone())
