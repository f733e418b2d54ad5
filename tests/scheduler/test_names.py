"""One scheduler, several names: pods that name any of them are its own, and it speaks to each in the name it
was called by.
"""

from reprieve.cli.run import configuration
from reprieve.kube import EVENTS
from reprieve.scheduler import sentences
from tests.builders import node
from tests.scheduler.live import PODS, cluster, pod, scheduling
from tests.scheduler.world import World, pod_group
from tests.scheduler.world import pod as small

TWO = {"scheduler": {"otherSchedulerNames": ["default-scheduler"]}}


def called(name: str, scheduler: str, cls: str = "low") -> dict:
    document = pod(name, "2", cls)
    document["spec"]["schedulerName"] = scheduler
    return document


async def test_pods_of_every_name_are_scheduled_and_events_come_in_the_name_of_the_preemptors_scheduler():
    async with cluster(2, 2) as live, scheduling(live, TWO) as scheduler:
        await live.create(
            PODS, called("a", "reprieve"), called("b", "default-scheduler"), called("c", "other")
        )
        await live.until(lambda: live.bound() == ["a", "b"])
        await live.create(PODS, called("boss", "default-scheduler", "high"))
        await live.until(lambda: "boss" in live.bound())
        await scheduler.settled()
        events = live.server.api.select(EVENTS.plural)
        told = {
            (each["involvedObject"]["name"], each["reason"]): each["reportingComponent"] for each in events
        }
        [victim] = {"a", "b"} - set(live.bound())
        assert told["a", "Scheduled"] == "reprieve"
        assert told["b", "Scheduled"] == told["boss", "Scheduled"] == "default-scheduler"
        assert told[victim, "Preempted"] == "default-scheduler"


def test_a_gang_may_have_any_of_the_names_but_only_one():
    pods = [small(f"g-{i}", group="g", schedulerName="default-scheduler") for i in (0, 1)]
    world = World(node("n1"), pod_group("g", 2), *pods, config=TWO)
    world.run()
    assert world.running() == ["g-0", "g-1"]
    mixed = World(node("n1"), pod_group("g", 2), pods[0], small("other", group="g"), config=TWO)
    [cycle] = mixed.run()
    assert cycle.outcome == "error"
    said = sentences.group_mismatch("default-scheduler", ["ns/other"], 0, [], ruled=True)
    assert said in cycle.reasons[0]


def test_marks_made_under_any_of_the_names_are_ours_to_finish():
    world = World(node("n1"), small("v", on="n1"), small("high", 4, 100), config=TWO)
    world.mark_in_words(
        "v", "default-scheduler: preempting to accommodate a higher priority pod ns/high (priority 100)"
    )
    world.change("Pod", "high", status={"nominatedNodeName": "n1"})
    world.perform(world.core.recover(world.now))
    assert world.evictions == ["v"]


def test_the_command_line_names_all_of_them_and_the_first_is_our_own():
    given = configuration(None, ("a", "b"), None, None).scheduler
    assert (given.scheduler_name, given.other_scheduler_names) == ("a", ("b",))
    default = configuration(None, (), None, None).scheduler
    assert (default.scheduler_name, default.other_scheduler_names) == ("reprieve", ())
