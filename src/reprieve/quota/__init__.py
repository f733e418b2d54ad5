"""May it run at all? Quota trees, flavors, victims and admission cycles.

How a live controller uses it:

    quota = Quota(Rules.of(config)) quota.cache.put_flavor(...), put_cohort(...), put_check(...)   # as they
    come and change; drop_* as they go quota.flush_all(now)                                           # then
    wake the workloads that waited for it quota.put_cluster_queue(...), put_local_queue(...),
    put_namespace(...), put_workload(workload, now) outcome = cycle(quota, now)

`cycle` tries the head of every queue and returns an `Outcome`, which is data only:

- `reserved`: write `workload` (status.admission and conditions). The state counts the reservation already.
- `evicted`: write `workload` (conditions Preempted and Evicted). When its pods are gone, write
  `release(workload, now)`.
- `waiting`: write `workload` if it is not None; `gated` ones signal that they could preempt.
- `events`: to be recorded.

Writes come back from the watch through `put_workload`, which is idempotent. If a write fails, put the
workload as the API server has it: the state follows. Run a cycle whenever a queue has an active head
(`quota.has_heads()`), and again until there is none or an outcome made no progress. Nothing here does input
or output, reads a clock or starts a task.
"""

from reprieve.quota import sentences as quota_texts
from reprieve.quota.admissible import refusal
from reprieve.quota.admission import cycle
from reprieve.quota.assignment import (
    Assignment,
    Attempt,
    Choice,
    GranularMode,
    Mismatch,
    Mode,
    Obstacle,
    PodSetResult,
    PreemptionMode,
    Shortage,
    TooLarge,
)
from reprieve.quota.causes import Cause, Refusal, Value
from reprieve.quota.demand import Demand, with_defaults
from reprieve.quota.flavor_assigner import FlavorAssigner, Oracle
from reprieve.quota.nomination import find_assignment, vain_wait
from reprieve.quota.offline import Run, Step, load, settle, waiting_lists
from reprieve.quota.outcome import DUE_TO, Event, Eviction, Outcome, Reservation, Waiting
from reprieve.quota.plan import Proposal, QuotaPlan
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.sentences import GATED
from reprieve.quota.starting import injected
from reprieve.quota.state import Quota
from reprieve.quota.summary import inactive_message, queue_summaries, quota_lines, waiters
from reprieve.quota.topology.step import needs_second_pass
from reprieve.quota.transitions import (
    evict,
    placed_elsewhere,
    preempt,
    release,
    reserve,
    wait,
    with_admitted,
    with_status,
)
from reprieve.quota.tree import UNLIMITED, FlavorResource, Usage
from reprieve.quota.unfit import no_place
from reprieve.quota.victims.finder import VictimFinder
from reprieve.quota.workload_info import WorkloadInfo, is_true

__all__ = [
    "DUE_TO",
    "GATED",
    "UNLIMITED",
    "Assignment",
    "Attempt",
    "Cause",
    "Choice",
    "Demand",
    "Event",
    "Eviction",
    "FlavorAssigner",
    "FlavorResource",
    "GranularMode",
    "Mismatch",
    "Mode",
    "Obstacle",
    "Oracle",
    "Outcome",
    "PodSetResult",
    "PreemptionMode",
    "Proposal",
    "QueueNode",
    "Quota",
    "QuotaPlan",
    "Refusal",
    "Reservation",
    "Rules",
    "Run",
    "Shortage",
    "Step",
    "TooLarge",
    "Usage",
    "Value",
    "VictimFinder",
    "Waiting",
    "WorkloadInfo",
    "cycle",
    "evict",
    "find_assignment",
    "inactive_message",
    "injected",
    "is_true",
    "load",
    "needs_second_pass",
    "no_place",
    "placed_elsewhere",
    "preempt",
    "queue_summaries",
    "quota_lines",
    "quota_texts",
    "refusal",
    "release",
    "reserve",
    "settle",
    "vain_wait",
    "wait",
    "waiters",
    "waiting_lists",
    "with_admitted",
    "with_defaults",
    "with_status",
]
