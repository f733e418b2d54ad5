"""A scheduler that is killed, behind a network that fails, on a real kube-apiserver: nothing is lost, doubled
or left half done.

What `tests/scheduler` holds on the embedded server (`test_crashes`, `test_faults`, `test_chaos`), here with
`reprieve run` as a process of its own and faults on the wire.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.real_cluster.control_plane import ControlPlane

from reprieve.cli import main as reprieve
from reprieve.kube import NODES, POD_GROUPS, PODS, Informer
from tests.fault_proxy import FaultProxy
from tests.real.cluster import Place, Run, place
from tests.scale import scaled
from tests.scheduler.crashing import Judge

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1500)]

CPU, GANG = 4, 6


@asynccontextmanager
async def judged(here: Place, nodes: int) -> AsyncIterator[Judge]:
    """Somebody with a good connection looks at every change."""
    judge = Judge({f"{here.name}-{index}": CPU * 1000 for index in range(nodes)})
    informer = Informer(
        here.client, PODS.raw(), lambda change: judge.hear(change.type, change.new), namespace=here.name
    )
    async with informer:
        yield judge
    assert judge.complaints == []


class Scheduler:
    """`reprieve run` with one connection, to be killed and started again."""

    def __init__(self, kubeconfig: Path, log: Path) -> None:
        self._kubeconfig, self._log = kubeconfig, log
        self._run: Run | None = None
        self.kills = 0

    def start(self) -> None:
        self._run = Run(self._kubeconfig, self._log, "--no-leader-elect")

    def kill(self) -> None:
        if self._run is not None:
            self._run.kill()
            self._run = None
            self.kills += 1


@contextmanager
def started(kubeconfig: Path, log: Path) -> Iterator[Scheduler]:
    scheduler = Scheduler(kubeconfig, log)
    scheduler.start()
    try:
        yield scheduler
    finally:
        scheduler.kill()


async def gangs(here: Place, prefix: str, count: int, cls: str) -> None:
    """Groups that go whole, of six pods with two cpu each."""
    names = [f"{prefix}{number}" for number in range(count)]
    await here.create(POD_GROUPS, *(here.own_group(name, GANG, cls, mode="all") for name in names))
    await here.create(
        PODS, *(here.own_pod(f"{name}-{i}", 2, cls, group=name) for name in names for i in range(GANG))
    )


async def whole(here: Place, prefix: str) -> bool:
    """Nobody is on the way out, and of each gang all pods stay on nodes, or none."""
    pods = await here.pods()
    if any(pod["metadata"].get("deletionTimestamp") for pod in pods):
        return False
    counts = Counter(name.rpartition("-")[0] for name in await here.bound(prefix))
    return set(counts.values()) <= {GANG}


async def test_a_gang_storm_on_a_faulty_network_ends_like_on_a_good_one(
    plane: ControlPlane, account: Path, tmp_path: Path, dice: random.Random
) -> None:
    proxy = FaultProxy(account, dice)
    async with (
        place(plane, "faulty", nodes=12, cpu=CPU) as here,
        judged(here, 12),
        proxy.running(tmp_path) as kubeconfig,
    ):
        with started(kubeconfig, tmp_path / "log"):
            await gangs(here, "low", 4, "low")
            await here.until_bound("low", 4 * GANG)
            await gangs(here, "high", 3, "high")
            await here.until_bound("high", 3 * GANG)
            await here.until(lambda: whole(here, "low"), 60)
    assert min(proxy.faults[way] for way in ("error", "overload", "refused", "lost")) > 0, proxy.faults
    assert proxy.faults["watch cut"] > 0


async def test_killed_at_random_points_nothing_is_lost_doubled_or_left_half_done(
    plane: ControlPlane, account: Path, tmp_path: Path, dice: random.Random
) -> None:
    proxy = FaultProxy(account, dice)
    wanted = scaled(9, least=3)
    async with (
        place(plane, "killed", nodes=12, cpu=CPU) as here,
        judged(here, 12),
        proxy.running(tmp_path) as kubeconfig,
    ):
        number = kills = 0
        while kills < wanted:
            number += 1
            with started(kubeconfig, tmp_path / "log") as scheduler:
                await gangs(here, f"low{number}x", 4, "low")
                await here.until_bound(f"low{number}x", 4 * GANG)
                attack = asyncio.create_task(gangs(here, f"high{number}x", 2, "high"))
                for _ in range(3):
                    await asyncio.sleep(1.0 + dice.random() ** 2 * 2)  # it takes a second to come up
                    scheduler.kill()
                    scheduler.start()
                await attack
                await here.until_bound(f"high{number}x", 2 * GANG)
                await here.until(lambda: whole(here, ""), 60)
            kills += scheduler.kills
            await here.clear()


class Day:
    """Pods, gangs and nodes come and go, in any order."""

    def __init__(self, here: Place, dice: random.Random, scheduler: Scheduler, nodes: int) -> None:
        self._here, self._dice, self._scheduler, self._nodes = here, dice, scheduler, nodes
        self._count = 0

    async def step(self) -> None:
        await self._dice.choice([self.single, self.single, self.gang, self.gang, self.delete, self.cordon,
                                 self.restart, self.wait])()  # fmt: skip

    def _name(self, what: str) -> str:
        self._count += 1
        return f"{what}{self._count}"

    def _class(self) -> str:
        return self._dice.choice(["low", "mid", "high"])

    async def single(self) -> None:
        await self._here.create(
            PODS, self._here.own_pod(self._name("single"), self._dice.randint(1, 4), self._class())
        )

    async def gang(self) -> None:
        name, size, cls, cpu = self._name("gang"), self._dice.randint(2, 4), self._class(), 2
        await self._here.create(POD_GROUPS, self._here.own_group(name, size, cls, mode="all"))
        members = [self._here.own_pod(f"{name}-{i}", cpu, cls, group=name) for i in range(size)]
        await self._here.create(PODS, *members)

    async def delete(self) -> None:
        singles = [p["metadata"]["name"] for p in await self._here.pods()]
        if singles := [name for name in singles if name.startswith("single")]:
            await self._here.client.delete(PODS, self._dice.choice(singles), self._here.name)

    async def cordon(self) -> None:
        name = f"{self._here.name}-{self._dice.randrange(self._nodes)}"
        node = await self._here.client.get(NODES.raw(), name)
        patch = {"spec": {"unschedulable": not node["spec"].get("unschedulable", False)}}
        await self._here.client.patch(NODES, name, patch)

    async def restart(self) -> None:
        self._scheduler.kill()
        self._scheduler.start()

    async def wait(self) -> None:
        await asyncio.sleep(self._dice.random() * 2)


async def complaints(here: Place, plane: ControlPlane) -> list[str]:
    """What is not as it should be when everything has calmed down."""
    found = []
    gangs: dict[str, list[bool]] = {}
    for pod in await here.pods():
        name, bound = pod["metadata"]["name"], bool(pod["spec"].get("nodeName"))
        if pod["metadata"].get("deletionTimestamp"):
            found.append(f"{name} is on its way out")
        marks = [c for c in pod["status"].get("conditions", ()) if c["type"] == "DisruptionTarget"]
        if any(mark["status"] == "True" for mark in marks):
            found.append(f"{name} stays and carries a mark")
        if name.startswith("gang"):
            gangs.setdefault(name.rpartition("-")[0], []).append(bound)
        elif not bound:
            found += await _could_run(plane, f"Pod/{here.name}/{name}")
    for name, members in gangs.items():
        if any(members) and not all(members):
            found.append(f"{name} is half placed: {members}")
        elif not any(members):
            found += await _could_run(plane, f"PodGroup/{here.name}/{name}")
    return found


async def _could_run(plane: ControlPlane, reference: str) -> list[str]:
    asked = ["plan", "--for", reference, "--kubeconfig", str(plane.kubeconfig("admin"))]
    planned = await asyncio.to_thread(CliRunner().invoke, reprieve, asked)
    return [] if planned.exit_code == 1 else [f"{reference} waits and could be helped: {planned.output}"]


async def test_a_random_day_ends_well(
    plane: ControlPlane, account: Path, tmp_path: Path, dice: random.Random
) -> None:
    nodes = 5
    proxy = FaultProxy(account, dice)
    async with (
        place(plane, "day", nodes=nodes, cpu=CPU) as here,
        judged(here, nodes),
        proxy.running(tmp_path) as kubeconfig,
    ):
        with started(kubeconfig, tmp_path / "log") as scheduler:
            day = Day(here, dice, scheduler, nodes)
            for _ in range(scaled(40, least=20)):
                await day.step()
            proxy.quiet = True
            seen: list[str] = []

            async def calm() -> bool:
                seen[:] = await complaints(here, plane)
                return not seen

            try:
                await here.until(calm, 120)
            except AssertionError as error:
                raise AssertionError(f"{seen}; {error}") from None
