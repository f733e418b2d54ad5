"""Between the mark and the deletion of a victim its preemptor is gone, or this replica leads no more: then
nobody is evicted.
"""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import Client, Election, Fenced, LeaderElector, MemoryTransport, RateLimit
from reprieve.kube.http_transport import HttpTransport
from reprieve.kube.kubeconfig import load
from reprieve.objects import Reference
from tests.builders import node
from tests.kube.apiserver import ok
from tests.scheduler.live import PODS, cluster, pod
from tests.scheduler.world import World, pod_group
from tests.scheduler.world import pod as plain_pod
from tests.waiting import PATIENCE, eventually
from tests.wrapped import Wrapped


class HeldMarks(Wrapped):
    """A network that performs marks at once and holds their answers; it counts what is sent."""

    def __init__(self, inner):
        super().__init__(inner)
        self.marked = asyncio.Event()
        self.go_on = asyncio.Event()
        self.deletions = 0

    async def call(self, request):
        self.deletions += request.method == "DELETE"
        answer = await super().call(request)
        if request.method == "PATCH" and b"evicted-for" in request.body and not self.go_on.is_set():
            self.marked.set()
            await self.go_on.wait()
        return answer


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@asynccontextmanager
async def marking(live, fence=None):
    """A scheduler that has marked the pod `low` for the pod `boss`, and waits for the answer."""
    network = HeldMarks(HttpTransport(load(live.server.kubeconfig)))
    client = Client(network)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.close)
        scheduler = LiveScheduler(client.fenced(fence) if fence else client, Configuration.load(None))
        await stack.enter_async_context(scheduler.following())
        task = asyncio.create_task(scheduler.schedule())
        stack.push_async_callback(lambda: asyncio.gather(task, return_exceptions=True))
        stack.callback(task.cancel)
        await live.create(PODS, pod("low", "4"))
        await live.until(lambda: live.bound() == ["low"])
        await live.create(PODS, pod("boss", "4", "high"))
        await asyncio.wait_for(network.marked.wait(), PATIENCE)
        yield network, scheduler


async def test_a_preemptor_deleted_between_mark_and_deletion_evicts_nobody():
    async with cluster(1, 4) as live, marking(live) as (network, scheduler):
        await live.client.delete(PODS, "boss", "ns")
        boss = Reference("Pod", "ns", "boss")
        await eventually(lambda: boss not in scheduler.core.queue.units, "the scheduler has seen it")
        network.go_on.set()

        def reprieved():
            conditions = live.pods[0]["status"]["conditions"]
            return [c["reason"] for c in conditions if c["type"] == "DisruptionTarget"] == [
                "PreemptionWithdrawn"
            ]

        await eventually(reprieved, "the mark is taken off")
        assert network.deletions == 0
        assert live.bound() == ["low"]


async def test_a_leader_that_wakes_after_its_lease_ran_out_sends_nothing():
    clock = Clock()
    leases: dict[str, Any] = {}

    async def lease(request):
        if request.method == "GET":
            return ok(leases["it"]) if leases else ok({"kind": "Status"}, 404)
        leases["it"] = request.json()
        return ok(leases["it"])

    elector = LeaderElector(Client(MemoryTransport(lease)), Election("x", "ns", "me"), clock=clock)
    assert await elector._try()
    assert elector.may_write()
    async with cluster(1, 4) as live, marking(live, elector.may_write) as (network, _):
        clock.now += 10.0  # the process was paused; the renewal has not had its turn yet
        network.go_on.set()
        before = live.server.backend.store.revision
        for _ in range(20):
            await asyncio.sleep(0.05)
        assert network.deletions == 0
        assert live.server.backend.store.revision == before, "nothing was written at all"
        assert await elector._try()
        await live.until(lambda: live.bound() == ["boss"])


async def test_a_write_that_waited_for_the_rate_limit_is_not_sent_when_the_lease_is_gone_meanwhile():
    sent, leads = [], [True]

    async def server(request):
        sent.append(request.method)
        return ok({})

    async def sleep(_):
        leads[0] = False

    limit = RateLimit(1, 1, sleep=sleep)
    client = Client(MemoryTransport(server), rate_limit=limit).fenced(lambda: leads[0])
    await client.delete(PODS, "a", "ns")
    with pytest.raises(Fenced):
        await client.delete(PODS, "b", "ns")
    await client.get(PODS, "c", "ns")
    assert sent == ["DELETE", "GET"]


class TestStillEvicts:
    """What the core says when it is asked again."""

    def world(self, **group):
        world = World(
            *(node(f"n{i}", 2) for i in (1, 2)),
            pod_group("low", 2, **group),
            plain_pod("v1", 2, group="low", on="n1"),
            plain_pod("v2", 2, group="low", on="n2"),
            plain_pod("boss", 2, 100),
            graceful=True,
        )
        world.hold = lambda action: type(action).__name__ == "Preempt"
        world.run()
        return world

    def victims(self, world):
        [preempt] = world.held
        return [each.pod for each in preempt.victims]

    def test_while_its_preemptor_waits_a_victim_is_to_be_deleted(self):
        world = self.world(mode="single")
        assert all(world.core.still_evicts(victim) for victim in self.victims(world))

    def test_when_its_preemptor_is_gone_it_is_not(self):
        world = self.world(mode="single")
        world.remove("Pod", "boss")
        assert not any(world.core.still_evicts(victim) for victim in self.victims(world))

    def test_a_group_that_goes_whole_is_deleted_whole_once_it_was_begun(self):
        world = self.world(mode="all")
        first, second = self.victims(world)
        assert world.core.still_evicts(first)
        world.remove("Pod", "boss")
        assert world.core.still_evicts(second)

    def test_a_group_that_goes_whole_stays_whole_when_it_was_not_begun(self):
        world = self.world(mode="all")
        world.remove("Pod", "boss")
        assert not any(world.core.still_evicts(victim) for victim in self.victims(world))
