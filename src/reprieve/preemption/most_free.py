"""The most that could be free on each node: with everybody gone who is less important than the preemptor.

Where not even that is enough, no search for victims helps. Tables are kept from one decision to the next, and
only nodes whose pods changed are added up again: a refusal costs what has changed since the last one.
"""

from collections.abc import Collection

import numpy as np

from reprieve.cluster import Cluster, Ints, PodClass, Rows, add_all
from reprieve.placement import static_fit
from reprieve.preemption.view import View

MANY = 64
"""Above this many changed nodes, adding up all of them at once is faster than one by one."""
MOST_KEPT = 64
"""Tables are kept for this many priorities, and of each for this many shapes of pods."""


class _Lower:
    """What the pods below a priority request, by resource and node."""

    def __init__(self, view: View, below: int) -> None:
        self._below = below
        self._read = 0
        self._version = view.cluster.version
        self.builds = 0
        """How often everything was added up anew."""
        self.counts: dict[bytes, _Counts] = {}
        """By shape."""
        self._build(view)

    def refresh(self, view: View) -> None:
        """Catch up with pods that came, went or changed their importance."""
        cluster = view.cluster
        changed = set(cluster.moved[self._read :])
        shape = len(cluster.nodes.resources), cluster.nodes.slots
        if len(changed) > MANY or self._version != cluster.version or self.requested.shape != shape:
            self._build(view)
            return
        for slot in changed:
            self._add_up(view, slot)
        self._read = len(cluster.moved)

    def _build(self, view: View) -> None:
        cluster, pods = view.cluster, view.cluster.pods
        shape = len(cluster.nodes.resources), cluster.nodes.slots
        self.requested: Ints = np.zeros(shape, dtype=np.int64)
        rows = np.flatnonzero(pods.node[: pods.rows] >= 0)
        rows = rows[_least_priorities(view)[rows] < self._below]
        add_all(self.requested, pods.node[rows], cluster.classes.requests, pods.cls[rows])
        self._version = cluster.version
        self._read = len(cluster.moved)
        self.builds += 1

    def _add_up(self, view: View, slot: int) -> None:
        cluster = view.cluster
        sums: dict[int, int] = {}
        for row in cluster.residents[slot]:
            if _least_priority(view, row) < self._below:
                for index, number in cluster.class_of(row).requested:
                    sums[index] = sums.get(index, 0) + number
        self.requested[:, slot] = 0
        for index, number in sums.items():
            self.requested[index, slot] = number


class _Counts:
    """How many pods of one shape each node could take."""

    def __init__(self, view: View, cls: PodClass, lower: _Lower) -> None:
        self._cls = cls
        self._lower = lower
        self._touched = self._moved = 0
        """How far the logs of changes were read."""
        self._build(view)

    def total(self, view: View) -> int:
        """Of all nodes, as they are now."""
        cluster, static = view.cluster, static_fit(view.cluster, self._cls)
        changed = {*cluster.touched[self._touched :], *cluster.moved[self._moved :]}
        if (
            len(changed) > MANY
            or self._builds != self._lower.builds
            or len(self._here) != cluster.nodes.slots
        ):
            self._build(view)
            return self._total
        for slot in changed:
            here = self._count(view, slot) if static.fine.item(slot) else 0
            self._total += here - self._here.item(slot)
            self._here[slot] = here
        self._touched, self._moved = len(cluster.touched), len(cluster.moved)
        return self._total

    def _build(self, view: View) -> None:
        cluster, nodes = view.cluster, view.cluster.nodes
        most: Ints | None = None
        for index, number in self._cls.requested:
            free = nodes.allocatable[index, : nodes.slots] - nodes.used[index, : nodes.slots]
            here = (free + self._lower.requested[index]) // number
            most = here if most is None else np.minimum(most, here)
        assert most is not None, "every pod requests one of `pods`"
        self._here: Ints = np.where(static_fit(cluster, self._cls).fine, most.clip(min=0), 0)
        self._total = int(self._here.sum())
        self._builds = self._lower.builds
        self._touched, self._moved = len(cluster.touched), len(cluster.moved)

    def _count(self, view: View, slot: int) -> int:
        nodes, lower = view.cluster.nodes, self._lower.requested
        return max(
            0,
            min(
                (nodes.allocatable.item(index, slot) - nodes.used.item(index, slot) + lower.item(index, slot))
                // number
                for index, number in self._cls.requested
            ),
        )


def _least_priority(view: View, row: int) -> int:
    """The lowest priority that a pod may count for as a victim; protection only raises it."""
    groups = view.cluster.groups
    own, group = view.cluster.pods.priority.item(row), view.cluster.pods.group.item(row)
    if group < 0 or not view.group_victims or not groups.exists.item(group):
        return own
    ruling = groups.root.item(group) if view.trees else group
    return min(own, groups.priority.item(ruling))


def _least_priorities(view: View) -> Ints:
    """The same for all pods."""
    pods, groups = view.cluster.pods, view.cluster.groups
    least = pods.priority[: pods.rows].copy()
    if view.group_victims and len(groups.keys):
        members = np.flatnonzero(pods.group[: pods.rows] >= 0)
        members = members[groups.exists[pods.group[members]]]
        group = groups.root[pods.group[members]] if view.trees else pods.group[members]
        least[members] = np.minimum(least[members], groups.priority[group])
    return least


def free_without(cluster: Cluster, rows: Rows, home: Rows) -> Ints:
    """By resource and node: what is free once these pods have left their homes."""
    free = cluster.nodes.free()
    add_all(free, home, cluster.classes.requests, cluster.pods.cls[rows])
    return free


def at_most(view: View, classes: Collection[PodClass], below: int) -> int | None:
    """How many pods could be placed at most once every pod below a priority is gone; None: hard to say.

    Only amounts are looked at. What else a node objects to makes the number smaller, never larger.
    """
    cluster = view.cluster
    first = next(iter(classes))
    if cluster.checkpoint() or cluster.devices.classes or any(each.shape != first.shape for each in classes):
        return None  # something is supposed already, devices may serve a request, or the pods differ
    lower = _lower(view, below)
    counts = lower.counts.get(first.shape)
    if counts is None:
        if len(lower.counts) >= MOST_KEPT:
            lower.counts.clear()
        counts = lower.counts[first.shape] = _Counts(view, first, lower)
    return counts.total(view)


def _lower(view: View, below: int) -> _Lower:
    tables: dict[int, _Lower] = view.cluster.lasting.setdefault(("lower", view.group_victims, view.trees), {})
    found = tables.get(below)
    if found is None:
        if len(tables) >= MOST_KEPT:
            tables.clear()
        found = tables[below] = _Lower(view, below)
    else:
        found.refresh(view)
    return found
