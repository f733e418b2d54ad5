"""kill -9 at random while pods with claims come, preempt and go: no device has two holders, none is lost."""

import asyncio
import os
import random

import pytest

from reprieve.kube import POD_GROUPS, PODS, RESOURCE_CLAIMS
from tests.scale import scaled
from tests.scheduler.crashing import Victim
from tests.scheduler.equipped import DeviceJudge, asking, claim, claims, equip, held, using
from tests.scheduler.live import Live, cluster, pod_group
from tests.scheduler.test_replicas import holder, replica
from tests.waiting import eventually

KILLS = scaled(4, least=2)


async def come(live: Live, number: int) -> None:
    """Four devices: low pods take all of them, then two more important ones and a gang want three."""
    name = f"r{number}"
    await live.create(RESOURCE_CLAIMS, *(claim(f"{name}-{each}") for each in ("a", "b", "c", "g")))
    low = [using(f"{name}-low-{each}", f"{name}-{each}") for each in ("a", "b")]
    await live.create(PODS, *low, asking(f"{name}-low-x"), asking(f"{name}-low-y"))


async def press(live: Live, number: int) -> None:
    name = f"r{number}"
    await live.create(POD_GROUPS, pod_group(f"{name}-g", 2, "high", mode="all"))
    gang = [using(f"{name}-high-g{n}", f"{name}-g", group=f"{name}-g", priority="high") for n in range(2)]
    await live.create(PODS, *gang, using(f"{name}-high-c", f"{name}-c", priority="high"))
    await live.create(PODS, asking(f"{name}-high-x", priority="high"))


def served(live: Live, number: int) -> bool:
    """Those who preempted run with their devices; of the others at most one has the device that is left."""
    name = f"r{number}"
    mine = [each for each in claims(live) if each["metadata"]["name"].startswith(f"{name}-high-x-extended")]
    return (
        len(live.bound(f"{name}-high")) == 4
        and len(held(live, f"{name}-g")) == len(held(live, f"{name}-c")) == len(mine) == 1
        and not any(each["metadata"].get("deletionTimestamp") for each in live.pods)
    )


async def go(live: Live, judge: DeviceJudge, number: int) -> None:
    for document in live.pods:
        await live.client.delete(PODS, document["metadata"]["name"], "ns", grace_seconds=0)
    await live.until(lambda: not live.pods and judge.devices() == [])
    await live.until(lambda: not any("extended" in each["metadata"]["name"] for each in claims(live)))
    assert len(claims(live)) == 4 * number


@pytest.mark.slow
async def test_killed_at_random_points_no_device_has_two_holders_and_none_leaks() -> None:
    seed = int(os.environ.get("REPRIEVE_TEST_SEED", random.randrange(10**6)))
    # Real processes are killed at real moments: a run cannot be replayed, so its dice are not drawn.
    dice, judge = random.Random(seed), DeviceJudge()
    async with cluster(2, grace=0.05, background=(judge.watch,)) as live:
        scheduler = Victim(str(live.server.kubeconfig))
        await equip(live, 2, 2)
        try:
            number = 0
            while scheduler.kills < KILLS:
                number += 1
                await attack_and_kill(live, scheduler, dice, number)
                await go(live, judge, number)
                await scheduler.kill()
                assert judge.complaints == [], f"seed {seed}"
        finally:
            await scheduler.kill()


async def attack_and_kill(live: Live, scheduler: Victim, dice: random.Random, number: int) -> None:
    await come(live, number)
    scheduler.start()
    await live.until(lambda: len(live.bound(f"r{number}-low")) == 4)
    attack = asyncio.create_task(press(live, number))
    for _ in range(2):
        await scheduler.live_a_little(live, dice)
        await scheduler.kill()
        scheduler.start()
    await attack
    await live.until(lambda: served(live, number))


@pytest.mark.slow
async def test_the_second_replica_takes_over_without_giving_a_device_twice(tmp_path) -> None:
    judge = DeviceJudge()
    async with cluster(2, grace=0.05, background=(judge.watch,)) as live:
        await equip(live, 2, 2)
        async with replica(live, tmp_path) as first:
            await first.until_ready()
            await eventually(lambda: holder(live) != "", "nobody leads")
            async with replica(live, tmp_path) as second:
                await come(live, 1)
                await live.until(lambda: bool(live.bound("r1-low")))
                first.process.kill()
                await first.process.wait()
                await press(live, 1)
                await live.until(lambda: served(live, 1))
                assert second.process.returncode is None
                await go(live, judge, 1)
        assert judge.complaints == []
