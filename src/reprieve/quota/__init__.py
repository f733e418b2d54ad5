"""Who may run: quota trees, flavors, victims and admission cycles.

How a live controller uses it:

    quota = Quota(Rules.of(config))
    quota.ledger.put_flavor(...), put_cohort(...), put_check(...)     # as they come and change, drop_* as they go;
    quota.flush_all(now)                                             # then wake whoever may have waited for it
    quota.put_cluster_queue(...), put_local_queue(...), put_namespace(...), put_workload(workload, now)
    outcome = cycle(quota, now)

`cycle` gives the head of every queue its turn and returns an `Outcome`, which is data only:

- `reserved`: write `workload` (status.admission and conditions). The state counts the reservation already.
- `evicted`: write `workload` (conditions Preempted and Evicted). When its pods are gone, write `release(workload, now)`.
- `waiting`: write `workload` if it is not None; `gated` ones signal that they could preempt.
- `events`: to be recorded.

Whatever is written comes back from the watch through `put_workload`, which is idempotent. If a write fails, put the workload as the
API server has it: the state follows. Run a cycle whenever a queue has an active head (`quota.has_heads()`), and again until it has none or an
outcome made no progress. Nothing here does input or output, reads a clock or starts a task.
"""

from reprieve.quota.admission import cycle, find_assignment
from reprieve.quota.assignment import Assignment, Choice, Mode, Outlook, PodSetResult, Prospect
from reprieve.quota.claims import Claim, holds
from reprieve.quota.conditions import Conditions, with_condition, with_status
from reprieve.quota.flavor_assigner import Assigner, Oracle, can_shrink
from reprieve.quota.offline import Run, Step, load, settle, waiting_lists
from reprieve.quota.outcome import DUE_TO, GATED, Event, Eviction, Outcome, Reservation, Waiting
from reprieve.quota.plan import PREEMPTS, SCHEDULED, UNSCHEDULABLE, Answer, QuotaPlan
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.state import Quota
from reprieve.quota.summary import queue_summaries, quota_lines, waiters
from reprieve.quota.transitions import evict, preempt, release, reserve, wait
from reprieve.quota.tree import UNLIMITED, FlavorResource, Usage
from reprieve.quota.victims.finder import Scout

__all__ = [
    "DUE_TO",
    "GATED",
    "PREEMPTS",
    "SCHEDULED",
    "UNLIMITED",
    "UNSCHEDULABLE",
    "Answer",
    "Assigner",
    "Assignment",
    "Choice",
    "Claim",
    "Conditions",
    "Event",
    "Eviction",
    "FlavorResource",
    "Mode",
    "Oracle",
    "Outcome",
    "Outlook",
    "PodSetResult",
    "Prospect",
    "QueueNode",
    "Quota",
    "QuotaPlan",
    "Reservation",
    "Rules",
    "Run",
    "Scout",
    "Step",
    "Usage",
    "Waiting",
    "can_shrink",
    "cycle",
    "evict",
    "find_assignment",
    "holds",
    "load",
    "preempt",
    "queue_summaries",
    "quota_lines",
    "release",
    "reserve",
    "settle",
    "wait",
    "waiters",
    "waiting_lists",
    "with_condition",
    "with_status",
]
