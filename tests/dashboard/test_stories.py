"""Who made way for whom, and the life of one unit, out of the decisions that are kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.dashboard.departures import MOST_FLOWS, Departures
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.planner import WhatIf
from reprieve.dashboard.stories import story
from reprieve.kube import Client
from reprieve.objects.decode import decode
from reprieve.records import Decision, DecisionLog
from reprieve.server import EmbeddedServer, NodeTemplate
from tests import builders
from tests.builders import reserved, workload
from tests.dashboard.manifests import pod, pod_group, put

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


def gpu_pod(name: str, hours: float, gpus: int = 4, **more: Any) -> dict[str, Any]:
    """It runs since so many hours before START."""
    started = (START - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
    resources = {"requests": {"nvidia.com/gpu": str(gpus)}}
    document = pod(name, on="n", status={"phase": "Running", "startTime": started}, **more)
    document["spec"]["containers"][0]["resources"] = resources
    return document


def owned(document: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    document["metadata"]["ownerReferences"] = [{"kind": kind, "name": name, "uid": "u", "controller": True}]
    return document


def made_way(log: DecisionLog, inventory: Inventory | None = None) -> Departures:
    departures = Departures(inventory or Inventory())
    departures.read(log.find())
    return departures


def told(unit: str, log: DecisionLog, inventory: Inventory | None = None) -> list[dict[str, Any]]:
    shown = inventory or Inventory()
    items: list[dict[str, Any]] = story(unit, shown, log.find(), made_way(log, shown))["items"]
    return items


def test_a_gang_that_made_way_is_one_line():
    victims = [*gone("PodGroup/a/gang", "a/x", "a/y"), *gone("Pod/b/c", "b/c", broken=True)]
    [flow] = made_way(kept(("PodGroup/ml/train", "preempts", victims))).flows()["items"]
    assert flow["by"] == "PodGroup/ml/train"
    lines = [(each["name"], each["pods"], each["broken"]) for each in flow["victims"]]
    assert lines == [("PodGroup/a/gang", 2, 0), ("Pod/b/c", 1, 1)]


def test_pods_of_one_owner_are_one_line_with_what_they_lost():
    shown = Inventory()
    for i in range(3):
        put(shown, owned(gpu_pod(f"job-{i}", hours=2), "Job", "sweep"))
    put(shown, gpu_pod("rank-0", hours=1, group="gang"))
    shown.remove(decode(gpu_pod("job-0", hours=2)))  # gone before anybody looked
    victims = [
        gone(f"Pod/dev/{name}", f"dev/{name}")[0] for name in ("job-0", "job-1", "job-2", "rank-0", "q")
    ]
    departures = made_way(kept(("Pod/ml/big", "preempts", victims)), shown)
    [flow] = departures.flows()["items"]
    lines = {each["name"]: (each["pods"], each["gpuHours"], each["unknown"]) for each in flow["victims"]}
    assert lines == {
        "Job/dev/sweep": (3, 24.0, 0),
        "PodGroup/dev/gang": (1, 4.0, 0),
        "Pod/dev/q": (1, 0.0, 1),
    }
    assert departures.today(START) == {"preemptions": 1, "pods": 5, "gpuHours": 28.0, "unknown": 1}
    assert departures.today(START + timedelta(days=1))["preemptions"] == 0


def test_a_workload_that_lost_its_quota_lost_the_hours_since_it_was_admitted():
    shown = Inventory()
    running = reserved(workload("w", 1, namespace="b"), "queue")
    running["spec"]["podSets"][0] |= {"count": 2}
    container = running["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"nvidia.com/gpu": "8"}}
    since = (START - timedelta(minutes=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    running["status"]["conditions"].append(
        {"type": "Admitted", "status": "True", "lastTransitionTime": since}
    )
    put(shown, running)
    put(shown, workload("w", 1, namespace="b"))  # it waits again
    log = kept(("Workload/a/v", "preempts", [{"workload": "b/w", "reason": "to reclaim"}]))
    [line] = made_way(log, shown).flows()["items"][0]["victims"]
    assert (line["name"], line["pods"], line["gpuHours"]) == ("Workload/b/w", 2, 8.0)


def test_each_decision_is_counted_once():
    log = kept(("Pod/a/p", "preempts", gone("Pod/b/x", "b/x")))
    departures = made_way(log)
    departures.read(log.find())
    log.add(
        Decision(
            time=START,
            controller="scheduler",
            for_="Pod/a/p",
            outcome="preempts",
            victims=gone("Pod/b/y", "b/y"),
        )
    )
    departures.read(log.find())
    assert departures.today(START)["preemptions"] == 2


def test_decisions_for_the_same_unit_are_one_flow_and_waiting_is_none():
    log = kept(
        ("Pod/a/p", "preempts", gone("Pod/b/x", "b/x")),
        ("Pod/a/p", "waits", gone("Pod/b/x", "b/x")),
        ("Pod/a/p", "preempts", gone("Pod/b/y", "b/y")),
        ("Pod/a/q", "scheduled", []),
    )
    [flow] = made_way(log).flows()["items"]
    assert [each["name"] for each in flow["victims"]] == ["Pod/b/x", "Pod/b/y"]
    assert len(flow["ids"]) == 2


def test_workloads_that_lost_their_quota_are_units_too():
    log = kept(("Workload/a/w", "preempts", [{"workload": "b/v", "message": "to reclaim"}]))
    assert made_way(log).flows()["items"][0]["victims"][0]["name"] == "Workload/b/v"
    assert told("Workload/b/v", log)[0]["sentence"] == "to reclaim"


def test_what_is_left_out_is_counted():
    rows: list[Row] = [
        (f"Pod/a/p-{i}", "preempts", gone(f"Pod/b/{i}", f"b/{i}")) for i in range(MOST_FLOWS + 3)
    ]
    found = made_way(kept(*rows)).flows()
    assert (len(found["items"]), found["more"]) == (MOST_FLOWS, 3)


def test_the_life_of_a_unit_has_both_sides():
    log = kept(
        ("PodGroup/a/gang", "preempts", gone("Pod/z/z", "z/z")),
        ("PodGroup/ml/train", "preempts", gone("PodGroup/a/gang", "a/x", "a/y")),
        ("Pod/c/other", "scheduled", []),
    )
    went, came = told("PodGroup/a/gang", log)
    assert (went["role"], went["others"], went["pods"]) == ("made way", ["PodGroup/ml/train"], 2)
    assert went["sentence"] == "in the way of a/x"
    assert (came["role"], came["others"]) == ("decided", ["Pod/z/z"])


def test_an_evicted_gang_says_who_took_its_place_under_each_of_its_names():
    """It may be known as its group, as the job that made it, as a pod of it, or as its workload."""
    shown = Inventory()
    put(shown, pod_group("gang", 2))
    for i in range(2):
        put(shown, owned(pod(f"rank-{i}", on="n", group="gang"), "Job", "train"))
    held = workload("train-w", 1, namespace="dev")
    put(shown, owned(held, "Job", "train"))
    by_scheduler = kept(("Pod/ml/big", "preempts", gone("PodGroup/dev/gang", "dev/rank-0", "dev/rank-1")))
    by_quota = kept(("Workload/ml/big", "preempts", [{"workload": "dev/train-w", "reason": "to reclaim"}]))
    for name in ("PodGroup/dev/gang", "Pod/dev/rank-0", "Workload/dev/train-w", "Job/dev/train"):
        for log, taker in ((by_scheduler, "Pod/ml/big"), (by_quota, "Workload/ml/big")):
            went = [each for each in told(name, log, shown) if each["role"] == "made way"]
            assert [each["others"] for each in went] == [[taker]], name


def test_a_place_after_it_made_way_is_a_return_and_waiting_again_is_said_once():
    gang = "PodGroup/a/gang"
    log = kept(
        (gang, "scheduled", []),
        ("Pod/b/big", "preempts", gone(gang, "a/x")),
        (gang, "unschedulable", []),
        (gang, "unschedulable", []),
        (gang, "unschedulable", []),
        (gang, "scheduled", []),
    )
    back, waited, went, first = told(gang, log)
    assert back["back"]
    assert "back" not in first
    assert (went["role"], waited["times"]) == ("made way", 3)


def test_a_unit_tells_its_pods_its_queue_and_when_it_began():
    shown = Inventory()
    put(shown, pod_group("gang", 2, 100, metadata={"creationTimestamp": "2026-11-01T10:00:00Z"}))
    labels = {"example.com/team": "vision"}
    put(shown, gpu_pod("rank-0", hours=1, group="gang", labels=labels), pod("rank-1", group="gang"))
    put(shown, owned(workload("w", 1, queue="lq", namespace="dev"), "PodGroup", "gang"))
    put(shown, builders.local_queue("lq", "shared", namespace="dev"))
    log = kept()
    page = story("PodGroup/dev/gang", shown, log.find(), made_way(log, shown))
    assert (page["team"], page["gpus"], page["minCount"], page["priority"]) == ("vision", 4, 2, 100)
    assert page["counts"] == {"running": 1, "waiting": 1, "leaving": 0}
    assert page["queue"] == {"local": "dev/lq", "cluster": "shared", "workload": "Workload/dev/w"}
    assert [each["what"] for each in page["items"]] == ["1 of 2 pods run", "created"]
    assert [each["pod"] for each in page["pods"]] == ["dev/rank-0", "dev/rank-1"]


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
