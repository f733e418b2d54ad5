"""NoExecute taints: who leaves the node, and when."""

from typing import Any

from tests.server.rig import Rig, condition, pod, running

NODES = ("n=2:cpu=4",)


def tolerating(name: str, seconds: int | None = None, **more: Any) -> dict[str, Any]:
    toleration: dict[str, Any] = {"key": "broken", "operator": "Exists", "effect": "NoExecute"}
    if seconds is not None:
        toleration["tolerationSeconds"] = seconds
    return pod(name, on="n-0", tolerations=[toleration], terminationGracePeriodSeconds=1, **more)


async def taint(rig: Rig, *keys: str, effect: str = "NoExecute") -> None:
    taints = [{"key": key, "effect": effect} for key in keys]
    await rig.api.patch("nodes", "n-0", {"spec": {"taints": taints or None}})
    await rig.settle()


def leaving(rig: Rig) -> set[str]:
    everybody = {"none", "short", "long", "forever", "elsewhere"}
    there = {p["metadata"]["name"] for p in rig.pods(lambda p: "deletionTimestamp" not in p["metadata"])}
    return everybody - there


async def start(rig: Rig) -> None:
    await rig.create(
        "pods",
        pod("none", on="n-0", terminationGracePeriodSeconds=1),
        tolerating("short", 20),
        tolerating("long", 60),
        tolerating("forever"),
        pod("elsewhere", on="n-1"),
    )


async def test_pods_leave_at_once_after_their_toleration_or_never() -> None:
    async with running(NODES) as rig:
        await start(rig)
        await taint(rig, "broken")
        assert leaving(rig) == {"none"}
        assert condition(rig.get("pods", "none"), "DisruptionTarget") == "True/DeletionByTaintManager"
        await rig.advance(21)
        assert leaving(rig) == {"none", "short"}
        await rig.advance(40)
        assert leaving(rig) == {"none", "short", "long"}
        await rig.advance(1000)
        assert leaving(rig) == {"none", "short", "long"}
        said = {e["message"] for e in rig.api.select("events")}
        assert "Marking for deletion Pod default/none" in said


async def test_a_taint_that_goes_in_time_takes_nobody_along() -> None:
    async with running(NODES) as rig:
        await start(rig)
        await rig.api.delete("pods", "none", "default")
        await taint(rig, "broken")
        await rig.advance(15)
        await taint(rig)
        await rig.advance(1000)
        assert leaving(rig) == {"none"}
        assert "Cancelling deletion of Pod default/short" in {e["message"] for e in rig.api.select("events")}


async def test_every_taint_must_be_tolerated() -> None:
    async with running(NODES) as rig:
        await start(rig)
        await taint(rig, "broken", "worse")
        assert leaving(rig) == {"none", "short", "long", "forever"}


async def test_other_effects_move_nobody() -> None:
    async with running(NODES) as rig:
        await start(rig)
        await taint(rig, "broken", effect="NoSchedule")
        await rig.advance(1000)
        assert leaving(rig) == set()


async def test_a_pod_that_comes_to_a_tainted_node_leaves_it_again() -> None:
    async with running(NODES) as rig:
        await taint(rig, "broken")
        await rig.create("pods", pod("late", on="n-0", terminationGracePeriodSeconds=1))
        await rig.advance(2)
        assert rig.gone("pods", "late")


async def test_new_pods_tolerate_a_lost_node_for_five_minutes() -> None:
    async with running(NODES) as rig:
        await rig.create("pods", pod("a"))
        found = {t["key"]: t["tolerationSeconds"] for t in rig.get("pods", "a")["spec"]["tolerations"]}
        assert found == {"node.kubernetes.io/not-ready": 300, "node.kubernetes.io/unreachable": 300}
