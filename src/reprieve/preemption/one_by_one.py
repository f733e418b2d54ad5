"""The older way of a gang to preempt, for clusters that turn WorkloadAwarePreemption off.

Each pod is placed, or preempts, for itself, as single pods do. The victims of earlier pods count as gone for
the later ones. Nothing is carried out until enough pods have found a place: otherwise nobody makes way.
"""

from reprieve.placement import UNSCHEDULABLE, Assignment, PodFilters, diagnose, place, settle
from reprieve.preemption.gangs import Gang
from reprieve.preemption.pods import best_choice, dry_run
from reprieve.preemption.units import Selection, VictimUnit
from reprieve.preemption.view import View


def select_one_by_one(view: View, gang: Gang) -> Selection | None:
    """Places for the gang's pods and the victims of all of them; None when too few find a place."""
    cluster = view.cluster
    assigned: list[Assignment] = []
    victims: list[VictimUnit] = []
    violations: dict[VictimUnit, int] = {}
    mark = cluster.checkpoint()
    try:
        for row in gang.rows:
            found = _place_or_preempt(view, row)
            if found is None:
                continue
            assigned += found.assigned
            victims += found.victims
            violations |= found.violations
            for unit in found.victims:
                for each in unit.rows:
                    cluster.detach(each)
            settle(found.assigned[0].filters, found.assigned[0].slot)
    finally:
        cluster.rollback(mark)
    enough = len(assigned) + gang.running >= gang.min_count
    return Selection(assigned, victims, [], violations) if enough and victims else None


def _place_or_preempt(view: View, row: int) -> Selection | None:
    filters = PodFilters(view.cluster, row, view.faithful)
    slot = place(filters, view.scoring)
    if slot is not None:
        return Selection([Assignment(row, slot, filters)], [], [], {})
    possible = diagnose(filters, view.scoring).code == UNSCHEDULABLE
    order = view.cluster.nodes.order
    choices = [dry_run(view, filters, slot) for slot in order[possible[order]].tolist()]
    found = [choice for choice in choices if choice is not None and choice.victims]
    return best_choice(view, found) if found else None
