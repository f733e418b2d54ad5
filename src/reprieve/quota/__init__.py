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
from reprieve.quota.outcome import Eviction, Outcome, Reservation, Waiting
from reprieve.quota.rules import Rules
from reprieve.quota.state import Quota
from reprieve.quota.transitions import evict, preempt, release, reserve, wait

__all__ = [
    "Eviction",
    "Outcome",
    "Quota",
    "Reservation",
    "Rules",
    "Waiting",
    "cycle",
    "evict",
    "find_assignment",
    "preempt",
    "release",
    "reserve",
    "wait",
]
