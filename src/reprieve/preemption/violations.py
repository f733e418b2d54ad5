"""Which victims would break a disruption budget.

Budgets are used up by all potential victims, most important first, whether or not they are reprieved later.
"""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.preemption.units import Unit
from reprieve.preemption.view import View


class Split(NamedTuple):
    violating: list[Unit]
    others: list[Unit]
    counts: dict[Unit, int]
    """How many pods of each violating unit break a budget."""


def split_by_budgets(view: View, units: Sequence[Unit]) -> Split:
    """Split units (most important first) into those whose eviction would break a budget and the rest, keeping their order."""
    cluster = view.cluster
    budgets = cluster.budgets.all
    if not budgets:
        return Split([], list(units), {})
    left = [budget.status.disruptions_allowed for budget in budgets]
    split = Split([], [], {})
    for unit in units:
        broken = sum(_breaks(view, row, left) for row in unit.rows)
        if broken:
            split.counts[unit] = broken
        (split.violating if broken else split.others).append(unit)
    return split


def _breaks(view: View, row: int, left: list[int]) -> bool:
    """Charge the pod to every budget that covers it, up to the first that is overdrawn."""
    cluster = view.cluster
    name = cluster.pods.keys[row].rpartition("/")[2]
    for number in cluster.budgets.covering(cluster.class_of(row)):
        if name in cluster.budgets.all[number].status.disrupted_pods:
            continue
        left[number] -= 1
        if left[number] < 0:
            return True
    return False
