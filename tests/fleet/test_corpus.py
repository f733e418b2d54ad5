"""The real code's answers: one reconcile of the manager's workload."""

import gzip
import json
from pathlib import Path

import pytest

from reprieve.fleet import reconcile

CORPUS = Path(__file__).parents[1] / "corpus" / "kueue" / "multikueue-tables.jsonl.gz"


def rows():
    with gzip.open(CORPUS, "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize("row", rows(), ids=lambda row: row["name"].replace(" ", "-")[:60])
def test_the_step_equals_upstreams(row, close: bool) -> None:
    config = {**row["config"], "fleet": {"closeGateAtTimeout": close}}
    answer = reconcile(row["objects"], row["remotes"], row["submit"], config=config, now=row["now"]).to_dict()
    expected = row["expect"]
    assert {(gate["cluster"], gate["gate"]) for gate in answer["gatesOpened"]} == {
        (gate["cluster"], gate["gate"]) for gate in expected["gatesOpened"]
    }
    for field in ("remoteCreated", "remoteDeleted", "nominatedClusterNames"):
        assert sorted(answer[field]) == sorted(expected[field])
    assert answer["requeueAfterSeconds"] == expected["requeueAfterSeconds"]
    if not close:
        assert answer["gatesClosed"] == []
