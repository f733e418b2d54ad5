"""Why is it pending, who preempted it and for whom, what does it wait for, what would help.

`explain(target, evidence, now)` answers for a pod, a pod group, a Kueue workload, a queue or a node. Evidence is whatever the
asker may read: objects, events, decision records. A record is the best witness, a condition the next, an event the last; what no
witness tells is not guessed. For something that waits, the planner is asked what would help on the state as it is.

`collect` gathers evidence from a cluster or from files; everything else here is pure.
"""

from reprieve.explain.answer import Explanation
from reprieve.explain.collect import fetch_records, from_cluster, read_records
from reprieve.explain.dispatch import explain
from reprieve.explain.evidence import Evidence, Target
from reprieve.explain.rendering import render

__all__ = [
    "Evidence",
    "Explanation",
    "Target",
    "explain",
    "fetch_records",
    "from_cluster",
    "read_records",
    "render",
]
