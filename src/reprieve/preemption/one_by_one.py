"""The older way of a gang to preempt, for clusters that turn WorkloadAwarePreemption off.

Each pod is placed, or preempts, for itself, as single pods do. The victims of earlier pods count as gone for
the later ones. Nothing is carried out until enough pods have found a place: otherwise nobody makes way.

A group that must stay in one domain is tried in each by itself, and the domain is chosen as nodes are for a
pod. In a tree that holds at every level: a group that finds too few places leaves nothing behind.
"""

from collections.abc import Iterable, Sequence

from reprieve.cluster import Mask
from reprieve.placement import (
    UNSCHEDULABLE,
    Assignment,
    Domain,
    PodFilters,
    TreeGroup,
    diagnose,
    domains_within,
    place,
    settle,
)
from reprieve.preemption.gangs import Gang
from reprieve.preemption.pods import best_choice, dry_run
from reprieve.preemption.units import Selection, VictimUnit
from reprieve.preemption.view import View


def select_one_by_one(view: View, gang: Gang, domains: Sequence[Domain]) -> Selection | None:
    """Places for the gang's pods and the victims of all of them; None when too few find a place."""
    if gang.tree is not None:
        found = _group(view, gang.tree, None)
    else:
        needed = gang.min_count - gang.running
        found = _best(view, (_pods(view, gang.rows, needed, each.nodes) for each in domains))
    return found if found is not None and found.victims else None


def _group(view: View, group: TreeGroup, within: Mask | None) -> Selection | None:
    """A group of a tree, in the best domain of its topology."""
    cluster = view.cluster
    slots = (int(cluster.pods.node[row]) for row in group.placed)
    domains = domains_within(cluster, group.topology, slots, within) if group.topology else []
    inside = [each.nodes for each in domains] if group.topology else [within]
    return _best(view, (_inside(view, group, nodes) for nodes in inside))


def _inside(view: View, group: TreeGroup, within: Mask | None) -> Selection | None:
    if group.children is None:
        return _pods(view, group.rows, group.minimum - group.counted, within)
    together = Selection([], [], [], {})
    placed = 0
    mark = view.cluster.checkpoint()
    try:
        for child in group.children:
            found = _group(view, child, within)
            if found is not None:
                placed += 1
                together = _joined(together, found)
                _carry_out(view, found)
    finally:
        view.cluster.rollback(mark)
    return together if placed >= group.minimum else None


def _pods(view: View, rows: Iterable[int], needed: int, within: Mask | None) -> Selection | None:
    together = Selection([], [], [], {})
    mark = view.cluster.checkpoint()
    try:
        for row in rows:
            found = _place_or_preempt(view, row, within)
            if found is not None:
                together = _joined(together, found)
                _carry_out(view, found)
    finally:
        view.cluster.rollback(mark)
    return together if len(together.assigned) >= needed else None


def _joined(first: Selection, second: Selection) -> Selection:
    victims: list[VictimUnit] = [*first.victims, *second.victims]
    violations = {**first.violations, **second.violations}
    return Selection([*first.assigned, *second.assigned], victims, [], violations)


def _carry_out(view: View, found: Selection) -> None:
    """As if it had happened: for whoever comes next."""
    for unit in found.victims:
        for row in unit.rows:
            view.cluster.detach(row)
    for each in found.assigned:
        settle(each.filters, each.slot)


def _best(view: View, choices: Iterable[Selection | None]) -> Selection | None:
    """One without victims, or else the one that a pod would take."""
    found = [each for each in choices if each is not None]
    free = next((each for each in found if not each.victims), None)
    return free or (best_choice(view, found) if found else None)


def _place_or_preempt(view: View, row: int, within: Mask | None) -> Selection | None:
    filters = PodFilters(view.cluster, row, view.faithful)
    slot = place(filters, view.scoring, within)
    if slot is not None:
        return Selection([Assignment(row, slot, filters)], [], [], {})
    possible = diagnose(filters, view.scoring, within).code == UNSCHEDULABLE
    order = view.cluster.nodes.order
    choices = [dry_run(view, filters, slot) for slot in order[possible[order]].tolist()]
    return _best(view, (choice for choice in choices if choice is not None and choice.victims))
