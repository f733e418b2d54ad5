"""The sentence of a gated workload's signal, with what its preemption would cost."""

from datetime import datetime

from reprieve.fleet import BLOCKED, cost_in, price, signal_message
from reprieve.objects import Workload, find_condition
from reprieve.quota import Claim, Quota, find_assignment


def gated_message(quota: Quota, claim: Claim, workload: Workload, now: datetime) -> str:
    """While the victims stay the same, so does the sentence: their lost work grows every second, and a signal that
    changed as often would only make noise."""
    queue = quota.ledger.queues.get(claim.queue)
    victims = find_assignment(quota, claim, queue)[1] if queue is not None else []
    if not victims:
        return signal_message(None)
    cost = price((victim.claim for victim in victims), now)
    condition = find_condition(workload.status.conditions, BLOCKED)
    if condition is not None and condition.status == "True":
        told = cost_in(condition.message)
        if told is not None and (told.highest_priority, told.victims) == (
            cost.highest_priority,
            cost.victims,
        ):
            return condition.message
    return signal_message(cost)
