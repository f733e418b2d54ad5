"""Who is tried next, and what brings a waiting unit back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import Reference
from reprieve.scheduler.queue import Pauses, Queue, QueuedUnit, State
from tests.builders import node
from tests.scheduler.world import World, pod, pod_group


def queue_with(*units):
    queue = Queue()
    for unit in units:
        queue.add(unit)
        queue.activate(unit)
    return queue


def queued(name: str, *order: Any, **more: Any) -> QueuedUnit:
    return QueuedUnit(Reference.parse(name), *order, **more)


def drain(queue, now=0.0):
    popped = []
    while (unit := queue.pop(now)) is not None:
        popped.append(str(unit.ref))
    return popped


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 5), st.booleans()), max_size=30))
def test_more_important_units_go_first_then_older_ones_then_by_name(shape):
    units = [
        queued(f"Pod/ns/{i:02}", priority, age, unfinished=begun)
        for i, (priority, age, begun) in enumerate(shape)
    ]
    wanted = sorted(units, key=lambda unit: (not unit.unfinished, -unit.priority, unit.since, str(unit.ref)))
    assert drain(queue_with(*units)) == [str(unit.ref) for unit in wanted]


@pytest.mark.parametrize(
    ("failures", "pods", "seconds"),
    [(1, 1, 1), (2, 1, 2), (4, 1, 8), (5, 1, 10), (50, 1, 10), (5, 4, 16), (50, 4, 20)],
)
def test_pauses_double_up_to_a_limit_that_grows_with_the_group(failures, pods, seconds):
    assert Pauses().after(failures, pods) == seconds


def test_a_unit_that_failed_for_good_rests_until_something_helps_it():
    unit = queued("Pod/ns/a", 0, 0)
    queue = queue_with(unit)
    queue.pop(0)
    queue.rest(unit, 0)
    assert drain(queue, 200) == []
    queue.wake(lambda each: False, 200)
    assert drain(queue, 200) == []
    queue.wake(lambda each: each is unit, 200)
    assert drain(queue, 200) == ["Pod/ns/a"]


def test_a_unit_that_nothing_helped_is_tried_again_after_five_minutes():
    unit = queued("Pod/ns/a", 0, 0)
    queue = queue_with(unit)
    queue.pop(0)
    queue.rest(unit, 0)
    assert queue.next_ready() == 300
    assert drain(queue, 300) == ["Pod/ns/a"]


def test_a_unit_in_backoff_waits_while_others_are_ready():
    failed, other = queued("Pod/ns/a", 0, 0), queued("Pod/ns/b", 0, 1)
    queue = queue_with(failed)
    queue.pop(0)
    queue.rest(failed, 0)
    queue.wake(lambda each: True, 0.1)
    queue.add(other)
    queue.activate(other)
    assert failed.state is State.BACKOFF
    assert queue.pop(0.1) is other


def test_a_less_important_unit_never_overtakes_one_that_an_event_may_have_helped():
    high, low = queued("Pod/ns/high", 10, 0), queued("Pod/ns/low", 1, 0)
    queue = queue_with(high)
    queue.pop(0)
    queue.rest(high, 0)
    queue.add(low)
    queue.activate(low)
    queue.wake(lambda each: each is high, 0.1)
    assert drain(queue, 0.1) == ["Pod/ns/high", "Pod/ns/low"]


def test_a_unit_that_failed_by_error_is_not_hurried():
    unit = queued("Pod/ns/a", 0, 0)
    queue = queue_with(unit)
    queue.pop(0)
    queue.back_off(unit, 0)
    queue.wake(lambda each: True, 0.5)
    assert drain(queue, 0.5) == []
    assert queue.next_ready() == 1
    assert drain(queue, 1.0) == ["Pod/ns/a"]


def test_a_unit_that_waits_for_its_victims_is_not_hurried_by_other_events():
    unit = queued("Pod/ns/a", 0, 0, patient=True)
    queue = queue_with(unit)
    queue.pop(0)
    queue.rest(unit, 0)
    queue.wake(lambda each: True, 0.5)
    assert drain(queue, 0.5) == []
    assert drain(queue, 1.0) == ["Pod/ns/a"]


def test_removed_units_never_come_back():
    unit = queued("Pod/ns/a", 0, 0)
    queue = queue_with(unit)
    queue.remove(Reference.parse("Pod/ns/a"), 0)
    assert drain(queue) == []
    assert len(queue) == 0


class TestUnitsAlike:
    def resting(self, count):
        units = [queued(f"Pod/ns/{i}", 0, i) for i in range(count)]
        queue = queue_with(*units)
        for unit in units:
            queue.pop(0)
            queue.rest(unit, 0, like="same")
        return queue, units

    def test_an_event_wakes_the_oldest_of_them_only(self):
        queue, _ = self.resting(5)
        queue.wake(lambda each: True, 10)
        assert drain(queue, 10) == ["Pod/ns/0"]

    def test_each_that_is_lucky_wakes_the_next(self):
        queue, _ = self.resting(3)
        queue.wake(lambda each: True, 10)
        popped = []
        while (unit := queue.pop(10)) is not None:
            popped.append(str(unit.ref))
            queue.wake_next(unit, 10)
        assert popped == ["Pod/ns/0", "Pod/ns/1", "Pod/ns/2"]

    def test_one_that_leaves_while_it_is_awake_wakes_the_next(self):
        queue, _ = self.resting(2)
        queue.wake(lambda each: True, 10)
        queue.remove(Reference.parse("Pod/ns/0"), 10)
        assert drain(queue, 10) == ["Pod/ns/1"]

    def test_all_are_tried_again_after_five_minutes(self):
        queue, _ = self.resting(4)
        assert len(drain(queue, 300)) == 4


def test_depths_count_pods_and_groups_apart():
    queue = queue_with(queued("Pod/ns/a", 0, 0), queued("PodGroup/ns/g", 0, 0))
    assert queue.depths() == {(State.ACTIVE, False): 1, (State.ACTIVE, True): 1}


class TestWakeUps:
    """Events wake only what they can help."""

    def resting(self, *documents):
        world = World(node("full", 2, labels={"zone": "a"}), pod("old", 2, 99, on="full"), *documents)
        world.run()
        return world

    def woken(self, world):
        return [str(cycle.unit) for cycle in world.wait(20)]

    def test_a_new_node_that_cannot_take_it_does_not_wake_it(self):
        world = self.resting(pod("a", 3), pod("b", 2, nodeSelector={"zone": "b"}))
        world.add(node("small", 2))
        assert self.woken(world) == []
        world.add(node("right", 2, labels={"zone": "b"}))
        assert self.woken(world) == ["Pod/ns/b"]

    def test_room_on_a_node_it_may_not_use_does_not_wake_it(self):
        world = self.resting(pod("a", 1), pod("b", 1, nodeSelector={"zone": "b"}))
        world.remove("Pod", "old")
        assert self.woken(world) == ["Pod/ns/a"]

    def test_a_heartbeat_wakes_nobody(self):
        world = self.resting(pod("a", 1))
        world.change("Node", "full", status={"conditions": [{"type": "Ready", "status": "True"}]})
        assert self.woken(world) == []

    def test_an_uncordoned_node_and_a_removed_taint_wake_those_who_can_use_it(self):
        world = self.resting(pod("a", 1))
        spare = node("spare", 2)
        spare["spec"] = {"unschedulable": True}
        world.add(spare)
        assert self.woken(world) == []
        world.change("Node", "spare", spec={"unschedulable": False})
        assert self.woken(world) == ["Pod/ns/a"]
        assert world.where("a") == ["spare"]

    def test_its_own_status_does_not_wake_it(self):
        world = self.resting(pod("a", 1))
        world.change("Pod", "a", status={"message": "x"})
        assert self.woken(world) == []

    def test_a_pod_that_comes_near_wakes_those_who_want_to_be_near_it(self):
        near = {
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
                ]
            }
        }
        world = World(node("n1", 4), pod("a", 1, affinity=near), pod("b", 9))
        world.run()
        assert world.where("a") == [""]
        friend = pod("db", 1, on="n1")
        friend["metadata"]["labels"] = {"app": "db"}
        world.add(friend)
        assert self.woken(world) == ["Pod/ns/a"]
        assert world.where("a") == ["n1"]

    def test_pods_alike_that_do_not_fit_are_decided_once(self):
        decided = []
        world = World(node("n1", 1), *(pod(f"p{i}", 2) for i in range(50)))
        real = world.core._cycles._decide

        def counting(*arguments):
            decided.append(arguments[1])
            return real(*arguments)

        world.core._cycles._decide = counting
        assert len(world.run()) == 50
        assert len(decided) == 1

    def test_one_free_place_costs_two_decisions_however_many_wait_for_it(self):
        world = World(node("n1", 1), pod("old", 1, 9, on="n1"), *(pod(f"p{i:02}") for i in range(50)))
        world.run()
        world.remove("Pod", "old")
        assert [cycle.outcome for cycle in world.wait(20)] == ["scheduled", "unschedulable"]
        world.add(node("n2", 3))
        assert [cycle.outcome for cycle in world.wait(20)] == ["scheduled"] * 3 + ["unschedulable"]

    def test_a_group_is_tried_once_when_its_pods_come_together(self):
        world = World(node("n1", 10), pod_group("g", 3), *(pod(f"p{i}", group="g") for i in range(5)))
        assert [cycle.pods for cycle in world.run()] == [5]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.floats(0, 10_000))
def test_pauses_are_as_long_on_a_clock_that_was_set_back(kinds, seconds):
    units = [queued(f"Pod/ns/{number}", 0, 0) for number in range(len(kinds))]
    queue = queue_with(*units)
    drain(queue)
    enter = (
        lambda unit: queue.back_off(unit, 20_000),
        lambda unit: queue.rest(unit, 20_000),
        lambda unit: queue.pause(unit, 20_007),
        lambda unit: queue.gate(unit, "why"),
    )
    for unit, kind in zip(units, kinds, strict=True):
        enter[kind](unit)
    before = queue.next_ready()
    queue.turn_back(seconds)
    after = queue.next_ready()
    assert after == (None if before is None else pytest.approx(before - seconds))
    assert drain(queue, 20_301 - seconds) == [
        str(unit.ref) for unit, kind in zip(units, kinds, strict=True) if kind != 3
    ]
