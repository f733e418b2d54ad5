"""Decisions of the real kube-scheduler about devices: every recorded case gets the recorded answer."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reprieve.config import Configuration
from reprieve.objects import Reference, nano
from reprieve.placement import PodFilters, place
from reprieve.preemption import decide
from reprieve.whatif.pods import load

CORPUS = Path(__file__).parent.parent / "corpus" / "devices"
Row = dict[str, Any]


def rows(family: str) -> Iterator[Row]:
    with gzip.open(CORPUS / f"{family}.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            if "quirk-claim-named-twice" not in row["tags"]:
                yield row


def configuration(row: Row) -> Configuration:
    upstream = row["config"].get("featureGates", {})
    on = upstream.get("GenericWorkload", False)
    gates = dict.fromkeys(("GenericWorkload", "GangScheduling", "WorkloadAwarePreemption"), on)
    gates |= dict.fromkeys(("PodGroupPreemptionPolicy", "TopologyAwareWorkloadScheduling"), False)
    gates["DRAWorkloadResourceClaims"] = upstream.get("DRAWorkloadResourceClaims", False)
    return Configuration.load({"preemption": {"algorithm": "kubernetes"}, "featureGates": gates})


def comparable(answer: Row, group: bool) -> Row:
    places = answer.get("placements") or ({"": answer["node"]} if answer.get("node") else {})
    refused, scheduled = answer["outcome"] == "unschedulable", answer["outcome"] == "scheduled"
    return {
        "outcome": answer["outcome"],
        "victims": sorted(answer.get("victims", [])),
        "places": None if refused else {k if group else "": node for k, node in places.items() if node},
        "devices": {key: each for key, each in answer.get("devices", {}).items() if each}
        if scheduled
        else {},
    }


def differs(row: Row) -> bool:
    plan = decide(load(row["objects"]), Reference.parse(row["submit"]), configuration(row), 0)
    answer = plan.to_dict()
    answer["victims"] = [victim["pod"] for victim in answer["victims"]]
    group = row["submit"].startswith("PodGroup/")
    return comparable(answer, group) != comparable(row["expect"], group)


@pytest.mark.parametrize("family", ["dra-tables", "dra-pods", "dra-gangs"])
def test_recorded_allocations_are_repeated_device_by_device(family: str) -> None:
    assert [row["name"] for row in rows(family) if differs(row)] == []


def test_the_message_of_a_refused_pod_is_kube_schedulers() -> None:
    wrong = []
    for row in rows("dra-tables"):
        wanted = row["expect"].get("message", "")
        if row["expect"]["outcome"] != "unschedulable" or not wanted or "deallocation of" in wanted:
            continue
        plan = decide(load(row["objects"]), Reference.parse(row["submit"]), configuration(row), 0)
        if plan.message != wanted:
            wrong.append((row["name"], plan.message, wanted))
    assert wrong == []


def written(allocation: Any) -> Any:
    """An allocation as it is compared: quantities by value."""
    document = msgspec.json.decode(msgspec.json.encode(allocation))
    for result in document.get("devices", {}).get("results", ()):
        if "shareID" in result:
            result["shareID"] = "any"
        if "consumedCapacity" in result:
            result["consumedCapacity"] = {k: nano(v) for k, v in result["consumedCapacity"].items()}
    return document


WHOLE_UNITS = "share/fractional-step"
"""Recorded with the gate DRAFractionalCapacityRange off: 1100m was rounded to 2, not to 1250m."""


def test_the_whole_allocation_is_what_kube_scheduler_writes() -> None:
    wrong = []
    for row in rows("dra-tables"):
        if row["name"] == WHOLE_UNITS:
            continue
        wanted = row["expect"].get("allocations") or {}
        if row["expect"]["outcome"] != "scheduled" or not wanted:
            continue
        cluster = load(row["objects"])
        filters = PodFilters(cluster, cluster.pods.row_of[Reference.parse(row["submit"]).key])
        slot = place(filters)
        assert slot is not None
        assert filters.devices is not None
        ours = {key: written(each) for key, each in filters.devices.allocations(slot).items()}
        if ours != {key: written(each) for key, each in wanted.items()}:
            wrong.append((row["name"], ours, wanted))
    assert wrong == []
