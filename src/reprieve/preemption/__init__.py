"""Which workloads are preempted: victim units, importance, budgets, reprieve, and the plan with its reasons.

    plan = decide(cluster, Reference("PodGroup", "ml", "train"), config, now)   # now: microseconds since 1970
    plan.outcome        # scheduled | preempts | unschedulable | gated
    plan.placements     # {"ml/train-0": "node-3"}: where pods are bound (scheduled) or nominated (preempts)
    plan.victims        # pods to evict, most important first; each with its unit, node, priority and reason
    plan.ongoing        # an earlier preemption is still under way: keep the nominations, evict nobody
    plan.message        # what kube-scheduler would write into the condition

Deciding changes nothing: the cluster is the same before and after. The scheduler carries out plans.

Inside: `view` (gates, time, importance of every pod), `units` (victim units, candidates, the selection of an
algorithm), `gangs` and `pods` (the search for a gang and for a single pod), `algorithms` (KEP-5710's
cut-off), `reprieve` (which units can stay), `minimal` (the cheapest plan), `cost`, `reasons` and `rendering`
(the plan in words).
"""

from reprieve.preemption import sentences as preemption_texts
from reprieve.preemption.cost import Bill, BilledVictim, billed, with_lost_hours
from reprieve.preemption.decide import decide
from reprieve.preemption.gangs import Gang
from reprieve.preemption.plan import Alternative, ClaimUse, Cost, Plan, Reprieved, Victim
from reprieve.preemption.preemptor import UnknownTarget
from reprieve.preemption.units import Candidates, Selection, VictimUnit
from reprieve.preemption.view import View, groups_rule

__all__ = [
    "Alternative",
    "Bill",
    "BilledVictim",
    "Candidates",
    "ClaimUse",
    "Cost",
    "Gang",
    "Plan",
    "Reprieved",
    "Selection",
    "UnknownTarget",
    "Victim",
    "VictimUnit",
    "View",
    "billed",
    "decide",
    "groups_rule",
    "preemption_texts",
    "with_lost_hours",
]
