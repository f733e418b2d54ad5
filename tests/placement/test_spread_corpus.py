"""Spreading of pods that say nothing about it: every recorded case gets the recorded node and scores."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.placement import PodFilters, feasible_mask
from reprieve.placement.single import feasible_list
from reprieve.placement.spread import spread_scores
from reprieve.preemption import decide
from reprieve.whatif.pods import load

CORPUS = Path(__file__).parent.parent / "corpus" / "ordinary" / "default-spreading.jsonl.gz"
ROWS: list[dict[str, Any]] = [*map(json.loads, gzip.decompress(CORPUS.read_bytes()).splitlines())]


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_pod_goes_where_kube_scheduler_would_put_it(row: dict[str, Any]) -> None:
    for_ = Reference.parse(row["submit"])
    cluster = load(row["objects"], for_)
    plan = decide(cluster, for_, Configuration.load({"preemption": {"algorithm": "kubernetes"}}), 0)
    assert plan.outcome == "scheduled"
    assert plan.placements[for_.key] in row["bestNodes"]

    filters = PodFilters(cluster, cluster.pods.row_of[for_.key])
    feasible = feasible_list(cluster, feasible_mask(filters))
    found = spread_scores(cluster, filters.cls, feasible)
    names = [cluster.nodes.names[slot] for slot in feasible]
    scores = {} if found is None else dict(zip(names, (2 * found).tolist(), strict=True))
    assert {name: score for name, score in scores.items() if score} == {
        name: score for name, score in row["spread"].items() if score
    }


def test_the_recorded_cases_cover_every_rule_about_owners() -> None:
    tags = {tag for row in ROWS for tag in row["tags"] if tag.startswith("owners-")}
    assert len(ROWS) == 60
    assert len(tags) == 12
