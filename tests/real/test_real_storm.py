"""Many at once on a real kube-apiserver: a gang of 100 that 1,000 pods make way for, ten gangs, and a
scheduler that is killed.
"""

import asyncio
import random
from pathlib import Path

import pytest
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import POD_GROUPS, PODS
from tests.real.cluster import Place, Run, install, place

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1500)]


async def _gang(here: Place, name: str, size: int, cpu: int, cls: str = "high") -> None:
    await here.create(POD_GROUPS, here.own_group(name, size, cls))
    await here.create(PODS, *(here.own_pod(f"{name}-{i}", cpu, cls, group=name) for i in range(size)))


async def test_a_gang_of_a_hundred_gets_the_room_of_a_thousand(plane: ControlPlane, tmp_path: Path) -> None:
    account = install(plane)
    async with place(plane, "storm", nodes=100, cpu=10) as here:
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            await here.create(PODS, *(here.own_pod(f"small-{i}") for i in range(1000)))
            await here.until_bound("small", 1000)
            await _gang(here, "big", 100, 10)
            await here.until_bound("big", 100)
            assert await here.bound("small") == []
            assert await here.overcommitted(10) == {}
        finally:
            run.stop()
        assert run.complaints() == []


async def test_ten_gangs_at_once_and_a_scheduler_that_is_killed_again_and_again(
    plane: ControlPlane, tmp_path: Path
) -> None:
    account = install(plane)
    dice = random.Random(1)  # moments at which a real process is killed
    async with place(plane, "ten", nodes=20, cpu=10) as here:
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            await here.create(PODS, *(here.own_pod(f"small-{i}") for i in range(200)))
            await here.until_bound("small", 200)
            await asyncio.gather(*(_gang(here, f"gang{number}", 4, 5) for number in range(10)))
            for _ in range(5):
                await asyncio.sleep(dice.uniform(1.0, 3.0))  # the moment of the kill is what is tried out
                run.kill()
                run = Run(account, tmp_path / "log", "--no-leader-elect")
            await here.until_bound("gang", 40)
            assert await here.overcommitted(10) == {}
        finally:
            run.stop()
