"""The group's priority counts for its pods, and a difference is told at once and blocks nobody."""

import pytest

from reprieve.scheduler import sentences
from reprieve.scheduler.actions import SetGroupCondition
from tests.builders import node
from tests.scheduler.world import World, pod, pod_group

TYPE = "PodsNotMatchingPriority"
OURS = pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost"])


def config(algorithm: str) -> dict[str, object]:
    return {"preemption": {"algorithm": algorithm}}


@OURS
def test_a_gang_with_the_priority_on_the_group_alone_is_placed(algorithm: str) -> None:
    gang = [pod_group("g", 2, 50), pod("a", group="g"), pod("b", group="g")]
    world = World(node("n1", 2), *gang, config=config(algorithm))
    world.run()
    assert world.running() == ["a", "b"]
    condition = world.condition("PodGroup", "g", "PodsNotMatchingPriority")
    assert condition["status"] == "True"
    assert condition["message"] == sentences.group_mismatch("", [], 50, ["ns/a", "ns/b"], ruled=True)


@OURS
def test_it_preempts_with_the_groups_priority(algorithm: str) -> None:
    gang = [pod_group("g", 2, 50), pod("a", group="g"), pod("b", group="g")]
    world = World(node("n1", 2), pod("old", 2, 20, on="n1"), *gang, config=config(algorithm))
    world.run()
    assert world.evictions == ["old"]
    assert world.running() == ["a", "b"]


def test_kube_scheduler_refuses_it() -> None:
    gang = [pod_group("g", 2, 50), pod("a", group="g"), pod("b", group="g")]
    world = World(node("n1", 2), *gang, config=config("kubernetes"))
    [cycle] = world.run()
    assert cycle.outcome == "error"
    assert world.condition("PodGroup", "g", "PodsNotMatchingPriority")["status"] == "True"
    world.change("PodGroup", "g", spec={"priority": 0})
    world.wait(30)
    assert world.running() == ["a", "b"]
    assert world.condition("PodGroup", "g", "PodsNotMatchingPriority")["status"] == "False"


@pytest.mark.parametrize("algorithm", ["kep-5710", "kubernetes"])
def test_a_running_group_is_told_as_soon_as_a_pod_differs_and_when_none_does_any_more(algorithm: str) -> None:
    members = [pod_group("g", 1, 5), pod("a", 1, 5, group="g", on="n1")]
    world = World(node("n1", 2), *members, config=config(algorithm))
    world.add(pod("odd", 1, 9, group="g", on="n1"))
    world.perform(world.core.report(world.now))
    said = sentences.group_mismatch("", [], 5, ["ns/odd"], ruled=algorithm != "kubernetes")
    assert world.condition("PodGroup", "g", "PodsNotMatchingPriority")["message"] == said
    world.remove("Pod", "odd")
    world.perform(world.core.report(world.now))
    assert world.condition("PodGroup", "g", "PodsNotMatchingPriority")["status"] == "False"


def test_a_cycle_tells_about_its_group_once() -> None:
    gang = [pod_group("g", 2, 50), pod("a", group="g"), pod("b", group="g")]
    world = World(node("n1", 1), *gang)
    told = [
        [each.status for each in cycle.actions if isinstance(each, SetGroupCondition) and each.type == TYPE]
        for seconds in (0, 400)
        for cycle in world.wait(seconds)
    ]
    assert told == [["True"], []]
