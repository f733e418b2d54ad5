"""All three algorithms side by side: what each would do, and what that costs by the same measure."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from reprieve.cluster import Cluster, ticks
from reprieve.config import Configuration
from reprieve.objects import Document, Reference, Source, well_known
from reprieve.preemption import Bill, Plan, View, billed, decide
from reprieve.whatif.pods import load

ALGORITHMS = ("kubernetes", "kep-5710", "minimal-cost")
HELPED = ("scheduled", "preempts")


def compare_algorithms(
    objects: Iterable[Document | Source], for_: Reference, config: Configuration, now: datetime
) -> dict[str, Any]:
    """The plans of all algorithms with their bills, and the cheapest; of equals, the first listed.

    The configuration counts except for its `preemption.algorithm`.
    """
    cluster = load(objects)
    plans = [_plan(cluster, for_, _with(config, algorithm), ticks(now)) for algorithm in ALGORITHMS]
    helped = [plan for plan in plans if plan.outcome in HELPED]
    cheapest = min(helped, key=_order).algorithm if helped else None
    columns = [_column(algorithm, plan) for algorithm, plan in zip(ALGORITHMS, plans, strict=True)]
    return {
        "apiVersion": well_known.API_VERSION,
        "kind": "PlanComparison",
        "for": str(for_),
        "cheapest": cheapest,
        "plans": columns,
    }


def _with(config: Configuration, algorithm: str) -> Configuration:
    preemption = msgspec.structs.replace(config.preemption, algorithm=algorithm)
    return msgspec.structs.replace(config, preemption=preemption)


def _plan(cluster: Cluster, for_: Reference, config: Configuration, now: int) -> Plan:
    plan = decide(cluster, for_, config, now)
    optimality = plan.cost.optimality if isinstance(plan.cost, Bill) else ""
    named = msgspec.structs.replace(plan, algorithm=config.preemption.algorithm)
    return billed(View(cluster, config, now), named, optimality)


def _order(plan: Plan) -> tuple[int, float, float]:
    """1. budget violations; 2. highest victim priority; 3. the weighted sum."""
    cost = plan.cost
    assert isinstance(cost, Bill)
    highest = float("-inf") if cost.highest_priority is None else cost.highest_priority
    return cost.budget_violations, highest, cost.total


def _column(algorithm: str, plan: Plan) -> dict[str, Any]:
    return {
        "algorithm": algorithm,
        "outcome": plan.outcome,
        "placements": plan.placements,
        "victims": list(dict.fromkeys(victim.unit for victim in plan.victims)),
        "cost": msgspec.to_builtins(plan.cost),
        "message": plan.message,
    }
