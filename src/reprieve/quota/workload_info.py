"""A workload as quota sees it: what it requests, its priority, the usage of its reservation.

A `WorkloadInfo` is rebuilt from its Workload whenever that changes. Nothing is decided here, only read.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime

from reprieve.objects import (
    Admission,
    Condition,
    LimitRange,
    Workload,
    amount,
    expanded,
    find_condition,
    well_known,
)
from reprieve.quota.demand import Demand, demands, fingerprint
from reprieve.quota.rules import Rules
from reprieve.quota.topology.held import Held
from reprieve.quota.tree import Usage, flavor_resource

_FIRST = -math.inf
_NONE: Mapping[str, Condition] = {}


class WorkloadInfo:
    """One workload. `usage` is what its reservation takes; empty without one."""

    __slots__ = (
        "_fingerprint",
        "_plain",
        "away",
        "base_priority",
        "cannot_preempt",
        "demands",
        "evicted",
        "gate_closed",
        "held",
        "key",
        "priority",
        "queue",
        "queued_at",
        "rank",
        "uid",
        "usage",
        "workload",
    )

    def __init__(
        self,
        workload: Workload,
        queue: str,
        rules: Rules,
        limit_ranges: Collection[LimitRange] = (),
        before: WorkloadInfo | None = None,
        devices: Sequence[Mapping[str, int]] = (),
    ) -> None:
        """`before` is an older state of the same workload, or another one of the same spec; what did not
        change is taken from it."""
        status = workload.status
        self.workload = workload
        self.key = workload.key
        self.uid = workload.metadata.uid
        self.queue = queue
        """Name of the ClusterQueue in which it waits or has its reservation."""
        self.base_priority = workload.spec.priority or 0
        self.priority = self.base_priority + (_boost(workload) if rules.priority_boost else 0)
        true: Mapping[str, Condition] = _NONE
        if status.conditions:
            true = {each.type: each for each in status.conditions if each.status == "True"}
        self.queued_at = _queue_time(workload, true, rules)
        self._fingerprint: Hashable = None
        self.demands: tuple[Demand, ...]
        self._plain = not (limit_ranges or devices)
        """Its demands follow from its spec and the pods that are done alone."""
        if before is not None and self._plain and before._plain and _same(before.workload, workload):
            self.demands = before.demands
            self._fingerprint = before.fingerprint if before.priority == self.priority else None
        else:
            self.demands = _demands(workload, rules, limit_ranges, devices)
        noted = bool(workload.metadata.annotations)
        self.gate_closed = bool(noted or workload.spec.preemption_gates) and has_closed_gate(workload, rules)
        self.cannot_preempt = noted and _says(workload, well_known.CANNOT_PREEMPT_ANNOTATION)
        self.evicted = well_known.EVICTED in true
        self.usage: Usage = {}
        since = math.inf
        if well_known.QUOTA_RESERVED in true:
            since = _seconds(true[well_known.QUOTA_RESERVED].last_transition_time)
            if status.admission is not None:
                self.usage = usage_of(status.admission, self.demands)
        self.held = topology_held(status.admission, self.demands) if since < math.inf else ()
        """What its pods take of the domains they were given."""
        self.rank = (self.priority, -since, self.uid, self.key)
        """Order among candidates: lower priority, then more recent reservation, then UID."""
        self.away = False
        """Taken out of the tree during one computation, and so no candidate."""

    @property
    def names_topology(self) -> bool:
        """Whether a pod set says where its pods want to be, or with which others."""
        return any(demand.topology is not None for demand in self.demands)

    @property
    def fingerprint(self) -> Hashable:
        if self._fingerprint is None:
            self._fingerprint = fingerprint(self.demands, self.priority)
        return self._fingerprint


def _demands(
    workload: Workload,
    rules: Rules,
    limit_ranges: Collection[LimitRange],
    devices: Sequence[Mapping[str, int]],
) -> tuple[Demand, ...]:
    done = workload.status.reclaimable_pods if rules.reclaimable_pods else ()
    return demands(workload.spec.pod_sets, done, limit_ranges, rules.excluded_prefixes, devices)


def _same(before: Workload, after: Workload) -> bool:
    """Whether all that demands depend on is."""
    return before.spec is after.spec and before.status.reclaimable_pods == after.status.reclaimable_pods


def usage_of(admission: Admission, wanted: Iterable[Demand]) -> Usage:
    """What a reservation uses, less the pods that are done."""
    counts = {demand.name: demand.count for demand in wanted}
    usage: Usage = {}
    for each in admission.pod_set_assignments:
        count = each.count if each.count is not None else counts.get(each.name, 1)
        left = min(count, counts.get(each.name, count))
        for resource, quantity in each.resource_usage.items():
            flavor = each.flavors.get(resource)
            if flavor is None:
                continue
            number = max(0, amount(resource, quantity))
            if left != count:
                number = number // count * left
            key = flavor_resource(flavor, resource)
            usage[key] = usage.get(key, 0) + number
    return usage


def topology_held(admission: Admission | None, wanted: Iterable[Demand]) -> tuple[Held, ...]:
    """Counted for every flavor of the pod set; those without a topology have nowhere to count it."""
    found: list[Held] = []
    for each in admission.pod_set_assignments if admission is not None else ():
        if each.topology_assignment is None:
            continue
        single = next((demand.single for demand in wanted if demand.name == each.name), {})
        domains = expanded(each.topology_assignment).domains
        found += [Held(flavor, single, domains) for flavor in dict.fromkeys(each.flavors.values())]
    return tuple(found)


def is_true(workload: Workload, type: str) -> bool:
    """Whether the condition is True."""
    condition = find_condition(workload.status.conditions, type)
    return condition is not None and condition.status == "True"


def is_reserved(workload: Workload) -> bool:
    """Counts in the tree: has quota, is not finished and not deactivated."""
    return (
        is_true(workload, well_known.QUOTA_RESERVED)
        and not is_true(workload, well_known.FINISHED)
        and workload.spec.active
    )


def has_quota(workload: Workload) -> bool:
    """Whether it is in its second pass: it has quota and looks for domains."""
    return workload.status.admission is not None and is_true(workload, well_known.QUOTA_RESERVED)


def is_queueable(workload: Workload, rules: Rules) -> bool:
    """May wait in a queue."""
    if not workload.spec.active:
        return False
    if rules.admission_gated_by and workload.metadata.annotations.get(
        well_known.ADMISSION_GATED_BY_ANNOTATION
    ):
        return False
    if not workload.status.conditions:
        return True  # it is new
    if is_true(workload, well_known.FINISHED) or is_true(workload, "WaitingForReplacementPods"):
        return False
    reserved = find_condition(workload.status.conditions, well_known.QUOTA_RESERVED)
    return reserved is None or (reserved.status != "True" and reserved.reason != "OnHold")


def backoff_over(workload: Workload, now: datetime) -> bool:
    requeued = find_condition(workload.status.conditions, well_known.REQUEUED)
    if requeued is not None and requeued.status == "False":
        return False
    state = workload.status.requeue_state
    return state is None or state.requeue_at is None or now >= state.requeue_at


def has_closed_gate(workload: Workload, rules: Rules) -> bool:
    """A gate without a position in the status is closed; positions of gates not in the spec do not count.

    The annotation of the proposal's alpha stands for a closed gate as long as it is there.
    """
    if _says(workload, well_known.PREEMPTION_GATED_ANNOTATION):
        return True
    if not rules.preemption_gates or not workload.spec.preemption_gates:
        return False
    positions = {gate.name: gate.position for gate in workload.status.preemption_gates}
    return any(positions.get(gate.name, "Closed") == "Closed" for gate in workload.spec.preemption_gates)


def _says(workload: Workload, annotation: str) -> bool:
    """Whether the annotation is there and does not say no."""
    said = workload.metadata.annotations.get(annotation)
    return said is not None and said.lower() not in ("false", "no", "0")


def _queue_time(workload: Workload, true: Mapping[str, Condition], rules: Rules) -> float:
    """When its waiting time begins: at its creation, or at an eviction that makes it wait again."""
    if not true:
        return _seconds(workload.metadata.creation_timestamp)
    evicted = true.get(well_known.EVICTED)
    if evicted is not None and (
        evicted.reason == "AdmissionCheck"
        or (evicted.reason == well_known.PODS_READY_TIMEOUT and not rules.keeps_turn)
    ):
        return _seconds(evicted.last_transition_time)
    if not rules.priority_in_entry_order:
        preempted = true.get(well_known.PREEMPTED)
        if preempted is not None and preempted.reason == well_known.IN_COHORT_RECLAIM_WHILE_BORROWING:
            return _seconds(preempted.last_transition_time) + 0.001
    return _seconds(workload.metadata.creation_timestamp)


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time is not None else _FIRST


def _boost(workload: Workload) -> int:
    text = workload.metadata.annotations.get(well_known.PRIORITY_BOOST_ANNOTATION, "0")
    try:
        number = int(text)
    except ValueError:
        return 0
    return number if -(2**31) <= number < 2**31 else 0


def uses_less(new: WorkloadInfo, old: WorkloadInfo) -> bool:
    return any(new.usage.get(key, 0) < amount for key, amount in old.usage.items())


def same_for_admission(new: WorkloadInfo, old: WorkloadInfo) -> bool:
    """Whether nothing changed that could make a parked workload fit."""
    before, after = old.workload, new.workload
    return (
        before.spec == after.spec
        and before.status.reclaimable_pods == after.status.reclaimable_pods
        and old.gate_closed == new.gate_closed
        and before.metadata.annotations.get(well_known.PRIORITY_BOOST_ANNOTATION)
        == after.metadata.annotations.get(well_known.PRIORITY_BOOST_ANNOTATION)
        and all(
            find_condition(before.status.conditions, type) == find_condition(after.status.conditions, type)
            for type in (well_known.EVICTED, well_known.REQUEUED)
        )
    )
