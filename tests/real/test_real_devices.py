"""Pods with devices on a real kube-apiserver, with the real controller that makes and frees their claims: the
four cases of preemptor and victim, and a scheduler that is killed in between.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import POD_GROUPS, PODS, RESOURCE_CLAIMS, Informer
from tests.builders import Document
from tests.real.cluster import Mortal, Place, needs_native_groups, on_node, place
from tests.real.devices import claim, equipped, holders, using
from tests.scheduler.equipped import DeviceJudge

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

CASES, EACH = 4, 2


@asynccontextmanager
async def judged(here: Place) -> AsyncIterator[None]:
    judge = DeviceJudge()
    resource = RESOURCE_CLAIMS.raw()
    async with Informer(
        here.client, resource, lambda change: judge.hear(change.type, change.new), namespace=here.name
    ):
        yield
    assert judge.complaints == []


def _victims(here: Place) -> list[Document]:
    """Two on each node, with a claim from the template; those of cases 2 and 3 go whole."""
    groups = {2: "vg2", 3: "vg3"}
    return [
        using(here, f"v{case}-{i}", group=groups.get(case, ""), **on_node(here, case))
        for case in range(CASES) for i in range(EACH)
    ]  # fmt: skip


def _preemptors(here: Place) -> list[Document]:
    """A pod for a node of single pods and one for a group's; a gang for each, too. Their claims are named."""
    single = [using(here, f"h{case}-0", f"h{case}-0", "high", **on_node(here, case)) for case in (0, 2)]
    gangs = [
        using(here, f"h{case}-{i}", f"h{case}-{i}", "high", group=f"hg{case}", **on_node(here, case))
        for case in (1, 3) for i in range(EACH)
    ]  # fmt: skip
    return [*single, *gangs]


async def test_the_four_cases_where_devices_are_short_and_the_scheduler_is_killed(
    plane: ControlPlane, account: Path, tmp_path: Path, dice: random.Random
) -> None:
    needs_native_groups(plane)
    async with place(plane, "devices", CASES, 8) as here, equipped(here, CASES, EACH), judged(here):
        scheduler = Mortal(dice, account, tmp_path / "log", "--no-leader-elect")
        try:
            await here.create(POD_GROUPS, *(here.own_group(f"vg{n}", EACH, mode="all") for n in (2, 3)))
            await here.create(PODS, *_victims(here))
            await here.until_bound("v", CASES * EACH)
            assert len(await holders(here)) == CASES * EACH
            preemptors = _preemptors(here)
            await here.create(POD_GROUPS, *(here.own_group(f"hg{n}", EACH, "high") for n in (1, 3)))
            await here.create(RESOURCE_CLAIMS, *(claim(here, pod["metadata"]["name"]) for pod in preemptors))
            await here.create(PODS, *preemptors)
            await scheduler.die()
            await here.until_bound("h", len(preemptors))
            assert len(await here.bound("v0")) == 1, "the pod takes the device of one pod"
            assert await here.bound("v1") == []
            assert await here.bound("v2") == [], "a group in mode all goes whole"
            assert await here.bound("v3") == []

            async def held_by_their_users() -> bool:
                held = await holders(here)
                return sorted(pod for pods in held.values() for pod in pods) == await here.bound()

            await here.until(held_by_their_users)
        finally:
            scheduler.run.stop()
        assert scheduler.run.complaints() == []
