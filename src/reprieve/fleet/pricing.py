"""The price of evicting workloads that hold quota, for the signal of a worker and for a plan over the fleet."""

from collections.abc import Iterable
from datetime import datetime

from reprieve.fleet.cost import PreemptionCost, VictimCost, cost_of
from reprieve.objects import find_condition
from reprieve.quota import Claim


def price(victims: Iterable[Claim], now: datetime) -> PreemptionCost:
    return cost_of(_cost(victim, now) for victim in victims)


def _cost(claim: Claim, now: datetime) -> VictimCost:
    reserved = find_condition(claim.workload.status.conditions, "QuotaReserved")
    since = reserved.last_transition_time if reserved is not None else None
    seconds = (now - since).total_seconds() if since is not None else 0.0
    admission = claim.workload.status.admission
    pods = sum(each.count or 0 for each in admission.pod_set_assignments) if admission is not None else 0
    return VictimCost(claim.priority, max(1, pods), seconds)
