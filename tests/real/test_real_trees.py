"""Trees of groups on a real kube-apiserver that serves CompositePodGroups: the four cases of preemptor and
victim, and a scheduler that is killed while it binds trees.
"""

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import PODS
from tests.real.cluster import Mortal, Place, Run, needs_native_groups, on_node, place
from tests.real.trees import SIZE, clear, tree
from tests.scale import scaled

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


async def test_the_four_cases_with_trees(plane: ControlPlane, account: Path, tmp_path: Path) -> None:
    needs_native_groups(plane)
    async with place(plane, "trees", nodes=4) as here:
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            for case in (0, 1):
                await here.create(
                    PODS, *(here.own_pod(f"v{case}-{i}", 1, **on_node(here, case)) for i in range(SIZE))
                )
            for case in (2, 3):
                await tree(here, f"v{case}", mode="all", **on_node(here, case))
            await here.until_bound("v", 4 * SIZE)
            for case in (0, 2):
                await here.create(PODS, here.own_pod(f"h{case}", 1, "high", **on_node(here, case)))
            for case in (1, 3):
                await tree(here, f"h{case}", "high", **on_node(here, case))
            await here.until_bound("h", 2 + 2 * SIZE)
            assert len(await here.bound("v0")) == SIZE - 1, "the pod takes the room of one pod"
            assert await here.bound("v1") == []
            assert await here.bound("v2") == [], "a tree in mode all goes whole"
            assert await here.bound("v3") == []
            assert await here.overcommitted(4) == {}
        finally:
            run.stop()
            await clear(here)
        assert run.complaints() == []


async def _whole(here: Place) -> bool:
    """Nobody is on the way out, and of each tree all pods are bound, or none."""
    if any(pod["metadata"].get("deletionTimestamp") for pod in await here.pods()):
        return False
    counts = Counter(name.split("-")[0] for name in await here.bound())
    return set(counts.values()) <= {SIZE}


@pytest.mark.slow
async def test_no_half_tree_stays_when_the_scheduler_is_killed(
    plane: ControlPlane, account: Path, tmp_path: Path, dice: random.Random
) -> None:
    needs_native_groups(plane)
    async with place(plane, "trees-killed", nodes=8) as here:
        scheduler = Mortal(dice, account, tmp_path / "log", "--no-leader-elect")
        try:
            await asyncio.gather(*(tree(here, f"low{n}", mode="all") for n in range(8)))
            await here.until_bound("low", 8 * SIZE)
            await asyncio.gather(*(tree(here, f"high{n}", "high", mode="all") for n in range(4)))
            await scheduler.die(scaled(4, least=2))
            await here.until_bound("high", 4 * SIZE)
            await here.until(lambda: _whole(here))
            assert await here.overcommitted(4) == {}
        finally:
            scheduler.run.stop()
            await clear(here)
