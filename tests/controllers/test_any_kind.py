"""Every kind of the table through quota, live: held, started, evicted and put back, resumed after a kill.

One embedded server with fake nodes for all kinds, without anything that holds jobs at their creation. Each
kind runs its example from examples/20-any-job, in a namespace and a queue of its own; it is preempted by a
workload of higher priority and runs again when that is gone. The quota controller is killed once for each
kind, before or after a write about it that is drawn, and started again.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.jobs import JobKinds, expand, suspended
from reprieve.kube import (
    CLUSTER_QUEUES,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    NAMESPACES,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    Client,
    Request,
    Resource,
    Response,
    Stream,
)
from reprieve.local import controllers_of, local_cluster
from reprieve.objects import read_documents
from reprieve.server import Habits, NodeTemplate
from tests import builders
from tests.scale import examples
from tests.waiting import eventually

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != "cluster")
PAGE = Path(__file__).parents[2] / "docs" / "jobs.md"
KINDS = JobKinds()
CONFIG = {
    "quota": {"quotaCheckStrategy": "IgnoreUndeclared"},
    "scheduler": {"otherSchedulerNames": ["default-scheduler"]},
}
QUEUE = "kueue.x-k8s.io/queue-name"
Document = dict[str, Any]


class Case:
    """One kind: its example, moved to a namespace of its own."""

    def __init__(self, name: str, documents: list[Document]) -> None:
        self.name = name
        self.documents = [deepcopy(each) for each in documents]
        for each in self.documents:
            if each["metadata"].get("namespace"):
                each["metadata"]["namespace"] = name
        self.job = self.documents[-1]
        self.job["metadata"]["labels"] = {QUEUE: "main"}
        found = KINDS.find(self.job)
        assert found is not None
        self.kind = found
        self.count = sum(map(len, expand(self.job, KINDS, self.documents).pods.values()))
        self.before: Document = {}

    def resource(self, document: Document) -> Resource:
        group, _, version = document["apiVersion"].rpartition("/")
        kind = document["kind"]
        return Resource(group, version, kind, f"{kind.lower()}s", "namespace" in document["metadata"])


def _case(name: str) -> Case:
    return Case(name, [source.document for source in read_documents(FOLDER / f"{name}.yaml")])


class Deadly:
    """The controller's way to the server. It is cut for good at the drawn write about each kind."""

    def __init__(self, inner: Any, steps: dict[str, tuple[int, bool]]) -> None:
        self._inner = inner
        self._steps = steps
        """By namespace: how many writes are left, and whether the last one still arrives."""
        self.dead = asyncio.Event()

    async def call(self, request: Request) -> Response:
        place = request.path.partition("/namespaces/")[2].partition("/")[0]
        counts = request.method != "GET" and not request.path.endswith("/events")
        if counts and place in self._steps and not self.dead.is_set():
            left, arrives = self._steps[place]
            self._steps[place] = (left - 1, arrives)
            if left <= 1:
                del self._steps[place]
                if arrives:
                    await self._inner.call(request)
                self.dead.set()
        if self.dead.is_set():
            await asyncio.Event().wait()
        return await self._inner.call(request)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        async with self._inner.stream(request) as stream:
            yield stream

    async def close(self) -> None:
        await self._inner.close()


class World:
    def __init__(self, server: Any, client: Client, dice: random.Random) -> None:
        self.server = server
        self.client = client
        self.dice = dice
        self.steps: dict[str, tuple[int, bool]] = {}
        self.kills = 0

    async def quota(self) -> None:
        """The quota controller; when it is killed, the next one starts."""
        config = Configuration.load(CONFIG)
        while True:
            async with Client.from_kubeconfig(self.server.kubeconfig) as client:
                client._transport = deadly = Deadly(client._transport, self.steps)
                running = asyncio.create_task(quota.run(client, config))
                died = asyncio.create_task(deadly.dead.wait())
                try:
                    await asyncio.wait({running, died}, return_when=asyncio.FIRST_COMPLETED)
                    assert not running.done(), f"the controller gave up: {running}"
                    self.kills += 1
                finally:
                    running.cancel()
                    died.cancel()
                    await asyncio.gather(running, died, return_exceptions=True)

    async def furnish(self, cases: list[Case]) -> None:
        client = self.client
        await client.create(PRIORITY_CLASSES, builders.priority_class("training", 1000))
        await client.create(RESOURCE_FLAVORS, builders.flavor("gpu", nodeLabels={"pool": "gpu"}))
        for case in cases:
            await client.create(NAMESPACES, {"metadata": {"name": case.name}})
            within = {"withinClusterQueue": "LowerPriority"}
            made = builders.cluster_queue(case.name, flavors=("gpu",), preemption=within)
            [group] = made["spec"]["resourceGroups"]
            group["coveredResources"] = ["pods"]
            group["flavors"][0]["resources"] = [{"name": "pods", "nominalQuota": str(case.count)}]
            await client.create(CLUSTER_QUEUES, made)
            await client.create(LOCAL_QUEUES, builders.local_queue("main", case.name, namespace=case.name))

    async def submit(self, case: Case) -> None:
        for document in case.documents:
            resource = case.resource(document)
            await eventually(partial(self.client.served, resource), f"{resource.kind} is served")
            answer = await self.client.create(resource, document)
        case.before = answer

    def pods(self, case: Case) -> list[Document]:
        return list(self.server.api.select("pods", case.name))

    def running(self, case: Case) -> set[str]:
        """UIDs of pods that run on the nodes of the flavor."""
        return {
            each["metadata"]["uid"]
            for each in self.pods(case)
            if each["status"].get("phase") == "Running"
            and each["spec"].get("nodeSelector", {}).get("pool") == "gpu"
            and not each["metadata"].get("deletionTimestamp")
        }

    def story(self, case: Case) -> str:
        shown = [
            (each["metadata"]["name"], each["status"].get("phase"), each["spec"].get("schedulingGates"),
             each["spec"].get("nodeSelector"), each["status"].get("conditions"))
            for each in self.pods(case)
        ]  # fmt: skip
        workloads = [
            (each["metadata"]["name"], each.get("status"))
            for each in self.server.api.select("workloads.kueue.x-k8s.io", case.name)
        ]
        job = self.server.api.peek(case.kind.resource, case.job["metadata"]["name"], case.name)
        return f"{case.name}: {shown}\n{workloads}\n{job}"

    def now(self, case: Case) -> Document:
        return self.server.api.peek(case.kind.resource, case.job["metadata"]["name"], case.name)


async def all_of(cases: list[Case], question: Callable[[Case], Any], world: World, what: str) -> None:
    def missing() -> list[Case]:
        return [case for case in cases if not question(case)]

    await eventually(
        lambda: not missing(), lambda: f"{what}: {[world.story(each) for each in missing()]}", 40
    )


@asynccontextmanager
async def a_world(dice: random.Random) -> AsyncIterator[World]:
    nodes = [NodeTemplate.parse("node=90:cpu=64,memory=512Gi,nvidia.com/gpu=8;labels=pool=gpu")]
    server = local_cluster(nodes=nodes, habits=Habits(terminate_after=0.05), kinds=["all"])
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(server)
        controlled = controllers_of(server, ["scheduler"], Configuration.load(CONFIG))
        client = (await stack.enter_async_context(controlled)).client
        world = World(server, client, dice)
        quota_controller = asyncio.create_task(world.quota())
        try:
            yield world
        finally:
            quota_controller.cancel()
            await asyncio.gather(quota_controller, return_exceptions=True)


def draw_kills(world: World, cases: list[Case], phase: int) -> None:
    for position, case in enumerate(cases):
        if position % 3 == phase:
            world.steps[case.name] = (world.dice.randint(1, 2), world.dice.random() < 0.5)


async def through_quota(dice: random.Random) -> None:
    cases = [_case(name) for name in EXAMPLES]
    async with a_world(dice) as world:
        await world.furnish(cases)
        draw_kills(world, cases, 0)
        for case in cases:
            await world.submit(case)
        await all_of(cases, lambda case: len(world.running(case)) == case.count, world, "all pods run")
        first = {case.name: world.running(case) for case in cases}
        draw_kills(world, cases, 1)
        for case in cases:
            big = builders.workload("big", 1, 1_000_000, count=case.count, namespace=case.name)
            await world.client.create(KUEUE_WORKLOADS, big)

        def is_preempted(case: Case) -> bool:
            big = world.server.api.peek("workloads.kueue.x-k8s.io", "big", case.name)
            conditions = (big.get("status") or {}).get("conditions") or ()
            admitted = any(each["type"] == "Admitted" and each["status"] == "True" for each in conditions)
            return admitted and not world.running(case)

        await all_of(cases, is_preempted, world, "the preemptor got the quota, nothing else runs")

        def is_restored(case: Case) -> bool:
            if case.kind.asks != "job":
                return True
            wanted = suspended(case.before, case.kind)["spec"]
            return world.now(case)["spec"] == wanted

        await all_of(cases, is_restored, world, "each job is as its user wrote it, suspended")
        draw_kills(world, cases, 2)
        for case in cases:
            await world.client.delete(KUEUE_WORKLOADS, "big", case.name)
        await all_of(cases, lambda case: len(world.running(case)) == case.count, world, "all pods run again")
        for case in cases:
            assert not world.running(case) & first[case.name], "they were made anew"
        assert not world.steps, f"the controller was not killed for {list(world.steps)}"


QUOTA = {
    "job": "suspended",
    "pod": "gated, each pod by itself",
    "group": "gated, all pods together",
    "replica": "gated, each replica",
}
HEADER = "| Kind | plan | quota | fleet | resumed after kill -9 |"


def test_the_table_in_the_docs_has_the_kinds_that_went_through_quota() -> None:
    """Written by `python -m tests.controllers.test_any_kind`; the column about fleets is left as it is."""
    assert _table(_written_fleets()) in PAGE.read_text()


def _table(fleets: dict[str, str]) -> str:
    rows = [HEADER, "|---|---|---|---|---|"]
    for case in map(_case, EXAMPLES):
        kind = case.kind
        rows.append(f"| {kind.kind} | yes | {QUOTA[kind.asks]} | {fleets.get(kind.kind, '')} | yes |")
    return "\n".join(rows)


def _written_fleets() -> dict[str, str]:
    """By kind, what the page says of fleets."""
    found = {}
    for line in PAGE.read_text().partition(HEADER)[2].splitlines()[2:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        found[cells[0]] = cells[3]
    return found


def _write_table() -> None:
    text = PAGE.read_text()
    before, _, after = text.partition(HEADER)
    rest = after.partition("\n\n")[2]
    PAGE.write_text(f"{before}{_table(_written_fleets())}\n\n{rest}")


@pytest.mark.slow
@examples(1)
@given(st.integers(0, 10**6))
def test_each_kind_is_held_started_evicted_restored_and_resumed_after_a_kill(seed: int) -> None:
    asyncio.run(through_quota(random.Random(seed)))


if __name__ == "__main__":
    _write_table()
