"""Trees of groups in the live scheduler: bound together, preempting together, waiting for all of the tree."""

from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import Duration
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Action, Bind, BindGang, Preempt, Release
from tests import builders
from tests.builders import Document, below, node
from tests.scale import examples
from tests.scheduler.world import World, pod, pod_group

composite = partial(builders.composite, namespace="ns")


def leaf(
    name: str, size: int, priority: int = 50, cpu: int = 1, owner: str = "", **more: Any
) -> list[Document]:
    pods = [pod(f"{name}-{number}", cpu, priority, group=name, owner=owner) for number in range(size)]
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


def half_bound(*more: Document, owner: str = "j", config: Document | None = None) -> World:
    """Group `a` is bound, `b` is not: the scheduler crashed in between. Another pod has taken its node."""
    world = World(
        node("n1", 2),
        node("n2", 2),
        pod("other", 2, 100, on="n2"),
        composite("tree", 2, 50),
        *(pod_group(name, 1, 50, **below("tree")) for name in ("a", "b")),
        pod("a-0", 2, 50, group="a", on="n1", owner=owner),
        pod("b-0", 2, 50, group="b", owner=owner),
        *more,
        graceful=True,
        config=config,
    )
    world.perform(world.core.recover(world.now))
    return world


def test_a_tree_that_a_crash_left_half_bound_is_completed_when_there_is_a_place() -> None:
    world = half_bound()
    world.run()
    told = world.condition("PodGroup", "b", "reprieve.dev/Incomplete")
    assert told["status"] == "True"
    assert told["message"].startswith(sentences.bound_pods_are_released(1, 2, Duration(300)))
    world.add(node("n3", 2))
    world.wait(30)
    assert world.where("b-0") == ["n3"]
    assert world.evictions == []
    assert world.condition("PodGroup", "b", "reprieve.dev/Incomplete")["status"] == "False"


def test_a_tree_that_cannot_be_completed_gives_back_what_it_holds() -> None:
    world = half_bound()
    world.run()
    world.wait(200)
    assert world.evictions == []
    world.wait(200)
    assert world.evictions == ["a-0"]


def test_a_half_tree_whose_pods_nobody_makes_again_stays_and_says_so() -> None:
    world = half_bound(owner="")
    world.wait(1000)
    assert world.evictions == []
    told = world.condition("PodGroup", "b", "reprieve.dev/Incomplete")["message"]
    assert told.startswith(sentences.bound_pods_stay(1, 2, ["ns/a-0"]))


def test_a_tree_that_was_whole_and_lost_a_group_keeps_the_others() -> None:
    leaves = [*leaf("a", 1), *leaf("b", 1)]
    world = World(node("n1", 1), node("n2", 1), composite("tree", 2, 50), *leaves, graceful=True)
    world.run()
    assert world.running() == ["a-0", "b-0"]
    [lost] = world.where("b-0")
    world.remove("Pod", "b-0")
    world.remove("Node", lost)
    world.add(pod("b-1", 1, 50, group="b", owner="j"))
    world.wait(1000)
    assert world.evictions == []
    assert world.running() == ["a-0"]


def held_of(world: World, name: str) -> list[str]:
    return [pod for pod in world.running() if pod.startswith(f"{name}-")]


@given(st.data())
@examples(40)
def test_killed_at_any_point_no_half_tree_stays(data: st.DataObject) -> None:
    """Some of the calls of a decision come true, then another scheduler starts, perhaps more than once."""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=3), label="pods of the groups")
    minimum = data.draw(st.integers(1, len(sizes)), label="minGroupCount")
    nodes = data.draw(st.integers(1, sum(sizes)), label="nodes")
    crowd = data.draw(st.integers(0, nodes), label="nodes with a less important pod")
    names = [f"g{index}" for index in range(len(sizes))]
    groups = [each for name, size in zip(names, sizes, strict=True) for each in leaf(name, size, owner="j")]
    world = World(
        *(node(f"n{index}", 1) for index in range(nodes)),
        *(pod(f"low-{index}", 1, 1, on=f"n{index}", owner="x") for index in range(crowd)),
        composite("tree", minimum, 50),
        *groups,
    )
    for _ in range(data.draw(st.integers(1, 2), label="crashes")):
        left = data.draw(st.integers(0, 8), label="calls that come true")

        def hold(action: Action) -> bool:
            nonlocal left
            left -= isinstance(action, Bind | BindGang | Preempt | Release)
            return left < 0

        world.hold = hold
        world.run()
        world = world.restart()
        taken = {each.get("spec", {}).get("nodeName") for each in world.documents.values()}
        free = sorted(name for kind, name in world.documents if kind == "Node" and name not in taken)
        lost = data.draw(st.booleans(), label="a free node is lost")
        if free and lost:
            world.remove("Node", free[0])
        if data.draw(st.booleans(), label="somebody takes what is free"):
            world.add(pod(f"boss-{world.now}", 1, 100, owner="y", preemptionPolicy="Never"))
    for _ in range(4):
        world.wait(1000)
    whole = [name for name, size in zip(names, sizes, strict=True) if len(held_of(world, name)) >= size]
    part = [name for name in names if held_of(world, name)]
    assert part == whole, "a group is bound whole or not at all"
    assert not part or len(whole) >= minimum, "so is the tree"


def test_with_the_gate_off_groups_are_scheduled_on_their_own() -> None:
    off = {"featureGates": {"CompositePodGroup": False}}
    world = World(node("n1", 4), *leaf("a", 2), config=off)
    world.run()
    assert world.running() == ["a-0", "a-1"]
