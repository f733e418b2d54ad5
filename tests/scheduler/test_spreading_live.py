"""Default spreading live: the scheduler follows Services and controllers, of which only selectors matter."""

from collections import Counter
from typing import Any

from reprieve.kube import OWNER_KINDS, SELECTING_KINDS
from tests.builders import Document, document, node
from tests.scheduler.live import Live, cluster, scheduling
from tests.scheduler.world import World, pod

DEPLOYMENTS = next(each for each in OWNER_KINDS if each.kind == "Deployment")
REPLICA_SETS = next(each for each in SELECTING_KINDS if each.kind == "ReplicaSet")
SERVICE = document("Service", "web", "ns", spec={"selector": {"app": "web"}})


def by_node(live: Live, app: str) -> dict[str, int]:
    pods = (each for each in live.pods if each["metadata"].get("labels", {}).get("app") == app)
    return dict(Counter(each["spec"]["nodeName"] for each in pods if each["spec"].get("nodeName")))


def deployment(app: str, replicas: int) -> Document:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "10m"}}}]
    return {
        "metadata": {"name": app, "namespace": "ns"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": {
                "metadata": {"labels": {"app": app}},
                "spec": {"schedulerName": "reprieve", "containers": containers},
            },
        },
    }


async def test_replicas_of_a_deployment_go_to_different_nodes() -> None:
    async with cluster(3) as live, scheduling(live):
        await live.create(DEPLOYMENTS, deployment("web", 6))
        await live.until(lambda: sum(by_node(live, "web").values()) == 6)
        assert by_node(live, "web") == {"n000": 2, "n001": 2, "n002": 2}


async def test_what_is_followed_is_kept_as_identity_and_selector() -> None:
    async with cluster(1) as live, scheduling(live) as scheduler:
        await live.create(DEPLOYMENTS, deployment("web", 1))
        await live.until(lambda: by_node(live, "web") == {"n000": 1})
        [view] = scheduler.informer(REPLICA_SETS)
        assert view.spec.selector.match_labels["app"] == "web"
        assert not view.metadata.labels
        assert not view.metadata.annotations


def placed(world: World, *names: str) -> dict[str, Any]:
    world.add(*(pod(name, "10m", labels={"app": "web"}) for name in names))
    world.run()
    return {name: world.documents["Pod", name]["spec"]["nodeName"] for name in names}


def test_pods_of_a_service_are_spread_as_long_as_it_is_there() -> None:
    world = World(node("a", 400, memory="9Ti"), node("b", 400, memory="9Ti"), SERVICE)
    assert len(set(placed(world, "p0", "p1").values())) == 2
    world.remove("Service", "web")
    assert len(set(placed(world, "p2", "p3", "p4").values())) == 1


def test_a_service_wakes_nobody() -> None:
    world = World(node("a", cpu=1), pod("huge", 2))
    world.run()
    before = world.core.memory.epoch
    world.add(SERVICE)
    assert world.core.memory.epoch == before
    assert world.run() == []
