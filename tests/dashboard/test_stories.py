"""Who made way for whom, and the life of one unit, out of the decisions that are kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.dashboard.planner import WhatIf
from reprieve.dashboard.stories import MOST_FLOWS, flows, story
from reprieve.kube import Client
from reprieve.records import Decision, DecisionLog
from reprieve.server import EmbeddedServer, NodeTemplate

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
Row = tuple[str, str, list[dict[str, Any]]]


def kept(*rows: Row) -> DecisionLog:
    log = DecisionLog()
    for number, (unit, outcome, victims) in enumerate(rows):
        time = START + timedelta(minutes=number)
        log.add(Decision(time=time, controller="scheduler", for_=unit, outcome=outcome, victims=victims))
    return log


def gone(unit: str, *pods: str, broken: bool = False) -> list[dict[str, Any]]:
    return [
        {"pod": each, "unit": unit, "violatesBudget": broken, "reason": f"in the way of {each}"}
        for each in pods
    ]


def test_a_gang_that_made_way_is_one_line():
    victims = [*gone("PodGroup/a/gang", "a/x", "a/y"), *gone("Pod/b/c", "b/c", broken=True)]
    [flow] = flows(kept(("PodGroup/ml/train", "preempts", victims)).find())["items"]
    assert flow["by"] == "PodGroup/ml/train"
    assert flow["victims"] == [
        {"unit": "PodGroup/a/gang", "pods": 2, "broken": 0},
        {"unit": "Pod/b/c", "pods": 1, "broken": 1},
    ]


def test_decisions_for_the_same_unit_are_one_flow_and_waiting_is_none():
    log = kept(
        ("Pod/a/p", "preempts", gone("Pod/b/x", "b/x")),
        ("Pod/a/p", "waits", gone("Pod/b/x", "b/x")),
        ("Pod/a/p", "preempts", gone("Pod/b/y", "b/y")),
        ("Pod/a/q", "scheduled", []),
    )
    [flow] = flows(log.find())["items"]
    assert [each["unit"] for each in flow["victims"]] == ["Pod/b/x", "Pod/b/y"]
    assert len(flow["ids"]) == 2


def test_workloads_that_lost_their_quota_are_units_too():
    log = kept(("Workload/a/w", "preempts", [{"workload": "b/v", "message": "to reclaim"}]))
    assert flows(log.find())["items"][0]["victims"][0]["unit"] == "Workload/b/v"
    assert story("Workload/b/v", log.find())["items"][0]["sentence"] == "to reclaim"


def test_what_is_left_out_is_counted():
    rows: list[Row] = [
        (f"Pod/a/p-{i}", "preempts", gone(f"Pod/b/{i}", f"b/{i}")) for i in range(MOST_FLOWS + 3)
    ]
    found = flows(kept(*rows).find())
    assert (len(found["items"]), found["more"]) == (MOST_FLOWS, 3)


def test_the_life_of_a_unit_has_both_sides():
    log = kept(
        ("PodGroup/a/gang", "preempts", gone("Pod/z/z", "z/z")),
        ("PodGroup/ml/train", "preempts", gone("PodGroup/a/gang", "a/x", "a/y")),
        ("Pod/c/other", "scheduled", []),
    )
    went, came = story("PodGroup/a/gang", log.find())["items"]
    assert (went["role"], went["others"], went["pods"]) == ("made way", ["PodGroup/ml/train"], 2)
    assert went["sentence"] == "in the way of a/x"
    assert (came["role"], came["others"]) == ("decided", ["Pod/z/z"])


async def test_why_is_answered_from_the_cluster_and_its_decisions():
    big = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "big", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "64"}}}]},
    }
    async with EmbeddedServer() as server, Client.from_kubeconfig(server.kubeconfig) as client:
        for node in NodeTemplate.parse("n=1:cpu=4,memory=8Gi").nodes():
            await server.api.create("nodes", node)
        await server.api.create("pods", big, "default")
        answer = await WhatIf(client, seconds=250).explain("Pod/default/big", kept().find())
    assert (answer["kind"], answer["for"]) == ("Explanation", "Pod/default/big")
    assert answer["wouldHelp"]
