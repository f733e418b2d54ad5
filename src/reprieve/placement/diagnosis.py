"""Why a pod fits nowhere: each node's first objection, whether eviction could help, and the usual message.

`diagnose` is what kube-scheduler reports: filters in order, the first objection of a node counts.
`objections` is for people who want to change something: everything that each node objects to.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from reprieve.cluster import PODS, Mask, Rows
from reprieve.placement import static
from reprieve.placement.devices import AllocationError, DeviceFilter
from reprieve.placement.filters import PodFilters
from reprieve.placement.reasons import Code, Reason
from reprieve.placement.resources import DEFAULT, Scoring, delegated
from reprieve.placement.scan import scan_of
from reprieve.placement.sentences import filters as sentences

FEASIBLE, UNSCHEDULABLE, UNRESOLVABLE = range(3)
"""Unschedulable: evicting pods might help. Unresolvable: it cannot."""

_STATIC = {
    static.UNSCHEDULABLE_NODE: Reason(Code.CORDONED),
    static.TAINTED: Reason(Code.TAINTED),
    static.NOT_SELECTED: Reason(Code.NOT_SELECTED),
    static.OUTSIDE: Reason(Code.OUTSIDE),
}
_CONFLICT = Reason(Code.CONFLICT)
_PORTS_TAKEN = Reason(Code.PORTS_TAKEN)
_TOO_MANY_PODS = Reason(Code.TOO_MANY_PODS)
_SPREAD = Reason(Code.SPREAD_LABEL), Reason(Code.SPREAD_SKEW)
_AFFINITY = Reason(Code.AFFINITY), Reason(Code.ANTI_AFFINITY), Reason(Code.VETOED)
_KEPT = Reason(Code.KEPT)


class Diagnosis(NamedTuple):
    code: Rows
    """For each slot: feasible, unschedulable or unresolvable."""
    reasons: Counter[Reason]
    nodes: int
    refusal: Reason | None = None
    """Why the pod was rejected before any node was considered."""
    error: str = ""
    """Why kube-scheduler cannot tell: its attempt fails with this text."""
    over_claims: bool = False
    """The refusal is about the pod's claims: kube-scheduler then does not get to preemption at all."""

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes object to what, in words."""
        return {str(reason): count for reason, count in self.reasons.items()}

    @property
    def message(self) -> str:
        """`0/5 nodes are available: ...`; counts are sorted as text, as in kube-scheduler."""
        if not self.nodes:
            return sentences.NO_NODES
        if self.error:
            return self.error
        if self.refusal:
            return sentences.refused_before_nodes(self.nodes, str(self.refusal))
        return sentences.every_node_objects(self.nodes, self.counts)


def diagnose(filters: PodFilters, scoring: Scoring = DEFAULT, within: Mask | None = None) -> Diagnosis:
    """Run every filter in order; a node's first objection counts."""
    cluster = filters.cluster
    considered = cluster.nodes.known if within is None else cluster.nodes.known & within
    code = np.full(cluster.nodes.slots, UNRESOLVABLE, dtype=np.int32)
    reasons: Counter[Reason] = Counter()
    fit = scan_of(cluster, filters.cls, scoring).static
    if fit.conflict:
        return Diagnosis(code, reasons, int(considered.sum()), _CONFLICT)
    volumes = filters.volumes
    if volumes is not None and volumes.refusal:
        refusal, error = volumes.claims.refusal, volumes.claims.error
        return Diagnosis(code, reasons, int(considered.sum()), refusal, error, over_claims=True)
    if filters.devices is not None and filters.devices.refusal:
        return Diagnosis(code, reasons, int(considered.sum()), filters.devices.refusal)
    for static_code, reason in _STATIC.items():
        _count(reasons, reason, int((considered & (fit.code == static_code)).sum()))
    left = considered & fit.fine
    code[left] = FEASIBLE

    def object_to(mask: Mask, reason: Reason, outcome: int) -> None:
        nonlocal left
        hit = left & mask
        code[hit] = outcome
        _count(reasons, reason, int(hit.sum()))
        left = left & ~mask

    if filters.cls.ports:
        taken = np.zeros(cluster.nodes.slots, dtype=np.bool_)
        taken[list(cluster.ports.taken(filters.cls))] = True
        object_to(taken, _PORTS_TAKEN, UNSCHEDULABLE)
    left = _diagnose_resources(filters, left, code, reasons)
    if volumes is not None:
        error = volumes.error(left)
        if error:
            code[:] = UNRESOLVABLE
            return Diagnosis(code, reasons, int(considered.sum()), error=error)
        for objection in volumes.objections():
            hit = left & objection.mask
            code[hit] = UNSCHEDULABLE if objection.helped else UNRESOLVABLE
            for reason, mask in objection.reasons:
                _count(reasons, reason, int((hit & mask).sum()))
            left = left & ~hit
    if filters.spread is not None:
        for mask, reason, outcome in zip(
            filters.spread.refused(), _SPREAD, (UNRESOLVABLE, UNSCHEDULABLE), strict=True
        ):
            object_to(mask, reason, outcome)
    if filters.affinity is not None:
        outcomes = UNRESOLVABLE, UNSCHEDULABLE, UNSCHEDULABLE
        for mask, reason, outcome in zip(filters.affinity.refused(), _AFFINITY, outcomes, strict=True):
            object_to(mask, reason, outcome)
    if filters.devices is not None:
        for reason, mask in filters.devices.verdict(left).reasons.items():
            freed = filters.devices.freed_by_eviction(reason)
            object_to(mask, reason, UNSCHEDULABLE if freed else UNRESOLVABLE)
    _diagnose_nominations(filters, left, code, reasons)
    return Diagnosis(code, reasons, int(considered.sum()))


def objections(filters: PodFilters, scoring: Scoring = DEFAULT) -> dict[Reason, Mask]:
    """For each reason, the nodes that give it. A node may give several; each would be enough to refuse."""
    known = filters.cluster.nodes.known
    found: dict[Reason, Mask] = {}
    for reason, mask in _all_objections(filters, scoring):
        here = mask & known
        if here.any():
            found[reason] = found[reason] | here if reason in found else here
    return found


def _all_objections(filters: PodFilters, scoring: Scoring) -> Iterator[tuple[Reason, Mask]]:
    cluster, cls = filters.cluster, filters.cls
    nodes, slots = cluster.nodes, cluster.nodes.slots
    fit = scan_of(cluster, cls, scoring).static
    yield _CONFLICT, np.full(slots, fit.conflict, dtype=np.bool_)
    yield _STATIC[static.OUTSIDE], fit.code == static.OUTSIDE
    yield _STATIC[static.UNSCHEDULABLE_NODE], static.cordoned_mask(nodes, cls)
    yield _STATIC[static.TAINTED], ~static.tolerated_mask(nodes, cls)
    yield _STATIC[static.NOT_SELECTED], ~static.selected_mask(nodes, cls)
    if cls.ports:
        taken = np.zeros(slots, dtype=np.bool_)
        taken[list(cluster.ports.taken(cls))] = True
        yield _PORTS_TAKEN, taken
    elsewhere = delegated(cluster, cls)
    for index, number in cls.requested:
        reason = _TOO_MANY_PODS if index == PODS else _insufficient(nodes.resources[index])
        offered = nodes.allocatable[index, :slots]
        short = offered - nodes.used[index, :slots] < number
        yield reason, short if index not in elsewhere else short & (offered > 0)
    if filters.volumes is not None:
        if filters.volumes.refusal:
            yield filters.volumes.refusal, np.ones(slots, dtype=np.bool_)
        else:
            for objection in filters.volumes.objections():
                yield from objection.reasons
    if filters.spread is not None:
        yield from zip(_SPREAD, filters.spread.refused(), strict=True)
    if filters.affinity is not None:
        yield from zip(_AFFINITY, filters.affinity.refused(), strict=True)
    if filters.devices is not None:
        yield from _device_objections(filters.devices, nodes.known)
    yield _KEPT, _kept_for_others(filters)


def _device_objections(devices: DeviceFilter, known: Mask) -> Iterator[tuple[Reason, Mask]]:
    try:
        yield from devices.verdict(known).reasons.items()
    except AllocationError as error:
        yield Reason(Code.ATTEMPT_FAILS, (str(error),)), known


def _kept_for_others(filters: PodFilters) -> Mask:
    """Nodes that would do, were it not for pods that are nominated to them."""
    cluster = filters.cluster
    kept = np.zeros(cluster.nodes.slots, dtype=np.bool_)
    for name in cluster.nominated:
        slot = cluster.nodes.slot_of.get(name)
        if slot is not None and filters.nominated(slot):
            kept[slot] = filters.allows_alone(slot) and not filters.allows(slot)
    return kept


def _diagnose_resources(filters: PodFilters, left: Mask, code: Rows, reasons: Counter[Reason]) -> Mask:
    nodes = filters.cluster.nodes
    width = nodes.slots
    short_of_any = np.zeros(width, dtype=np.bool_)
    hopeless = np.zeros(width, dtype=np.bool_)
    elsewhere = delegated(filters.cluster, filters.cls)
    for index, number in filters.cls.requested:
        offered = nodes.allocatable[index, :width]
        short = left & (offered - nodes.used[index, :width] < number)
        if index in elsewhere:
            short &= offered > 0
        short_of_any |= short
        if index == PODS:
            _count(reasons, _TOO_MANY_PODS, int(short.sum()))
        else:
            hopeless |= short & (offered < number)
            _count(reasons, _insufficient(nodes.resources[index]), int(short.sum()))
    code[short_of_any] = UNSCHEDULABLE
    code[hopeless] = UNRESOLVABLE
    return left & ~short_of_any


def _diagnose_nominations(filters: PodFilters, left: Mask, code: Rows, reasons: Counter[Reason]) -> None:
    """Nodes whose only objection is the capacity that they keep for nominated pods."""
    cluster = filters.cluster
    for name in cluster.nominated:
        slot = cluster.nodes.slot_of.get(name)
        if slot is not None and left[slot] and filters.nominated(slot) and not filters.allows(slot):
            code[slot] = UNSCHEDULABLE
            _count(reasons, _kept(filters, slot), 1)


def _kept(filters: PodFilters, slot: int) -> Reason:
    """What is kept for them: volumes are named as kube-scheduler does, anything else is room."""
    if filters.volumes is None:
        return _KEPT
    twin = filters.forked()
    for row in filters.nominated(slot):
        twin.change(row, slot, 1)
    found = twin.volumes.objections() if twin.volumes is not None else ()
    first = (reason for objection in found for reason, mask in objection.reasons if mask[slot])
    return next(first, _KEPT)


def _count(reasons: Counter[Reason], reason: Reason, number: int) -> None:
    if number:
        reasons[reason] += number


@lru_cache(maxsize=1024)
def _insufficient(resource: str) -> Reason:
    return Reason(Code.INSUFFICIENT, (resource,))
