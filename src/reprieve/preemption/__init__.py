"""Who makes way: victim units, importance, budgets, reprieve, and the plan that says why.

    plan = decide(cluster, Reference("PodGroup", "ml", "train"), config, now)   # now: microseconds since 1970
    plan.outcome        # scheduled | preempts | unschedulable | gated
    plan.placements     # {"ml/train-0": "node-3"}: where pods are bound (scheduled) or nominated (preempts)
    plan.victims        # pods that make way, most important first; each names its unit, node, priority and reason
    plan.ongoing        # an earlier preemption is still under way: keep the nominations, evict nobody
    plan.message        # what kube-scheduler would write into the condition

Evaluating changes nothing: the cluster is the same before and after. Whoever actuates the plan does so elsewhere.
For algorithms: `View` (gates, importance, time), `Candidates` (potential victims in columns), `Gang`, `Selection` (an answer),
`select_for_gang` (kube-scheduler's answer), `Cycle.allows` / `reprieve.placement.passes` (the full filters for one pod on one node).
"""

from reprieve.preemption.cost import Bill, billed
from reprieve.preemption.decide import decide
from reprieve.preemption.gangs import Gang
from reprieve.preemption.plan import Alternative, Cost, Plan, Victim
from reprieve.preemption.preemptor import UnknownTarget
from reprieve.preemption.units import Candidates, Selection, VictimUnit
from reprieve.preemption.view import View

__all__ = [
    "Alternative",
    "Bill",
    "Candidates",
    "Cost",
    "Gang",
    "Plan",
    "Selection",
    "UnknownTarget",
    "Victim",
    "VictimUnit",
    "View",
    "billed",
    "decide",
]
