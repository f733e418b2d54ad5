"""Which victims would break a disruption budget.

Budgets are charged for all potential victims, most important first, whether or not they are reprieved later.
"""

from collections.abc import Iterable
from typing import NamedTuple

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


class Covered(NamedTuple):
    """Pods of a table (by turn, most important first, and node) under a budget, by node, budget and turn."""

    turn: Rows
    node: Rows
    budget: Rows
    """Its number, or `SEVERAL`."""


def covered(view: View, rows: Rows, nodes: Rows) -> Covered:
    """The pods under a budget among those in `rows`, the columns of `nodes`; negative rows are empty."""
    cluster = view.cluster
    classes = cluster.pods.cls[rows]
    budget_of = np.full(len(cluster.classes.all), NONE, dtype=np.int32)
    for number in np.unique(classes[rows >= 0]).tolist():
        budget_of[number] = _only(cluster.budgets.covering(cluster.classes.all[number]))
    budget = np.where(rows >= 0, budget_of[classes], NONE) if len(budget_of) else np.full_like(rows, NONE)
    turn, column = (each.astype(np.int32) for each in np.nonzero(budget != NONE))
    found = Covered(turn, nodes[column], budget[turn, column])
    order = np.lexsort((found.turn, found.budget, found.node))
    return Covered(*(each[order] for each in found))


def breaks_by_node(view: View, table: Covered, lower: Mask) -> tuple[Mask, Mask]:
    """The same for single pods, each node by itself: (pods that break a budget, nodes where that is unclear).

    `lower` marks the potential victims by turn and node. A pod under several budgets is charged to one after
    the other, and a budget may have counted a pod already: those nodes are unclear to it.
    """
    cluster = view.cluster
    broken, unclear = np.zeros_like(lower), np.zeros(lower.shape[1], dtype=np.bool_)
    budgets = cluster.budgets.all
    for each in budgets:
        for name in each.status.disrupted_pods:
            row = cluster.pods.row_of.get(f"{each.namespace}/{name}")
            if row is not None and view.home[row] >= 0:
                unclear[view.home[row]] = True
    here = lower[table.turn, table.node]
    turn, node, budget = (column if here.all() else column[here] for column in table)
    several = budget == SEVERAL
    if several.any():
        unclear[node[several]] = True
        turn, node, budget = (column[~several] for column in (turn, node, budget))
    if len(turn):
        allowed = np.array([each.status.disruptions_allowed for each in budgets])
        broken[turn, node] = _earlier(node, budget) >= allowed[budget]
    return broken, unclear


def _earlier(node: Rows, budget: Rows) -> Rows:
    """How many pods of the same node and budget come before each."""
    at = np.arange(len(node), dtype=np.int32)
    begins = np.ones(len(node), dtype=np.bool_)
    begins[1:] = (node[1:] != node[:-1]) | (budget[1:] != budget[:-1])
    earlier: Rows = at - np.maximum.accumulate(np.where(begins, at, 0))
    return earlier


def _only(numbers: tuple[int, ...]) -> int:
    return numbers[0] if len(numbers) == 1 else (SEVERAL if numbers else NONE)
