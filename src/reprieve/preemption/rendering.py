"""Rendering: from the rows and slots of a selection to a plan with names and reasons."""

from collections.abc import Sequence

from reprieve.cluster import Rows
from reprieve.objects import Reference, outcomes
from reprieve.placement import Assignment, named
from reprieve.preemption import sentences
from reprieve.preemption.plan import ClaimUse, Cost, Plan, Victim
from reprieve.preemption.reasons import (
    Leftovers,
    answer,
    budget_uses,
    node_name,
    reprieved_units,
    unit_name,
)
from reprieve.preemption.units import LazyUnits, Selection
from reprieve.preemption.view import View


def plan_of(
    view: View, for_: Reference, selection: Selection, *, gang: bool, without: str = "", short: str = ""
) -> Plan:
    """The plan of a selection.

    `without`: the scheduler's message before it considered preemption; `short`: the same for people.
    """
    pods, names = view.cluster.pods, view.cluster.nodes.names
    victims = selection.pods
    if gang:
        message = sentences.preempts_for_group(without, victims)
    else:
        message = sentences.preempts_for_pod(without, names[selection.assigned[0].slot], victims)
    said = short or (sentences.without_preemption(without) if without else "")
    return Plan(
        for_=str(for_),
        outcome=outcomes.PREEMPTS,
        placements={pods.keys[each.row]: names[each.slot] for each in selection.assigned},
        devices=device_uses(selection.assigned),
        victims=victims_of(view, selection),
        pdb_violations=selection.broken,
        pod_group_disruptions=selection.groups if gang else 0,
        cost=cost_of(selection),
        reasons=(*answer(view, for_, selection), *((said,) if said else ())),
        reprieved=reprieved_units(view, selection),
        budgets=budget_uses(view, selection),
        algorithm=view.config.preemption.algorithm,
        message=message,
    )


def claim_uses(view: View, assigned: Sequence[Assignment]) -> dict[str, ClaimUse]:
    """What the unbound claims of pods get where these go."""
    uses: dict[str, ClaimUse] = {}
    for each in assigned:
        volumes = each.filters.volumes
        if volumes is not None:
            where = view.cluster.nodes.names[each.slot]
            uses |= {claim: ClaimUse(volume=name) for name, claim in volumes.volumes_at(each.slot).items()}
            uses |= {claim: ClaimUse(provision=where) for claim in volumes.provisions_at(each.slot)}
    return uses


def device_uses(assigned: Sequence[Assignment]) -> dict[str, dict[str, list[str]]]:
    """What the claims of pods get where these go."""
    return named({key: each for pod in assigned for key, each in pod.devices.items()})


def victims_of(view: View, selection: Selection) -> tuple[Victim, ...]:
    """One entry for each victim pod, most important unit first."""
    pods = view.cluster.pods
    left = Leftovers(view, selection)
    if isinstance(selection.victims, LazyUnits):
        return _single_victims(view, selection, selection.victims.rows, left)
    listed = []
    for unit in selection.victims:
        breaks = selection.violations.get(unit.rows[0], 0)
        name, reason = unit_name(view, unit), left.reason(unit.rows, breaks)
        listed += [
            Victim(
                pod=pods.keys[row],
                node=node_name(view, row),
                unit=name,
                priority=unit.priority,
                violates_budget=bool(breaks),
                reason=reason,
                terminating=bool(pods.terminating[row]),
            )
            for row in unit.rows
        ]
    return tuple(listed)


def _single_victims(view: View, selection: Selection, rows: Rows, left: Leftovers) -> tuple[Victim, ...]:
    """The same for single pods, read from the columns."""
    pods, nodes = view.cluster.pods, view.cluster.nodes.names
    listed, breaks = rows.tolist(), selection.violations
    columns = view.home[rows], view.priority[rows], pods.terminating[rows]
    broken = [breaks.get(row, 0) for row in listed] if breaks else [0] * len(listed)
    names = [pods.keys[row] for row in listed]
    each = zip(
        names, *(column.tolist() for column in columns), broken, left.reasons(rows, broken), strict=True
    )
    return tuple(
        [
            Victim(
                pod=name,
                node=nodes[slot],
                unit=f"Pod/{name}",
                priority=priority,
                violates_budget=number > 0,
                reason=reason,
                terminating=terminating,
            )
            for name, slot, priority, terminating, number, reason in each
        ]
    )


def cost_of(selection: Selection) -> Cost:
    return Cost(
        budget_violations=selection.broken,
        highest_priority=selection.highest if selection.victims else None,
        units=len(selection.victims),
        pods=selection.pods,
        groups=selection.groups,
    )
