"""Plans of `minimal-cost` for the tests of this folder."""

from typing import Any

import reprieve
from reprieve.cluster import Cluster
from reprieve.placement import PodFilters, passes
from reprieve.whatif import compare
from tests.builders import Document
from tests.preemption_minimal.manifests import NOW

GANG = "PodGroup/default/gang"


def plan(objects: list[Document], for_: str = GANG, **preemption: Any) -> Any:
    config = {"preemption": {"algorithm": "minimal-cost", **preemption}}
    return reprieve.plan(objects, for_, config=config, now=NOW)


def victims(answer: Any) -> list[str]:
    return sorted(victim.pod.removeprefix("default/") for victim in answer.victims)


def costs(objects: list[Document]) -> dict[str, tuple[int, float, float] | None]:
    """What each algorithm's plan costs by the same measure; None when it finds no plan."""
    found = {}
    for column in compare(objects, GANG, now=NOW)["plans"]:
        cost = column["cost"]
        highest = float("-inf") if cost["highestPriority"] is None else cost["highestPriority"]
        key = (cost["budgetViolations"], highest, cost["total"])
        found[column["algorithm"]] = key if column["outcome"] in ("preempts", "scheduled") else None
    return found


def stands(cluster: Cluster, gone: set[str], placements: dict[str, str]) -> bool:
    """Whether every placed pod passes the real filters, one after the other, once these pods have left."""
    for key in gone:
        cluster.detach(cluster.pods.row_of[key])
    for key, name in placements.items():
        row, slot = cluster.pods.row_of[key], cluster.nodes.slot_of[name]
        if not passes(PodFilters(cluster, row, faithful=False), slot):
            return False
        cluster.attach(row, slot)
    return True
