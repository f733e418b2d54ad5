"""Which victims would break a disruption budget.

Budgets are used up by all potential victims, most important first, whether or not they are reprieved later.
"""

from collections.abc import Iterable

from reprieve.preemption.units import Unit
from reprieve.preemption.view import View


def count_violations(view: View, units: Iterable[Unit]) -> dict[Unit, int]:
    """Of units (most important first), those whose eviction would break a budget, with the number of their pods that do."""
    budgets = view.cluster.budgets.all
    if not budgets:
        return {}
    left = [budget.status.disruptions_allowed for budget in budgets]
    counts = {unit: sum(_breaks(view, row, left) for row in unit.rows) for unit in units}
    return {unit: count for unit, count in counts.items() if count}


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
