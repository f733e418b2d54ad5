"""Units of one priority that wait for their victims: whatever ends first, nobody takes another's place."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from reprieve.scheduler.actions import Bind, BindGang, Preempt
from tests.builders import node
from tests.scale import examples
from tests.scheduler.world import World, pod, pod_group
from tests.strategies.choices import Choices


def preempting(world: World) -> Counter[str]:
    return Counter(str(cycle.unit) for cycle in world.cycles if cycle.outcome == "preempts")


def leaving(world: World) -> list[str]:
    return [
        name
        for (kind, name), document in world.documents.items()
        if kind == "Pod" and document["metadata"].get("deletionTimestamp")
    ]


def test_a_gang_does_not_take_what_is_set_aside_for_an_equal_on_a_node_that_they_share():
    """On n1 one place is the gang's and two are kept for a pod that can go nowhere else. The gang's place and
    one of the others come free before the gang's second place, on n2, does."""
    lows = [pod(f"low-{on}-{i}", 1, 10, on=on) for on in ("n1", "n2") for i in range(5)]
    world = World(node("n1", 5, labels={"zone": "here"}), node("n2", 5), *lows, graceful=True)
    world.add(pod_group("g", 2, 100), pod("g-1", 1, 100, group="g"), pod("g-2", 1, 100, group="g"))
    world.run()
    assert sorted(world.nominated("g-1", "g-2")) == ["n1", "n2"]
    world.add(pod("local", 2, 100, nodeSelector={"zone": "here"}))
    world.run()
    there = [name for name in world.evictions if name.startswith("low-n1")]
    assert (len(there), len(world.evictions)) == (3, 4)
    world.end(*there[:2])
    world.wait(2)
    world.end()
    world.wait(2)
    assert sorted(world.where("g-1", "g-2", "local")) == ["n1", "n1", "n2"]
    assert len(world.evictions) == 4, "nobody else had to go"
    assert preempting(world) == {"PodGroup/ns/g": 1, "Pod/ns/local": 1}


def crowded(choices: Choices) -> World:
    """Full nodes, and several pods and gangs of one priority that ask for all or some of them."""
    nodes, cpu = choices.number(2, 5), choices.one_of([2, 4, 6])
    world = World(*(node(f"n{i}", cpu) for i in range(nodes)), graceful=True)
    world.add(*(pod(f"low-{i}-{n}", 1, 10, on=f"n{i}") for i in range(nodes) for n in range(cpu)))
    left = nodes * cpu
    for number in range(choices.number(2, 6)):
        name, size, cpu = f"g{number}", choices.number(1, 4), choices.one_of([1, 2])
        left -= size * cpu
        if left < 0:
            break
        world.add(pod_group(name, size, 100, mode=choices.one_of(["single", "all"])))
        world.add(*(pod(f"{name}-{i}", cpu, 100, group=name) for i in range(size)))
    return world


@examples(60, least=30)
@given(st.data())
def test_in_whatever_order_victims_end_nobody_preempts_twice(data: st.DataObject) -> None:
    choices = Choices(data.draw)
    world = crowded(choices)
    slow = Bind | BindGang | Preempt
    world.hold = lambda action: isinstance(action, slow) and choices.chance(20)
    world.run()
    for _ in range(60):
        going = leaving(world)
        if not going and not world.held:
            break
        if world.held and (not going or choices.chance(30)):
            world.release()
        else:
            world.end(*(choices.one_of(going) for _ in range(choices.number(1, 4))))
        world.wait(choices.one_of([0.0, 0.1, 1.0, 3.0]))
    world.hold = lambda action: False
    world.release()
    for _ in range(4):
        world.end()
        world.wait(20)
    assert set(preempting(world).values()) <= {1}, "nobody preempts twice"
    assert not any(waits(world)), "all have found their places"


def waits(world: World) -> list[str]:
    refused = {cycle.unit.name for cycle in world.cycles if cycle.outcome == "unschedulable"}
    return [
        name
        for (kind, name), document in world.documents.items()
        if kind == "Pod" and not document["spec"].get("nodeName") and name.split("-")[0] not in refused
    ]
