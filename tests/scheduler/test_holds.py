"""Pods that belong to a queue: who is held, until when, and with which words."""

from typing import Any

import pytest

from reprieve.objects import Reference
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Bind
from tests.builders import Document, job, node, views, workload
from tests.scheduler.world import World, pod, pod_group

QUEUE = "kueue.x-k8s.io/queue-name"
JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job-uid", "controller": True}
ADMITTED = ("QuotaReserved", "Admitted")


def a_job(queue: str = "main", uid: str = "job-uid", **options: Any) -> Document:
    return job("j", queue=queue, namespace="ns", metadata={"uid": uid, **options})


def pod_of_job(name: str = "j-0", **options: Any) -> Document:
    return pod(name, metadata={"ownerReferences": [JOB]}, **options)


def a_workload(*conditions: str, count: int = 1, owner: str = "job-uid", **status: Any) -> Document:
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": owner}
    told = [{"type": each, "status": "True", "reason": "", "message": ""} for each in conditions]
    admission = {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "count": count}]}
    given = {"conditions": told, "admission": admission, **status}
    metadata = {"uid": "workload-uid", "ownerReferences": [reference]}
    return workload("w", count=count, namespace="ns", metadata=metadata, status=given)


def a_world(*documents: Document, config: Document | None = None) -> World:
    """With room for everybody, and quota."""
    world = World(node("n1", 16), config=config)
    world.core.count_quota((), world.now)
    world.add(*documents)
    return world


def why(world: World, name: str) -> str:
    world.wait(2)
    condition = world.condition("Pod", name, "PodScheduled")
    assert condition["reason"] == "WaitingForQuota"
    return str(condition["message"])


def test_a_pod_whose_job_has_not_been_seen_waits_for_it() -> None:
    world = a_world(pod_of_job())
    assert why(world, "j-0") == sentences.job_not_seen("ns/j")
    world.add(a_job(queue=""))
    world.run()
    assert world.where("j-0") == ["n1"]


NO_WORKLOAD = sentences.owner_without_workload("Job ns/j", "main")
NOT_ADMITTED = sentences.workload_not_admitted("Job ns/j", "main", "ns/w")


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ([], NO_WORKLOAD),
        ([a_workload()], NOT_ADMITTED),
        ([a_workload(*ADMITTED, "Evicted")], NOT_ADMITTED),
        ([a_workload(*ADMITTED, clusterName="worker")], NOT_ADMITTED),
        ([a_workload(*ADMITTED, owner="somebody-else")], NO_WORKLOAD),
    ],
    ids=["no workload", "waiting", "evicted", "in another cluster", "another's workload"],
)
def test_a_pod_of_a_job_in_a_queue_is_held_until_its_workload_is_admitted(
    found: list[Document], text: str
) -> None:
    world = a_world(a_job(), *found, pod_of_job())
    assert why(world, "j-0") == text
    world.add(a_workload(*ADMITTED))
    world.run()
    assert world.where("j-0") == ["n1"]


def test_it_preempts_nobody_while_it_is_held() -> None:
    world = a_world(a_job(), pod("low", 16, on="n1"), pod_of_job(cpu=16, priority=10))
    world.wait(60)
    assert world.evictions == []
    world.add(a_workload(*ADMITTED))
    world.run()
    assert world.evictions == ["low"]


def test_no_more_pods_of_a_job_are_placed_than_got_quota() -> None:
    world = a_world(a_job(), a_workload(*ADMITTED, count=2), *(pod_of_job(f"j-{i}") for i in range(4)))
    world.run()
    assert world.where("j-0", "j-1", "j-2", "j-3") == ["n1", "n1", "", ""]
    assert why(world, "j-2") == sentences.more_pods_than_admitted("Job ns/j", 2)
    world.remove("Pod", "j-0")
    world.run()
    assert world.where("j-1", "j-2", "j-3") == ["n1", "n1", ""]


def test_a_failed_binding_gives_its_quota_to_nobody_else() -> None:
    world = a_world(a_job(), a_workload(*ADMITTED), pod_of_job("j-0"))
    world.hold = lambda action: type(action).__name__ == "Bind"
    world.run()
    world.add(pod_of_job("j-1"))
    world.hold = lambda action: False
    world.fail("503")
    world.wait(60)
    assert world.where("j-0", "j-1") == ["n1", ""]


def test_a_gang_in_a_queue_is_placed_when_each_of_its_pods_has_quota() -> None:
    gang = pod_group("g", 2, labels={QUEUE: "main"}, metadata={"uid": "group-uid"})
    world = a_world(gang, pod("g-0", group="g"), pod("g-1", group="g"))
    assert why(world, "g-0") == sentences.owner_without_workload("PodGroup ns/g", "main")
    world.add(a_workload(*ADMITTED, count=2, owner="group-uid"))
    assert why(world, "g-1") == sentences.pod_got_no_quota("PodGroup ns/g")
    for name in ("g-0", "g-1"):
        assert world.where(name) == [""]
        world.change("Pod", name, metadata={"annotations": {"reprieve.dev/quota-given": "workload-uid"}})
    world.run()
    assert world.where("g-0", "g-1") == ["n1", "n1"]


def given(uid: str = "workload-uid", **labels: str) -> dict[str, Any]:
    """Metadata that only the quota controller should write, and whoever makes pods can."""
    return {"annotations": {"reprieve.dev/quota-given": uid}, **({"labels": labels} if labels else {})}


def test_pods_that_say_they_got_quota_get_no_more_than_was_given() -> None:
    gang = pod_group("g", 1, labels={QUEUE: "main"}, metadata={"uid": "group-uid"})
    pods = [pod(f"g-{number}", group="g", metadata=given()) for number in range(4)]
    world = a_world(gang, a_workload(*ADMITTED, count=2, owner="group-uid"), *pods)
    world.run()
    assert world.where("g-0", "g-1", "g-2", "g-3") == ["", "", "", ""]
    assert why(world, "g-2") == sentences.too_many_claim_quota("ns/w", 2)
    world.remove("Pod", "g-0")
    world.remove("Pod", "g-3")
    world.run()
    assert world.where("g-1", "g-2") == ["n1", "n1"]


@pytest.mark.parametrize("uid", ["workload-uid", "job-uid", "elsewhere"])
def test_nobody_gets_quota_by_naming_what_others_got(uid: str) -> None:
    """The Workload of a Job, the Job itself, a Workload in another namespace."""
    other = a_workload(*ADMITTED, owner="another")
    other["metadata"] |= {"uid": "elsewhere", "namespace": "theirs"}
    thief = pod("thief", metadata=given(uid, **{QUEUE: "main"}))
    world = a_world(a_job(), a_workload(*ADMITTED), other, pod_of_job("j-0"), thief)
    world.run()
    assert world.where("j-0", "thief") == ["n1", ""]
    assert why(world, "thief") == sentences.pod_without_workload("main")


def test_a_pod_that_names_a_queue_by_itself_is_told_where_the_label_belongs() -> None:
    lone = pod("lone", labels={QUEUE: "main"})
    world = a_world(lone)
    assert why(world, "lone") == sentences.pod_without_workload("main")


def test_where_all_jobs_need_a_queue_only_some_are_free() -> None:
    config = {"quota": {"manageJobsWithoutQueueName": True}}
    world = a_world(a_job(queue=""), pod_of_job(), config=config)
    assert why(world, "j-0") == sentences.job_names_no_queue("ns/j")
    owner = {
        "apiVersion": "jobset.x-k8s.io/v1",
        "kind": "JobSet",
        "name": "s",
        "uid": "s",
        "controller": True,
    }
    world.add(a_job(queue="", ownerReferences=[owner]))
    world.run()
    assert world.where("j-0") == ["n1"]


def test_where_there_is_no_quota_the_label_has_no_effect_and_an_event_says_so() -> None:
    lone = pod("lone", labels={QUEUE: "main"})
    world = World(node("n1", 16), lone)
    world.run()
    assert world.where("lone") == ["n1"]
    [event] = [each for each in world.events if each.reason == "QueueIgnored"]
    assert event.regarding.name == "lone"
    assert event.note == sentences.QUEUE_IGNORED


def test_pods_that_were_there_before_there_was_quota_are_held_from_then_on() -> None:
    world = World(node("n1", 1), pod("full", on="n1", priority=5), pod_of_job())
    world.run()
    assert world.state("Pod/ns/j-0") == "unschedulable"
    world.add(a_job())
    world.core.count_quota((), world.now)
    assert world.state("Pod/ns/j-0") == "gated"
    world.remove("Pod", "full")
    world.run()
    assert world.where("j-0") == [""]


def test_an_eviction_of_its_workload_takes_a_waiting_preemptor_its_nomination() -> None:
    world = a_world(a_job(), a_workload(*ADMITTED), pod("low", 16, on="n1"), pod_of_job(cpu=16, priority=10))
    world.graceful = True
    world.run()
    assert world.nominated("j-0") == ["n1"]
    world.add(a_workload(*ADMITTED, "Evicted"))
    world.perform(world.core.recover(world.now))
    assert world.nominated("j-0") == [""]
    assert world.core.queue.units[Reference("Pod", "ns", "j-0")].state.value == "gated"


def test_a_group_that_was_there_before_quota_is_counted_is_placed_when_it_leaves_its_queue() -> None:
    gang = pod_group("g", 2, labels={QUEUE: "main"}, metadata={"uid": "group-uid"})
    world = World(node("n1", 16), gang, *(pod(each, group="g") for each in "ab"))
    world.core.count_quota(views(*(world.documents["Pod", name] for name in "ab")), world.now)
    world.run()
    assert world.running() == []
    world.change("PodGroup", "g", metadata={"labels": {}})
    world.run()
    assert world.running() == ["a", "b"]


def test_after_a_binding_that_failed_the_turn_may_be_anothers() -> None:
    world = a_world(a_job(), a_workload(*ADMITTED), pod_of_job("j-0"), pod_of_job("j-1"))
    world.hold = lambda action: isinstance(action, Bind)
    world.run()
    world.hold = lambda action: False
    world.fail("404 node not found")
    world.wait(30)
    assert len(world.running()) == 1


def test_after_a_binding_that_failed_a_pod_whose_quota_another_has_meanwhile_waits() -> None:
    world = a_world(a_job(), a_workload(*ADMITTED, count=2), pod_of_job("j-0"), pod_of_job("j-1"))
    world.hold = lambda action: isinstance(action, Bind)
    world.run()
    world.hold = lambda action: False
    first, second = world.held
    world.add(a_workload(*ADMITTED, count=1))
    world.held = [second]
    world.release()
    world.held = [first]
    world.fail("404 node not found")
    world.wait(30)
    assert world.running() == ["j-1"]
