"""A plan of the `minimal-cost` algorithm, with its bill and what can be said about the optimum."""

from collections.abc import Callable, Sequence

import msgspec

from reprieve.cluster import Mask
from reprieve.preemption import plan as outcomes
from reprieve.preemption.cost import billed
from reprieve.preemption.gangs import Gang
from reprieve.preemption.minimal.improve import Start, improve
from reprieve.preemption.plan import Plan
from reprieve.preemption.rendering import plan_of
from reprieve.preemption.view import View


def decide(
    view: View,
    for_: str,
    gang: Gang,
    start: Start,
    *,
    whole: bool = True,
    domains: Sequence[Mask | None] = (None,),
    expired: Callable[[], bool] | None = None,
) -> Plan | None:
    """The cheapest plan for a preemptor, never worse than what `start` finds (the choice of `kep-5710`); None when there is none.

    `whole`: the preemptor is a pod group, not a single pod. `domains`: masks of nodes of which it must stay inside one. `expired`
    tells that time is up; without it only the work limit that `preemption.timeBudget` stands for ends the search.
    """
    found = improve(view, gang, start, domains, expired)
    if found is None:
        return None
    plan = billed(view, plan_of(view, for_, found.selection, gang=whole), found.optimality)
    outcome = outcomes.PREEMPTS if found.selection.victims else outcomes.SCHEDULED
    reasons = (*plan.reasons, f"The search for the least cost: {found.optimality}.")
    return msgspec.structs.replace(plan, outcome=outcome, reasons=reasons)
