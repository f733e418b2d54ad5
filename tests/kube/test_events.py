"""Events reach people, and a flood of them does not reach the API server."""

import asyncio
from datetime import UTC, datetime

from reprieve.kube import Client, EventRecorder, MemoryTransport, ObjectReference
from reprieve.kube import events as module
from tests.kube.apiserver import ok, status
from tests.waiting import PATIENCE

POD = ObjectReference("v1", "Pod", "a", "ns", "uid-a")
GROUP = ObjectReference("scheduling.k8s.io/v1beta1", "PodGroup", "g", "ns", "uid-g")
NODE = ObjectReference("v1", "Node", "n1")


class Recorded:
    def __init__(self, answer=None):
        self.clock = 0.0
        self.while_writing = lambda: None
        """Happens before the first count is written."""

        async def handler(request):
            if request.method == "PATCH":
                self.while_writing()
                self.while_writing = lambda: None
                await asyncio.sleep(0)
            return answer or ok({})

        self.transport = MemoryTransport(handler)
        self.recorder = EventRecorder(
            Client(self.transport), "reprieve-scheduler", instance="me", clock=lambda: self.clock,
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        )  # fmt: skip

    async def written(self):
        task = asyncio.create_task(self.recorder.run())
        await asyncio.wait_for(self.recorder.drain(), PATIENCE)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return [(request.method, request.json()) for request in self.transport.requests]


async def test_an_event_names_both_sides():
    world = Recorded()
    world.recorder.record(POD, "Preempted", "Preempted by podgroup g", action="Preempting", related=GROUP)
    [(method, event)] = await world.written()
    assert method == "POST"
    assert event["metadata"]["namespace"] == "ns"
    assert event["involvedObject"]["uid"] == "uid-a"
    assert event["related"]["kind"] == "PodGroup"
    assert event["eventTime"] == "2026-01-01T00:00:00.000000Z"
    assert (event["reportingComponent"], event["reportingInstance"]) == ("reprieve-scheduler", "me")


async def test_an_event_has_the_time_that_people_sort_by():
    world = Recorded()
    world.recorder.record(POD, "FailedScheduling", "no room", action="Scheduling")
    world.recorder.record(POD, "FailedScheduling", "no room", action="Scheduling")
    [(_, event), (_, patch)] = await world.written()
    times = (event["firstTimestamp"], event["lastTimestamp"], event["count"])
    assert times == ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 1)
    assert (patch["lastTimestamp"], patch["count"]) == ("2026-01-01T00:00:00Z", 2)
    assert world.transport.requests[0].path == "/api/v1/namespaces/ns/events"


async def test_a_flood_becomes_one_event_with_a_count():
    world = Recorded()
    for _ in range(500):
        world.recorder.record(POD, "FailedScheduling", "no room", action="Scheduling", type="Warning")
    [(_, first), (method, patch)] = await world.written()
    assert "series" not in first
    assert method == "PATCH"
    assert patch["series"]["count"] == 500


async def test_the_same_thing_much_later_is_a_new_event():
    world = Recorded()
    world.recorder.record(POD, "FailedScheduling", "no room", action="Scheduling")
    world.clock = 400.0
    world.recorder.record(POD, "FailedScheduling", "no room", action="Scheduling")
    assert [method for method, _ in await world.written()] == ["POST", "POST"]


async def test_a_series_that_begins_anew_while_counts_are_written_lives_on():
    """The writing takes its time; what it found at its start may have ended, and begun again, meanwhile."""
    world = Recorded()

    def again():
        world.recorder.record(POD, "Again", "no room", action="Scheduling")

    for _ in range(2):
        world.recorder.record(GROUP, "Often", "no room", action="Scheduling")
    again()
    world.clock = 400.0
    world.while_writing = again
    await world.recorder.flush()
    again()
    written = await world.written()
    assert [event["reason"] for method, event in written if method == "POST"] == ["Often", "Again", "Again"]


async def test_two_may_write_counts_at_once():
    world = Recorded()
    for _ in range(2):
        world.recorder.record(GROUP, "Often", "no room", action="Scheduling")
    world.recorder.record(POD, "Once", "no room", action="Scheduling")
    world.clock = 400.0
    first, second = world.recorder.flush(), asyncio.create_task(world.recorder.flush())
    await asyncio.gather(first, second)
    world.clock = 800.0
    await world.recorder.flush()
    assert [method for method, _ in await world.written()] == ["PATCH", "POST", "POST"]


async def test_an_object_without_a_namespace_has_its_events_in_default():
    world = Recorded()
    world.recorder.record(NODE, "X", "y", action="Z")
    [(_, event)] = await world.written()
    assert event["metadata"]["namespace"] == "default"


async def test_a_refused_event_is_forgotten():
    world = Recorded(status(403, "Forbidden"))
    world.recorder.record(POD, "X", "y", action="Z")
    assert len(await world.written()) == 1


async def test_a_full_queue_drops_and_counts(monkeypatch):
    monkeypatch.setattr(module, "QUEUE_LIMIT", 2)
    world = Recorded()
    for n in range(5):
        world.recorder.record(ObjectReference("v1", "Pod", f"p{n}", "ns"), "X", "y", action="Z")
    assert world.recorder.dropped == 3


def test_a_long_note_is_cut_at_the_limit_of_the_api():
    cut = module.clip("ä" * 2000)
    assert len(cut.encode()) <= 1024
    assert cut.endswith(" ...")
