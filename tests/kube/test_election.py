"""At most one leader, whatever clocks and networks do."""

import asyncio
from datetime import UTC, datetime

import pytest

from reprieve.kube import Client, ConfigError, Election, LeaderElector, MemoryTransport
from tests.kube.apiserver import ok, status
from tests.waiting import PATIENCE


class Leases:
    """One Lease with optimistic concurrency."""

    def __init__(self):
        self.lease = None
        self.revision = 0
        self.down = False

    async def __call__(self, request):
        if self.down:
            return status(503, "ServiceUnavailable")
        if request.method == "GET":
            return ok(self.lease) if self.lease else status(404, "NotFound")
        body = request.json()
        if request.method == "POST" and self.lease:
            return status(409, "AlreadyExists")
        if request.method == "PUT" and body["metadata"].get("resourceVersion") != str(self.revision):
            return status(409, "Conflict")
        self.revision += 1
        body["metadata"]["resourceVersion"] = str(self.revision)
        self.lease = body
        return ok(body)

    @property
    def holder(self):
        assert self.lease is not None
        return self.lease["spec"]["holderIdentity"]


class World:
    """A clock that jumps when everyone sleeps."""

    def __init__(self):
        self.now = 0.0
        self.leases = Leases()
        self._sleepers = []
        self._order = 0

    async def sleep(self, seconds):
        wake = asyncio.get_running_loop().create_future()
        self._order += 1
        self._sleepers.append((self.now + seconds, self._order, wake))
        await wake

    async def advance(self, seconds):
        end = self.now + seconds
        while True:
            for _ in range(20):
                await asyncio.sleep(0)
            due = sorted(s for s in self._sleepers if s[0] <= end and not s[2].done())
            if not due:
                break
            self.now = due[0][0]
            self._sleepers.remove(due[0])
            due[0][2].set_result(None)
        self.now = end

    def elector(self, name):
        return LeaderElector(
            Client(MemoryTransport(self.leases)),
            Election("reprieve", "ns", name),
            clock=lambda: self.now,
            sleep=self.sleep,
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC).replace(microsecond=int(self.now * 1000) % 1000000),
            jitter=lambda: 0.0,
        )

    def start(self, elector, log, name):
        async def lead():
            log.append(f"{name} leads")
            try:
                await asyncio.Event().wait()
            finally:
                log.append(f"{name} stops")

        return asyncio.create_task(elector.run(lead))


@pytest.fixture
def world():
    return World()


async def test_the_first_leads_and_the_second_waits(world):
    log: list[str] = []
    tasks = [world.start(world.elector(name), log, name) for name in ("a", "b")]
    await world.advance(60)
    assert log == ["a leads"]
    assert world.leases.holder == "a"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_second_takes_over_within_the_lease_time_when_the_first_is_killed(world):
    log: list[str] = []
    first = world.elector("a")
    assert await first._try()  # and never renews: killed
    second = world.start(world.elector("b"), log, "b")
    await world.advance(14.9)
    assert log == []
    await world.advance(3)
    assert log == ["b leads"]
    assert world.leases.lease["spec"]["leaseTransitions"] == 1
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)


async def test_a_leader_that_stops_on_purpose_hands_over_at_once(world):
    log: list[str] = []
    first = world.start(world.elector("a"), log, "a")
    second = world.start(world.elector("b"), log, "b")
    await world.advance(1)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert world.leases.holder == ""
    await world.advance(2.1)
    assert log == ["a leads", "a stops", "b leads"]
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)


async def test_a_leader_that_cannot_renew_stops_before_the_lease_runs_out(world):
    log: list[str] = []
    task = world.start(world.elector("a"), log, "a")
    await world.advance(1)
    world.leases.down = True
    await world.advance(13.9)
    assert log == ["a leads", "a stops"]
    await asyncio.wait_for(task, PATIENCE)


async def test_a_leader_that_lost_the_lease_to_another_stops(world):
    log: list[str] = []
    task = world.start(world.elector("a"), log, "a")
    await world.advance(1)
    world.leases.revision += 1
    world.leases.lease["metadata"]["resourceVersion"] = str(world.leases.revision)
    world.leases.lease["spec"]["holderIdentity"] = "b"
    await world.advance(4.1)
    assert log == ["a leads", "a stops"]
    await asyncio.wait_for(task, PATIENCE)
    assert world.leases.holder == "b"


async def test_an_error_of_the_work_is_raised_and_the_lease_released(world):
    async def lead():
        raise RuntimeError("bug")

    with pytest.raises(RuntimeError, match="bug"):
        await world.elector("a").run(lead)
    assert world.leases.holder == ""


def test_times_that_could_give_two_leaders_are_refused():
    with pytest.raises(ValueError):
        Election("x", "ns", "me", lease_duration=10, renew_deadline=10)


async def test_a_lease_in_a_namespace_that_does_not_exist_is_the_users_to_fix():
    async def nothing(request):
        return status(404, "NotFound")

    elector = LeaderElector(Client(MemoryTransport(nothing)), Election("reprieve", "nowhere", "me"))

    async def lead() -> None:
        await asyncio.Event().wait()

    with pytest.raises(ConfigError, match="namespace 'nowhere' of the lease does not exist"):
        await elector.run(lead)


async def test_a_right_that_is_missing_is_said_once_and_asked_for_ever_less_often(world, caplog):
    log: list[str] = []
    attempts = []

    async def forbidden(request):
        attempts.append(world.now)
        return status(403, "Forbidden", "leases is forbidden")

    elector = world.elector("a")
    granted, elector._client = elector._client, Client(MemoryTransport(forbidden))
    task = world.start(elector, log, "a")
    await world.advance(100)
    assert attempts == [0, 2, 6, 14, 30, 60, 90]
    [problem] = [record.getMessage() for record in caplog.records]
    assert "does not let us get, create and update the Lease 'reprieve' in the namespace 'ns'" in problem
    assert elector.problem
    elector._client = granted
    await world.advance(30)
    assert log == ["a leads"]
    assert elector.problem == ""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
