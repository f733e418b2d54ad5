"""A simulated day is the live scheduler's day: same events, same clock, decision for decision.

The live side is the real loop (`controllers.scheduler.shell`) with the real execution of actions, on an API
in memory and a clock that the test moves. The life of jobs is written down here once more, plainly.
"""

import asyncio
import heapq
from math import ceil
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reprieve.controllers.scheduler.shell import Shell
from reprieve.kube import Change
from reprieve.objects import Condition, well_known
from reprieve.records import DecisionLog
from reprieve.scheduler.core import Core
from reprieve.simulate import Decided, policy
from reprieve.simulate.pods import EPOCH_SECONDS, JobObjects, instant, running
from tests.controllers.virtual_time import run_virtually
from tests.scale import examples
from tests.simulate.runs import STEADY, gpu_nodes, simulation, workloads

END, GONE, ARRIVAL, TIMER = range(4)
SETTLED = 0.05
"""Seconds of the loop's own time. It passes only when no task is ready: then the scheduler is at rest."""


class Kept(DecisionLog):
    """The decisions themselves, in order."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def add(self, decision):
        self.kept.append(decision)
        return super().add(decision)


class Api:
    """Pods in memory: the scheduler's calls change them, and every change is reported back."""

    def __init__(self, jobs, nodes, name, grace):
        self.now = 0
        self.jobs, self.grace = jobs, grace
        self.objects = JobObjects(frozenset({"nvidia.com/gpu", "cpu", "memory", "pods"}), shares=False)
        self.core = Core(policy(name).config, "reprieve")
        self.records = Kept()
        actions: Any = self
        self.shell = Shell(self.core, actions, records=self.records, asynchronous=False, clock=self.clock)
        # Calls take no time in a simulation: those of a decision have ended before the next one is made.
        execution: Any = self.shell._execution
        execution.preempted = execution.idle
        self.pods, self.owner, self.left = {}, {}, len(jobs)
        self.events, self.turn, self.created = [], 0, -1
        for each in nodes:
            self.shell.observe(Change("ADDED", None, each))
        for index, job in enumerate(jobs):
            self.plan(job.submit, ARRIVAL, index)

    def clock(self):
        return EPOCH_SECONDS + self.now / 1e6

    def plan(self, time, kind, index, uid=""):
        self.turn += 1
        heapq.heappush(self.events, (time, kind, self.turn, index, uid))

    def put(self, new):
        old = self.pods.get(new.key)
        self.pods[new.key] = new
        self.shell.observe(Change("MODIFIED" if old else "ADDED", old, new))

    # Jobs

    def submit(self, index):
        self.created = max(self.now, self.created + 1)
        for each in self.objects.pods(self.jobs[index], self.created):
            self.owner[each.key] = index
            self.put(each)

    def arrive(self, index):
        if self.jobs[index].pods > 1:
            self.shell.observe(Change("ADDED", None, self.objects.group(self.jobs[index])))
        self.submit(index)

    def members(self, index):
        return [each for each in self.pods.values() if self.owner[each.key] == index]

    def remove(self, index):
        for each in self.members(index):
            del self.pods[each.key]
            self.shell.observe(Change("DELETED", each, each))

    def happen(self, kind, index, uid):
        members = self.members(index)
        if kind == ARRIVAL:
            self.arrive(index)
        elif kind == GONE:
            self.remove(index)
            self.submit(index)
        elif members and members[0].metadata.uid == uid and members[0].metadata.deletion_timestamp is None:
            self.remove(index)
            self.left -= 1
            if self.jobs[index].pods > 1:
                group = self.objects.group(self.jobs[index])
                self.shell.observe(Change("DELETED", group, group))

    async def day(self):
        loop = asyncio.create_task(self.shell.run())
        while self.left:
            ready = self.core.queue.next_ready()
            timer = [] if ready is None else [max(self.now + 1, ceil((ready - EPOCH_SECONDS) * 1e6))]
            self.now = max(self.now, min([*timer, *(event[0] for event in self.events[:1])]))
            while self.events and self.events[0][0] <= self.now:
                _, kind, _, index, uid = heapq.heappop(self.events)
                self.happen(kind, index, uid)
            self.shell._wake.set()
            await asyncio.sleep(SETTLED)
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)

    # What the scheduler asks for

    async def bind(self, bind):
        each, index = self.pods[bind.pod.key], self.owner[bind.pod.key]
        self.put(replace(each, spec=replace(each.spec, node_name=bind.node), status=running(self.now)))
        members = self.members(index)
        if all(member.spec.node_name for member in members):
            self.plan(self.now + self.jobs[index].duration, END, index, members[0].metadata.uid)

    async def nominate(self, nomination):
        each = self.pods.get(nomination.pod.key)
        if each is not None:
            self.put(replace(each, status=replace(each.status, nominated_node_name=nomination.node)))

    async def mark(self, victim, mark):
        each = self.pods[victim.key]
        condition = Condition(
            type=well_known.DISRUPTION_TARGET, status="True", reason=mark.reason, message=mark.message
        )
        notes = {well_known.EVICTED_FOR_ANNOTATION: mark.annotation}
        status = replace(each.status, conditions=(condition,))
        self.put(replace(each, metadata=replace(each.metadata, annotations=notes), status=status))
        return ""

    async def delete(self, victim, mark, version, wanted):
        assert wanted()
        index = self.owner[victim.key]
        if all(member.metadata.deletion_timestamp is None for member in self.members(index)):
            self.plan(self.now + self.grace, GONE, index)
        each = self.pods[victim.key]
        if each.metadata.deletion_timestamp is None:
            self.put(replace(each, metadata=replace(each.metadata, deletion_timestamp=instant(self.now))))

    async def set_pod_condition(self, condition):
        pass

    async def set_group_condition(self, condition):
        pass

    def emit(self, event):
        pass


@examples(40)
@given(
    workloads(10),
    st.integers(1, 3),
    st.sampled_from(("kubernetes", "kep-5710", "minimal-cost", STEADY)),
    st.sampled_from((1, 7, 30)),
)
def test_a_simulated_day_equals_the_live_scheduler_decision_for_decision(jobs, nodes, name, grace):
    possible = [job for job in jobs if job.pods <= nodes * (8000 // job.gpu)]
    heard: list[Decided] = []
    day = simulation(possible, gpu_nodes(nodes), name, checkpoint=0, grace=grace, listener=heard.append)
    result = day.run()
    live = Api(possible, gpu_nodes(nodes), name, grace * 1_000_000)
    run_virtually(live.day())
    simulated = [(each.unit, each.outcome, each.placements, set(each.victims)) for each in heard]
    lived = [
        (each.for_, each.outcome, dict(each.placements), {victim["pod"] for victim in each.victims})
        for each in live.records.kept
    ]
    assert simulated == lived
    assert result.end == live.now
