"""All three algorithms side by side: what each would do, and what that costs by the same measure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from reprieve.cluster import Cluster, ticks
from reprieve.config import Configuration
from reprieve.objects import Document, Reference, Source, well_known
from reprieve.preemption import Bill, BilledVictim, Plan, View, billed, decide, with_lost_hours
from reprieve.whatif.group_kinds import with_group_kinds
from reprieve.whatif.notes import NODES, take_notes
from reprieve.whatif.owners import controllers
from reprieve.whatif.pods import load, refuse_unknown_class
from reprieve.whatif.warnings import warnings

ALGORITHMS = ("kubernetes", "kep-5710", "minimal-cost")
HELPED = ("scheduled", "preempts")


def compare_algorithms(
    objects: Iterable[Document | Source], for_: Reference, config: Configuration, now: datetime
) -> dict[str, Any]:
    """The plans of all algorithms with their bills, and the cheapest; of equals, the first listed.

    The configuration counts except for its `preemption.algorithm`.
    """
    documents, missing = with_group_kinds(objects)
    notes = take_notes(documents, NODES)
    cluster = load(documents, for_, missing, config)
    refuse_unknown_class(cluster, for_)
    plans = [_plan(cluster, for_, _with(config, algorithm), ticks(now)) for algorithm in ALGORITHMS]
    helped = [plan for plan in plans if plan.outcome in HELPED]
    cheapest = min(helped, key=_order).algorithm if helped else None
    units = [dict.fromkeys(victim.unit for victim in plan.victims) for plan in helped]
    common = [unit for unit in units[0] if all(unit in each for each in units)] if units else []
    pods = {victim.pod: victim.unit for plan in plans for victim in plan.victims}
    owners = controllers(documents, {pod for pod, unit in pods.items() if unit == f"Pod/{pod}"})
    columns = [_column(algorithm, plan, common) for algorithm, plan in zip(ALGORITHMS, plans, strict=True)]
    found: dict[str, Any] = {
        "apiVersion": well_known.API_VERSION,
        "kind": "PlanComparison",
        "for": str(for_),
        "cheapest": cheapest,
        "common": common,
        "owners": {pods[pod]: owner for pod, owner in sorted(owners.items())},
        "plans": columns,
        "warnings": [*warnings(cluster), *missing, *notes.sentences],
    }
    return found | ({"ignored": [*map(msgspec.to_builtins, notes.ignored)]} if notes.ignored else {})


def _with(config: Configuration, algorithm: str) -> Configuration:
    preemption = msgspec.structs.replace(config.preemption, algorithm=algorithm)
    return msgspec.structs.replace(config, preemption=preemption)


def _plan(cluster: Cluster, for_: Reference, config: Configuration, now: int) -> Plan:
    plan = decide(cluster, for_, config, now)
    optimality = plan.cost.optimality if isinstance(plan.cost, Bill) else ""
    named = msgspec.structs.replace(plan, algorithm=config.preemption.algorithm)
    view = View(cluster, config, now)
    return with_lost_hours(view, billed(view, named, optimality))


def _order(plan: Plan) -> tuple[int, float, float]:
    """1. budget violations; 2. highest victim priority; 3. the weighted sum."""
    cost = plan.cost
    assert isinstance(cost, Bill)
    highest = float("-inf") if cost.highest_priority is None else cost.highest_priority
    return cost.budget_violations, highest, cost.total


def _column(algorithm: str, plan: Plan, common: Sequence[str]) -> dict[str, Any]:
    victims = list(dict.fromkeys(victim.unit for victim in plan.victims))
    shared = set(common)
    costs = [victim.cost for victim in plan.victims if isinstance(victim, BilledVictim)]
    return {
        "algorithm": algorithm,
        "outcome": plan.outcome,
        "placements": plan.placements,
        "victims": victims,
        "also": [unit for unit in victims if unit not in shared],
        "cost": msgspec.to_builtins(plan.cost),
        "lostHours": plan.lost_hours,
        "withoutStart": plan.without_start,
        "displacing": sum(cost.cascade > 0 for cost in costs),
        "message": plan.message,
    }
