"""Where a gang goes: pod by pod in queue order, each seeing the earlier ones in place, all or nothing.

The cluster is rolled back: nothing stays placed.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Mask, PodClass
from reprieve.objects import Allocation
from reprieve.placement.filters import PodFilters
from reprieve.placement.resources import DEFAULT, Scoring
from reprieve.placement.scan import Scan, scan_of
from reprieve.placement.sentences import groups as sentences
from reprieve.placement.single import place
from reprieve.placement.waves import Waves, goes_in_waves

SHORT = 8
"""Runs of so many equal pods between others are placed one after the other."""


class Assignment(NamedTuple):
    """A pod of the gang, its node, and its filters as they were at that moment.

    Pods of one class that were placed in waves share their filters: no other pod changes what those say.
    """

    row: int
    slot: int
    filters: PodFilters
    devices: dict[str, Allocation] = {}  # noqa: RUF012 - never changed
    """What its claims get there."""


class GangPlacement(NamedTuple):
    feasible: bool
    assigned: list[Assignment]
    failed: list[int]
    """Pods that were tried and found no node."""
    status: str
    """Why not, in kube-scheduler's wording; empty when feasible."""
    phantoms: Sequence[Assignment] = ()
    """In a tree: pods that found nodes although their group failed. Nothing is kept for them."""
    broken: bool = False
    """Not for want of capacity: no eviction helps."""
    stopped: bool = False
    """So many pods found no node that the rest was not tried."""


def place_gang(
    cluster: Cluster,
    rows: Sequence[int],
    min_count: int,
    running: int,
    scoring: Scoring = DEFAULT,
    within: Mask | None = None,
    faithful: bool = True,
) -> GangPlacement:
    """Place as many pods as fit.

    Feasible when at least one was placed and, with those running, the minimum is met.

    Stops as soon as the minimum can no longer be reached. Pods beyond it are placed too.
    """
    tally = _Tally(len(rows), running, min_count)
    if tally.hopeless():
        return GangPlacement(False, [], [], sentences.unschedulable(tally.cannot))
    placer = _Placer(cluster, scoring, within, faithful)
    mark = cluster.checkpoint()
    for equal in _runs(cluster, rows):
        placer.place(equal, tally)
        if tally.hopeless():
            break
    cluster.rollback(mark)
    if tally.hopeless():
        return GangPlacement(False, tally.assigned, tally.failed, tally.cannot, stopped=True)
    if tally.scheduled < min_count:
        short = sentences.below_minimum(min_count, tally.scheduled, tally.remaining)
        return GangPlacement(False, tally.assigned, tally.failed, sentences.unschedulable(short))
    if not tally.assigned:
        return GangPlacement(False, [], tally.failed, sentences.UNSCHEDULABLE)
    return GangPlacement(True, tally.assigned, tally.failed, "")


def settle(filters: PodFilters, slot: int) -> None:
    """Suppose a pod on a node, with what its claims get there."""
    filters.cluster.attach(filters.row, slot)
    reserve_claims(filters, slot)


def reserve_claims(filters: PodFilters, slot: int) -> None:
    """Suppose volumes and nodes kept for the claims of a pod on a node."""
    if filters.volumes is not None:
        here = filters.cluster.nodes.names[slot]
        provisioned = dict.fromkeys(filters.volumes.provisions_at(slot), here)
        filters.cluster.reserve(filters.volumes.volumes_at(slot), provisioned)


class _Tally:
    """Progress of a gang's placement."""

    def __init__(self, remaining: int, scheduled: int, min_count: int) -> None:
        self.remaining = remaining
        self.scheduled = scheduled
        self.assigned: list[Assignment] = []
        self.failed: list[int] = []
        self._min_count = min_count

    def hopeless(self) -> bool:
        return self.remaining + self.scheduled < self._min_count

    @property
    def cannot(self) -> str:
        return sentences.cannot_reach_minimum(self._min_count, self.scheduled, self.remaining)

    def place(self, assignments: Sequence[Assignment]) -> None:
        self.assigned += assignments
        self.scheduled += len(assignments)
        self.remaining -= len(assignments)

    def fail(self, rows: Sequence[int]) -> None:
        """These found no node; those after the one that makes the gang hopeless are not tried."""
        tried = rows[: self.remaining + self.scheduled - self._min_count + 1]
        self.failed += tried
        self.remaining -= len(tried)


class _Placer:
    """Places pods: in waves of one shape where possible, otherwise one by one."""

    def __init__(self, cluster: Cluster, scoring: Scoring, within: Mask | None, faithful: bool) -> None:
        self._cluster = cluster
        self._scoring = scoring
        self._within = within
        self._faithful = faithful
        self._by_shape: dict[bytes, Waves] = {}
        self._scans: dict[bytes, Scan] = {}
        """By shape, too; for pods between others."""
        self._by_class: dict[int, PodFilters] = {}
        """The filters of classes that go in waves; valid until a pod is placed alone."""

    def place(self, alike: list[int], tally: _Tally) -> None:
        """Place pods of one shape in order; stop when the gang has become hopeless."""
        filters = self._filters_for_waves(alike)
        if filters is None:
            for row in alike:
                self._place_alone(PodFilters(self._cluster, row, self._faithful), tally)
                if tally.hopeless():
                    return
            return
        if len(alike) <= SHORT and len(alike) < tally.remaining and self._within is None:
            scan = self._scan_of(filters[0].cls)
            if not scan.rescales:
                self._place_each(alike, filters, scan, tally)
                return
        slots = self._waves_of(filters[0]).take(len(alike))
        placed = alike[: len(slots)]
        if len(alike) < tally.remaining:  # other pods come after them
            self._cluster.attach_all(np.array(placed, np.int32), np.array(slots, np.int32))
        tally.place([Assignment(*each) for each in zip(placed, slots, filters, strict=False)])
        tally.fail(alike[len(slots) :])

    def _filters_for_waves(self, alike: list[int]) -> list[PodFilters] | None:
        """The filters of each pod, one object for each class; None when one of the pods cannot go in waves.

        A pod that was placed alone may have brought affinity terms: then they are determined anew. Pods with
        such terms never go in waves, so nothing changes in between.
        """
        if self._cluster.pods.info[alike[0]].nominated_node:
            return None
        known, pods = self._by_class, self._cluster.pods
        if len(alike) == 1 and (single := known.get(pods.cls.item(alike[0]))) is not None:
            return [single]
        classes: list[int] = pods.cls[alike].tolist()
        equal = classes.count(classes[0]) == len(classes)
        firsts = [(classes[0], alike[0])] if equal else _first_of_each(classes, alike)
        for cls, row in firsts:
            if cls not in known:
                filters = PodFilters(self._cluster, row, self._faithful)
                if not goes_in_waves(filters):
                    return None
                known[cls] = filters
        return [known[classes[0]]] * len(classes) if equal else [known[cls] for cls in classes]

    def _scan_of(self, cls: PodClass) -> Scan:
        scan = self._scans.get(cls.shape)
        if scan is None:
            scan = self._scans[cls.shape] = scan_of(self._cluster, cls, self._scoring)
        else:
            scan.refresh()
        return scan

    def _place_each(self, alike: list[int], filters: list[PodFilters], scan: Scan, tally: _Tally) -> None:
        """A few pods between others: to list the nodes for a wave would take longer."""
        for number, (row, own) in enumerate(zip(alike, filters, strict=True)):
            if number:
                scan.refresh()
            slot = scan.first()
            if slot is None:
                tally.fail([row])
                if tally.hopeless():
                    return
            else:
                self._cluster.attach(row, slot)
                tally.place([Assignment(row, slot, own)])

    def _waves_of(self, filters: PodFilters) -> Waves:
        shape = filters.cls.shape
        if shape not in self._by_shape:
            self._by_shape[shape] = Waves(filters, self._scoring, self._within)
        return self._by_shape[shape]

    def _place_alone(self, filters: PodFilters, tally: _Tally) -> None:
        slot = place(filters, self._scoring, self._within)
        if slot is None:
            tally.fail([filters.row])
        else:
            self._by_class.clear()
            taken = filters.devices.take(slot) if filters.devices is not None else {}
            settle(filters, slot)
            tally.place([Assignment(filters.row, slot, filters, taken)])


def _first_of_each(classes: list[int], rows: list[int]) -> Iterable[tuple[int, int]]:
    """The classes, each with the first of its pods."""
    return dict(zip(reversed(classes), reversed(rows), strict=True)).items()


def _runs(cluster: Cluster, rows: Sequence[int]) -> Iterator[list[int]]:
    """Pods that may be placed together: consecutive ones that differ at most in name, namespace and labels.

    A pod with a nominated node tries that one first and is placed alone, and so is one with volumes: they are
    its own.
    """
    info, volumes = cluster.pods.info, cluster.storage.pods
    classes = cluster.pods.cls[list(rows)].tolist()
    shapes = {number: cluster.classes.all[number].shape for number in set(classes)}
    alone = {row for row in rows if info[row].nominated_node}
    if volumes:
        alone.update(row for row in rows if row in volumes)
    if len(set(shapes.values())) == 1 and not alone:
        yield list(rows)
        return
    kinds = [(row if row in alone else -1, shapes[number]) for row, number in zip(rows, classes, strict=True)]
    for _, run in groupby(zip(kinds, rows, strict=True), itemgetter(0)):
        yield [row for _, row in run]
