"""On the embedded server over HTTP: the four preemptor and victim cases, storms, several gangs at once."""

import json

import pytest

from reprieve.kube import JOBS
from reprieve.scheduler import sentences
from tests.builders import node
from tests.scheduler.live import NODES, POD_GROUPS, PODS, cluster, pod, pod_group, scheduling


@pytest.mark.parametrize("preemptor", ["pod", "gang"])
@pytest.mark.parametrize("victim", ["pods", "gang"])
@pytest.mark.parametrize("asynchronous", [True, False], ids=["async", "sync"])
async def test_a_preemptor_gets_its_place_from_less_important_victims(preemptor, victim, asynchronous):
    config = {"featureGates": {"SchedulerAsyncPreemption": asynchronous}}
    async with cluster(2, 2) as live, scheduling(live, config) as scheduler:
        if victim == "gang":
            await live.create(POD_GROUPS, pod_group("v", 2, mode="all"))
        await live.create(PODS, *(pod(f"v{i}", "2", group="v" if victim == "gang" else "") for i in range(2)))
        await live.until(lambda: len(live.bound("v")) == 2)
        if preemptor == "gang":
            await live.create(POD_GROUPS, pod_group("p", 1, "high"))
        await live.create(PODS, pod("p0", "2", "high", group="p" if preemptor == "gang" else ""))
        await live.until(lambda: live.bound("p") == ["p0"])
        assert len(live.bound("v")) == (0 if victim == "gang" else 1)
        assert live.overcommitted() == {}
        [decision] = list(scheduler.shell.records.find(outcome="preempts"))
        assert len(decision.victims) == (2 if victim == "gang" else 1)


async def test_conditions_events_and_nominations_tell_both_sides():
    async with cluster(1, 2, grace=0.5) as live, scheduling(live):
        await live.create(PODS, pod("victim", "2"))
        await live.until(lambda: live.bound() == ["victim"])
        await live.create(PODS, pod("boss", "2", "high"))
        await live.until(lambda: any(p["status"].get("nominatedNodeName") == "n000" for p in live.pods))
        await live.until(lambda: any(p["metadata"].get("deletionTimestamp") for p in live.pods))
        documents = {p["metadata"]["name"]: p for p in live.pods}
        mark = next(c for c in documents["victim"]["status"]["conditions"] if c["type"] == "DisruptionTarget")
        assert (mark["status"], mark["reason"]) == ("True", "PreemptionByScheduler")
        assert mark["message"] == sentences.preempting_for(
            "reprieve", "pod", "ns/boss", 100, sentences.NO_ROOM
        )
        data = json.loads(documents["victim"]["metadata"]["annotations"]["reprieve.dev/evicted-for"])
        boss = documents["boss"]["metadata"]["uid"]
        assert data == {"scheduler": "reprieve", "for": "Pod/ns/boss", "uid": boss}
        waiting = next(c for c in documents["boss"]["status"]["conditions"] if c["type"] == "PodScheduled")
        assert (waiting["status"], waiting["reason"]) == ("False", "Unschedulable")
        await live.until(lambda: live.bound() == ["boss"])
        documents = {p["metadata"]["name"]: p for p in live.pods}
        done = next(c for c in documents["boss"]["status"]["conditions"] if c["type"] == "PodScheduled")
        assert done["status"] == "True"


async def test_a_gang_of_a_hundred_evicts_a_thousand_pods_on_a_hundred_nodes():
    async with cluster(100, 10) as live, scheduling(live):
        await live.create(PODS, *(pod(f"low-{i:04}") for i in range(1000)))
        await live.until(lambda: len(live.bound("low")) == 1000, 60)
        await live.create(POD_GROUPS, pod_group("big", 100, "high"))
        await live.create(PODS, *(pod(f"big-{i:03}", "10", "high", group="big") for i in range(100)))
        await live.until(lambda: len(live.bound("big")) == 100, 60)
        assert live.bound("low") == []
        assert live.overcommitted() == {}


async def test_ten_gangs_at_once_all_find_their_places():
    async with cluster(20, 10) as live, scheduling(live) as scheduler:
        await live.create(PODS, *(pod(f"low-{i:03}") for i in range(200)))
        await live.until(lambda: len(live.bound("low")) == 200)
        await live.create(POD_GROUPS, *(pod_group(f"g{n}", 10, "high", mode="all") for n in range(10)))
        await live.create(
            PODS,
            *(pod(f"g{n}-{i}", "2", "high", group=f"g{n}") for n in range(10) for i in range(10)),
        )
        await live.until(lambda: len(live.bound("g")) == 100, 60)
        assert live.overcommitted() == {}
        assert live.bound("low") == []
        preempting = [d.for_ for d in scheduler.shell.records.find(outcome="preempts")]
        assert len(preempting) == len(set(preempting)), "nobody preempts twice"


async def test_no_victim_is_touched_for_a_gang_that_cannot_fit():
    async with cluster(2, 2) as live, scheduling(live) as scheduler:
        await live.create(PODS, pod("v0", "2"), pod("v1", "2", "high"))
        await live.until(lambda: len(live.bound("v")) == 2)
        await live.create(POD_GROUPS, pod_group("p", 2, "mid"))
        await live.create(PODS, pod("p0", "2", "mid", group="p"), pod("p1", "2", "mid", group="p"))
        await live.until(lambda: bool(list(scheduler.shell.records.find(for_="PodGroup/ns/p"))))
        await scheduler.shell.idle()
        assert len(live.bound("v")) == 2
        assert not any(p["status"].get("nominatedNodeName") for p in live.pods)


async def test_a_gang_left_half_placed_is_released_and_its_job_brings_it_back_whole():
    """Two of three pods were bound when a node went: with room for three elsewhere the gang must not hold two
    nodes for ever.
    """
    template = pod("unused", "2", group="g")["spec"] | {"restartPolicy": "Never"}
    job = {
        "metadata": {"name": "batch", "namespace": "ns"},
        "spec": {"parallelism": 3, "completions": 3, "backoffLimit": 10, "template": {"spec": template}},
    }
    async with cluster(2, 2) as live:
        await live.create(POD_GROUPS, pod_group("g", 3))
        await live.create(JOBS, job)
        await live.until(lambda: len(live.pods) == 3)
        for number, document in enumerate(live.pods[:2]):
            metadata = document["metadata"]
            await live.client.bind("ns", metadata["name"], metadata["uid"], f"n{number:03}")
        first = set(live.bound())
        config = {"scheduler": {"incompleteGangTimeout": "1s"}}
        async with scheduling(live, config) as scheduler:
            await live.until(lambda: bool(list(scheduler.shell.records.find(outcome="released"))))
            await live.until(lambda: not live.bound())
            await live.until(lambda: len(live.pods) == 3)
            await live.create(NODES, node("n9", 2))
            await live.until(lambda: len(live.bound()) == 3)
            assert not first & set(live.bound())
            assert not list(scheduler.shell.records.find(outcome="preempts"))


async def test_victims_that_their_job_makes_anew_wait_and_run_again_when_there_is_room():
    template = pod("unused", "1")["spec"] | {"restartPolicy": "Never"}
    job = {
        "metadata": {"name": "batch", "namespace": "ns"},
        "spec": {"parallelism": 4, "completions": 4, "template": {"spec": template}},
    }
    async with cluster(2, 2) as live, scheduling(live) as scheduler:
        await live.create(JOBS, job)
        await live.until(lambda: len(live.bound("batch")) == 4)
        await live.create(POD_GROUPS, pod_group("p", 2, "high"))
        await live.create(PODS, pod("p0", "1", "high", group="p"), pod("p1", "1", "high", group="p"))
        await live.until(lambda: len(live.bound("p")) == 2)
        waiting = lambda: [p for p in live.pods if not p["spec"].get("nodeName")]  # noqa: E731
        await live.until(lambda: len(waiting()) == 2)
        await scheduler.settled()
        assert scheduler.shell.records.preemptions == 1, "a victim that comes back preempts nobody"
        assert len(live.bound("batch")) == 2
        await live.client.delete(PODS, "p0", "ns")
        await live.until(lambda: len(live.bound("batch")) == 3)
        await live.client.patch(JOBS, "batch", {"spec": {"parallelism": 3}}, "ns")
        await live.until(lambda: not waiting() and len(live.bound("batch")) == 3)
        await live.until(lambda: len(scheduler.core.queue) == 0)
        assert live.overcommitted() == {}
