"""A scheduler that is restarted with a gate off, and on again, over the same objects."""

from tests.builders import node
from tests.scheduler.world import World, pod, pod_group

OFF = {"featureGates": {"WorkloadAwarePreemption": False}}


def cluster() -> list[dict[str, object]]:
    whole = pod_group("whole", 1, 1, mode="all")
    running = [pod(f"old-{i}", 1, 1, on=f"n{i}", group="whole") for i in range(3)]
    return [*(node(f"n{i}", 1) for i in range(3)), whole, *running, pod_group("g", 2, 9), *gang()]


def gang() -> list[dict[str, object]]:
    return [pod(f"new-{i}", 1, 9, group="g") for i in range(2)]


def test_a_group_in_mode_all_goes_whole_then_one_by_one_then_whole_again() -> None:
    for config, evicted in ((None, 3), (OFF, 2), (None, 3)):
        world = World(*cluster(), config=config)
        world.run()
        assert len(world.evictions) == evicted
        assert [name for name in world.running() if name.startswith("new")] == ["new-0", "new-1"]


def test_a_preemption_that_began_with_the_gate_on_ends_with_it_off() -> None:
    world = World(*cluster(), graceful=True)
    world.run()
    assert len(world.evictions) == 3
    after = world.restart(config=OFF)
    after.run()
    after.end()
    after.run()
    assert [name for name in after.running() if name.startswith("new")] == ["new-0", "new-1"]
    assert after.evictions == [], "nobody else makes way"
