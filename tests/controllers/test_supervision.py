"""Tasks that fail are started again and say so; what is the user's to fix ends the process at its start."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest

from reprieve.config import Configuration
from reprieve.controllers import quota, scheduler
from reprieve.kube import NAMESPACES, Backoff, Client, ConfigError, Fenced, Request, Response, Stream
from reprieve.objects import InvalidObject
from reprieve.runtime import process
from reprieve.runtime.process import Process, Services
from reprieve.runtime.stalls import StallWatch
from reprieve.runtime.supervision import keep_running
from reprieve.server import controllers
from tests.builders import cluster_queue, flavor, job, kueue, local_queue
from tests.controllers.memory_api import MemoryApi
from tests.controllers.pods_in_memory import PodApi
from tests.controllers.virtual_time import run_virtually

CONFIG = Configuration.load({"scheduler": {"leaderElection": {"enabled": False}}})


def failing(*errors: Exception) -> tuple[Callable[[], Awaitable[None]], list[float]]:
    """A task that fails with one error after the other and then goes on; and when it was started."""
    started: list[float] = []
    left = list(errors)

    async def run() -> None:
        started.append(asyncio.get_running_loop().time())
        if left:
            raise left.pop(0)
        await asyncio.Event().wait()

    return run, started


async def for_a_while(task: Awaitable[None], seconds: float) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(task, seconds)


def test_a_task_that_fails_is_started_again_ever_later() -> None:
    run, started = failing(*(RuntimeError("oops") for _ in range(4)))
    told: list[str] = []
    pauses = Backoff(base=1.0, cap=60.0, random=lambda: 0.0, clock=lambda: 0.0)
    run_virtually(for_a_while(keep_running("it", run, told.append, pauses), 100))
    assert started == [0.0, 1.0, 3.0, 7.0, 15.0]
    assert told[0] == "failed and is started again in 1 s: oops"
    assert told[-1] == ""


def test_whatever_ends_a_task_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Also a task that ends without an error: it was to run for ever."""
    left = [RuntimeError("oops"), None]

    async def run() -> None:
        if not left:
            await asyncio.Event().wait()
        elif error := left.pop(0):
            raise error

    run_virtually(for_a_while(keep_running("the task", run), 100))
    logged = [(each.levelname, each.getMessage(), bool(each.exc_info)) for each in caplog.records]
    assert ("ERROR", "the task failed", True) in logged
    assert ("ERROR", "the task: it ended, which it should not", False) in logged
    assert len([each for each in logged if "the task is started again in " in each[1]]) == 2


def test_a_controller_of_the_embedded_server_that_fails_is_started_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run, started = failing(ZeroDivisionError(), ExceptionGroup("several", [RuntimeError("oops")]))
    run_virtually(for_a_while(controllers.keep_running(run, "Jobs"), 100))
    assert len(started) == 3
    assert [each.getMessage() for each in caplog.records if each.exc_info] == [
        "controller Jobs failed and is started again"
    ] * 2


@pytest.mark.parametrize("wrap", [lambda error: error, lambda error: ExceptionGroup("several", [error])])
def test_what_the_user_has_to_fix_ends_it_at_the_start(wrap: Callable[[Exception], Exception]) -> None:
    run, _ = failing(wrap(ConfigError("no such file")))
    with pytest.raises((ConfigError, ExceptionGroup)):
        run_virtually(keep_running("it", run))


def test_an_object_that_cannot_be_read_ends_nothing() -> None:
    run, started = failing(InvalidObject("spec.x", 1, "no"))
    run_virtually(for_a_while(keep_running("it", run), 100))
    assert len(started) == 2


def test_a_controller_that_fails_is_not_ready_until_it_runs_again_and_keeps_its_metrics_apart() -> None:
    lives: list[Services] = []

    async def controller(_client: Client, _config: Configuration, services: Services) -> None:
        lives.append(services)
        Counter("lives", "Registered anew in each life.", registry=services.registry).inc()
        if len(lives) == 1:
            raise RuntimeError("oops")
        services.probes["it"] = lambda: ""
        await asyncio.Event().wait()

    async def main() -> None:
        client = Client(MemoryApi().transport())
        kept = Process(client, CONFIG, {"it": controller}, port=None, leader_election=False)
        task = asyncio.create_task(kept.run())
        await asyncio.sleep(0.1)
        assert lives[0].problem().startswith("it: failed and is started again in ")
        await asyncio.sleep(10)
        assert lives[0].problem() == ""
        assert len(lives) == 2
        assert b"lives_total 1.0" in generate_latest(lives[1].registry)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtually(main())


def test_a_process_counts_how_long_its_loop_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[CollectorRegistry] = []

    class Watch(StallWatch):
        def __init__(self, registry: CollectorRegistry) -> None:
            made.append(registry)
            super().__init__(registry)

    monkeypatch.setattr(process, "StallWatch", Watch)
    life = Process(Client(MemoryApi().transport()), CONFIG, {}, port=None, leader_election=False)
    run_virtually(for_a_while(life.run(), 10))
    assert made[0].get_sample_value("reprieve_loop_stall_seconds_count")


def test_a_controller_sends_nothing_while_the_lease_may_be_anothers() -> None:
    """The process hands out a client that knows of the lease."""
    api, refused = MemoryApi(), []

    async def controller(client: Client, _config: Configuration, services: Services) -> None:
        while True:
            try:
                await client.create(NAMESPACES.raw(), {"metadata": {"name": "too-early"}})
            except Fenced:
                refused.append(services.leading.is_set())
            await asyncio.sleep(1)

    class Slow(MemoryApi):
        async def answer(self, request: Request) -> Response | Stream:
            return await (asyncio.Event().wait() if "/leases" in request.path else api.answer(request))  # type: ignore[return-value]

    config = Configuration.load({})
    kept = Process(Client(api.transport()), config, {"it": controller}, port=None,
                   lease_client=Client(Slow().transport()))  # fmt: skip
    run_virtually(for_a_while(kept.run(), 20))
    assert len(refused) > 10
    assert not any(refused)
    assert api.get("namespaces", "", "too-early") is None


class Sometimes(PodApi):
    """Answers discovery with 500 a few times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def answer(self, request: Request) -> Response | Stream:
        if request.path.startswith("/apis/kueue.x-k8s.io") and request.path.count("/") == 2 and self.times:
            self.times -= 1
            body = {"kind": "Status", "code": 500, "reason": "InternalError"}
            return Response(500, json.dumps(body).encode())
        return await super().answer(request)


@pytest.mark.parametrize("name", ["quota", "scheduler"])
def test_a_500_from_discovery_ends_no_controller(name: str) -> None:
    api = Sometimes(3)
    controllers: dict[str, Any] = {"quota": quota.run, "scheduler": scheduler.run}

    async def main() -> None:
        api.put("namespaces", {"metadata": {"name": "default"}})
        api.put("resourceflavors", flavor())
        api.put("clusterqueues", cluster_queue())
        api.put("localqueues", local_queue())
        client = Client(api.transport(), jitter=lambda: 0.0)
        kept = Process(client, CONFIG, {name: controllers[name]}, port=None, leader_election=False)
        task = asyncio.create_task(kept.run())
        await asyncio.sleep(60)
        assert not task.done()
        api.put("jobs", job("j", queue="main"))
        await asyncio.sleep(10)
        if name == "quota":
            assert api.get("jobs", "default", "j")["spec"]["suspend"] is False  # type: ignore[index]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtually(main())
    assert api.times == 0


def test_a_chain_of_twelve_hundred_cohorts_stops_no_quota_controller() -> None:
    api = PodApi()

    async def main() -> None:
        api.put("namespaces", {"metadata": {"name": "default"}})
        api.put("resourceflavors", flavor())
        for index in range(1200):
            api.put("cohorts", kueue("Cohort", f"c{index}", {"parentName": f"c{index + 1}"}))
        api.put("clusterqueues", cluster_queue("cq", 4, cohort="c0"))
        api.put("localqueues", local_queue())
        task = asyncio.create_task(quota.run(Client(api.transport(), jitter=lambda: 0.0), CONFIG))
        await asyncio.sleep(1)
        api.put("jobs", job("j", queue="main"))
        await asyncio.sleep(5)
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtually(main())
    found = api.get("jobs", "default", "j")
    assert found is not None
    assert found["spec"]["suspend"] is False
