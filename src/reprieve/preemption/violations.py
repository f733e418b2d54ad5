"""Which victims would break a disruption budget.

Budgets are charged for all potential victims, most important first, whether or not they are reprieved later.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows
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


class _Lines(NamedTuple):
    turn: Rows
    node: Rows
    budget: Rows
    pods: Rows


class Covered(NamedTuple):
    """Entries of a table (by turn, most important first, and node) under a budget, by node, budget and turn.

    A group that is evicted as a whole may be under several budgets: it has a line for each.
    """

    turn: Rows
    node: Rows
    budget: Rows
    """Its number, or `SEVERAL`."""
    pods: Rows
    """How many pods of the entry that budget covers."""
    so_far: Ints
    """The same for the entry and those before it on its node, together."""


def covered(view: View, rows: Rows, groups: Rows, nodes: Rows) -> Covered:
    """The entries under a budget among those in `rows`, the columns of `nodes`; negative rows are empty.

    `groups`: the numbers of those that are whole groups, negative for single pods.
    """
    cluster = view.cluster
    classes = cluster.pods.cls[rows]
    single = (rows >= 0) & (groups < 0)
    budget_of = budget_of_classes(cluster, classes[single])
    budget = np.where(single, budget_of[classes], NONE) if len(budget_of) else np.full_like(rows, NONE)
    turn, column = (each.astype(np.int32) for each in np.nonzero(budget != NONE))
    found = _Lines(turn, nodes[column], budget[turn, column], np.ones(len(turn), dtype=np.int32))
    if not single.all() and (groups >= 0).any():
        whole = _covered_groups(view, groups, nodes)
        found = _Lines(*(np.concatenate(pair) for pair in zip(found, whole, strict=True)))
    order = np.lexsort((found.turn, found.budget, found.node))
    return _added_up(_Lines(*(each[order] for each in found)))


def _added_up(lines: _Lines) -> Covered:
    return Covered(*lines, _so_far(lines.pods, lines.node, lines.budget))


def _covered_groups(view: View, groups: Rows, nodes: Rows) -> _Lines:
    """The same for whole groups: their pods on all nodes count."""
    members = np.flatnonzero(view.whole)
    members = members[np.isin(view.unit[members], groups)]
    classes = view.cluster.pods.cls[members]
    budget = budget_of_classes(view.cluster, classes)[classes]
    pairs = np.stack([view.unit[members], budget])[:, budget != NONE]
    (group, budget), pods = np.unique(pairs, axis=1, return_counts=True)
    turn, column = np.nonzero(np.isin(groups, group))
    begin, end = (np.searchsorted(group, groups[turn, column], side) for side in ("left", "right"))
    lines = np.repeat(np.arange(len(turn)), end - begin)
    line = np.arange(len(lines)) - np.repeat(np.cumsum(end - begin) - end, end - begin)
    places = turn[lines], nodes[column[lines]], budget[line], pods[line]
    return _Lines(*(each.astype(np.int32) for each in places))


def breaks_by_node(view: View, table: Covered, lower: Mask, everybody: bool) -> tuple[Rows, Mask]:
    """The same, each node by itself: (how many pods of each entry break a budget, nodes where that is
    unclear).

    `lower` marks the potential victims by turn and node; `everybody`: these are all entries. A pod under
    several budgets is charged to one after the other: such nodes are unclear.
    """
    broken: Rows = np.zeros(lower.shape, dtype=np.int32)
    unclear: Mask = np.zeros(lower.shape[1], dtype=np.bool_)
    if not everybody:
        here = lower[table.turn, table.node]
        table = _added_up(_Lines(*(column[here] for column in table[:4])))
    several = table.budget == SEVERAL
    unclear[table.node[several]] = True
    if len(table.turn):
        allowed = np.array([each.status.disruptions_allowed for each in view.cluster.budgets.all])
        left = allowed.take(table.budget, mode="clip")  # those under several are left out
        over = np.where(several, 0, np.minimum(table.so_far - left, table.pods))
        found = np.flatnonzero(over > 0)
        places = table.turn[found].astype(np.int64) * lower.shape[1] + table.node[found]
        np.add.at(broken.reshape(-1), places, over[found].astype(np.int32))
    return broken, unclear


def counted_already(view: View) -> Mask:
    """Pods (by row) whose disruption a budget has counted already."""
    pods = view.cluster.pods
    found: Mask = np.zeros(pods.rows, dtype=np.bool_)
    for each in view.cluster.budgets.all:
        for name in each.status.disrupted_pods:
            row = pods.row_of.get(f"{each.namespace}/{name}")
            if row is not None:
                found[row] = True
    return found


def _earlier(*keys: Rows) -> Rows:
    """How many of the same keys come before each; equal ones are next to each other."""
    at = np.arange(len(keys[0]), dtype=np.int32)
    begins = np.zeros(len(at), dtype=np.bool_)
    begins[:1] = True
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    earlier: Rows = at - np.maximum.accumulate(np.where(begins, at, 0))
    return earlier


def _so_far(amounts: Rows, *keys: Rows) -> Ints:
    """The sum of amounts up to and including each, over the same keys; equal ones are next to each other."""
    begins = np.ones(len(amounts), dtype=np.bool_)
    begins[1:] = False
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    total: Ints = np.cumsum(amounts)
    before = np.maximum.accumulate(np.where(begins, total - amounts, 0))
    return total - before


def _only(numbers: tuple[int, ...]) -> int:
    return numbers[0] if len(numbers) == 1 else (SEVERAL if numbers else NONE)
