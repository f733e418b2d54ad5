"""kill -9 at random points during a storm of gang preemptions: nothing is lost, doubled or left half done."""

import asyncio
import os
import random

import pytest

from tests.scale import scaled
from tests.scheduler.crashing import Judge, Victim
from tests.scheduler.live import POD_GROUPS, PODS, Live, cluster, pod, pod_group

NODES, CPU, GANG, SINGLE = 12, 4, 6, 3
KILLS = scaled(8, least=3)


def sizes(live: Live, prefix: str) -> dict[str, int]:
    """How many pods of each gang are on nodes and staying."""
    counts: dict[str, int] = {}
    for document in live.pods:
        name = document["spec"].get("schedulingGroup", {}).get("podGroupName", "")
        if name.startswith(prefix):
            staying = bool(document["spec"].get("nodeName")) and not document["metadata"].get(
                "deletionTimestamp"
            )
            counts[name] = counts.get(name, 0) + staying
    return counts


async def storm(live: Live, number: int) -> None:
    """Low gangs fill the cluster."""
    await live.create(POD_GROUPS, *(pod_group(f"low{number}-{g}", GANG, mode="all") for g in range(4)))
    await live.create(
        PODS,
        *(pod(f"low{number}-{g}-{i}", "2", group=f"low{number}-{g}") for g in range(4) for i in range(GANG)),
    )


async def assault(live: Live, number: int) -> None:
    """High gangs want half of it, and two single pods three quarters of a node each."""
    await live.create(
        POD_GROUPS, *(pod_group(f"high{number}-{g}", GANG, "high", mode="all") for g in range(2))
    )
    await live.create(
        PODS,
        *(
            pod(
                f"high{number}-{g}-{i}",
                "2",
                "high",
                group=f"high{number}-{g}",
                terminationGracePeriodSeconds=1,
            )
            for g in range(2)
            for i in range(GANG)
        ),
        *(pod(f"mid{number}-{i}", str(SINGLE), "mid") for i in range(2)),
    )


def served(live: Live, number: int) -> bool:
    """The gangs run, and each single pod runs too or cannot: no node has room for it beside pods it may not
    preempt.

    The gangs may come to lie on one half of the nodes or, one pod on each, on all of them; then nobody can
    help the single pods.
    """
    free = dict.fromkeys((f"n{index:03}" for index in range(NODES)), CPU)
    for document in live.pods:
        if document["spec"].get("nodeName") and not document["metadata"]["name"].startswith("low"):
            asks = document["spec"]["containers"][0]["resources"]["requests"]["cpu"]
            free[document["spec"]["nodeName"]] -= int(asks)
    singles = len(live.bound(f"mid{number}"))
    return len(live.bound(f"high{number}")) == 2 * GANG and (singles == 2 or max(free.values()) < SINGLE)


async def clear(live: Live) -> None:
    for document in live.pods:
        await live.client.delete(PODS, document["metadata"]["name"], "ns", grace_seconds=0)
    await live.until(lambda: not live.pods)


async def attack_and_kill(live: Live, scheduler: Victim, dice: random.Random, number: int) -> int:
    """One round: three kills during an assault, then everything must end well. Returns how many single pods
    run.
    """
    await storm(live, number)
    scheduler.start()
    await live.until(lambda: sum(sizes(live, f"low{number}").values()) == 4 * GANG, 60)
    attack = asyncio.create_task(assault(live, number))
    for _ in range(3):
        await scheduler.live_a_little(live, dice)
        await scheduler.kill()
        scheduler.start()
    await attack
    await live.until(lambda: served(live, number), 60)
    await live.until(lambda: not any(p["metadata"].get("deletionTimestamp") for p in live.pods), 20)
    await live.until(lambda: set(sizes(live, f"low{number}").values()) <= {0, GANG}, 20)
    assert set(sizes(live, f"high{number}").values()) == {GANG}
    running = len(live.bound(f"mid{number}"))
    await scheduler.kill()
    await clear(live)
    return running


@pytest.mark.slow
async def test_killed_at_random_points_nothing_is_lost_doubled_or_left_half_done():
    seed = int(os.environ.get("REPRIEVE_TEST_SEED", random.randrange(10**6)))
    # Real processes are killed at real moments: a run cannot be replayed, so its dice are not drawn.
    dice = random.Random(seed)
    judge = Judge({f"n{index:03}": CPU * 1000 for index in range(NODES)})
    async with cluster(NODES, CPU, grace=0.1, background=(judge.watch,)) as live:
        scheduler = Victim(str(live.server.kubeconfig))
        try:
            number = running = 0
            while scheduler.kills < KILLS:
                number += 1
                running += await attack_and_kill(live, scheduler, dice, number)
                assert judge.complaints == [], f"seed {seed}"
        finally:
            await scheduler.kill()
    print(
        f"{scheduler.kills} kills, {judge.seen} changes judged, {running} of {2 * number} single pods run, "
        f"seed {seed}"
    )
