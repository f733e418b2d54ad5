"""A scheduler that dies or loses an answer at any write: no device ever has two holders, and nothing leaks.

Hypothesis draws at which of its writes the scheduler fails and how; after a death another one takes over and
knows nothing but the API. Pods ask for devices in every way: by a claim, by one that a gang shares, and as an
extended resource.
"""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import (
    POD_GROUPS,
    PODS,
    RESOURCE_CLAIMS,
    Client,
    Request,
    Response,
    Transport,
    TransportError,
    kubeconfig,
)
from reprieve.kube.http_transport import HttpTransport
from tests.scale import examples
from tests.scheduler.equipped import DeviceJudge, asking, claim, claims, equip, users, using
from tests.scheduler.failing import REFUSAL
from tests.scheduler.live import Live, cluster, pod_group
from tests.waiting import eventually
from tests.wrapped import Wrapped

WAYS = ("dies before", "dies after", "answer lost", "refused", "conflict")
CONFLICT = REFUSAL.replace(b"403", b"409").replace(b"Forbidden", b"Conflict")


class Doomed(Wrapped):
    """Writes fail in the drawn way at the drawn number; once dead, nothing goes through any more."""

    def __init__(self, inner: Transport, faults: dict[int, str]) -> None:
        super().__init__(inner)
        self._faults = faults
        self._writes = 0
        self.dead = asyncio.Event()

    async def call(self, request: Request) -> Response:
        if self.dead.is_set():
            raise TransportError("dead")
        watched = ("/pods/", "/resourceclaims")
        if request.method == "GET" or not any(each in request.path for each in watched):
            return await self._inner.call(request)
        way = self._faults.get(self._writes)
        self._writes += 1
        if way == "dies before":
            self.dead.set()
        elif way == "refused":
            return Response(403, REFUSAL, {})
        elif way == "conflict":
            return Response(409, CONFLICT, {})
        elif way is not None:
            await self._inner.call(request)
            if way == "dies after":
                self.dead.set()
        if way is not None:
            raise TransportError(way)
        return await self._inner.call(request)


async def schedule(live: Live, faults: dict[int, str]) -> None:
    """Schedulers one after the other: each until it is dead, the last one for ever."""
    while True:
        doomed = Doomed(HttpTransport(kubeconfig.load(live.server.kubeconfig)), faults)
        faults = {}
        async with Client(doomed, attempts=1) as client:
            scheduler = LiveScheduler(client, Configuration.load(QUICK))
            async with scheduler.following():
                running = asyncio.create_task(scheduler.schedule())
                try:
                    await doomed.dead.wait()
                finally:
                    running.cancel()
                    await asyncio.gather(running, return_exceptions=True)


QUICK = {"scheduler": {"initialBackoff": "50ms", "maxBackoff": "200ms"}}


def settled(live: Live, judge: DeviceJudge) -> bool:
    """All pods run, each with its devices, and nobody else has any."""
    extended = [each for each in claims(live) if each["metadata"]["name"].startswith("x-extended-resources-")]
    return (
        live.bound() == ["g-0", "g-1", "p", "x"]
        and (users(live, "a"), sorted(users(live, "shared"))) == (["p"], ["g-0", "g-1"])
        and len(extended) == 1
        and len(judge.devices()) == 3
    )


async def storm(faults: dict[int, str]) -> None:
    judge = DeviceJudge()
    async with cluster(2, background=(judge.watch,)) as live:
        await equip(live, 2, 2)
        await live.create(RESOURCE_CLAIMS, claim("a"), claim("shared"))
        await live.create(POD_GROUPS, pod_group("g", 2))
        await live.create(PODS, using("p", "a"), asking("x"))
        await live.create(PODS, *(using(f"g-{n}", "shared", group="g") for n in range(2)))
        schedulers = asyncio.create_task(schedule(live, faults))
        try:
            await eventually(lambda: settled(live, judge) or schedulers.done(), live.story)
            if schedulers.done():
                await schedulers
            await asyncio.gather(*(live.client.delete(PODS, name, "ns") for name in live.bound()))
            await eventually(lambda: judge.devices() == [] and len(claims(live)) == 2, live.story)
        finally:
            schedulers.cancel()
            await asyncio.gather(schedulers, return_exceptions=True)
        assert judge.complaints == []


@examples(25, least=5)
@given(faults=st.dictionaries(st.integers(0, 24), st.sampled_from(WAYS), min_size=1, max_size=3))
async def test_whatever_write_fails_no_device_has_two_holders_and_nothing_leaks(
    faults: dict[int, Any],
) -> None:
    await storm(faults)
