"""Conditions never hold up bindings: the last one wins, units take turns, and few are sent at once."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.controllers.scheduler.statuses import AT_ONCE, Condition, Statuses
from reprieve.kube import Client, RateLimit, Request, Response, Stream
from reprieve.objects import Reference
from reprieve.scheduler import SetPodCondition
from tests.builders import START, node, pod, pod_group
from tests.controllers.pods_in_memory import NAMESPACE, PodApi
from tests.controllers.virtual_time import START as EPOCH
from tests.controllers.virtual_time import run_virtually


def condition(name: str, message: str = "") -> SetPodCondition:
    return SetPodCondition(Reference("Pod", "ns", name), "Unschedulable", message)


class Writer:
    """Writes when the test says so."""

    def __init__(self) -> None:
        self.statuses = Statuses(self._send)
        self.sent: list[Any] = []
        self._ends: list[Callable[[], None]] = []

    def _send(self, condition: Condition, ended: Callable[[], None]) -> None:
        self.sent.append(condition)
        self._ends.append(ended)

    def finish(self) -> None:
        while self._ends:
            self._ends.pop(0)()


def test_only_the_last_condition_of_a_pod_is_written() -> None:
    writer = Writer()
    for index in range(AT_ONCE):
        writer.statuses.put(f"busy{index}", condition(f"busy{index}"))
    for message in ("first", "second", "third"):
        writer.statuses.put("u", condition("a", message))
    writer.statuses.put("u", condition("b"))
    writer.statuses.drop("ns/b")
    assert len(writer.statuses) == 1
    writer.finish()
    assert [each.message for each in writer.sent[AT_ONCE:]] == ["third"]


def test_units_take_turns() -> None:
    writer = Writer()
    for index in range(100):
        writer.statuses.put("gang", condition(f"g{index}"))
    writer.statuses.put("lone", condition("lone"))
    writer.finish()
    assert [each.pod.name for each in writer.sent].index("lone") <= AT_ONCE + 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans()), max_size=60))
def test_whatever_comes_each_pod_ends_with_its_last_condition(steps: list[tuple[int, int, bool]]) -> None:
    writer, last = Writer(), {}
    for number, (unit, pod_number, finish) in enumerate(steps):
        name = f"p{unit}-{pod_number}"
        writer.statuses.put(unit, condition(name, str(number)))
        last[name] = str(number)
        assert len(writer.statuses) <= len(last)
        if finish:
            writer.finish()
    writer.finish()
    assert len(writer.statuses) == 0
    assert {each.pod.name: each.message for each in writer.sent} == last


# The scene that was measured: 50 requests a second, 400 waiting pods of gangs, two deletions a second.

QPS, GANGS, SIZE, NODES = 50, 10, 40, 20
LONGEST = 2.0


class Scene(PodApi):
    def __init__(self) -> None:
        super().__init__()
        self.sent = 0
        self.put("namespaces", {"metadata": {"name": NAMESPACE}})
        for index in range(NODES):
            self.put("nodes", node(f"n{index}", 10))
            for number in range(5):
                self.add(pod(f"old-{index}-{number}", 2, on=f"n{index}", namespace=NAMESPACE, priority=50))
        for index in range(GANGS):
            self.put("podgroups", pod_group(f"g{index}", SIZE, namespace=NAMESPACE, priority=0))
            for number in range(SIZE):
                options: dict[str, Any] = {"group": f"g{index}", "priority": 0, "namespace": NAMESPACE}
                self.add(pod(f"g{index}-{number}", 6, schedulerName="reprieve", **options))

    async def answer(self, request: Request) -> Response | Stream:
        self.sent += 1
        return await super().answer(request)

    def add(self, document: dict[str, Any]) -> None:
        document["metadata"]["creationTimestamp"] = START
        self.put("pods", document)

    def node_of(self, name: str) -> str:
        found = self.get("pods", NAMESPACE, name)
        return "" if found is None else str(found["spec"].get("nodeName", ""))


async def waits(api: Scene) -> list[float]:
    """How long each of ten important pods waits, one after the other."""
    loop = asyncio.get_running_loop()
    limit = RateLimit(QPS, QPS, clock=loop.time)
    client = Client(api.transport(), rate_limit=limit, jitter=lambda: 0.0)
    scheduler = LiveScheduler(client, Configuration.load(None), clock=lambda: EPOCH.timestamp() + loop.time())

    async def delete() -> None:
        """Also of nodes that change how many nodes lack what, and so every sentence."""
        for number in range(5):
            for index in range(NODES):
                await asyncio.sleep(0.5)
                api.remove("pods", NAMESPACE, f"old-{index}-{number}")

    async def important(number: int) -> float:
        await asyncio.sleep(3)
        api.add(pod(f"high-{number}", 1, namespace=NAMESPACE, priority=100, schedulerName="reprieve"))
        begun = loop.time()
        while not api.node_of(f"high-{number}"):
            await asyncio.sleep(0.01)
            assert loop.time() - begun < 60, "never bound"
        return loop.time() - begun

    async with scheduler.following():
        tasks = [asyncio.create_task(each) for each in (scheduler.schedule(), delete())]
        await asyncio.sleep(5)
        found = [await important(number) for number in range(10)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return found


def test_an_important_pod_is_bound_within_two_seconds_in_a_storm_of_conditions() -> None:
    api = Scene()
    found = run_virtually(waits(api))
    assert api.sent > 25 * QPS, "the storm used the rate limit"
    assert max(found) < LONGEST, found


# Which lane of the rate limit each request waits in.

urgent_now: ContextVar[bool] = ContextVar("urgent_now")


class Lanes(RateLimit):
    """No limit; remembers for the request that comes next whether it may pass others."""

    def __init__(self) -> None:
        super().__init__(0)

    async def take(self, urgent: bool = False) -> None:
        urgent_now.set(urgent)


class Listening(Scene):
    def __init__(self) -> None:
        super().__init__()
        self.urgent: dict[str, set[bool]] = {}

    async def answer(self, request: Request) -> Response | Stream:
        if "/pods/" in request.path and request.method != "GET":
            what = request.method
            if request.method == "PATCH":
                status = (request.json() or {}).get("status") or {}
                what = "nominate" if "nominatedNodeName" in status else "mark or say why"
            self.urgent.setdefault(what, set()).add(urgent_now.get())
        return await super().answer(request)


def test_bindings_nominations_and_evictions_pass_conditions_under_the_rate_limit() -> None:
    api = Listening()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        client = Client(api.transport(), rate_limit=Lanes(), jitter=lambda: 0.0)
        scheduler = LiveScheduler(
            client, Configuration.load(None), clock=lambda: EPOCH.timestamp() + loop.time()
        )
        async with scheduler.following():
            task = asyncio.create_task(scheduler.schedule())
            await asyncio.sleep(5)
            assert api.urgent == {"mark or say why": {False}}, "gangs that wait are told why, in their turn"
            api.add(pod("high", 1, namespace=NAMESPACE, priority=100, schedulerName="reprieve"))
            await asyncio.sleep(5)
            (victim,) = [each for each in api.all("pods") if each["metadata"].get("deletionTimestamp")]
            api.remove("pods", NAMESPACE, victim["metadata"]["name"])
            await asyncio.sleep(5)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run_virtually(main())
    assert api.node_of("high")
    marks = api.urgent.pop("mark or say why")
    assert marks == {True, False}, "marks pass, conditions wait"
    assert api.urgent == {"nominate": {True}, "DELETE": {True}, "POST": {True}}
