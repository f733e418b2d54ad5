"""Trees of groups in the live scheduler: bound together, preempting together, waiting for all of the tree."""

from functools import partial
from typing import Any

from tests import builders
from tests.builders import Document, below, node
from tests.scheduler.world import World, pod, pod_group

composite = partial(builders.composite, namespace="ns")


def leaf(name: str, size: int, priority: int = 50, cpu: int = 1, **more: Any) -> list[Document]:
    pods = [pod(f"{name}-{number}", cpu, priority, group=name) for number in range(size)]
    return [pod_group(name, size, priority, **below("tree"), **more), *pods]


def test_a_tree_is_bound_as_a_whole_in_one_decision() -> None:
    world = World(node("n1", 4), composite("tree", 2, 50), *leaf("a", 2), *leaf("b", 2))
    cycles = world.run()
    assert world.running() == ["a-0", "a-1", "b-0", "b-1"]
    assert [cycle.outcome for cycle in cycles] == ["scheduled"]
    for name in ("a", "b"):
        assert world.condition("PodGroup", name, "PodGroupInitiallyScheduled")["status"] == "True"


def test_nothing_is_bound_before_the_tree_is_complete() -> None:
    world = World(node("n1", 4), *leaf("a", 2), *leaf("b", 2))
    world.run()
    assert world.running() == []
    world.add(composite("tree", 2, 50))
    world.run()
    assert world.running() == ["a-0", "a-1", "b-0", "b-1"]


def test_a_tree_below_its_quorum_waits_for_the_pods_of_other_groups() -> None:
    world = World(node("n1", 4), composite("tree", 2, 50), *leaf("a", 2))
    world.run()
    assert world.running() == []
    world.add(*leaf("b", 2))
    world.run()
    assert world.running() == ["a-0", "a-1", "b-0", "b-1"]


def test_a_tree_that_does_not_fit_whole_takes_nothing() -> None:
    world = World(node("n1", 3), composite("tree", 2, 50), *leaf("a", 2), *leaf("b", 2))
    world.run()
    assert world.running() == []
    assert "minCount" in world.condition("Pod", "a-0", "PodScheduled")["message"]


def test_victims_are_evicted_once_for_the_whole_tree() -> None:
    old = [pod(f"old-{number}", 2, 1, on="n1") for number in range(2)]
    world = World(node("n1", 4), *old, composite("tree", 2, 50), *leaf("a", 2), *leaf("b", 2), graceful=True)
    world.run()
    assert sorted(world.evictions) == ["old-0", "old-1"]
    assert world.running() == ["old-0", "old-1"]
    for name in ("old-0", "old-1"):
        world.end(name)
    world.run()
    assert sorted(world.evictions) == ["old-0", "old-1"]
    assert world.running() == ["a-0", "a-1", "b-0", "b-1"]


def test_a_tree_in_mode_all_goes_whole() -> None:
    victims = [
        composite("tree", 1, 1, mode="all"),
        pod_group("a", 1, 1, **below("tree")),
        pod_group("b", 1, 1, **below("tree")),
        pod("a-0", 2, 1, group="a", on="n1"),
        pod("b-0", 2, 1, group="b", on="n2"),
    ]
    world = World(node("n1", 2), node("n2", 2), *victims, pod("high", 2, 100))
    world.run()
    assert sorted(world.evictions) == ["a-0", "b-0"]
    assert world.running() == ["high"]


def test_with_the_gate_off_groups_are_scheduled_on_their_own() -> None:
    off = {"featureGates": {"CompositePodGroup": False}}
    world = World(node("n1", 4), *leaf("a", 2), config=off)
    world.run()
    assert world.running() == ["a-0", "a-1"]
