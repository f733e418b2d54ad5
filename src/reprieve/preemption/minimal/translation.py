"""From the cluster's columns to the abstract problem, and back from unit numbers to units.

Conflicts on one node (host ports, required anti-affinity by host name in either direction) are part of the
problem. Rules that reach beyond a node (affinity, spreading, anti-affinity by zone, nominations of other
pods) are not: `has_rules_beyond_node` says that there are some, and the caller checks the answer with the
real filters.
"""

import bisect
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprieve.cluster import NOWHERE, Cluster, PodClass, Rows, ports_conflict
from reprieve.objects import well_known
from reprieve.placement import static_fit
from reprieve.preemption.cost import Ledger
from reprieve.preemption.gangs import Gang
from reprieve.preemption.minimal.problem import Flags, Ints, Problem
from reprieve.preemption.minimal.scope import Scope
from reprieve.preemption.minimal.unit_table import UnitTable
from reprieve.preemption.minimal.volume_columns import VolumeColumns, volume_states
from reprieve.preemption.most_free import free_without
from reprieve.preemption.units import Candidates, VictimUnit
from reprieve.preemption.view import View

#: The sum of all integer weights stays below this, so that violations times their price fit into 64 bits.
HEADROOM = 1 << 44
FINEST = 1 << 30


class Translation(NamedTuple):
    problem: Problem
    unit_table: UnitTable
    slots: Rows  # of each node of the problem, in order
    classes: list[list[int]]  # waiting pods of each class, in queue order
    needs_filters: bool  # rules beyond a node apply: the real filters must check the answer
    scale: float  # the problem's weights are the plan's times this, rounded
    overlapping: bool  # violations of the problem may count a pod twice
    ceiling: int | None  # units above this priority are left out

    def unit(self, number: int) -> VictimUnit:
        return self.unit_table.unit(number)

    def node(self, slot: int) -> int | None:
        """The problem's number of a node; None when it has none."""
        at = int(np.searchsorted(self.slots, slot))
        return at if at < len(self.slots) and self.slots[at] == slot else None


class WaitingClasses(NamedTuple):
    """The waiting pods by class: their requests, where they may go, and which pods keep them away."""

    rows: list[list[int]]  # in queue order
    requests: Ints  # [class, resource]
    admitted: Flags  # [class, slot]
    conflicts: Flags  # [class, class]
    bars: Flags  # [class, pod class of the cluster]
    needs_filters: bool
    volumes: VolumeColumns


def translate(
    view: View, ledger: Ledger, gang: Gang, scope: Scope, ceiling: int | None, *, part: bool = False
) -> Translation:
    """The problem of placing the pods of a scope on its nodes, no victim above the ceiling.

    `part`: none above the lowest priority at which they may fit without breaking a budget.
    """
    cluster, waiting = view.cluster, _waiting_classes(view, scope)
    slots = np.flatnonzero(waiting.admitted.any(axis=0)).astype(np.int32)
    counts = np.array([len(rows) for rows in waiting.rows], np.int64)
    candidates = Candidates(view, gang.priority)
    if part:
        ceiling = _lowest_level(candidates, waiting, np.minimum(counts, scope.need), scope.need)
    unit_table = UnitTable(candidates, ceiling, slots)
    most = np.where(waiting.admitted[:, slots], np.where(waiting.conflicts.diagonal(), 1, counts)[:, None], 0)
    most[_barred(view, unit_table, slots, waiting)] = 0
    volumes, evictable = waiting.volumes, unit_table.pod_row
    columns = np.flatnonzero(waiting.requests.any(axis=0))
    draws = unit_table.budgets()
    weight, scale = _integers(unit_table.weights(ledger))
    pairs = itertools.combinations(range(len(counts)), 2)
    problem = Problem(
        free=np.hstack([_free(view, gang, slots)[:, columns], volumes.free(slots)]),
        requests=np.hstack([waiting.requests[:, columns], volumes.requests()]),
        counts=counts,
        most=most,
        need=scope.need,
        priority=unit_table.priority,
        weight=weight,
        spent=draws.spent,
        uses=draws.uses,
        allowed=draws.allowed,
        pod_unit=unit_table.pod_unit,
        pod_node=unit_table.pod_node,
        pod_requests=np.hstack([cluster.demand(evictable).T[:, columns], volumes.pod_requests(evictable)]),
        pod_bars=(waiting.bars[:, cluster.pods.cls[evictable]] | volumes.bars(evictable)).T,
        apart=tuple((a, b) for a, b in pairs if waiting.conflicts[a, b]),
        absorbs=unit_table.absorbs,
    )
    return Translation(
        problem, unit_table, slots, waiting.rows, waiting.needs_filters, scale, draws.overlapping, ceiling
    )


def _lowest_level(candidates: Candidates, waiting: WaitingClasses, counts: Ints, need: int) -> int | None:
    """The lowest priority up to which enough leaves room, classes by themselves; None when none does.

    Nobody leaves who is under a budget that allows nothing.
    """
    cluster, rows = candidates.view.cluster, candidates.rows
    here = candidates.home >= 0
    spent = [each.status.disruptions_allowed <= 0 for each in cluster.budgets.all]
    if any(spent):
        covers = [any(spent[n] for n in cluster.budgets.covering(cls)) for cls in cluster.classes.all]
        here &= ~np.array(covers, np.bool_)[cluster.pods.cls[rows]]
    rows, home = rows[here], candidates.home[here]
    priority = candidates.view.priority[rows]
    levels = np.unique(priority).tolist()

    def enough(level: int) -> bool:
        out = priority <= level
        free = free_without(cluster, rows[out], home[out])
        fits = 0
        for requests, admitted, count in zip(
            waiting.requests, waiting.admitted, counts.tolist(), strict=True
        ):
            asked = np.flatnonzero(requests)
            most = (free[asked] // requests[asked, None]).clip(min=0).min(axis=0)
            fits += min(int(most[admitted].sum()), count)
        return fits >= need

    at = bisect.bisect_left(levels, True, key=enough)
    return levels[at] if at < len(levels) else None


def _waiting_classes(view: View, scope: Scope) -> WaitingClasses:
    """Pods of one class are kept apart where they may go to different nodes, or have volumes."""
    cluster = view.cluster
    by_class: dict[tuple[int, int, int], list[int]] = {}
    for row in scope.rows:
        own = row if row in cluster.storage.pods else -1
        by_class.setdefault((int(cluster.pods.cls[row]), scope.number(row), own), []).append(row)
    waiting = [cluster.classes.all[number] for number, _, _ in by_class]
    admitted = np.array([static_fit(cluster, cls).fine for cls in waiting], np.bool_)
    for at, (_, mask, _) in enumerate(by_class):
        within = scope.masks[mask]
        if within is not None:
            admitted[at] &= within
    states = volume_states(cluster, [rows[0] for rows in by_class.values()])
    admitted &= VolumeColumns(cluster, states).admitted()
    conflicts = np.array(
        [[in_conflict(cluster, one, other) for other in waiting] for one in waiting], np.bool_
    )
    bars = np.array([conflicting_classes(cluster, cls) for cls in waiting], np.bool_)
    requests = np.array([cluster.classes.requests[:, cls.id] for cls in waiting], np.int64)
    with_volumes = [state is not None for state in states]
    alike = _alike(requests, admitted, conflicts, bars, with_volumes)
    first = [members[0] for members in alike]
    members_of = list(by_class.values())
    alike_rows = [{row for member in members for row in members_of[member]} for members in alike]
    rows = [[row for row in scope.rows if row in ids] for ids in alike_rows]
    needs_filters = any(with_volumes) or any(has_rules_beyond_node(cluster, cls) for cls in waiting)
    return WaitingClasses(
        rows,
        requests[first],
        admitted[first],
        conflicts[np.ix_(first, first)],
        bars[first],
        needs_filters,
        VolumeColumns(cluster, [states[number] for number in first]),
    )


def _alike(
    requests: Ints, admitted: Flags, conflicts: Flags, bars: Flags, apart: list[bool]
) -> list[list[int]]:
    """Groups of classes that the problem cannot distinguish: same requests, nodes and conflicts.

    Those of `apart` are like no other: their volumes are their own.
    """
    alike: dict[tuple[bytes, ...], list[int]] = {}
    for number in range(len(requests)):
        key = tuple(part[number].tobytes() for part in (requests, admitted, conflicts, bars))
        if conflicts[number].any() or apart[number]:
            key = (*key, str(number).encode())  # conflicts refer to classes: keep these separate
        alike.setdefault(key, []).append(number)
    return list(alike.values())


def _free(view: View, gang: Gang, slots: Rows) -> Ints:
    """What is free on each node, less the requests of nominated pods that are at least as important."""
    cluster = view.cluster
    free: Ints = cluster.nodes.free(slots).T.copy()
    index = {slot: at for at, slot in enumerate(slots.tolist())}
    own = set(gang.rows)
    for name, rows in cluster.nominated.items():
        at = index.get(cluster.nodes.slot_of.get(name, -1))
        for row in rows if at is not None else ():
            if (
                row not in own
                and cluster.pods.node[row] == NOWHERE
                and cluster.pods.priority[row] >= gang.priority
            ):
                requests = cluster.classes.requests[:, cluster.pods.cls[row]]
                free[at, : len(requests)] -= requests
    return free


def _barred(view: View, unit_table: UnitTable, slots: Rows, waiting: WaitingClasses) -> Flags:
    """[class, node] where a pod that is not evictable keeps the class away."""
    pods, bars = view.cluster.pods, waiting.bars
    barred = np.zeros((len(bars), len(slots)), np.bool_)
    if not bars.any() and not waiting.volumes.has_rivals:
        return barred
    at = np.full(view.cluster.nodes.slots + 2, -1, np.int64)
    at[slots] = np.arange(len(slots))
    staying = np.flatnonzero((pods.node[: pods.rows] >= 0) & ~unit_table.evictable)
    where = at[pods.node[staying]]
    rivals = waiting.volumes.bars(staying.astype(np.int32))
    for number, barring in enumerate(bars):
        hit = where[(where >= 0) & (barring[pods.cls[staying]] | rivals[number])]
        barred[number, hit] = True
    return barred


def _integers(weights: NDArray[np.float64]) -> tuple[Ints, float]:
    """Weights as integers, each at least one so that no eviction is free, and their scale."""
    total, scale = float(weights.sum()), float(FINEST)
    while total * scale > HEADROOM:
        scale /= 2
    return np.maximum(np.rint(weights * scale).astype(np.int64), 1), scale


def in_conflict(cluster: Cluster, one: PodClass, other: PodClass) -> bool:
    return bool(one.ports and other.ports and ports_conflict(one.ports, other.ports)) or any(
        term.key == well_known.HOSTNAME_LABEL
        and term.covers(seen.namespace, cluster.namespaces.get(seen.namespace, {}), seen.labels)
        for owner, seen in ((one, other), (other, one))
        for term in owner.anti_affinity
    )


def conflicting_classes(cluster: Cluster, cls: PodClass) -> Flags:
    """Of all classes in the cluster, those whose pods keep this one off their node."""
    known = cluster.classes
    found = np.zeros(len(known.all), np.bool_)
    if cls.anti_affinity:
        suspects = known.all
    else:
        suspects = list(known.anti_affine)
        if cls.ports:
            suspects += [known.all[i] for i in np.flatnonzero(known.with_ports[: len(known.all)]).tolist()]
    for other in suspects:
        found[other.id] = found[other.id] or in_conflict(cluster, cls, other)
    return found


def has_rules_beyond_node(cluster: Cluster, cls: PodClass) -> bool:
    """Whether pods on other nodes restrict where this class may go."""
    if cls.affinity or cls.spread or cluster.nominated:
        return True
    if any(term.key != well_known.HOSTNAME_LABEL for term in cls.anti_affinity):
        return True
    labels = cluster.namespaces.get(cls.namespace, {})
    return any(
        term.key != well_known.HOSTNAME_LABEL and term.covers(cls.namespace, labels, cls.labels)
        for other in cluster.classes.anti_affine
        for term in other.anti_affinity
    )
