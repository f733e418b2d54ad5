"""What one cycle decided, as data, and the messages and events that report it.

The caller carries it out. Messages have upstream's wording, so that people and tools recognise them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from reprieve.objects import Workload, find_condition, well_known
from reprieve.quota.assignment import Assignment
from reprieve.quota.queue import QueueNode
from reprieve.quota.victims.candidates import Victim
from reprieve.quota.workload_info import WorkloadInfo

GATED = "Workload requires preemption, but it's gated"
OVERLAPPING = "Workload has overlapping preemption targets with another workload"
DEFERRED = f"{OVERLAPPING}, but will fit after these preemptions complete"
NO_LONGER_FITS = "Workload no longer fits after processing another workload"
NO_REPLACEMENT = "Workload was evicted as there was no replacement for unhealthy node(s): "
DUE_TO = {
    well_known.IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    well_known.IN_COHORT_RECLAMATION: "reclamation within the cohort",
    well_known.IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    well_known.IN_COHORT_RECLAIM_WHILE_BORROWING: "reclamation within the cohort while borrowing",
}
"""What each reason of a quota preemption means, in Kueue's words."""
_FOR_EVER = 9223372037  # what upstream shows for a workload without a creation time


class Event(NamedTuple):
    workload: str
    type: str
    reason: str
    message: str

    def to_dict(self) -> dict[str, str]:
        return self._asdict()


class Reservation(NamedTuple):
    """Give quota: write `workload`, which has the admission and its conditions."""

    info: WorkloadInfo
    assignment: Assignment
    workload: Workload


class Eviction(NamedTuple):
    """Stop a workload: write `workload`, stop its pods, and release its quota when they are gone."""

    victim: Victim
    preemptor: WorkloadInfo
    message: str
    workload: Workload


class NodeFailure(NamedTuple):
    """Stop a workload that lost a node and has no other: write `workload`, as for an eviction."""

    info: WorkloadInfo
    message: str
    workload: Workload


class Replacement(NamedTuple):
    """A slice that another took the place of: write `workload`, which is finished."""

    info: WorkloadInfo
    by: WorkloadInfo
    workload: Workload


class Waiting(NamedTuple):
    """A workload that got nothing, and what it waits for."""

    info: WorkloadInfo
    reason: str
    message: str
    gated: bool
    """Could preempt, but a closed preemption gate forbids it."""
    workload: Workload | None
    """With new conditions, or None when they say the same as before."""


@dataclass(slots=True)
class Outcome:
    number: int
    reserved: list[Reservation] = field(default_factory=list)
    evicted: list[Eviction] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    failed: list[NodeFailure] = field(default_factory=list)
    replaced: list[Replacement] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    skipped_preemptions: dict[str, int] = field(default_factory=dict)
    """For each queue, the preemptions skipped because of an earlier entry of the same cycle."""

    @property
    def stopped(self) -> list[Workload]:
        """Those that must end, for another workload or for a lost node."""
        return [*(each.workload for each in self.evicted), *(each.workload for each in self.failed)]

    @property
    def settled(self) -> list[Workload]:
        """Those that got quota or domains, and slices that another took the place of."""
        return [*(each.workload for each in self.reserved), *(each.workload for each in self.replaced)]

    @property
    def made_progress(self) -> bool:
        return bool(self.reserved or self.evicted or self.failed)


def preempted_message(preemptor: WorkloadInfo, queue: QueueNode, victim: Victim) -> str:
    uid = preemptor.uid or "UNKNOWN"
    job = preemptor.workload.metadata.labels.get(well_known.JOB_UID_LABEL) or "UNKNOWN"
    return (
        f"Preempted to accommodate a workload (UID: {uid}, JobUID: {job}) due to {DUE_TO[victim.reason]}; "
        f"preemptor path: {queue.full_path}; preemptee path: {victim.queue.full_path}"
    )


def _priorities(preemptor: WorkloadInfo, victim: WorkloadInfo) -> str:
    return (
        f"; preemptor effective priority: {_priority(preemptor)}"
        f"; preemptee effective priority: {_priority(victim)}"
    )


def _priority(info: WorkloadInfo) -> str:
    return f"{info.priority} (base: {info.base_priority}, boost: {info.priority - info.base_priority})"


def preemption_events(preemptor: WorkloadInfo, victim: Victim, message: str) -> list[Event]:
    tail = _priorities(preemptor, victim.info)
    preempted = (
        f"Preempted workload {victim.info.key} (UID: {victim.info.uid}) in ClusterQueue {victim.queue.name}"
    )
    return [
        Event(victim.info.key, "Normal", "EvictedDueToPreempted", message),
        Event(victim.info.key, "Normal", well_known.PREEMPTED, message + tail),
        Event(preemptor.key, "Normal", "PreemptedWorkload", preempted + tail),
    ]


def reservation_event(info: WorkloadInfo, assignment: Assignment, now: datetime) -> Event:
    considered = assignment.considered()
    tail = f"; Flavors considered: {considered}" if considered else ""
    waited = _waited(info, now)
    message = f"Quota reserved in ClusterQueue {info.queue}, wait time since queued was {waited}s{tail}"
    return Event(info.key, "Normal", well_known.QUOTA_RESERVED, message)


def admission_event(info: WorkloadInfo) -> Event:
    message = f"Admitted by ClusterQueue {info.queue}, wait time since reservation was 0s"
    return Event(info.key, "Normal", well_known.ADMITTED, message)


def _waited(info: WorkloadInfo, now: datetime) -> int:
    """Whole seconds since it was created, or since it was queued again."""
    requeued = find_condition(info.workload.status.conditions, well_known.REQUEUED)
    since = info.workload.metadata.creation_timestamp
    if requeued is not None and requeued.status == "True":
        since = requeued.last_transition_time
    return _FOR_EVER if since is None else round((now - since).total_seconds())


def yielding_message(preemptor: str) -> str:
    return f"Workload lets {preemptor} pass, for which it was preempted again and again"
