"""Search, trends, and objects as they are written: what the page asks for beside its state."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from reprieve.dashboard import search as searching
from reprieve.dashboard.documents import Documents
from reprieve.dashboard.history import MOST_QUEUES, QueueTrends
from reprieve.dashboard.inventory import MOST_DEPARTED, Inventory
from reprieve.dashboard.search import search
from reprieve.kube import EVENTS, Client
from reprieve.objects import ReprieveError
from reprieve.objects.decode import decode
from reprieve.server import EmbeddedServer
from tests.builders import cluster_queue, owned_by
from tests.dashboard.manifests import node, pod, pod_group, put
from tests.effort import in_proportion

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)


async def found(text: str, shown: Inventory) -> list[str]:
    return [f"{item['kind']}/{item['name']}" for item in (await search(text, shown))["items"]]


def everything() -> Inventory:
    shown = Inventory()
    owner = {"ownerReferences": [owned_by("Job", "train-a")]}
    put(shown, node("train-node"), pod_group("train", 2), cluster_queue("training", 4))
    put(shown, pod("train", group="train"), pod("x", metadata=owner), pod("other"))
    return shown


def test_owners_of_very_many_kinds_cost_as_much_as_they_are():
    """A pod may name any kind as its owner: for each of them all owners were looked at, in one step."""

    def work(kinds: int):
        shown = Inventory()
        for number in range(kinds):
            owner = {"ownerReferences": [{**owned_by("Job", "x"), "kind": f"Kind{number}"}]}
            put(shown, pod(f"p{number}", metadata=owner))
        return lambda: asyncio.run(search("nowhere", shown))

    in_proportion(work, 30)


async def test_every_kind_is_found_the_name_itself_first():
    names = await found("train", everything())
    assert names[:2] == ["PodGroup/dev/train", "Pod/dev/train"]
    assert set(names[2:]) == {"Node/train-node", "ClusterQueue/training", "Job/dev/train-a"}


async def test_words_may_name_kind_and_namespace_in_any_order():
    assert await found("job train", everything()) == ["Job/dev/train-a"]
    assert await found("TRAIN podgroup/dev", everything()) == ["PodGroup/dev/train"]
    assert await found("nothing-like-it", everything()) == []


async def test_a_search_lets_others_take_their_turn(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(searching, "SLICE", 10)
    shown, turns = Inventory(), 0
    put(shown, *(pod(f"p-{i}") for i in range(200)))

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    result = await search("p-", shown)
    beside.cancel()
    assert result["total"] == 200
    assert turns >= 200 / searching.SLICE


def test_trends_are_columns_of_the_queues_that_there_are_and_bounded():
    trends = QueueTrends()
    line = {"nominal": 8, "used": 4}
    trends.sample(NOW, [{"name": "old", "pending": 1, "resources": [line]}])
    queues = [{"name": f"q-{i}", "pending": i, "resources": [line]} for i in range(MOST_QUEUES + 5)]
    trends.sample(NOW + timedelta(minutes=1), queues)
    told = trends.to_dict()
    assert len(told["time"]) == 2
    assert len(told["queues"]) == MOST_QUEUES
    assert told["queues"]["q-3"] == {"waiting": [None, 3], "used": [None, 0.5]}
    assert "old" not in told["queues"]


def test_of_what_went_only_the_last_are_remembered():
    shown = Inventory()
    for i in range(MOST_DEPARTED + 3):
        put(shown, pod(f"p-{i}", on="n"))
        shown.remove(decode(pod(f"p-{i}")))
    assert shown.departed.get("Pod/dev/p-2") is None
    assert shown.departed.get(f"Pod/dev/p-{MOST_DEPARTED + 2}") is not None


async def test_an_object_is_shown_as_it_is_written_but_not_what_its_variables_hold():
    document = pod("web", namespace="default", annotations={
        "kubectl.kubernetes.io/last-applied-configuration": '{"env": "hunter2"}', "note": "kept"
    })  # fmt: skip
    variables = [{"name": "PASSWORD", "value": "hunter2"}, {"name": "HOST", "value": "db"}]
    document["spec"]["containers"][0]["env"] = variables
    async with EmbeddedServer() as server, Client.from_kubeconfig(server.kubeconfig) as client:
        await server.api.create("pods", document, "default")
        regarding = {"apiVersion": "v1", "kind": "Pod", "name": "web", "namespace": "default"}
        event = {
            "metadata": {"name": "web.1", "namespace": "default"},
            "regarding": regarding,
            "eventTime": "2026-11-15T20:00:00.000000Z",
            "reportingController": "reprieve",
            "reportingInstance": "reprieve-0",
            "type": "Normal",
            "action": "Wait",
            "reason": "Waiting",
            "note": "no room",
        }
        await client.create(EVENTS, event)
        read = Documents(client)
        told = await read("Pod/default/web")
        missing = await read("Pod/default/ghost")
        unread = await read("RayJob/default/x")
        with pytest.raises(ReprieveError, match="is no name"):
            await read("Pod")
    assert "hunter2" not in told["yaml"]
    assert all(part in told["yaml"] for part in ("kind: Pod", "name: PASSWORD", "note: kept"))
    assert [(each["reason"], each["note"]) for each in told["events"]] == [("Waiting", "no room")]
    assert (missing["yaml"], unread["yaml"]) == ("", "")
