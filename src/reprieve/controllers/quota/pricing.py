"""What a gated preemption would cost: computed by the worker, written into its signal."""

from datetime import datetime

from reprieve.fleet.cost import PreemptionCost, VictimCost, cost_in, cost_of, signal_message
from reprieve.objects.kueue import Workload
from reprieve.objects.meta import find_condition
from reprieve.quota import Quota, find_assignment
from reprieve.quota.claims import Claim

BLOCKED = "BlockedOnPreemptionGates"


def gated_message(quota: Quota, claim: Claim, workload: Workload, now: datetime) -> str:
    """The sentence of the signal, with the price. While the victims stay the same, so does the sentence: their lost
    work grows every second, and a signal that changed as often would only make noise."""
    price = _price(quota, claim, now)
    condition = find_condition(workload.status.conditions, BLOCKED)
    if condition is not None and condition.status == "True" and price is not None:
        told = cost_in(condition.message)
        if told is not None and (told.highest_priority, told.victims) == (
            price.highest_priority,
            price.victims,
        ):
            return condition.message
    return signal_message(price)


def _price(quota: Quota, claim: Claim, now: datetime) -> PreemptionCost | None:
    queue = quota.ledger.queues.get(claim.queue)
    if queue is None:
        return None
    _, victims = find_assignment(quota, claim, queue)
    return cost_of(_cost(victim.claim, now) for victim in victims) if victims else None


def _cost(claim: Claim, now: datetime) -> VictimCost:
    reserved = find_condition(claim.workload.status.conditions, "QuotaReserved")
    since = reserved.last_transition_time if reserved is not None else None
    seconds = (now - since).total_seconds() if since is not None else 0.0
    admission = claim.workload.status.admission
    pods = sum(each.count or 0 for each in admission.pod_set_assignments) if admission is not None else 0
    return VictimCost(claim.priority, max(1, pods), seconds)
