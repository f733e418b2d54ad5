"""Which victims would break a disruption budget.

Budgets are charged for all potential victims, most important first, whether or not they are reprieved later.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Mask, Rows
from reprieve.objects import split_key
from reprieve.preemption.units import VictimUnit
from reprieve.preemption.view import View

FEW = 32
"""Up to so many pods are charged one after the other."""


def count_violations(view: View, units: Sequence[VictimUnit]) -> dict[int, int]:
    """Of units (most important first), those that would break a budget: the first pod of each, with the
    number of its pods that do.
    """
    if not view.cluster.budgets.all:
        return {}
    pods = [row for unit in units for row in unit.rows]
    broken = one_by_one(view, pods) if len(pods) <= FEW else breaking(view, np.array(pods, np.int32)).tolist()
    firsts = [unit.rows[0] for unit in units for _ in unit.rows]
    return dict(Counter(compress(firsts, broken)))


def breaking(view: View, rows: Rows) -> Mask:
    """Which pods would break a budget when they are evicted in this order."""
    cluster, budgets = view.cluster, view.cluster.budgets.all
    classes = cluster.pods.cls[rows]
    budget = budget_of_classes(cluster, classes)[classes]
    if (budget == SEVERAL).any() or any(each.status.disrupted_pods for each in budgets):
        return np.array(one_by_one(view, rows.tolist()), dtype=np.bool_)
    found: Mask = np.zeros(len(rows), dtype=np.bool_)
    order = np.argsort(budget, kind="stable")
    order = order[np.searchsorted(budget[order], 0) :]  # those under none come first
    allowed = np.array([each.status.disruptions_allowed for each in budgets], dtype=np.int64)
    found[order] = _earlier(budget[order]) >= allowed[budget[order]]
    return found


def one_by_one(view: View, rows: Iterable[int]) -> list[bool]:
    """The same for any pods: also those under several budgets, or counted by one already."""
    left = [budget.status.disruptions_allowed for budget in view.cluster.budgets.all]
    return [_breaks(view, row, left) for row in rows]


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
"""No budget, and more than one, where one is expected."""


def budget_of_classes(cluster: Cluster, classes: Rows) -> Rows:
    """The number of the only budget of each of these classes, `NONE` or `SEVERAL`; `NONE` for all others."""
    found: Rows = np.full(len(cluster.classes.all), NONE, dtype=np.int32)
    for number in np.flatnonzero(np.bincount(classes)).tolist():
        found[number] = _only(cluster.budgets.covering(cluster.classes.all[number]))
    return found


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
    budget_of = budget_of_classes(cluster, classes[rows >= 0])
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


def _earlier(*keys: Rows) -> Rows:
    """How many of the same keys come before each; equal ones are next to each other."""
    at = np.arange(len(keys[0]), dtype=np.int32)
    begins = np.zeros(len(at), dtype=np.bool_)
    begins[:1] = True
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    earlier: Rows = at - np.maximum.accumulate(np.where(begins, at, 0))
    return earlier


def _only(numbers: tuple[int, ...]) -> int:
    return numbers[0] if len(numbers) == 1 else (SEVERAL if numbers else NONE)
