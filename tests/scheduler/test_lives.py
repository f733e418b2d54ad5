"""Gangs over time: members that end, gangs that are evicted and made anew, gangs whose pods never come."""

from typing import Any

from reprieve.objects import Duration, Reference
from reprieve.scheduler import sentences
from tests.builders import Document, node
from tests.scheduler.world import World, pod, pod_group

SCHEDULED, INCOMPLETE = "PodGroupInitiallyScheduled", "reprieve.dev/Incomplete"


def member(index: int, **options: Any) -> Document:
    return pod(f"g-{index}", 1, group="g", owner="j", **options)


def ended(index: int, phase: str = "Succeeded") -> Document:
    return member(index, on="n1", status={"phase": phase})


def gang_of(size: int, *documents: Document, status: Document | None = None, nodes: int = 4) -> World:
    group = pod_group("g", size, mode="all", status=status)
    world = World(*(node(f"n{i}", 1) for i in range(1, nodes + 1)), group, *documents, graceful=True)
    world.run()
    return world


def condition(type: str, truth: str = "True") -> Document:
    told = {
        "type": type,
        "status": truth,
        "reason": "Scheduled",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return {"conditions": [told]}


def scheduled(world: World) -> str:
    return str(world.condition("PodGroup", "g", SCHEDULED)["status"])


class TestMembersThatEnded:
    def test_when_three_of_four_are_done_the_fourth_is_placed_anew(self) -> None:
        world = gang_of(4, *(member(i) for i in range(4)))
        for i in range(3):
            world.change("Pod", f"g-{i}", status={"phase": "Succeeded"})
        world.remove("Pod", "g-3")
        world.add(member(4))
        world.run()
        assert all(world.where("g-4"))

    def test_one_of_two_was_done_before_the_scheduler_started(self) -> None:
        world = gang_of(2, ended(0), member(1))
        assert all(world.where("g-1"))
        assert scheduled(world) == "True"

    def test_one_that_failed_does_not_count_before_the_gang_was_complete(self) -> None:
        world = gang_of(2, ended(0, "Failed"), member(1))
        world.wait(2)
        assert world.where("g-1") == [""]
        assert world.condition("Pod", "g-1", "PodScheduled")["message"] == sentences.needs_pods(2)
        world.add(member(2))
        world.run()
        assert all(world.where("g-1", "g-2"))

    def test_one_that_failed_for_good_counts_while_a_complete_gang_runs_on(self) -> None:
        world = gang_of(3, *(member(i) for i in range(3)))
        world.change("Pod", "g-0", status={"phase": "Failed"})
        world.remove("Pod", "g-1")
        world.add(member(3))
        world.run()
        assert all(world.where("g-2", "g-3"))

    def test_failed_pods_of_an_earlier_life_do_not_count_in_the_next(self) -> None:
        world = gang_of(2, *(member(i) for i in range(2)))
        world.change("Pod", "g-0", status={"phase": "Failed"})
        world.remove("Pod", "g-1")
        world.add(member(2))
        world.run()
        assert world.where("g-2") == [""]
        world.add(member(3))
        world.run()
        assert all(world.where("g-2", "g-3"))

    def test_a_done_member_that_is_deleted_counts_no_more(self) -> None:
        world = gang_of(2, ended(0), member(1, schedulingGates=[{"name": "x"}]))
        world.remove("Pod", "g-0")
        world.change("Pod", "g-1", spec={"schedulingGates": []})
        world.run()
        assert world.where("g-1") == [""]


class TestMadeAnew:
    def test_the_condition_tells_the_present_life(self) -> None:
        world = gang_of(2, member(0), member(1), pod("boss", 1, 100, nodeSelector={"x": "y"}))
        assert scheduled(world) == "True"
        for name in ("g-0", "g-1"):
            world.delete(name)
        world.run()
        assert scheduled(world) == "False"
        world.end()
        world.add(member(2), member(3))
        world.run()
        assert all(world.where("g-2", "g-3"))
        assert scheduled(world) == "True"

    def test_losing_some_pods_is_no_new_life(self) -> None:
        world = gang_of(3, *(member(i) for i in range(3)))
        world.delete("g-0")
        world.end()
        world.run()
        assert scheduled(world) == "True"

    def test_a_gang_that_is_done_stays_scheduled_when_its_pods_are_deleted(self) -> None:
        world = gang_of(1, member(0))
        world.change("Pod", "g-0", status={"phase": "Succeeded"})
        world.remove("Pod", "g-0")
        world.run()
        assert scheduled(world) == "True"

    def test_its_second_life_is_released_when_it_cannot_be_completed(self) -> None:
        world = gang_of(2, member(0), member(1), status=condition(SCHEDULED), nodes=2)
        for name in ("g-0", "g-1"):
            world.delete(name)
        world.end()
        world.remove("Node", "n2")
        world.add(member(2, on="n1"), member(3))
        world.run()
        assert scheduled(world) == "False"
        assert world.condition("PodGroup", "g", INCOMPLETE)["status"] == "True"
        world.wait(301)
        assert world.evictions[-1] == "g-2"


class TestPodsThatNeverCome:
    def test_a_half_placed_gang_without_its_other_pods_says_so_and_is_released(self) -> None:
        world = gang_of(3, member(0, on="n1"), member(1, on="n2"))
        world.perform(world.core.recover(world.now))
        told = world.condition("PodGroup", "g", INCOMPLETE)
        lacking = sentences.bound_pods_are_released(2, 3, Duration(300))
        why = sentences.MISSING_PODS_DO_NOT_EXIST
        assert told["message"] == sentences.lacks_pods_because(lacking, why)
        world.now += 301
        world.perform(world.core.recover(world.now))
        assert world.evictions == ["g-0", "g-1"]

    def test_so_is_one_of_which_too_few_pods_wait(self) -> None:
        world = gang_of(4, member(0, on="n1"), member(1, on="n2"), member(2))
        assert world.state("PodGroup/ns/g") == "gated"
        world.perform(world.core.recover(world.now))
        lacking = sentences.bound_pods_are_released(2, 4, Duration(300))
        said = sentences.lacks_pods_because(lacking, sentences.waits_for_pods(3, 4))
        assert world.condition("PodGroup", "g", INCOMPLETE)["message"] == said
        world.now += 301
        world.perform(world.core.recover(world.now))
        assert world.evictions == ["g-0", "g-1"]
        world.end()
        world.add(*(member(i) for i in (3, 4, 5)))
        world.wait(30)
        assert all(world.where("g-2", "g-3", "g-4", "g-5"))

    def test_bound_pods_that_nobody_would_make_anew_stay(self) -> None:
        bare = [pod(f"g-{i}", 1, group="g", on=f"n{i + 1}") for i in range(2)]
        world = gang_of(3, *bare)
        world.now += 3600
        world.perform(world.core.recover(world.now))
        assert world.evictions == []
        stay = sentences.bound_pods_stay(2, 3, ["ns/g-0", "ns/g-1"])
        assert world.condition("PodGroup", "g", INCOMPLETE)["message"].startswith(stay)

    def test_a_gang_that_is_complete_is_left_alone(self) -> None:
        world = gang_of(2, member(0, on="n1"), member(1, on="n2"))
        world.perform(world.core.recover(world.now))
        assert world.condition("PodGroup", "g", INCOMPLETE) is None
        assert Reference("PodGroup", "ns", "g") not in world.core.queue.units
