"""What one cycle decided, as data, and the messages and events that report it.

The caller carries it out. Messages have upstream's wording, so that people and tools recognise them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from reprieve.objects import Workload, find_condition, well_known
from reprieve.quota import sentences
from reprieve.quota.assignment import Assignment
from reprieve.quota.queue import QueueNode
from reprieve.quota.victims.candidates import Victim
from reprieve.quota.workload_info import WorkloadInfo

DUE_TO = {
    well_known.IN_CLUSTER_QUEUE: sentences.IN_QUEUE,
    well_known.IN_COHORT_RECLAMATION: sentences.RECLAIMED,
    well_known.IN_COHORT_FAIR_SHARING: sentences.FAIR_SHARING,
    well_known.IN_COHORT_RECLAIM_WHILE_BORROWING: sentences.RECLAIMED_WHILE_BORROWING,
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
    job = preemptor.workload.metadata.labels.get(well_known.JOB_UID_LABEL, "")
    due_to = DUE_TO[victim.reason]
    return sentences.preempted(preemptor.uid, job, due_to, queue.full_path, victim.queue.full_path)


def preemption_events(preemptor: WorkloadInfo, victim: Victim, message: str) -> list[Event]:
    info, priorities = victim.info, (_priorities(preemptor), _priorities(victim.info))
    preempted = sentences.preempted_workload(info.key, info.uid, victim.queue.name)
    told, telling = (sentences.with_priorities(text, *priorities) for text in (message, preempted))
    return [
        Event(info.key, "Normal", "EvictedDueToPreempted", message),
        Event(info.key, "Normal", well_known.PREEMPTED, told),
        Event(preemptor.key, "Normal", "PreemptedWorkload", telling),
    ]


def _priorities(info: WorkloadInfo) -> tuple[int, int]:
    return info.priority, info.base_priority


def reservation_event(info: WorkloadInfo, assignment: Assignment, now: datetime) -> Event:
    message = sentences.quota_reserved_after(info.queue, _waited(info, now), assignment.considered())
    return Event(info.key, "Normal", well_known.QUOTA_RESERVED, message)


def admission_event(info: WorkloadInfo) -> Event:
    return Event(info.key, "Normal", well_known.ADMITTED, sentences.admitted_at_once(info.queue))


def _waited(info: WorkloadInfo, now: datetime) -> int:
    """Whole seconds since it was created, or since it was queued again."""
    requeued = find_condition(info.workload.status.conditions, well_known.REQUEUED)
    since = info.workload.metadata.creation_timestamp
    if requeued is not None and requeued.status == "True":
        since = requeued.last_transition_time
    return _FOR_EVER if since is None else round((now - since).total_seconds())
