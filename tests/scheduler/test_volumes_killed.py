"""kill -9 while claims are on their way to volumes: every pod gets what it claims, once."""

import os
import random
from typing import Any

from reprieve.kube import CLAIMS, STORAGE_KINDS, VOLUMES
from tests.scale import scaled
from tests.scheduler.claims import claim, claiming, local_volume
from tests.scheduler.crashing import Judge, Victim
from tests.scheduler.live import NODES, PODS, Live, cluster

HOSTS, PODS_EACH = 3, 8
KILLS = scaled(6, least=3)
STORAGE_CLASSES = next(each for each in STORAGE_KINDS if each.kind == "StorageClass")
LOCAL = {
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


class VolumeJudge:
    """A volume is never given to a second claim, a claim never gets a second volume."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self.complaints: list[str] = []

    async def watch_volumes(self, api: Any) -> None:
        async for event in api.watch("persistentvolumes"):
            self.see_volume(event.object)

    async def watch_claims(self, api: Any) -> None:
        async for event in api.watch("persistentvolumeclaims"):
            self.see_claim(event.object)

    def see_volume(self, document: dict[str, Any]) -> None:
        self._see(document, (document["spec"].get("claimRef") or {}).get("uid", ""))

    def see_claim(self, document: dict[str, Any]) -> None:
        self._see(document, document["spec"].get("volumeName", ""))

    def _see(self, document: dict[str, Any], given: str) -> None:
        uid, name = document["metadata"]["uid"], document["metadata"]["name"]
        before = self._given.get(uid, "")
        if before and before != given:
            self.complaints.append(f"{name} had {before}, has {given}")
        self._given[uid] = given


async def prepare(live: Live) -> None:
    for index in range(HOSTS):
        found = await live.client.get(NODES.raw(), f"n{index:03}")
        found["metadata"].setdefault("labels", {})["kubernetes.io/hostname"] = f"n{index:03}"
        await live.client.replace(NODES, f"n{index:03}", found)
    await live.create(STORAGE_CLASSES, LOCAL)


async def storm(live: Live, number: int) -> None:
    """Pods with a claim to be provisioned and one to be bound to a local volume."""
    names = [f"{number}-{index}" for index in range(PODS_EACH)]
    hosts = [f"n{index:03}" for index in range(HOSTS)]
    await live.create(
        VOLUMES,
        *(local_volume(f"pv-{name}-{host}", host) for name in names for host in hosts),
    )
    await live.create(CLAIMS, *(claim(f"made-{name}") for name in names))
    await live.create(CLAIMS, *(claim(f"local-{name}", "local") for name in names))
    pods = (claiming(f"p-{name}", f"made-{name}", f"local-{name}", cpu="100m") for name in names)
    await live.create(PODS, *pods)


def volume_of(live: Live, name: str) -> str:
    found = live.server.api.peek("persistentvolumeclaims", name, "ns") or {"spec": {}}
    return str(found["spec"].get("volumeName", ""))


async def test_killed_while_claims_are_being_bound_nothing_is_bound_twice() -> None:
    seed = int(os.environ.get("REPRIEVE_TEST_SEED", random.randrange(10**6)))
    # Real processes are killed at real moments: a run cannot be replayed, so its dice are not drawn.
    dice = random.Random(seed)
    pods, volumes = Judge({f"n{index:03}": 64_000 for index in range(HOSTS)}), VolumeJudge()
    watchers = (pods.watch, volumes.watch_volumes, volumes.watch_claims)
    async with cluster(HOSTS, 64, background=watchers) as live:
        await prepare(live)
        scheduler = Victim(str(live.server.kubeconfig))
        try:
            number = 0
            while scheduler.kills < KILLS:
                number += 1
                await storm(live, number)
                scheduler.start()
                await scheduler.live_a_little(live, dice)
                await scheduler.kill()
            scheduler.start()
            await live.until(lambda: len(live.bound("p-")) == number * PODS_EACH, 120)
        finally:
            await scheduler.kill()
        claims = [f"{kind}-{p['metadata']['name'][2:]}" for p in live.pods for kind in ("made", "local")]
        given = [volume_of(live, name) for name in claims]
        assert all(given)
        assert len(set(given)) == len(given), f"seed {seed}"
        assert (pods.complaints, volumes.complaints) == ([], []), f"seed {seed}"
