"""What a worker's preemption would cost, and how that travels inside its signal.

A worker that is blocked by its gate says so in the condition `BlockedOnPreemptionGates`. The cost goes into the
message of that same condition, so that the signal and its price can never be seen apart, and a person reads it too:

    Workload requires preemption, but it's gated; cost: highestPriority=100 lostPodSeconds=3600 victims=2
"""

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from reprieve.objects import Workload, find_condition, well_known
from reprieve.quota import GATED, Quota, WorkloadInfo, find_assignment

GATED_MESSAGE = GATED
_PATTERN = re.compile(
    r"; cost: highestPriority=(-?\d{1,19}) lostPodSeconds=(\d{1,19}) victims=(\d{1,19})(?=$|[\s;,.])"
)


class PreemptionCost(msgspec.Struct, frozen=True, order=True):
    """The price of one worker's preemption. Cheaper means, in this order:

    1. a lower highest victim priority (who is hurt matters more than how many),
    2. less work lost (running pods times the seconds since they got their quota),
    3. fewer victims.
    """

    highest_priority: int
    lost_pod_seconds: int
    victims: int

    def __str__(self) -> str:
        return f"highestPriority={self.highest_priority} lostPodSeconds={self.lost_pod_seconds} victims={self.victims}"


class VictimCost(msgspec.Struct, frozen=True):
    """One victim as far as its price goes."""

    priority: int
    pods: int
    running_seconds: float


def cost_of(victims: Iterable[VictimCost]) -> PreemptionCost:
    """The price of preempting all of these; nobody at all is the cheapest."""
    listed = list(victims)
    return PreemptionCost(
        max((victim.priority for victim in listed), default=-(2**31)),
        sum(int(victim.pods * max(0.0, victim.running_seconds)) for victim in listed),
        len(listed),
    )


def signal_message(cost: PreemptionCost | None) -> str:
    """The sentence a gated worker puts into its conditions."""
    return GATED_MESSAGE if cost is None else f"{GATED_MESSAGE}; cost: {cost}"


def cost_in(message: str) -> PreemptionCost | None:
    """The price in a signal, or None when the worker named none (an upstream Kueue does not)."""
    match = _PATTERN.search(message)
    return PreemptionCost(*(int(number) for number in match.groups())) if match else None


def price(victims: Iterable[WorkloadInfo], now: datetime) -> PreemptionCost:
    return cost_of(_cost(victim, now) for victim in victims)


def _cost(info: WorkloadInfo, now: datetime) -> VictimCost:
    reserved = find_condition(info.workload.status.conditions, well_known.QUOTA_RESERVED)
    since = reserved.last_transition_time if reserved is not None else None
    seconds = (now - since).total_seconds() if since is not None else 0.0
    admission = info.workload.status.admission
    pods = sum(each.count or 0 for each in admission.pod_set_assignments) if admission is not None else 0
    return VictimCost(info.priority, max(1, pods), seconds)


def gated_message(quota: Quota, info: WorkloadInfo, workload: Workload, now: datetime) -> str:
    """While the victims stay the same, so does the sentence: their lost work grows every second, and a signal that
    changed as often would only make noise."""
    queue = quota.cache.queues.get(info.queue)
    victims = find_assignment(quota, info, queue)[1] if queue is not None else []
    if not victims:
        return signal_message(None)
    cost = price((victim.info for victim in victims), now)
    condition = find_condition(workload.status.conditions, well_known.BLOCKED_ON_PREEMPTION_GATES)
    if condition is not None and condition.status == "True":
        told = cost_in(condition.message)
        if told is not None and (told.highest_priority, told.victims) == (
            cost.highest_priority,
            cost.victims,
        ):
            return condition.message
    return signal_message(cost)
