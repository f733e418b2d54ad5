"""Reprieve: put potential victims back one by one, and keep those next to which the preemptor still fits.

All potential victims are supposed gone and the preemptor's places are final. A unit stays when every pod of
the preemptor still passes its filters. `Trial` is how one unit after the other is tried; there are three of
them: by free capacity, by all filters, and by all filters of a pod on one node (`pods.NodeTrial`).

Where only free capacity counts, single pods on different nodes do not compete, so the n-th most important pod
of every node is tried in one step (`ranked`, `stays`): laid out as (rank on the node, resource, node), a
whole reprieve is a handful of array operations.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows, add_all
from reprieve.placement import Assignment
from reprieve.preemption.ordering import ordered
from reprieve.preemption.units import VictimUnit
from reprieve.preemption.view import View


class ReprieveResult(NamedTuple):
    victims: list[VictimUnit]
    reprieved: list[VictimUnit]


class Trial(Protocol):
    """Tries units: `stays` puts a unit back if it can stay, and says whether it did."""

    def stays(self, unit: VictimUnit) -> bool: ...


def reprieve(trial: Trial, units: Sequence[VictimUnit], *, again: bool = False) -> ReprieveResult:
    """Try the units in order; with `again`, repeat until no more units can return.

    Under spread constraints and affinity a unit may be able to stay only once a less important one does;
    kube-scheduler does not try again.
    """
    result = ReprieveResult([], [])
    waiting = list(units)
    while waiting:
        result.victims.clear()
        for unit in waiting:
            (result.reprieved if trial.stays(unit) else result.victims).append(unit)
        if not again or len(result.victims) == len(waiting):
            break
        waiting = list(result.victims)
    return result


def trial_for(view: View, assigned: Sequence[Assignment], home: dict[int, int]) -> Trial:
    """The fastest trial that checks all that matters. `home`: the node of every pod that was taken out."""
    if only_capacity_counts(assigned):
        return CapacityTrial(view, assigned, home)
    return FilterTrial(view, assigned, home)


def only_capacity_counts(assigned: Sequence[Assignment]) -> bool:
    """Whether only free resources on the preemptor's own nodes decide which units return."""
    filters = {id(each.filters): each.filters for each in assigned}.values()
    if not all(each.plain and not each.cls.ports for each in filters):
        return False
    expected = any(each.cluster.nominated for each in filters)
    return not expected or not any(each.filters.nominated(each.slot) for each in assigned)


def fit_together(assigned: Sequence[Assignment]) -> bool:
    """Whether each pod passes its filters next to those before it."""
    mates: dict[int, list[int]] = {}
    for each in assigned:
        here = mates.setdefault(each.slot, [])
        if not each.filters.allows(each.slot, here):
            return False
        here.append(each.row)
    return True


class CapacityTrial:
    """Only resources matter, so only nodes with a pod of the preemptor do: units elsewhere return at once.

    Checking the preemptor's pods one by one amounts to this: their requests together must fit for every
    resource that at least one of them requests.
    """

    def __init__(self, view: View, assigned: Sequence[Assignment], home: dict[int, int]) -> None:
        self._classes, self._cls = view.cluster.classes.all, view.cluster.pods.cls
        self._home = home
        nodes = view.cluster.nodes
        self._slack: dict[int, dict[int, int]] = {}
        for each in assigned:
            slack = self._slack.setdefault(each.slot, {})
            for index, number in each.filters.cls.requested:
                if index not in slack:
                    slack[index] = int(nodes.allocatable[index, each.slot] - nodes.used[index, each.slot])
                slack[index] -= number

    @property
    def stands(self) -> bool:
        """Whether the preemptor fits at all."""
        return all(left >= 0 for slack in self._slack.values() for left in slack.values())

    def take(self, unit: VictimUnit) -> None:
        """Suppose a unit gone that is still counted in the cluster."""
        for slot, here in self._wanted(unit).items():
            for index, number in here.items():
                self._slack[slot][index] += number

    def _wanted(self, unit: VictimUnit) -> dict[int, dict[int, int]]:
        """The unit's requests by node and resource, where they matter to the preemptor."""
        wanted: dict[int, dict[int, int]] = {}
        for row in unit.rows:
            slot = self._home[row]
            slack = self._slack.get(slot)
            if slack is None:
                continue
            here = wanted.setdefault(slot, {})
            for index, number in self._classes[self._cls.item(row)].requested:
                if index in slack:
                    here[index] = here.get(index, 0) + number
        return wanted

    def stays(self, unit: VictimUnit) -> bool:
        if len(unit.rows) == 1:
            return self._one_stays(unit.rows[0])
        wanted = self._wanted(unit)
        if any(number > self._slack[slot][i] for slot, here in wanted.items() for i, number in here.items()):
            return False
        for slot, here in wanted.items():
            for index, number in here.items():
                self._slack[slot][index] -= number
        return True

    def _one_stays(self, row: int) -> bool:
        """The same for a single pod, as most units are."""
        slack = self._slack.get(self._home[row])
        if slack is None:
            return True
        requested = self._classes[self._cls.item(row)].requested
        for index, number in requested:
            if index in slack and number > slack[index]:
                return False
        for index, number in requested:
            if index in slack:
                slack[index] -= number
        return True


class FilterTrial:
    """All filters for every pod of the preemptor, in the order in which they were placed."""

    def __init__(self, view: View, assigned: Sequence[Assignment], home: dict[int, int]) -> None:
        self._cluster = view.cluster
        self._assigned = assigned
        self._home = home
        self._mates: list[list[int]] = []
        on_slot: dict[int, list[int]] = {}
        for each in assigned:
            self._mates.append(list(on_slot.get(each.slot, ())))
            on_slot.setdefault(each.slot, []).append(each.row)
        self._plain = all(each.filters.plain for each in assigned)

    def stays(self, unit: VictimUnit) -> bool:
        mark = self._cluster.checkpoint()
        for row in unit.rows:
            if self._home[row] >= 0:
                self._cluster.attach(row, self._home[row])
        self._count(unit, 1)
        touched = {self._home[row] for row in unit.rows} if self._plain else None
        for each, mates in zip(self._assigned, self._mates, strict=True):
            if (touched is None or each.slot in touched) and not each.filters.allows(each.slot, mates):
                self._cluster.rollback(mark)
                self._count(unit, -1)
                return False
        return True

    def _count(self, unit: VictimUnit, delta: int) -> None:
        if not self._plain:
            for row in unit.rows:
                for each in self._assigned:
                    each.filters.change(row, self._home[row], delta)


UNLIMITED = 2**62
"""Slack of a resource that no pod of the preemptor requests."""


class Ranked(NamedTuple):
    """Pods sorted by node and, on each node, in the order in which they are tried."""

    rows: Rows
    column: Rows
    """Which column of the slack each pod draws on."""
    rank: Rows
    """Its turn on its node, from 0."""


def ranked(rows: Rows, columns: Rows, keys: Sequence[Ints]) -> Ranked | None:
    """Pods by column, then by `keys` in order; None when two pods of a column are equal."""
    order, equal = ordered([columns.astype(np.int64), *keys])
    if equal.any():
        return None
    sorted_columns = columns[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = sorted_columns[1:] != sorted_columns[:-1]
    starts = first.nonzero()[0]
    counts = np.diff(np.append(starts, len(order)))
    rank = np.arange(len(order), dtype=np.int32) - np.repeat(starts, counts).astype(np.int32)
    return Ranked(rows[order], sorted_columns, rank)


def stays(cluster: Cluster, pods: Ranked, slack: Ints) -> Mask:
    """Which of the pods can stay, next to a slack (resources by columns): the capacity left."""
    kept = np.ones(len(pods.rows), dtype=np.bool_)
    if not len(pods.rows):
        return kept
    demand = cluster.demand(pods.rows)
    begins = np.flatnonzero(pods.rank == 0)
    short = np.add.reduceat(demand, begins, axis=1) > slack[:, pods.column[begins]]
    scarce = np.flatnonzero(short.any(axis=1))
    if not len(scarce):
        return kept  # enough of everything for everybody
    demand, slack = demand[scarce], slack[scarce]
    turns = int(pods.rank.max()) + 1
    wanted = np.zeros((turns, len(scarce), slack.shape[1]), dtype=np.int64)
    wanted[pods.rank, :, pods.column] = demand.T
    fits = np.empty((turns, slack.shape[1]), dtype=np.bool_)
    for each, fit in zip(wanted, fits, strict=True):
        np.logical_and.reduce(each <= slack, axis=0, out=fit)
        each *= fit
        slack -= each
    found: Mask = fits[pods.rank, pods.column]
    return found


def slack_next_to(cluster: Cluster, assigned: Sequence[Assignment]) -> tuple[Rows, Ints]:
    """(slots with a pod of the preemptor, what is left there of each resource it requests)."""
    places = np.array([each.slot for each in assigned], dtype=np.int32)
    guests = np.bincount(places)
    slots = guests.nonzero()[0].astype(np.int32)
    classes = cluster.pods.cls[[each.row for each in assigned]]
    slack = cluster.nodes.free(slots)
    if len(classes) and (classes == classes[0]).all():  # as most are: one product for all resources
        requested = cluster.classes.requests[:, classes[0]]
        slack -= requested[:, None] * guests[slots]
        slack[requested == 0] = UNLIMITED
        return slots, slack
    column = np.searchsorted(slots, places).astype(np.int32)
    add_all(slack, column, -cluster.classes.requests, classes)
    for left, requests in zip(slack, cluster.classes.requests, strict=True):
        requesting = np.bincount(column[requests[classes] > 0], minlength=len(slots))
        left[requesting == 0] = UNLIMITED
    return slots, slack
