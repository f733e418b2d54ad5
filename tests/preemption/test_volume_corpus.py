"""Decisions of the real kube-scheduler about pods with volumes, and what the other algorithms do better."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.preemption.test_corpus import CORPUS, Row, decided, rows
from tests.scale import scaled

VOLUMES: Path = CORPUS.parent / "volumes"
FAMILIES = ("volume-tables", "volume-pods", "volume-gangs")


def cases() -> Iterator[Row]:
    for family in FAMILIES:
        yield from rows(family, VOLUMES)


def comparable(answer: Row, group: bool) -> Row:
    outcome = "unschedulable" if answer["outcome"] == "error" else answer["outcome"]
    places = answer.get("placements") or ({"": answer["node"]} if answer.get("node") else {})
    done = outcome == "scheduled"
    return {
        "outcome": outcome,
        "victims": sorted(answer.get("victims", [])),
        "violations": answer.get("pdbViolations", 0),
        "groups": answer.get("podGroupDisruptions", 0) if group else 0,
        "places": None
        if outcome == "unschedulable"
        else {key if group else "": node for key, node in places.items() if node},
        "volumes": recorded_uses(answer) if done else {},
    }


def recorded_uses(answer: Row) -> dict[str, Any]:
    if "volumes" in answer:
        return dict(answer["volumes"])
    where = answer.get("selectedNode") or {}
    return {
        claim: {"volume": volume} if volume else {"provision": where[claim]}
        for claim, volume in (answer.get("bindings") or {}).items()
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_every_recorded_decision_about_volumes_is_repeated(family: str) -> None:
    wrong = []
    for row in rows(family, VOLUMES):
        group = row["submit"].startswith("PodGroup/")
        allowed = [row["expect"], *(() if row.get("stable", True) else row.get("anyOf", ()))]
        got = comparable(decided(row), group)
        if got not in [comparable(each, group) for each in allowed]:
            wrong.append((row["name"], got, allowed[0]))
    assert not wrong, wrong[:3]


def test_what_kube_scheduler_refuses_because_it_never_looks_back_is_placed() -> None:
    """`kep-5710` and `minimal-cost` arrange volumes anew; whatever kube-scheduler places they place, too."""
    better = []
    for row in cases():
        refused = row["expect"]["outcome"] == "unschedulable" and "hit-bind" in row["tags"]
        if refused and decided(row, "kep-5710")["outcome"] == "scheduled":
            better.append(row["name"])
    assert "static/greedy-does-not-backtrack" in better


@pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost"])
def test_nobody_is_evicted_in_vain(algorithm: str) -> None:
    """Once the victims are gone the preemptor fits, volumes and all: nothing was evicted for affinity of
    volumes, zones, capacity or claims that are missing. (kube-scheduler itself evicts in vain: `quirk-`.)
    """
    for row in sampled(cases()):
        answer = decided(row, algorithm)
        if answer["outcome"] != "preempts":
            continue
        after = decided({**row, "objects": once_gone(row["objects"], answer)}, algorithm)
        assert after["outcome"] == "scheduled", (row["name"], answer["victims"], after["message"])


def once_gone(objects: list[Row], answer: Row) -> list[Row]:
    """The objects without the victims, and with the nominations of the plan."""
    left = []
    for each in objects:
        key = f"{each['metadata'].get('namespace', 'default')}/{each['metadata']['name']}"
        if each["kind"] != "Pod" or key not in answer["victims"]:
            node = answer["placements"].get(key) if each["kind"] == "Pod" else None
            left.append({**each, "status": {"nominatedNodeName": node}} if node else each)
    return left


def sampled(found: Iterator[Row]) -> list[Row]:
    rows_ = list(found)
    return rows_[:: max(1, len(rows_) // scaled(150))]
