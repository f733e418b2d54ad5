"""Every kind of the table through quota, live, with the controller cut off at a write about it that is drawn.

One embedded server with fake nodes for all kinds. The quota controller's way to the server is cut for good
once for each kind, before or after a write about it, and the next controller starts. `test_kill_9` does the
same to a process.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.kube import Client, Request, Response, Transport
from reprieve.local import controllers_of, local_cluster
from reprieve.objects import NodeTemplate
from reprieve.server import Habits
from tests.controllers.any_kind import CONFIG, EXAMPLES, NODES, Case, World
from tests.kinds_table import show
from tests.scale import examples
from tests.wrapped import Wrapped

CHAPTERS = ["started", "preempted", "resumed"]


class Deadly(Wrapped):
    """The controller's way to the server. It is cut for good at the drawn write about each kind."""

    def __init__(self, inner: Transport, steps: dict[str, tuple[int, bool]]) -> None:
        super().__init__(inner)
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


async def quota_controller(kubeconfig: Any, steps: dict[str, tuple[int, bool]]) -> None:
    """The quota controller; when it is cut off, the next one starts."""
    config = Configuration.load(CONFIG)
    while True:
        async with Client.from_kubeconfig(kubeconfig) as client:
            client._transport = deadly = Deadly(client._transport, steps)
            running = asyncio.create_task(quota.run(client, config))
            died = asyncio.create_task(deadly.dead.wait())
            try:
                await asyncio.wait({running, died}, return_when=asyncio.FIRST_COMPLETED)
                assert not running.done(), f"the controller gave up: {running}"
            finally:
                running.cancel()
                died.cancel()
                await asyncio.gather(running, died, return_exceptions=True)


@asynccontextmanager
async def a_world(steps: dict[str, tuple[int, bool]]) -> AsyncIterator[World]:
    server = local_cluster(
        nodes=[NodeTemplate.parse(NODES)], habits=Habits(terminate_after=0.05), kinds=["all"]
    )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(server)
        controlled = controllers_of(server, ["scheduler"], Configuration.load(CONFIG))
        client = (await stack.enter_async_context(controlled)).client
        controller = asyncio.create_task(quota_controller(server.kubeconfig, steps))
        try:
            yield World(client, server.api, [Case(name) for name in EXAMPLES])
        finally:
            controller.cancel()
            await asyncio.gather(controller, return_exceptions=True)


async def through_quota(dice: random.Random) -> None:
    steps: dict[str, tuple[int, bool]] = {}

    async def draw(chapter: str, under_way: Callable[[], list[Case]]) -> None:
        for position, case in enumerate(under_way()):
            if chapter in CHAPTERS and position % 3 == CHAPTERS.index(chapter):
                steps[case.name] = (dice.randint(1, 2), dice.random() < 0.5)

    async with a_world(steps) as world:
        await world.live(draw)
        assert not steps, f"the controller was not cut off for {list(steps)}"
        for case in world.cases:
            show(case.kind, "quota", case.held_by)


@pytest.mark.slow
@settings(examples(1), phases=[Phase.generate])  # each example is a minute
@given(st.integers(0, 10**6))
def test_each_kind_is_held_started_evicted_restored_and_resumed_after_a_cut(seed: int) -> None:
    asyncio.run(through_quota(random.Random(seed)))
