"""Who made way for whom, and the life of one unit, out of the decisions that are kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reprieve.dashboard.departures import MOST_FLOWS, Departures
from reprieve.dashboard.documents import Documents
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.planner import WhatIf
from reprieve.dashboard.questions import cluster_with_owners
from reprieve.dashboard.stories import story
from reprieve.kube import ApiError, Client, Resource
from reprieve.objects import NodeTemplate
from reprieve.objects.decode import decode
from reprieve.records import Decision, DecisionLog
from reprieve.server import EmbeddedServer
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
    departures = made_way(log, shown)
    [line] = departures.flows()["items"][0]["victims"]
    assert (line["name"], line["pods"], line["gpuHours"]) == ("Workload/b/w", 2, 8.0)
    assert (departures.pods, list(departures.went())) == (2, [(START, 2)])  # pods, for the chart too


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


def test_the_reason_of_a_quota_preemption_is_said_in_words():
    victim = {"workload": "dev/night", "reason": "InCohortReclamation"}
    [flow] = made_way(kept(("Workload/dev/day", "preempts", [victim]))).flows()["items"]
    assert flow["victims"][0]["reason"] == "reclamation within the cohort"


def test_a_life_begins_before_the_decision_of_the_same_second_and_runs_after_it():
    """Objects know whole seconds, decisions parts of one."""
    shown, log = Inventory(), DecisionLog()
    born = {"creationTimestamp": "2026-11-01T12:00:00Z"}
    put(shown, pod_group("gang", 1, metadata=born))
    started = {"phase": "Running", "startTime": "2026-11-01T12:00:05Z"}
    put(shown, pod("rank-0", on="n", group="gang", metadata=born, status=started))
    for seconds, outcome in ((0.4, "unschedulable"), (5.6, "scheduled")):
        time = START + timedelta(seconds=seconds)
        log.add(Decision(time=time, controller="scheduler", for_="PodGroup/dev/gang", outcome=outcome))
    outcomes = [each["outcome"] for each in told("PodGroup/dev/gang", log, shown)]
    assert outcomes == ["runs", "scheduled", "unschedulable", "created"]


def test_a_node_and_a_queue_are_known_and_only_a_node_has_pods():
    shown = Inventory()
    put(shown, builders.node("n"), builders.local_queue("jobs", "team", namespace="dev"))
    put(shown, *(pod(f"p-{i}", on="n") for i in (10, 2)), pod("soon", status={"nominatedNodeName": "n"}))
    node = story("Node/n", shown, [], Departures(shown))
    assert (node["known"], node["items"], node["kin"]) == (True, [], [])
    assert [each["pod"] for each in node["pods"]] == ["dev/p-2", "dev/p-10", "dev/soon"]
    queue = story("LocalQueue/dev/jobs", shown, [], Departures(shown))
    assert (queue["known"], queue["pods"]) == (True, [])
    assert not story("Node/other", shown, [], Departures(shown))["known"]


def test_a_queue_lists_who_waits_in_it_and_who_holds_its_quota_and_belongs_to_nobody():
    shown = Inventory()
    put(shown, builders.local_queue("jobs", "shared", namespace="dev"))
    put(shown, builders.cluster_queue("shared"))
    put(shown, reserved(workload("holds", 1, queue="jobs", namespace="dev"), "shared"))
    put(shown, workload("waits", 1, queue="jobs", namespace="dev", priority=5))
    put(shown, workload("elsewhere", 1, queue="others", namespace="dev"))
    for name in ("ClusterQueue/shared", "LocalQueue/dev/jobs"):
        queue = story(name, shown, [], Departures(shown))
        listed = [(each["workload"], each["holds"], each["priority"]) for each in queue["workloads"]]
        assert listed == [("dev/waits", False, 5), ("dev/holds", True, 0)], name
        assert (queue["place"], queue["team"], queue["priority"]) == (True, "", None)


def test_a_waiting_pod_is_nominated_only_if_a_node_is_set_aside_for_it():
    shown = Inventory()
    put(shown, pod_group("gang", 2), pod("rank-0", group="gang"))
    put(shown, pod("rank-1", group="gang", status={"nominatedNodeName": "n"}))
    pods = story("PodGroup/dev/gang", shown, [], Departures(shown))["pods"]
    assert [(each["pod"], each["nominated"]) for each in pods] == [
        ("dev/rank-0", False),
        ("dev/rank-1", True),
    ]


def test_a_job_of_which_only_some_pods_went_runs_on():
    shown = Inventory()
    put(shown, *(owned(gpu_pod(f"p-{i}", hours=1), "Job", "sweep") for i in range(3)))
    log = kept(("PodGroup/ml/train", "preempts", gone("Pod/dev/p-2", "dev/p-2")))
    departures = made_way(log, shown)
    shown.remove(decode(pod("p-2")))
    [went] = [
        each
        for each in story("Job/dev/sweep", shown, log.find(), departures)["items"]
        if each["role"] == "made way"
    ]
    assert went["stays"]
    for i in range(2):
        shown.remove(decode(pod(f"p-{i}")))
    items = story("Job/dev/sweep", shown, log.find(), departures)["items"]
    assert [each["stays"] for each in items if each["role"] == "made way"] == [False]


def test_quota_is_got_once_and_what_follows_it_comes_after_it():
    """A decision and the condition that says the same are one moment; in one second, the order is kept."""
    shown = Inventory()
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-11-01T12:00:00Z", "reason": "R"}
        for kind in ("Admitted", "QuotaReserved")
    ]
    held = workload("w", 1, namespace="dev", status={"conditions": conditions})
    put(shown, held)
    assert [each["outcome"] for each in told("Workload/dev/w", kept(), shown)] == [
        "admitted",
        "quotareserved",
    ]
    log = kept(("Workload/dev/w", "scheduled", []))
    assert [each["outcome"] for each in told("Workload/dev/w", log, shown)] == ["admitted", "scheduled"]


def test_seconds_of_a_gpu_are_not_nothing():
    shown = Inventory()
    put(shown, gpu_pod("brief", hours=4 / 3600, gpus=1))
    departures = made_way(kept(("Pod/ml/big", "preempts", gone("Pod/dev/brief", "dev/brief"))), shown)
    assert 0 < departures.today(START)["gpuHours"] < 0.01


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


async def test_why_of_a_job_is_answered_from_the_job_itself(monkeypatch: pytest.MonkeyPatch):
    """It was told to be gone while its pods ran, for only pods and groups were read."""
    job = builders.job("sweep", count=3)
    async with EmbeddedServer() as server, Client.from_kubeconfig(server.kubeconfig) as client:
        await server.api.create("jobs.batch", job, "default")
        ask = WhatIf(client, seconds=250)
        answer = await ask.explain("Job/default/sweep", kept().find())
        assert answer["state"] != "gone"
        assert "sweep" in (await Documents(client)("Job/default/sweep"))["yaml"]
        everything = client.dump_all

        async def dump_all(resources: list[Resource]) -> list[bytes]:
            if [each.plural for each in resources] == ["jobs"]:
                raise ApiError(403, "Forbidden", "no rights")
            return await everything(resources)

        monkeypatch.setattr(client, "dump_all", dump_all)
        notes: list[str] = []
        await cluster_with_owners(client, "Job/default/sweep", notes)
        hidden = await ask.explain("Job/default/sweep", kept().find())
    assert notes == ["jobs: the page may not list them"]
    assert (hidden["state"], hidden["notShown"]) == ("unknown", notes)
    assert hidden["sentence"] == "Job/default/sweep cannot be explained: the page may not read it."
