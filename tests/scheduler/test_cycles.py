"""Single pods and groups find their places."""

from reprieve.objects import Reference
from reprieve.placement.sentences import filters
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Bind
from tests.builders import node
from tests.scheduler.world import World, pod, pod_group


def test_a_pod_that_fits_is_bound_and_says_so():
    world = World(node("n1"), pod("a"))
    [cycle] = world.run()
    assert cycle.outcome == "scheduled"
    assert world.where("a") == ["n1"]
    assert [(e.reason, e.note) for e in world.events] == [("Scheduled", sentences.assigned("ns/a", "n1"))]
    assert len(world.core.queue) == 0


def test_a_pod_of_another_scheduler_is_left_alone():
    world = World(node("n1"), pod("a", schedulerName="default-scheduler"))
    assert world.run() == []


def test_a_pod_without_room_says_why_and_is_woken_by_the_room_that_helps():
    world = World(node("n1", 2), pod("full", 2, on="n1", priority=10), pod("a", 2))
    [cycle] = world.run()
    assert cycle.outcome == "unschedulable"
    condition = world.condition("Pod", "a", "PodScheduled")
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert condition["message"].startswith(filters.every_node_objects(1, {filters.insufficient("cpu"): 1}))
    assert world.events[-1].reason == "FailedScheduling"
    assert world.state("Pod/ns/a") == "unschedulable"
    world.remove("Pod", "full")
    world.wait(1)
    assert world.where("a") == ["n1"]


def test_a_pod_bound_by_someone_else_leaves_the_queue():
    world = World(pod("a"), node("n1"))
    world.change("Pod", "a", spec={"nodeName": "n1"})
    assert world.run() == []
    assert len(world.core.queue) == 0


def test_a_pod_that_is_deleted_while_it_waits_leaves_the_queue():
    world = World(pod("a"))
    world.run()
    world.remove("Pod", "a")
    assert len(world.core.queue) == 0


def test_scheduling_gates_hold_a_pod_until_they_are_gone():
    world = World(node("n1"), pod("a", schedulingGates=[{"name": "example.com/wait"}]))
    assert world.run() == []
    gate = world.core.queue.units[Reference("Pod", "ns", "a")].gate
    assert gate == sentences.has_scheduling_gates("ns/a", ["example.com/wait"])
    world.change("Pod", "a", spec={"schedulingGates": []})
    world.run()
    assert world.where("a") == ["n1"]


def test_a_gang_waits_for_its_object_and_for_enough_pods_and_is_then_bound_as_one():
    world = World(node("n1"), node("n2"), pod("a", group="g"), pod("b", group="g"))
    assert world.run() == []
    unit = Reference("PodGroup", "ns", "g")
    assert world.core.queue.units[unit].gate == sentences.waits_for_group("ns/g")
    world.add(pod_group("g", 3))
    assert world.run() == []
    assert world.core.queue.units[unit].gate == sentences.waits_for_pods(2, 3)
    world.add(pod("c", group="g"))
    [cycle] = world.run()
    assert cycle.pods == 3
    assert all(world.where("a", "b", "c"))
    assert world.condition("PodGroup", "g", "PodGroupInitiallyScheduled")["status"] == "True"


def test_a_gang_that_does_not_fit_whole_has_not_one_pod_bound():
    world = World(node("n1", 2), pod_group("g", 3), *(pod(name, group="g") for name in "abc"))
    [cycle] = world.run()
    assert cycle.outcome == "unschedulable"
    assert world.running() == []
    condition = world.condition("PodGroup", "g", "PodGroupInitiallyScheduled")
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert all(world.condition("Pod", name, "PodScheduled")["status"] == "False" for name in "abc")


def test_a_basic_group_places_what_fits_and_the_rest_follows():
    world = World(node("n1", 2), pod_group("g", None), *(pod(name, group="g") for name in "abc"))
    world.run()
    assert len(world.running()) == 2
    world.add(node("n2", 2))
    world.wait(5)
    assert len(world.running()) == 3


def test_pods_added_to_a_running_group_are_scheduled_too():
    world = World(node("n1"), pod_group("g", 2), pod("a", group="g"), pod("b", group="g"))
    world.run()
    world.add(pod("c", group="g"))
    world.run()
    assert world.where("c") == ["n1"]


def test_a_lower_min_count_lets_a_waiting_gang_in():
    world = World(node("n1", 2), pod_group("g", 3), *(pod(name, group="g") for name in "abc"))
    world.run()
    world.change("PodGroup", "g", spec={"schedulingPolicy": {"gang": {"minCount": 2}}})
    world.wait(20)
    assert len(world.running()) == 2


def test_a_higher_min_count_gates_a_gang_that_waits():
    world = World(pod_group("g", 2), pod("a", group="g"), pod("b", group="g"))
    world.run()
    world.change("PodGroup", "g", spec={"schedulingPolicy": {"gang": {"minCount": 5}}})
    assert world.state("PodGroup/ns/g") == "gated"


def test_a_label_joins_a_pod_to_its_group_where_pods_have_no_such_field():
    documents = [pod(name) for name in "ab"]
    for document in documents:
        document["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "g"}
    world = World(node("n1", 1), pod_group("g", 2), *documents)
    world.run()
    assert world.running() == []
    world.add(node("n2", 1))
    world.wait(20)
    assert world.running() == ["a", "b"]


def test_with_groups_turned_off_every_pod_stands_for_itself():
    config = {"featureGates": {"GenericWorkload": False}}
    world = World(node("n1", 1), pod_group("g", 2), pod("a", group="g"), pod("b", group="g"), config=config)
    world.run()
    assert len(world.running()) == 1


def test_pods_that_do_not_match_their_group_are_named_and_nothing_is_scheduled():
    odd = pod("odd", group="g", priority=7)
    stranger = pod("stranger", group="g", schedulerName="default-scheduler")
    world = World(node("n1"), pod_group("g", 2), pod("a", group="g"), odd, stranger)
    [cycle] = world.run()
    assert cycle.outcome == "error"
    assert world.running() == []
    condition = world.condition("PodGroup", "g", "PodsNotMatchingPriority")
    assert condition["status"] == "True"
    assert condition["message"] == sentences.group_mismatch(
        "reprieve", ["ns/stranger"], 0, ["ns/odd"], ruled=True
    )
    assert world.condition("PodGroup", "g", "PodGroupInitiallyScheduled")["reason"] == "SchedulerError"
    world.remove("Pod", "odd")
    world.remove("Pod", "stranger")
    world.add(pod("b", group="g"))
    world.wait(20)
    assert world.running() == ["a", "b"]
    assert world.condition("PodGroup", "g", "PodsNotMatchingPriority")["status"] == "False"


def test_a_failed_binding_gives_the_room_back_and_is_tried_again_later():
    world = World(node("n1", 1), pod("a"))
    world.hold = lambda action: type(action).__name__ == "Bind"
    world.run()
    world.fail("conflict")
    assert world.state("Pod/ns/a") == "backoff"
    assert world.events[-1].note == sentences.binding_failed("n1", "conflict")
    world.hold = lambda action: False
    world.wait(2)
    assert world.where("a") == ["n1"]


def test_pods_being_bound_take_their_room_at_once():
    world = World(node("n1", 1), pod("a"), pod("b"))
    world.hold = lambda action: type(action).__name__ == "Bind"
    outcomes = sorted(cycle.outcome for cycle in world.run())
    assert outcomes == ["scheduled", "unschedulable"]


def test_a_gang_that_runs_only_in_part_is_finished_before_anything_else():
    """What a crash between two bindings leaves behind."""
    world = World(node("n1", 3), pod_group("g", 3, 5), *(pod(n, group="g", priority=5) for n in "abc"))
    world.change("Pod", "a", spec={"nodeName": "n1"})
    world.add(pod("rival", 2, 5))
    world.documents["Pod", "rival"]["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
    fresh = world.restart()
    fresh.run()
    assert fresh.running() == ["a", "b", "c"]


def test_a_pod_that_is_bound_is_not_tried_again_before_the_watch_shows_it():
    world = World(node("n1"), pod("a"))
    world.hold = lambda action: type(action).__name__ == "Bind"
    world.run()
    [bind] = world.held
    assert isinstance(bind, Bind)
    world.core.bound(bind, None, world.now)
    world.change("Pod", "a", metadata={"annotations": {"x": "y"}})
    assert world.run() == []
    world.change("Pod", "a", spec={"nodeName": "n1"})
    assert len(world.core.queue) == 0


def test_a_pod_being_bound_keeps_its_room_however_often_it_changes_meanwhile():
    world = World(node("n1", 1), pod("a"))
    world.hold = lambda action: type(action).__name__ == "Bind"
    world.run()
    for text in ("one", "two", "three"):
        world.change("Pod", "a", metadata={"annotations": {"x": text}})
    world.add(pod("b"))
    assert [cycle.outcome for cycle in world.run()] == ["unschedulable"]
