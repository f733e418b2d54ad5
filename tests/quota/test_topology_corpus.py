"""Kueue's recorded answers with topologies and with admission fair sharing: decisions, domains and words."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import reprieve
from tests.scale import SCALE

DATA = Path(__file__).parent.parent / "corpus" / "topology"
Row = dict[str, Any]


@cache
def rows(name: str) -> list[Row]:
    """All rows; in a quick run every tenth or so."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as lines:
        found = [json.loads(line) for line in lines]
    return found[:: max(1, round(1 / SCALE))] if SCALE < 1 else found


def plan(row: Row) -> Any:
    return reprieve.plan(
        row["objects"],
        row["submit"],
        config=row["config"],
        now=row["now"],
        cluster_queue=row.get("targetClusterQueue"),
        given=row.get("given"),
    )


def victims(answer: Row) -> list[tuple[str, str]]:
    return sorted((each["workload"], each["reason"]) for each in answer.get("victims") or [])


def decision(answer: Row) -> Row:
    """A workload that fits nowhere has no further parts."""
    if answer["mode"] == "NoFit":
        return {"mode": "NoFit"}
    parts = {name: answer.get(name) for name in ("mode", "flavors", "modes", "counts")}
    maybe = {
        name: answer.get(name) or {} for name in ("topology", "reservedTopology", "delayedTopologyRequest")
    }
    return {**parts, **maybe, "borrowing": answer.get("borrowing") or 0, "victims": victims(answer)}


def texts(answer: Any) -> list[str]:
    """Without the names of the pod sets: upstream blames one of a group by chance."""
    found = answer.whole.assignment
    return sorted(", ".join(sorted(map(str, each.obstacles))) for each in found.pod_sets if each.obstacles)


@pytest.mark.parametrize("family", ["tas-tables", "tas-placements", "tas-preemption"])
def test_decisions_and_domains_equal_upstream(family: str) -> None:
    for row in rows(family):
        answer, want = plan(row), row["expect"]
        got = answer.to_dict()
        if "modes" not in want:  # upstream blames one pod set of a group by chance
            got.pop("modes")
        assert decision(got) == decision(want), row["name"]
        if "withPartialAdmission" in want:
            part, wanted = got["withPartialAdmission"], want["withPartialAdmission"]
            assert decision(part) == decision(wanted), row["name"]
        if "messageUnstable" not in (row.get("tags") or ()):
            assert texts(answer) == sorted((want.get("reasons") or {}).values()), row["name"]
            if want.get("noFitReason"):  # upstream forgets it if another pod set failed before
                assert got["noFitReason"] == want["noFitReason"], row["name"]


def lists(queues: Row | None) -> Row:
    return {name: sorted(keys) for name, keys in (queues or {}).items() if keys}


def granted(workload: Row) -> tuple[object, ...]:
    maybe = (workload.get("topology") or {}, workload.get("delayedTopologyRequest") or {})
    return workload["clusterQueue"], workload["flavors"], workload["counts"], *maybe


def cycle(answer: Row) -> Iterator[object]:
    yield {key: granted(workload) for key, workload in answer["admitted"].items()}
    yield sorted((each["workload"], each["reason"]) for each in answer["preempted"])
    yield lists(answer["pending"])
    yield lists(answer["inadmissible"])


def test_a_cycle_with_several_heads_equals_upstream() -> None:
    for row in rows("tas-cycles"):
        answer = reprieve.admit(row["objects"], config=row["config"], now=row["now"], max_cycles=1).to_dict()
        assert list(cycle(answer["cycles"][0])) == list(cycle(row["expect"])), row["name"]


def shares(cycles: list[Row]) -> list[tuple[object, object]]:
    return [
        (sorted(each["admitted"]), sorted((v["workload"], v["reason"]) for v in each["preempted"]))
        for each in cycles
    ]


def test_local_queues_that_used_less_go_first_as_upstream() -> None:
    for row in rows("afs-cycles"):
        want = row["expect"]["cycles"]
        answer = reprieve.admit(
            row["objects"], config=row["config"], now=row["now"], max_cycles=len(want)
        ).to_dict()
        got = shares(answer["cycles"][: len(want)])
        got += [([], [])] * (len(want) - len(got))
        assert got == shares(want), row["name"]
