"""From rows and slots to names and sentences."""

from reprieve.cluster.columns import LOST
from reprieve.preemption import plan as outcomes
from reprieve.preemption.plan import Cost, Plan, Victim
from reprieve.preemption.selection import Selection
from reprieve.preemption.units import GROUP, Unit
from reprieve.preemption.view import View


def unit_name(view: View, unit: Unit) -> str:
    if unit.group >= 0:
        return f"PodGroup/{view.cluster.groups.keys[unit.group]}"
    return f"Pod/{view.cluster.pods.keys[unit.rows[0]]}"


def node_name(view: View, row: int) -> str:
    """The node a pod runs on; for a node nobody has seen, the name it states."""
    slot = int(view.cluster.pods.node[row])
    return view.cluster.pods.about[row].node_name if slot == LOST else view.cluster.nodes.names[slot]


def plan_of(view: View, for_: str, selection: Selection, *, gang: bool) -> Plan:
    """The plan that a selection amounts to."""
    pods = view.cluster.pods
    names = view.cluster.nodes.names
    victims = tuple(
        Victim(
            pod=pods.keys[row],
            node=node_name(view, row),
            unit=unit_name(view, unit),
            priority=unit.priority,
            violates_budget=unit in selection.violations,
            terminating=bool(pods.terminating[row]),
        )
        for unit in selection.victims
        for row in unit.rows
    )
    groups = sum(unit.rank == GROUP for unit in selection.victims) if gang else 0
    return Plan(
        for_=for_,
        outcome=outcomes.PREEMPTS,
        placements={pods.keys[each.row]: names[each.slot] for each in selection.assigned},
        victims=victims,
        pdb_violations=selection.broken,
        pod_group_disruptions=groups,
        cost=cost_of(selection),
        algorithm=view.config.preemption.algorithm,
    )


def cost_of(selection: Selection) -> Cost:
    return Cost(
        budget_violations=selection.broken,
        highest_priority=selection.highest if selection.victims else None,
        units=len(selection.victims),
        pods=selection.pods,
        groups=sum(unit.rank == GROUP for unit in selection.victims),
    )
