"""ReplicaSets and Deployments."""

from typing import Any

from tests.server.rig import Rig, condition, running

NODES = ("n=2:cpu=4",)


def deployment(replicas: int = 3, image: str = "one", **strategy: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "nodeName": "n-0",
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "c", "image": image}],
            },
        },
    }
    if strategy:
        spec["strategy"] = strategy
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": spec,
    }


def images(rig: Rig) -> list[str]:
    return sorted(
        p["spec"]["containers"][0]["image"] for p in rig.pods() if "deletionTimestamp" not in p["metadata"]
    )


async def test_a_deployment_runs_its_replicas_and_says_so() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment())
        status = rig.get("deployments.apps", "web")["status"]
        assert (status["replicas"], status["readyReplicas"], status["updatedReplicas"]) == (3, 3, 3)
        assert condition(rig.get("deployments.apps", "web"), "Available").startswith("True")


async def test_a_lost_pod_is_replaced() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment())
        name = rig.pods()[0]["metadata"]["name"]
        await rig.api.delete("pods", name, "default", grace=0)
        await rig.settle()
        assert len(rig.pods()) == 3


async def test_scaling_goes_up_and_down_to_zero() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment())
        for wanted in (5, 1, 0, 2):
            await rig.api.patch("deployments.apps", "web", {"spec": {"replicas": wanted}}, "default")
            await rig.advance(2)
            assert len(rig.pods()) == wanted


async def test_a_new_template_rolls_out_and_never_has_too_few_pods() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment(4))
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two"}]}}}}
        await rig.api.patch("deployments.apps", "web", patch, "default")
        for _ in range(10):
            await rig.advance(2)
            ready = [p for p in rig.pods() if condition(p, "Ready").startswith("True")]
            assert len(ready) >= 3
        assert images(rig) == ["two"] * 4
        assert condition(rig.get("deployments.apps", "web"), "Progressing") == "True/NewReplicaSetAvailable"


async def test_recreate_stops_the_old_pods_first() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment(2, type="Recreate"))
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two"}]}}}}
        await rig.api.patch("deployments.apps", "web", patch, "default")
        await rig.settle()
        for _ in range(5):
            assert len(set(images(rig))) <= 1, "never both versions"
            await rig.advance(2)
        assert images(rig) == ["two", "two"]


async def test_deleting_a_deployment_takes_everything_along() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment())
        await rig.api.delete("deployments.apps", "web", "default", propagation="Foreground")
        await rig.advance(3)
        assert rig.gone("deployments.apps", "web")
        assert rig.api.select("replicasets.apps") == []
        assert rig.pods() == []
