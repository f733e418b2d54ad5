"""Delayed and asynchronous preemption: who is evicted, when, and what happens while they go."""

import pytest

from reprieve.objects import Reference
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Nominate, Preempt
from tests.builders import node
from tests.scheduler.world import World, pod, pod_group


def holding_evictions(world):
    world.hold = lambda action: isinstance(action, Preempt)
    return world


class TestKep5710Integration:
    """The integration tests that KEP-5710 asks for, by name."""

    def victims(self, whole):
        """Two pods of one group, each filling a node."""
        return [
            node("n1", 2),
            node("n2", 2),
            pod_group("low", 2, mode="all" if whole else "single"),
            pod("low-1", 2, group="low", on="n1"),
            pod("low-2", 2, group="low", on="n2"),
        ]

    def test_pods_of_a_group_in_mode_pod_are_preempted_individually_by_a_higher_priority_pod_group(self):
        world = World(
            *self.victims(False),
            pod_group("high", 1, 100),
            pod("high-1", 2, 100, group="high"),
        )
        world.run()
        assert len(world.evictions) == 1
        assert all(world.where("high-1"))

    def test_pods_of_a_group_in_mode_pod_group_are_preempted_together_by_a_higher_priority_pod_group(
        self,
    ):
        world = World(
            *self.victims(True),
            pod_group("high", 1, 100),
            pod("high-1", 2, 100, group="high"),
        )
        world.run()
        assert sorted(world.evictions) == ["low-1", "low-2"]
        assert all(world.where("high-1"))

    def test_pods_of_a_group_in_mode_pod_are_preempted_individually_by_a_higher_priority_pod(self):
        world = World(*self.victims(False), pod("high", 2, 100))
        world.run()
        assert len(world.evictions) == 1
        assert all(world.where("high"))

    def test_pods_of_a_group_in_mode_pod_group_are_preempted_together_by_a_higher_priority_pod(self):
        world = World(*self.victims(True), pod("high", 2, 100))
        world.run()
        assert sorted(world.evictions) == ["low-1", "low-2"]
        assert all(world.where("high"))

    def test_preemption_of_a_whole_pod_group_in_pod_group_mode(self):
        """The base integration test of the alpha criteria: a gang evicts a gang."""
        world = World(
            *self.victims(True),
            pod_group("high", 2, 100),
            *(pod(f"h{i}", 2, 100, group="high") for i in (1, 2)),
        )
        world.run()
        assert sorted(world.evictions) == ["low-1", "low-2"]
        assert sorted(world.where("h1", "h2")) == ["n1", "n2"]


class TestKep4832Races:
    """pod1 is being made room for on node1; the next cycle is pod2's. One test for each scenario of
    KEP-4832.
    """

    def world(self, cpu=2):
        world = holding_evictions(
            World(
                node("node1", cpu),
                pod("victim", cpu, 1, on="node1"),
                pod("pod1", 2, 50),
                graceful=True,
            )
        )
        world.run()
        assert world.held, "pod1's preemption is under way"
        return world

    def victim_ends(self, world):
        """The eviction happens, the victim ends, and nobody gets a cycle in between."""
        world.release()
        world.end()

    @pytest.mark.parametrize("priority", [50, 10])
    def test_pod2_scheduling_is_successful_equal_or_lower_priority(self, priority):
        world = self.world()
        world.add(node("node2"), pod("pod2", 2, priority))
        world.run()
        assert world.where("pod2") == ["node2"], "pod2 may go anywhere but where pod1 is nominated"
        world.add(pod("pod3", 2, priority))
        self.victim_ends(world)
        world.run()
        assert world.where("pod1") == ["node1"]

    def test_pod2_scheduling_is_successful_higher_priority(self):
        world = self.world()
        world.add(pod("pod2", 2, 100))
        self.victim_ends(world)
        world.run()
        assert world.where("pod2", "pod1") == ["node1", ""], "pod2 takes the place, pod1 tries again"
        assert world.nominated("pod1") == [""], "and its nomination is withdrawn"

    @pytest.mark.parametrize("priority", [50, 10])
    def test_pod2_scheduling_fails_and_starts_preemption_equal_or_lower_priority(self, priority):
        world = holding_evictions(
            World(
                node("node1", 4),
                pod("victim1", 2, 1, on="node1"),
                pod("victim2", 2, 2, on="node1"),
                pod("pod1", 2, 50),
                graceful=True,
            )
        )
        world.run()
        world.add(pod("pod2", 2, priority))
        [cycle] = world.run()
        assert cycle.unit == Reference("Pod", "ns", "pod2")
        assert {victim.pod for victim in cycle.plan.victims} == {"ns/victim1", "ns/victim2"}, "room for both"
        self.victim_ends(world)
        world.run()
        assert world.where("pod1", "pod2") == ["node1", "node1"]

    def test_pod2_scheduling_fails_and_starts_preemption_higher_priority(self):
        world = self.world()
        world.add(pod("pod2", 2, 100))
        [cycle] = world.run()
        assert [victim.pod for victim in cycle.plan.victims] == ["ns/victim"], "pod1's nomination is ignored"
        self.victim_ends(world)
        world.run()
        assert world.where("pod2", "pod1") == ["node1", ""]


class TestDelayed:
    def test_no_victim_is_touched_when_the_whole_gang_has_no_place(self):
        world = World(
            node("n1", 2), node("n2", 2), pod("low", 2, 1, on="n1"), pod("mid", 2, 500, on="n2"),
            pod_group("high", 2, 100), pod("h1", 2, 100, group="high"), pod("h2", 2, 100, group="high"),
        )  # fmt: skip
        [cycle] = world.run()
        assert cycle.outcome == "unschedulable"
        assert world.evictions == []
        assert world.nominated("h1", "h2") == ["", ""]

    def test_while_victims_terminate_and_the_nominations_hold_nobody_else_is_preempted(self):
        world = World(
            node("n1", 2),
            node("n2", 2),
            pod("v1", 2, 1, on="n1"),
            pod("v2", 2, 2, on="n2"),
            pod("high", 2, 100),
            graceful=True,
        )
        world.run()
        assert world.evictions == ["v1"]
        for _ in range(5):
            world.core.queue.wake(lambda unit: True, world.now)
            cycles = world.wait(60)
            assert [cycle.outcome for cycle in cycles] == ["waits"]
        assert world.evictions == ["v1"]
        assert world.nominated("high") == ["n1"]
        world.end()
        world.run()
        assert world.where("high") == ["n1"]

    def test_while_victims_terminate_a_free_node_is_taken(self):
        world = World(node("n1", 2), pod("v1", 2, 1, on="n1"), pod("high", 2, 100), graceful=True)
        world.run()
        world.add(node("n2", 2))
        world.wait(30)
        assert world.where("high") == ["n2"]
        assert world.evictions == ["v1"]

    def test_while_victims_terminate_a_place_nominated_for_a_less_important_pod_is_left_alone(self):
        """Its victims went for it; who has a place coming does not make that vain."""
        world = World(
            node("n1", 2),
            node("n2", 2),
            pod("v1", 2, 1, on="n1"),
            pod("v2", 2, 2, on="n2"),
            pod("high", 2, 100),
            graceful=True,
        )
        world.run()
        world.add(pod("mid", 2, 50))
        world.run()
        assert world.nominated("high", "mid") == ["n1", "n2"]
        world.end("v2")
        world.core.queue.wake_unit(Reference("Pod", "ns", "high"), world.now + 60)
        world.now += 60
        world.run()
        assert world.where("high", "mid") == ["", "n2"]
        world.end("v1")
        world.run()
        assert world.where("high") == ["n1"]

    def test_a_nomination_that_no_longer_holds_is_withdrawn_and_planned_from_scratch(self):
        world = World(
            node("n1", 2),
            node("n2", 2),
            pod("v1", 2, 1, on="n1"),
            pod("v2", 2, 2, on="n2"),
            pod("mid", 2, 50),
            graceful=True,
        )
        world.run()
        assert world.nominated("mid") == ["n1"]
        world.change("Node", "n1", spec={"unschedulable": True})
        world.core.queue.wake(lambda unit: True, world.now)
        world.wait(30)
        assert world.evictions == ["v1", "v2"]
        assert world.nominated("mid") == ["n2"]
        world.end()
        world.run()
        assert world.where("mid") == ["n2"]

    def test_nominations_hold_only_if_every_pod_of_the_gang_still_has_its_place(self):
        nodes = [node(name, 2) for name in ("n1", "n2", "n3")]
        lows = [pod(f"v{i}", 2, i, on=f"n{i}") for i in (1, 2, 3)]
        gang = [pod_group("g", 2, 50), pod("g-0", 2, 50, group="g"), pod("g-1", 2, 50, group="g")]
        world = World(*nodes, *lows, *gang, graceful=True)
        world.run()
        assert sorted(world.nominated("g-0", "g-1")) == ["n1", "n2"]
        world.wait(1)
        world.change("Node", "n2", spec={"unschedulable": True})
        world.wait(30)
        assert sorted(world.nominated("g-0", "g-1")) == ["n1", "n3"]
        assert sorted(world.evictions) == ["v1", "v2", "v3"]

    def test_a_more_important_unit_takes_the_nomination_of_another_at_once(self):
        """Not only when the other one is tried again: until then it would be shown where it will never be."""
        world = World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("mid", 2, 50), graceful=True)
        world.run()
        assert world.nominated("mid") == ["n1"]
        world.end()
        world.add(pod("high", 2, 100))
        world.hold = lambda action: not isinstance(action, Nominate)
        cycle = world.core.cycle(world.now)
        assert cycle is not None
        assert (cycle.unit.name, cycle.outcome) == ("high", "scheduled")
        world.perform(cycle.actions)
        assert world.nominated("mid") == [""]

    @pytest.mark.parametrize("going", [True, False])
    def test_a_refused_unit_keeps_its_nomination_while_preempted_pods_leave_the_node(self, going):
        world = World(
            node("n1", 2),
            pod("stays", 1, 100, on="n1"),
            pod("goes", 1, 100, on="n1"),
            pod("mid", 2, 50, status={"nominatedNodeName": "n1"}),
            graceful=True,
        )
        if going:
            world.mark_in_words("goes", "reprieve: preempting to accommodate a higher priority pod: x")
            world.change("Pod", "goes", metadata={"deletionTimestamp": "2026-01-01T00:00:30Z"})
        world.run()
        assert world.nominated("mid") == (["n1"] if going else [""])

    def test_the_unit_is_woken_once_when_its_last_victim_is_gone(self):
        world = World(
            node("n1", 4),
            *(pod(f"v{i}", 1, 1, on="n1") for i in range(4)),
            pod("high", 4, 100),
            graceful=True,
        )
        world.run()
        for name in ("v0", "v1", "v2"):
            world.end(name)
            assert world.run() == []
        world.end("v3")
        assert [cycle.outcome for cycle in world.run()] == ["scheduled"]


class TestAsynchronous:
    def test_the_preemptor_is_not_tried_while_its_calls_are_under_way(self):
        world = holding_evictions(World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("high", 2, 100)))
        world.run()
        world.remove("Pod", "v")
        world.core.queue.wake(lambda unit: True, world.now)
        assert world.wait(100) == []
        world.release()
        assert [cycle.outcome for cycle in world.run()] == ["scheduled"]

    def test_both_sides_are_told(self):
        world = World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("high", 2, 100), graceful=True)
        [cycle] = world.run()
        mark = world.condition("Pod", "v", "DisruptionTarget")
        assert (mark["status"], mark["reason"]) == ("True", "PreemptionByScheduler")
        assert mark["message"] == sentences.preempting_for(
            "reprieve", "pod", "ns/high", 100, sentences.NO_ROOM
        )
        [event] = [event for event in world.events if event.reason == "Preempting"]
        assert event.note == sentences.preempting(["ns/v"])
        assert cycle.outcome == "preempts"

    def test_calls_that_fail_withdraw_the_nomination_and_queue_the_unit_again(self):
        world = holding_evictions(World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("high", 2, 100)))
        world.run()
        assert world.core.nominations.node("ns/high") == "n1"
        world.fail("503")
        assert world.core.nominations.node("ns/high") == ""
        assert world.state("Pod/ns/high") == "backoff"
        assert world.events[-1].reason == "PreemptionFailed"
        world.hold = lambda action: False
        world.wait(2)
        assert world.where("high") == ["n1"]

    def test_a_nomination_made_here_is_not_lost_to_an_older_state_from_the_api(self):
        world = holding_evictions(World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("high", 2, 100)))
        world.run()
        world.change("Pod", "high", metadata={"annotations": {"a": "b"}})
        assert world.core.nominations.node("ns/high") == "n1"

    def test_a_preemptor_that_vanishes_leaves_nothing_behind(self):
        world = holding_evictions(World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("high", 2, 100)))
        world.run()
        world.remove("Pod", "high")
        world.fail("404")
        assert len(world.core.queue) == 0
        assert len(world.core.preemptions) == 0


class TestRestart:
    """The API objects alone tell what must be finished."""

    def gang_under_eviction(self, marks, deleted=()):
        world = World(
            node("n1", 2),
            node("n2", 2),
            pod_group("low", 2, mode="all"),
            pod("low-1", 2, group="low", on="n1"),
            pod("low-2", 2, group="low", on="n2"),
            pod("high", 2, 100),
            graceful=True,
        )
        message = "reprieve: preempting to accommodate a higher priority pod ns/high (priority 100): x"
        for name in marks:
            world.mark_in_words(name, message)
        for name in deleted:
            world.change("Pod", name, metadata={"deletionTimestamp": "2026-01-01T00:00:30Z"})
        return world

    def test_a_gang_with_one_pod_going_is_finished(self):
        world = self.gang_under_eviction(["low-1", "low-2"], ["low-1"]).restart()
        assert world.evictions == ["low-2"]

    def test_a_gang_that_is_marked_whole_is_finished_even_if_the_first_pods_are_gone_and_nobody_waits(self):
        world = self.gang_under_eviction(["low-1", "low-2"])
        world.remove("Pod", "low-1")
        world.remove("Pod", "high")
        assert world.restart().evictions == ["low-2"]

    def test_a_gang_marked_in_part_is_spared_when_the_decision_does_not_stand(self):
        world = self.gang_under_eviction(["low-1"]).restart()
        assert world.evictions == []
        assert world.condition("Pod", "low-1", "DisruptionTarget")["status"] == "False"
        assert world.core.recover(world.now) == [], "a mark that was taken off is not known any more"

    def test_a_gang_marked_in_part_is_finished_when_its_preemptor_has_a_nomination(self):
        world = self.gang_under_eviction(["low-1"])
        world.change("Pod", "high", status={"nominatedNodeName": "n1"})
        fresh = world.restart()
        assert sorted(fresh.evictions) == ["low-1", "low-2"]
        fresh.end()
        fresh.run()
        assert all(fresh.where("high"))

    def test_the_new_scheduler_waits_for_victims_that_are_already_going(self):
        world = World(
            node("n1", 2),
            node("n2", 2),
            pod("v1", 2, 1, on="n1"),
            pod("v2", 2, 2, on="n2"),
            pod("high", 2, 100),
            graceful=True,
        )
        world.run()
        fresh = world.restart()
        assert [cycle.outcome for cycle in fresh.run()] == ["waits"]
        assert fresh.evictions == []
        fresh.end()
        fresh.run()
        assert fresh.where("high") == ["n1"]

    @pytest.mark.parametrize("crash", ["none", "after the deletion", "after the mark"])
    def test_what_helps_elsewhere_brings_back_who_waits_for_its_victims_after_its_pause(self, crash):
        """A new scheduler is as patient as the one that preempted."""
        world = World(
            node("n1", 2), node("n2", 2), pod("v", 2, 1, on="n1"), pod("other", 2, 200, on="n2"),
            pod("high", 2, 100), graceful=True,
        )  # fmt: skip
        world.hold = lambda action: crash == "after the mark" and isinstance(action, Preempt)
        world.run()
        if crash == "after the mark":
            [preempt] = (each for each in world.held if isinstance(each, Preempt))
            world.mark("v", *preempt.mark)
            world.change("Pod", "high", status={"nominatedNodeName": "n1"})
        if crash != "none":
            world = world.restart()
            world.run()
        assert world.evictions == ([] if crash == "after the deletion" else ["v"])
        world.now += 0.5
        world.remove("Pod", "other")
        assert world.run() == []
        world.wait(10)
        assert world.where("high") == ["n2"]

    @pytest.mark.parametrize("deleted", [True, False])
    def test_victims_that_two_units_count_on_are_waited_for_by_both(self, deleted):
        """A victim's mark names one preemptor. The other one, woken too early, took the place of a third."""
        world = World(
            node("n1", 4),
            node("n2", 4),
            pod("shared", 2, 1, on="n1"),
            pod("own", 2, 1, on="n1"),
            pod("third", 4, 5, on="n2"),
            pod("a", 2, 100),
            graceful=True,
        )
        world.run()
        world.add(pod("b", 2, 100))
        world.run()
        world.add(pod("mid", 3, 50))
        world.run()
        assert world.nominated("a", "b", "mid") == ["n1", "n1", "n2"]
        if not deleted:
            for name in ("shared", "own", "third"):
                world.change("Pod", name, metadata={"deletionTimestamp": None})
        fresh = world.restart()
        found = {name: fresh.core.preemptions.get(Reference("Pod", "ns", name)) for name in ("a", "b", "mid")}
        victims = {name: each.victims for name, each in found.items() if each is not None}
        assert sorted(victims["a"]) == sorted(victims["b"]) == ["ns/own", "ns/shared"]
        fresh.end("third")
        fresh.run()
        assert fresh.where("a", "b", "mid") == ["", "", "n2"]
        fresh.end()
        fresh.run()
        assert fresh.where("a", "b") == ["n1", "n1"]

    def test_marks_of_other_schedulers_are_not_ours_to_finish(self):
        world = World(node("n1"), pod("a", on="n1"))
        world.mark_in_words("a", "default-scheduler: preempting to accommodate a higher priority pod")
        assert world.restart().evictions == []


def test_with_asynchronous_preemption_a_second_unit_is_decided_while_the_first_waits():
    world = holding_evictions(
        World(
            node("n1", 2),
            node("n2", 2),
            pod("v1", 2, 1, on="n1"),
            pod("v2", 2, 2, on="n2"),
            pod("a", 2, 100),
            pod("b", 2, 90),
        )
    )
    assert [cycle.outcome for cycle in world.run()] == ["preempts", "preempts"]
    world.release()
    world.run()
    assert world.running() == ["a", "b"]
