"""The tests that KEP-5710 and KEP-4832 ask for, by the names they have on the core, against a server over
HTTP.

With the gate SchedulerAsyncPreemption on, other pods are decided on while evictions are under way; with it
off they wait. What comes out is the same.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import Client, kubeconfig
from reprieve.kube.http_transport import HttpTransport
from tests.builders import node, priority_class
from tests.scheduler.held import Held
from tests.scheduler.live import (
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    Live,
    cluster,
    pod,
    pod_group,
    scheduling,
)

pytestmark = pytest.mark.parametrize("gate", [True, False], ids=["async", "sync"])


def config(gate: bool) -> dict:
    return {"featureGates": {"SchedulerAsyncPreemption": gate}}


def where(live: Live, *names: str) -> list[str]:
    nodes = {each["metadata"]["name"]: each["spec"].get("nodeName", "") for each in live.pods}
    return [nodes[name] for name in names]


class TestKep5710Integration:
    """Two pods of one group, each filling a node, make way for something more important."""

    async def evicted(self, gate: bool, whole: bool, *preemptors: dict, gang: int = 0) -> list[str]:
        async with cluster(2, 2) as live, scheduling(live, config(gate)):
            await live.create(POD_GROUPS, pod_group("low", 2, mode="all" if whole else "single"))
            await live.create(PODS, *(pod(f"low-{i}", "2", group="low") for i in (1, 2)))
            await live.until(lambda: len(live.bound("low")) == 2)
            if gang:
                await live.create(POD_GROUPS, pod_group("high", gang, "high"))
            await live.create(PODS, *preemptors)
            await live.until(lambda: len(live.bound("high")) == len(preemptors))
            assert live.overcommitted() == {}
            return sorted({"low-1", "low-2"} - set(live.bound("low")))

    async def test_pods_of_a_group_in_mode_pod_are_preempted_individually_by_a_higher_priority_pod_group(
        self, gate
    ):
        gone = await self.evicted(gate, False, pod("high-1", "2", "high", group="high"), gang=1)
        assert len(gone) == 1

    async def test_pods_of_a_group_in_mode_pod_group_are_preempted_together_by_a_higher_priority_pod_group(
        self, gate
    ):
        gone = await self.evicted(gate, True, pod("high-1", "2", "high", group="high"), gang=1)
        assert gone == ["low-1", "low-2"]

    async def test_pods_of_a_group_in_mode_pod_are_preempted_individually_by_a_higher_priority_pod(
        self, gate
    ):
        assert len(await self.evicted(gate, False, pod("high", "2", "high"))) == 1

    async def test_pods_of_a_group_in_mode_pod_group_are_preempted_together_by_a_higher_priority_pod(
        self, gate
    ):
        assert await self.evicted(gate, True, pod("high", "2", "high")) == ["low-1", "low-2"]

    async def test_preemption_of_a_whole_pod_group_in_pod_group_mode(self, gate):
        preemptors = [pod(f"high-{i}", "2", "high", group="high") for i in (1, 2)]
        assert await self.evicted(gate, True, *preemptors, gang=2) == ["low-1", "low-2"]


class Race:
    """pod1 is being made room for on node1: its victims' deletions wait."""

    def __init__(self, live: Live, network: Held, scheduler: LiveScheduler) -> None:
        self.live = live
        self.network = network
        self.records = scheduler.shell.records

    async def next_cycle_is_for_pod2(self, gate: bool) -> None:
        """Decided on while the deletions wait, or, with the gate off, once they have ended."""
        if gate:
            await self.live.until(lambda: bool(list(self.records.find(for_="Pod/ns/pod2"))))
        self.network.open()
        await self.live.until(lambda: bool(list(self.records.find(for_="Pod/ns/pod2"))))
        [*_, first] = self.records.find(for_="Pod/ns/pod2")
        assert self.network.opened is not None
        assert (first.time < self.network.opened) == gate


@asynccontextmanager
async def race(gate: bool, *victims: dict, cpu: int = 2, answers: bool = False) -> AsyncIterator[Race]:
    async with cluster(0) as live:
        network = Held(HttpTransport(kubeconfig.load(live.server.kubeconfig)), answers=answers)
        await live.create(PRIORITY_CLASSES, *(priority_class(f"p{value}", value) for value in (1, 2)))
        await live.create(NODES, node("node1", cpu))
        async with scheduling(live, config(gate), Client(network)) as scheduler:
            await live.create(PODS, *victims)
            await live.until(lambda: len(live.bound("victim")) == len(victims))
            await live.create(PODS, pod("pod1", "2", "mid"))
            await live.until(network.arrived.is_set)
            yield Race(live, network, scheduler)


class TestKep4832Races:
    """pod1 is being made room for on node1; the next cycle is pod2's. One test for each scenario of
    KEP-4832.
    """

    @pytest.mark.parametrize("cls", ["mid", "low"])
    async def test_pod2_scheduling_is_successful_equal_or_lower_priority(self, gate, cls):
        async with race(gate, pod("victim", "2", "p1")) as racing:
            live = racing.live
            await live.create(NODES, node("node2", 2))
            await live.create(PODS, pod("pod2", "2", cls))
            await racing.next_cycle_is_for_pod2(gate)
            await live.create(PODS, pod("pod3", "2", cls))
            await live.until(lambda: len(live.bound("pod")) == 2)
            assert where(live, "pod1", "pod2", "pod3") == ["node1", "node2", ""]

    async def test_pod2_scheduling_is_successful_higher_priority(self, gate):
        async with race(gate, pod("victim", "2", "p1"), answers=True) as racing:
            live = racing.live
            await live.until(lambda: live.bound("victim") == [] and len(live.pods) == 1)
            await live.create(PODS, pod("pod2", "2", "high"))
            await racing.next_cycle_is_for_pod2(gate)
            await live.until(lambda: where(live, "pod2", "pod1") == ["node1", ""])
            await live.until(lambda: not any(each["status"].get("nominatedNodeName") for each in live.pods))

    @pytest.mark.parametrize("cls", ["mid", "low"])
    async def test_pod2_scheduling_fails_and_starts_preemption_equal_or_lower_priority(self, gate, cls):
        victims = pod("victim1", "2", "p1"), pod("victim2", "2", "p2")
        async with race(gate, *victims, cpu=4) as racing:
            await racing.live.create(PODS, pod("pod2", "2", cls))
            await racing.next_cycle_is_for_pod2(gate)
            await racing.live.until(lambda: racing.live.bound() == ["pod1", "pod2"])
            assert racing.live.overcommitted() == {}

    async def test_pod2_scheduling_fails_and_starts_preemption_higher_priority(self, gate):
        async with race(gate, pod("victim", "2", "p1")) as racing:
            await racing.live.create(PODS, pod("pod2", "2", "high"))
            await racing.next_cycle_is_for_pod2(gate)
            await racing.live.until(lambda: where(racing.live, "pod2", "pod1") == ["node1", ""])
