"""On a quiet cluster: what makes a place possible, or a nomination impossible, is noticed by itself."""

from typing import Any

import pytest

from reprieve.objects.times import format_time
from reprieve.scheduler.waiting import instant
from tests import builders
from tests.builders import node
from tests.scheduler.world import World, pod, pod_group

priority_class = builders.priority_class
SHIELD, MIN_RUNTIME = "reprieve.dev/preemption-priority-class", "reprieve.dev/min-runtime"


def started(world: World, name: str, **more: Any) -> None:
    begun = format_time(instant(world.now))
    world.add(pod(name, 1, 1, on="n1", start=begun, **more))


@pytest.mark.parametrize("grouped", [False, True])
def test_a_refusal_ends_when_time_makes_it_untrue_without_any_event(grouped: bool) -> None:
    world = World(node("n1", 1))
    started(world, "old", annotations={"reprieve.dev/min-runtime": "30s"})
    group = [pod_group("g", 1, 9)] if grouped else []
    world.add(*group, pod("new", 1, 9, group="g" if grouped else ""))
    world.run()
    assert world.evictions == []
    world.wait(29)
    assert world.evictions == []
    world.wait(2)
    assert world.evictions == ["old"]
    assert world.running() == ["new"]


@pytest.mark.parametrize("how", ["annotation", "group's class", "group deleted", "pod's start"])
def test_a_victim_that_loses_its_protection_wakes_whoever_waits_for_it(how: str) -> None:
    world = World(node("n1", 1), priority_class("shield", 100), priority_class("low", 2))
    if how == "annotation":
        world.add(pod("old", 1, 1, on="n1", annotations={SHIELD: "shield"}))
    elif how == "pod's start":
        world.add(pod("old", 1, 1, on="n1", annotations={MIN_RUNTIME: "5s"}, status={"startTime": None}))
    else:
        guard = pod_group("g", 1, 1, preemptionPriorityClassName="shield")
        world.add(guard, pod("old", 1, 1, on="n1", group="g"))
    world.add(pod("new", 1, 9))
    world.run()
    assert world.evictions == []
    world.now += 20
    if how == "annotation":
        world.change("Pod", "old", metadata={"annotations": {}})
    elif how == "group's class":
        world.change("PodGroup", "g", spec={"preemptionPriorityClassName": "low"})
    elif how == "group deleted":
        world.remove("PodGroup", "g")
    else:
        world.change("Pod", "old", status={"startTime": "1970-01-01T00:00:00Z"})
    world.run()
    assert world.evictions == ["old"]


@pytest.mark.parametrize("how", ["cordoned", "tainted", "deleted"])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_nomination_that_breaks_is_noticed_at_once(how: str, grouped: bool) -> None:
    names = [node("n1", 1), node("n2", 1)]
    lows = [pod("low-1", 1, 1, on="n1"), pod("low-2", 1, 2, on="n2")]
    group = [pod_group("g", 1, 9)] if grouped else []
    world = World(*names, *lows, *group, pod("new", 1, 9, group="g" if grouped else ""), graceful=True)
    world.run()
    assert world.evictions == ["low-1"]
    assert world.nominated("new") == ["n1"]
    world.wait(1)
    if how == "cordoned":
        world.change("Node", "n1", spec={"unschedulable": True})
    elif how == "tainted":
        world.change("Node", "n1", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]})
    else:
        world.remove("Node", "n1")
    world.run()
    assert world.evictions == ["low-1", "low-2"]
    assert world.nominated("new") == ["n2"]


def test_a_protection_that_runs_out_lets_the_next_one_in_without_any_event() -> None:
    config = {"preemption": {"maxProtection": "30s"}}
    world = World(node("n1", 1), priority_class("shield", 100), config=config)
    started(world, "old", annotations={SHIELD: "shield"})
    world.add(pod("new", 1, 9))
    world.run()
    world.wait(29)
    assert world.evictions == []
    world.wait(2)
    assert world.evictions == ["old"]


def test_a_pod_that_shrinks_where_it_runs_wakes_whoever_fits_beside_it() -> None:
    world = World(node("n1", 2), pod("old", 2, 9, on="n1"), pod("new", 1, 1))
    world.run()
    assert world.where("new") == [""]
    world.now += 20
    world.change("Pod", "old", spec=pod("old", 1, 9, on="n1")["spec"])
    world.run()
    assert world.where("new") == ["n1"]


@pytest.mark.parametrize("priority", [4, 5])
def test_a_nominated_pod_that_is_deleted_leaves_its_place_to_those_who_waited(priority: int) -> None:
    held = pod("held", 1, 5, status={"nominatedNodeName": "n1"}, schedulingGates=[{"name": "g"}])
    world = World(node("n1", 1), held, pod("next", 1, priority))
    world.run()
    assert world.where("next") == [""]
    world.now += 20
    world.remove("Pod", "held")
    world.run()
    assert world.where("next") == ["n1"]


def test_a_priority_class_that_comes_late_puts_its_pods_in_their_order() -> None:
    world = World(node("n1", 1), pod("a", 1, 50), pod("b", 1, "gold"))
    world.add(priority_class("gold", 100))
    world.run()
    assert world.where("a", "b") == ["", "n1"]
    assert world.evictions == []


def test_a_group_that_becomes_more_important_while_it_waits_goes_first() -> None:
    world = World(node("n1", 1), pod("a", 1, 50), pod_group("g", 1, 1), pod("b", 1, group="g"))
    world.change("PodGroup", "g", spec={"priority": 100})
    world.run()
    assert world.where("a", "b") == ["", "n1"]
    assert world.evictions == []


def test_a_group_without_pods_may_come_and_go() -> None:
    world = World(node("n1", 1), pod("low", 1, 1, on="n1"), pod("new", 1, 1), pod_group("g", 1, 1))
    world.run()
    world.remove("PodGroup", "g")
    assert world.run() == []
