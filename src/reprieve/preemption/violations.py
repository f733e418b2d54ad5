"""Which victims would break a disruption budget.

Budgets are charged for all potential victims, most important first, whether or not they are reprieved later.
"""

from collections.abc import Iterable

import numpy as np

from reprieve.cluster import Mask, Rows
from reprieve.objects import split_key
from reprieve.preemption.units import VictimUnit
from reprieve.preemption.view import View


def count_violations(view: View, units: Iterable[VictimUnit]) -> dict[VictimUnit, int]:
    """Of units (most important first), those that would break a budget, with the number of pods that do."""
    budgets = view.cluster.budgets.all
    if not budgets:
        return {}
    left = [budget.status.disruptions_allowed for budget in budgets]
    counts = {unit: sum(_breaks(view, row, left) for row in unit.rows) for unit in units}
    return {unit: count for unit, count in counts.items() if count}


def _breaks(view: View, row: int, left: list[int]) -> bool:
    """Charge the pod to every budget that covers it, up to the first that is overdrawn."""
    cluster = view.cluster
    for number in cluster.budgets.covering(cluster.class_of(row)):
        counted = cluster.budgets.all[number].status.disrupted_pods
        if counted and split_key(cluster.pods.keys[row])[1] in counted:
            continue
        left[number] -= 1
        if left[number] < 0:
            return True
    return False


NONE, SEVERAL = -1, -2


def breaks_by_node(view: View, rows: Rows, lower: Mask) -> tuple[Mask, Mask]:
    """The same for single pods, each node by itself: (pods that break a budget, nodes where that is unclear).

    `rows` are pods by turn (most important first) and node, `lower` marks the potential victims. A pod under
    several budgets is charged to one after the other, and a budget may have counted a pod already: such nodes
    are unclear and need `count_violations`.
    """
    cluster = view.cluster
    broken, unclear = np.zeros_like(lower), np.zeros(lower.shape[1], dtype=np.bool_)
    budgets = cluster.budgets.all
    if not budgets:
        return broken, unclear
    covering = (cluster.budgets.covering(each) for each in cluster.classes.all)
    budget_of = np.array([*(_only(numbers) for numbers in covering), NONE])
    budget = np.where(lower, budget_of[np.where(rows >= 0, cluster.pods.cls[rows], -1)], NONE)
    unclear |= (budget == SEVERAL).any(axis=0)
    for each in budgets:
        for name in each.status.disrupted_pods:
            row = cluster.pods.row_of.get(f"{each.namespace}/{name}")
            if row is not None and view.home[row] >= 0:
                unclear[view.home[row]] = True
    node, turn = np.nonzero((budget >= 0).T)
    charged = node * len(budgets) + budget[turn, node]
    order = np.argsort(charged, kind="stable")
    charged, node, turn = charged[order], node[order], turn[order]
    earlier = np.arange(len(charged)) - np.searchsorted(charged, charged)
    allowed = np.array([each.status.disruptions_allowed for each in budgets])
    broken[turn, node] = earlier >= allowed[charged % len(budgets)]
    return broken, unclear


def _only(numbers: tuple[int, ...]) -> int:
    return numbers[0] if len(numbers) == 1 else (SEVERAL if numbers else NONE)
