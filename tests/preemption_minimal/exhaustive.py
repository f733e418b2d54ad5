"""Every set of victims, tried with the real filters: the judge of what plans claim about the optimum."""

import itertools
from typing import Any

import numpy as np

from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects.times import parse_time
from reprieve.placement import PodFilters, passes, settle
from reprieve.preemption import sentences
from reprieve.preemption.cost import Ledger
from reprieve.preemption.importance import by_importance
from reprieve.preemption.minimal.problem import NO_PRIORITY
from reprieve.preemption.preemptor import find_group
from reprieve.preemption.units import Candidates, VictimUnit
from reprieve.preemption.view import View
from reprieve.preemption.violations import count_violations
from reprieve.whatif.pods import load
from tests.catalogues import read_back
from tests.preemption_minimal.manifests import NOW

MINIMAL = Configuration.load({"preemption": {"algorithm": "minimal-cost"}})
GANG = "PodGroup/default/gang"


def price(view: View, units: list[VictimUnit]) -> tuple[int, int, float]:
    rows = np.array([row for unit in units for row in unit.rows], np.int32)
    numbers = np.repeat(np.arange(len(units)), [len(unit.rows) for unit in units])
    groups = {number: unit.group for number, unit in enumerate(units) if unit.group >= 0}
    broken = sum(count_violations(view, by_importance(view, units)).values())
    return (
        broken,
        max(unit.priority for unit in units),
        float(Ledger(view).weights(rows, numbers, groups).sum()),
    )


def fits(cluster: Cluster, rows: tuple[int, ...]) -> bool:
    """Whether all these pods find nodes, by the real filters, in whatever order."""
    if not rows:
        return True
    for slot in cluster.nodes.order.tolist():
        mark = cluster.checkpoint()
        try:
            filters = PodFilters(cluster, rows[0], faithful=False)
            if passes(filters, slot):
                settle(filters, slot)
                if fits(cluster, rows[1:]):
                    return True
        finally:
            cluster.rollback(mark)
    return False


def cheapest_of_all(objects: list[Any]) -> tuple[int, int, float] | None:
    """Every set of victims, cheapest first, until one makes room."""
    cluster = load(objects)
    view = View(cluster, MINIMAL, ticks(parse_time(NOW)))
    gang = find_group(view, "default/gang").gang
    candidates = Candidates(view, gang.priority)
    units = candidates.units(np.arange(len(candidates), dtype=np.int32))
    sets = [
        list(chosen) for size in range(1, len(units) + 1) for chosen in itertools.combinations(units, size)
    ]
    for cost, chosen in sorted(((price(view, chosen), chosen) for chosen in sets), key=lambda each: each[0]):
        mark = cluster.checkpoint()
        cluster.detach_all(np.array([row for unit in chosen for row in unit.rows], np.int32))
        possible = fits(cluster, gang.rows[: max(1, gang.min_count - gang.running)])
        cluster.rollback(mark)
        if possible:
            return cost
    return None


def claimed(plan: Any) -> tuple[int, int, float]:
    """What no plan undercuts, by what the plan says of itself."""
    own = plan.cost.budget_violations, plan.cost.highest_priority, plan.cost.total
    said = plan.cost.optimality
    if said == sentences.CHEAPEST:
        return own
    if found := read_back(said, sentences.at_most_from_the_optimum(1250, relaxed=False), "12.50"):
        return (*own[:2], own[2] * (1 - float(found[0]) / 100))
    if found := read_back(said, sentences.fewer_violations_possible(111, 222, relaxed=False), "111", "222"):
        return int(found[0]), NO_PRIORITY, 0
    if found := read_back(said, sentences.lower_victims_possible(111, relaxed=False), "111"):
        return own[0], int(found[0]), 0
    assert said.startswith(sentences.no_victims_possible(relaxed=False)), said
    return 0, NO_PRIORITY, 0
