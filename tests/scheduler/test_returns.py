"""A unit that was preempted comes back after a pause that doubles each time (`preemption.returnPause`)."""

import pytest

from reprieve.objects.times import format_time
from reprieve.scheduler import sentences
from reprieve.scheduler.returns import MEMORY, MOST, Returns
from reprieve.scheduler.waiting import instant
from tests.builders import node, owned_by
from tests.scheduler.world import World, pod, pod_group

PAUSES = {"preemption": {"returnPause": "30s", "maxReturnPause": "100s"}}


def preempted_once(**low):
    """A pod was preempted, its preemptor has ended, and it is here again."""
    world = World(node("n1", 1), pod("low", 1, **low), config=PAUSES)
    world.run()
    preempt(world)
    world.add(pod("low", 1, **low))
    return world


def preempt(world):
    world.add(pod("high", 1, priority=10))
    world.run()
    assert world.evictions[-1] == "low"
    world.remove("Pod", "high")


def test_a_preempted_pod_waits_before_it_starts_again_and_says_so():
    world = preempted_once()
    assert world.run() == []
    world.wait(29)
    assert world.where("low") == [""]
    until = format_time(instant(world.now + 1))
    assert world.condition("Pod", "low", "PodScheduled")["message"] == sentences.pauses_until(until)
    world.wait(1)
    assert world.where("low") == ["n1"]


def test_the_pause_doubles_each_time_up_to_the_longest():
    world = preempted_once()
    for pause in (30, 60, 100, 100):
        world.wait(pause - 1)
        assert world.where("low") == [""]
        world.wait(1)
        assert world.where("low") == ["n1"]
        preempt(world)
        world.add(pod("low", 1))


def test_what_it_said_before_the_pause_is_replaced_by_why_it_waits_now():
    world = preempted_once()
    world.remove("Pod", "low")
    world.add(pod("low", 1, schedulingGates=[{"name": "g"}]))
    world.wait(5)
    assert world.condition("Pod", "low", "PodScheduled")["reason"] == "SchedulingGated"
    world.change("Pod", "low", spec={"schedulingGates": []})
    world.wait(5)
    assert world.where("low") == [""]
    assert "preempted not long ago" in world.condition("Pod", "low", "PodScheduled")["message"]


def test_a_clock_that_goes_back_makes_no_pause_longer():
    returns = Returns(30, 1000)
    returns.preempted("a", 10_000.0)
    assert returns.due("a", 5_000.0) == 5_030.0


def test_others_start_meanwhile():
    world = preempted_once()
    world.add(pod("other", 1, priority=-5))
    world.run()
    assert world.where("low", "other") == ["", "n1"]


def test_pods_of_one_controller_share_their_pause():
    train, other = ({"ownerReferences": [owned_by("Job", name, uid=name)]} for name in ("train", "other"))
    world = World(node("n1", 1), pod("low", 1, metadata=train), config=PAUSES)
    world.run()
    preempt(world)
    world.add(pod("low-again", 1, metadata=train), pod("stranger", 1, metadata=other))
    world.run()
    assert world.where("low-again", "stranger") == ["", "n1"]


def test_a_group_that_loses_several_pods_is_counted_once():
    members = [pod(name, 1, group="g") for name in "ab"]
    world = World(node("n1", 2), pod_group("g", 2, mode="all"), *members, config=PAUSES)
    world.run()
    world.add(pod("high", 2, priority=10))
    world.run()
    assert sorted(world.evictions) == ["a", "b"]
    world.remove("Pod", "high")
    world.add(*(pod(name, 1, group="g") for name in "ab"))
    world.wait(29)
    assert world.where("a", "b") == ["", ""]
    world.wait(1)
    assert world.where("a", "b") == ["n1", "n1"]


def test_who_ended_for_another_reason_does_not_wait():
    world = World(node("n1", 1), pod("low", 1), config=PAUSES)
    world.run()
    world.delete("low")
    world.add(pod("low", 1))
    world.run()
    assert world.where("low") == ["n1"]


def test_without_the_setting_nobody_waits():
    world = World(node("n1", 1), pod("low", 1))
    world.run()
    preempt(world)
    world.add(pod("low", 1))
    world.run()
    assert world.where("low") == ["n1"]


@pytest.mark.parametrize(("later", "pause"), [(MEMORY - 1, 60), (MEMORY, 30)])
def test_a_preemption_is_forgotten_after_a_day(later, pause):
    returns = Returns(30, 1000)
    returns.preempted("a", 0.0)
    returns.placed("a")
    returns.preempted("a", later)
    assert returns.due("a", later) == later + pause


def test_what_is_to_be_forgotten_takes_no_memory_for_ever():
    returns = Returns(30, 1000)
    for number in range(MOST):
        returns.preempted(f"old-{number}", 0.0)
    returns.preempted("new", MEMORY)
    assert len(returns._past) == 1


def test_while_old_ones_are_forgotten_young_ones_stay_remembered():
    returns = Returns(30, 1000)
    returns.preempted("young", MEMORY / 2)
    returns.placed("young")
    for number in range(MOST - 1):
        returns.preempted(f"old-{number}", 0.0)
    returns.preempted("new", MEMORY)
    returns.preempted("young", MEMORY)
    assert returns.due("young", MEMORY) == MEMORY + 60, "its second time"
    assert len(returns._past) == 2


def test_below_the_bound_nobody_is_looked_for():
    """Looking costs time, so it happens only when there are many."""
    returns = Returns(30, 1000)
    for number in range(MOST - 1):
        returns.preempted(f"old-{number}", 0.0)
    returns.preempted("new", MEMORY)
    assert len(returns._past) == MOST


def test_a_unit_that_is_preempted_thousands_of_times_waits_the_longest_pause():
    returns = Returns(30, 1000)
    for number in range(2000):
        returns.preempted("a", float(number))
        returns.placed("a")
    returns.preempted("a", 2000.0)
    assert returns.due("a", 2000.0) == 3000.0
