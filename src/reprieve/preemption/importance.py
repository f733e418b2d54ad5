"""The order of importance, in which units are reprieved.

1. Higher priority.
2. The leader of a group, then a group or another pod of one, then a pod on its own.
3. More pods.
4. More work to lose: the earlier checkpoint, or start where there was none (under `kubernetes`: start).
5. Equal so far: under `kubernetes` the order of Go's sort; otherwise the name of the first pod.
"""

from collections.abc import Sequence

import numpy as np

from reprieve.cluster import NOT_STARTED, Ints, Rows
from reprieve.preemption.go_sort import INSERTION, go_order
from reprieve.preemption.ordering import ordered
from reprieve.preemption.units import (
    Candidates,
    LazyUnits,
    VictimUnit,
    ranks,
    single_units,
    whole_rank,
)
from reprieve.preemption.view import View


def by_importance(view: View, units: Sequence[VictimUnit]) -> list[VictimUnit]:
    """The units, most important first."""
    if not view.faithful:
        keys = view.cluster.pods.keys
        return sorted(units, key=lambda unit: (*_key(unit), keys[unit.rows[0]]))
    ranked = {key: rank for rank, key in enumerate(sorted({_key(unit) for unit in units}))}
    if len(ranked) == len(units) or len(units) <= INSERTION:
        return sorted(units, key=_key)
    return [units[position] for position in go_order([ranked[_key(unit)] for unit in units])]


def singles_by_importance(view: View, rows: Rows) -> Sequence[VictimUnit]:
    """The units of these pods, most important first: `by_importance` for single pods, in columns."""
    order = _order(view, importance_keys(view, rows), rows)
    return by_importance(view, single_units(view, rows)) if order is None else LazyUnits(view, rows[order])


def candidates_by_importance(candidates: Candidates, numbers: Rows) -> Rows | None:
    """The numbers of units, most important first; None where only Go's sort knows the order of equal ones."""
    firsts = candidates.firsts[numbers]
    order = _order(candidates.view, _candidate_keys(candidates, numbers), firsts)
    return None if order is None else numbers[order]


def _order(view: View, keys: list[Ints], firsts: Rows) -> Ints | None:
    """The order by keys, then by the names of the units' first pods."""
    order, equal = ordered(keys)
    if not equal.any():
        return order
    if view.faithful:
        return None
    names, by_name = view.cluster.pods.keys, np.empty(len(order), dtype=np.int64)
    listed = firsts.tolist()
    by_name[sorted(range(len(order)), key=lambda at: names[listed[at]])] = np.arange(len(order))
    return np.lexsort([by_name, *keys[::-1]])


def _candidate_keys(candidates: Candidates, numbers: Rows) -> list[Ints]:
    """The keys of `by_importance` as columns."""
    view, singles = candidates.view, len(candidates.singles)
    if not len(numbers) or numbers.max() < singles:
        return importance_keys(view, candidates.singles[numbers])
    priority, rank, start = importance_keys(view, candidates.rows)
    rank = np.concatenate([rank[:singles], [-whole_rank(view, group) for group in candidates.groups]])
    starts = np.minimum.reduceat(start, candidates.begins)
    keys = [priority[candidates.begins], rank, -candidates.sizes, starts]
    return [key[numbers] for key in keys]


def importance_keys(view: View, rows: Rows) -> list[Ints]:
    """The same order for single pods as columns, smaller first."""
    start = view.start[rows]
    if (start == NOT_STARTED).any():
        start = np.where(start == NOT_STARTED, start + view.position[rows], start)
    return [-view.priority[rows], -ranks(view, rows), start]


def _key(unit: VictimUnit) -> tuple[int, int, int, int]:
    return -unit.priority, -unit.rank, -len(unit.rows), unit.start
