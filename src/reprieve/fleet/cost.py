"""What a worker's preemption would cost, and how that travels inside its signal.

A worker that is blocked by its gate has the condition `BlockedOnPreemptionGates`. The cost goes into
the message of that same condition, so that the signal and its cost can never be seen apart, and a person
reads it too:

    Workload requires preemption, but it's gated; cost: highestPriority=100 lostPodSeconds=3600 victims=2
"""

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from reprieve.objects import Workload, find_condition, well_known
from reprieve.quota import GATED, Quota, WorkloadInfo, find_assignment

_PATTERN = re.compile(
    r"; cost: highestPriority=(-?\d{1,19}) lostPodSeconds=(\d{1,19}) victims=(\d{1,19})(?=$|[\s;,.])"
)


class PreemptionCost(msgspec.Struct, frozen=True, order=True):
    """The cost of one worker's preemption. Cheaper means, in this order:

    1. a lower highest victim priority (the importance of a victim matters more than the number),
    2. less work lost (running pods times the seconds since they got their quota),
    3. fewer victims.
    """

    highest_priority: int
    lost_pod_seconds: int
    victims: int

    def __str__(self) -> str:
        return (
            f"highestPriority={self.highest_priority} lostPodSeconds={self.lost_pod_seconds} "
            f"victims={self.victims}"
        )


class VictimCost(msgspec.Struct, frozen=True):
    """One victim, as far as its cost goes."""

    priority: int
    pods: int
    running_seconds: float


def cost_of(victims: Iterable[VictimCost]) -> PreemptionCost:
    """The cost of preempting all of these; no victims are the cheapest."""
    listed = list(victims)
    return PreemptionCost(
        max((victim.priority for victim in listed), default=-(2**31)),
        sum(int(victim.pods * max(0.0, victim.running_seconds)) for victim in listed),
        len(listed),
    )


def signal_message(cost: PreemptionCost | None) -> str:
    """The message of a gated worker's conditions."""
    return GATED if cost is None else f"{GATED}; cost: {cost}"


def cost_in(message: str) -> PreemptionCost | None:
    """The cost in a signal, or None when there is none (an upstream Kueue has none)."""
    match = _PATTERN.search(message)
    return PreemptionCost(*(int(number) for number in match.groups())) if match else None


def preemption_cost(victims: Iterable[WorkloadInfo], now: datetime) -> PreemptionCost:
    """The cost of evicting workloads that hold quota."""
    return cost_of(_cost(victim, now) for victim in victims)


def _cost(info: WorkloadInfo, now: datetime) -> VictimCost:
    reserved = find_condition(info.workload.status.conditions, well_known.QUOTA_RESERVED)
    since = reserved.last_transition_time if reserved is not None else None
    seconds = (now - since).total_seconds() if since is not None else 0.0
    admission = info.workload.status.admission
    pods = sum(each.count or 0 for each in admission.pod_set_assignments) if admission is not None else 0
    return VictimCost(info.priority, max(1, pods), seconds)


def gated_message(quota: Quota, info: WorkloadInfo, workload: Workload, now: datetime) -> str:
    """The message of a gated workload, with what its preemption would cost.

    It stays the same while the victims do: their lost work grows every second, and a signal that changed as
    often would only make noise.
    """
    queue = quota.cache.queues.get(info.queue)
    victims = find_assignment(quota, info, queue)[1] if queue is not None else []
    if not victims:
        return signal_message(None)
    cost = preemption_cost((victim.info for victim in victims), now)
    condition = find_condition(workload.status.conditions, well_known.BLOCKED_ON_PREEMPTION_GATES)
    if condition is not None and condition.status == "True":
        known = cost_in(condition.message)
        if known is not None and (known.highest_priority, known.victims) == (
            cost.highest_priority,
            cost.victims,
        ):
            return condition.message
    return signal_message(cost)
