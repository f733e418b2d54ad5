"""A gang of which some pods are bound and the rest has no place: it is completed, released, or tells what it
lacks.
"""

import pytest

from reprieve.objects import Duration, Reference
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Bind
from tests.builders import node
from tests.scheduler.world import World, pod, pod_group

INCOMPLETE = "reprieve.dev/Incomplete"


def half_placed(*more, owner="j", config=None, graceful=True, priority=5):
    """Two of three pods are bound; a third node is missing."""
    return World(
        node("n1", 2),
        node("n2", 2),
        pod_group("g", 3, priority, mode="all"),
        pod("g-0", 2, priority, group="g", on="n1", owner=owner),
        pod("g-1", 2, priority, group="g", on="n2", owner=owner),
        pod("g-2", 2, priority, group="g", owner=owner),
        *more,
        graceful=graceful,
        config=config,
    )


def incomplete(world):
    return world.condition("PodGroup", "g", INCOMPLETE)


class TestCompleted:
    def test_the_rest_may_preempt_like_the_gang(self):
        world = half_placed(node("n3", 2), pod("low", 2, 1, on="n3"))
        world.run()
        assert world.evictions == ["low"]
        world.end()
        world.run()
        assert world.where("g-2") == ["n3"]
        assert world.condition("PodGroup", "g", "PodGroupInitiallyScheduled")["status"] == "True"

    def test_the_rest_is_tried_before_more_important_units(self):
        world = half_placed(pod("boss", 2, 100))
        world.hold = lambda action: True
        assert world.run()[0].unit == Reference("PodGroup", "ns", "g")

    def test_a_node_that_comes_in_time_completes_it_and_the_condition_says_so(self):
        world = half_placed()
        world.run()
        assert incomplete(world)["status"] == "True"
        world.wait(200)
        world.add(node("n3", 2))
        world.wait(30)
        assert world.where("g-2") == ["n3"]
        assert (incomplete(world)["status"], incomplete(world)["reason"]) == ("False", "Complete")
        assert world.evictions == []

    def test_a_binding_that_failed_for_good_leaves_a_gang_that_is_completed(self):
        world = World(
            node("n1", 2), node("n2", 2), pod_group("g", 2), *(pod(f"g-{i}", 2, group="g") for i in (0, 1))
        )
        world.hold = lambda action: isinstance(action, Bind) and action.pod.name == "g-1"
        world.run()
        world.hold = lambda action: False
        world.fail("404 node not found")
        world.wait(20)
        assert all(world.where("g-0", "g-1"))


class TestReleased:
    def test_after_the_timeout_all_bound_pods_go_together(self):
        world = half_placed()
        world.run()
        assert world.evictions == []
        world.wait(299)
        assert world.evictions == []
        [cycle] = world.wait(1)
        assert cycle.outcome == "released"
        assert cycle.victims == {"ns/g-0", "ns/g-1"}
        assert [(victim.pod, victim.node) for victim in cycle.plan.victims] == [
            ("ns/g-0", "n1"),
            ("ns/g-1", "n2"),
        ]
        assert world.evictions == ["g-0", "g-1"]

    def test_everybody_is_told_in_numbers(self):
        world = half_placed()
        [refused] = world.run()
        lacking = sentences.bound_pods_are_released(2, 3, Duration(300))
        missing = sentences.lacks_pods_because(lacking, "")
        assert incomplete(world)["message"].startswith(missing)
        assert world.condition("Pod", "g-2", "PodScheduled")["message"].startswith(missing)
        assert refused.reasons[0].startswith(missing)
        world.wait(300)
        mark = world.condition("Pod", "g-0", "DisruptionTarget")
        assert (mark["status"], mark["reason"]) == ("True", "IncompleteGang")
        lacking = sentences.bound_pods_are_released(2, 3, Duration(300))
        assert mark["message"].startswith(sentences.releasing_pods_of("reprieve", "ns/g", lacking))
        assert [event.regarding.name for event in world.events if event.reason == "GangReleased"] == ["g"]
        assert (incomplete(world)["status"], incomplete(world)["reason"]) == ("False", "Released")

    def test_once_its_controller_made_them_anew_the_gang_is_placed_as_a_whole(self):
        world = half_placed(pod("other", 2, 50))
        world.run()
        world.wait(300)
        world.add(*(pod(f"g-{i}", 2, 5, group="g", owner="j") for i in (3, 4)))
        world.wait(60)
        assert world.where("g-3", "g-4") == ["", ""], "the released pods still hold their nodes"
        gate = world.core.queue.units[Reference("PodGroup", "ns", "g")].gate
        assert gate == sentences.waits_for_leaving_pods(2)
        world.end()
        world.add(*(node(f"m{i}", 2) for i in (1, 2)))
        world.wait(60)
        assert all(world.where("g-2", "g-3", "g-4", "other"))

    def test_the_clock_survives_a_restart(self):
        world = half_placed()
        world.run()
        world.now += 200
        fresh = world.restart()
        fresh.run()
        assert fresh.evictions == []
        [cycle] = fresh.wait(100)
        assert cycle.outcome == "released"

    @pytest.mark.parametrize("begun", [False, True])
    def test_a_release_that_was_cut_short_is_finished(self, begun):
        world = half_placed()
        world.run()
        world.now += 300
        world.mark("g-0", "IncompleteGang", "reprieve: releasing the pods of podgroup ns/g: x")
        world.mark("g-1", "IncompleteGang", "reprieve: releasing the pods of podgroup ns/g: x")
        if begun:
            world.delete("g-0")
            world.end()
            world.add(pod("g-3", 9, 5, group="g", owner="j"))
        fresh = world.restart()
        fresh.run()
        fresh.end()
        assert fresh.running() == []

    def test_a_mark_left_on_a_gang_that_became_complete_is_taken_off(self):
        world = half_placed(node("n3", 2))
        world.mark("g-0", "IncompleteGang", "reprieve: releasing the pods of podgroup ns/g: x")
        fresh = world.restart()
        fresh.run()
        fresh.perform(fresh.core.recover(fresh.now))
        assert fresh.running() == ["g-0", "g-1", "g-2"]
        assert fresh.condition("Pod", "g-0", "DisruptionTarget")["status"] == "False"
        assert fresh.condition("Pod", "g-1", "DisruptionTarget") is None, "it was not marked"
        assert fresh.core.recover(fresh.now) == [], "and that once"

    def test_a_refusal_from_before_the_release_is_not_repeated_after_it(self):
        """A node came in the meantime: a count of changes that went back would hide it."""
        world = half_placed(pod("other", 1))
        world.run()
        world.hold = lambda action: type(action).__name__ == "Release"
        world.now += 300
        world.add(node("small", 1))
        assert [cycle.outcome for cycle in world.run()] == ["released", "scheduled"]
        assert world.where("other") == ["small"]

    def test_calls_that_fail_are_repeated(self):
        world = half_placed()
        world.run()
        world.hold = lambda action: type(action).__name__ == "Release"
        world.wait(300)
        world.fail("503")
        assert world.evictions == []
        world.hold = lambda action: False
        world.wait(30)
        assert world.evictions == ["g-0", "g-1"]


class TestNeverReleased:
    def test_pods_that_nobody_would_make_anew_stay_and_the_condition_says_what_is_missing(self):
        world = half_placed(owner="")
        world.run()
        for _ in range(5):
            world.wait(400)
        assert world.evictions == []
        stay = sentences.bound_pods_stay(2, 3, ["ns/g-0", "ns/g-1"])
        assert incomplete(world)["message"].startswith(stay)
        assert any(event.reason == "FailedScheduling" and stay in event.note for event in world.events)

    def test_one_bare_pod_keeps_all_of_them(self):
        """All together or nobody: a release in part would free room and complete nothing."""
        world = half_placed()
        world.change("Pod", "g-1", metadata={"ownerReferences": []})
        world.run()
        world.wait(400)
        assert world.evictions == []

    def test_with_a_timeout_of_zero_nobody_is_released(self):
        world = half_placed(config={"scheduler": {"incompleteGangTimeout": "0s"}})
        world.run()
        world.wait(4000)
        assert world.evictions == []

    def test_a_gang_that_once_was_complete_and_lost_pods_runs_on(self):
        world = half_placed(node("n3", 2))
        world.run()
        assert world.running() == ["g-0", "g-1", "g-2"]
        world.remove("Node", "n3")
        world.remove("Pod", "g-2")
        world.add(pod("g-3", 2, 5, group="g", owner="j"))
        for _ in range(3):
            world.wait(400)
        assert world.evictions == []
        assert incomplete(world) is None

    def test_also_when_we_crashed_before_we_could_say_that_it_was_complete(self):
        world = half_placed(node("n3", 2))
        world.change("Pod", "g-2", spec={"nodeName": "n3"})
        fresh = world.restart()
        assert fresh.condition("PodGroup", "g", "PodGroupInitiallyScheduled")["status"] == "True"
        fresh.remove("Pod", "g-2")
        fresh.remove("Node", "n3")
        fresh.add(pod("g-3", 2, 5, group="g", owner="j"))
        for _ in range(3):
            fresh.wait(400)
        assert fresh.evictions == []

    def test_while_victims_of_its_rest_are_going_it_waits(self):
        world = half_placed(node("n3", 2), pod("low", 2, 1, on="n3"))
        world.run()
        for _ in range(3):
            world.wait(400)
        assert world.evictions == ["low"]
