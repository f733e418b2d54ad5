"""Whatever call is a scheduler's last: no volume is bound twice, no pod moves, and nothing stays reserved."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import Document, node
from tests.controllers.virtual_time import run_virtually
from tests.scale import scaled
from tests.scheduler.claims import claim, claiming
from tests.scheduler.volume_api import CLAIM, POD, VOLUME, Life, Store, VolumeController, local_volume
from tests.scheduler.world import pod_group

HOSTS = ("n1", "n2")
STATIC, MADE = "static", "made"
Kinds = list[list[str]]
"""The classes of each pod's claims."""


def storage_class(name: str) -> Document:
    provisioner = "kubernetes.io/no-provisioner" if name == STATIC else "csi.example.com"
    meta, late = {"name": name}, "WaitForFirstConsumer"
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": meta,
        "provisioner": provisioner,
        "volumeBindingMode": late,
    }


def pending(name: str, storage_class: str) -> Document:
    body = claim(name, storage_class)
    return {"apiVersion": "v1", "kind": CLAIM, **body, "status": {"phase": "Pending"}}


def objects(pods: Kinds, gang: bool) -> list[Document]:
    found = [node(host, 10, labels={"kubernetes.io/hostname": host}) for host in HOSTS]
    found += [storage_class(STATIC), storage_class(MADE)]
    wanted = sum(kinds.count(STATIC) for kinds in pods)
    # Enough for everybody on either node, and for the stranger.
    found += [local_volume(f"{host}-{i}", host, STATIC) for host in HOSTS for i in range(wanted + 1)]
    found.append(pending("theirs", STATIC))
    if gang:
        found.append(pod_group("gang", len(pods)))
    for number, kinds in enumerate(pods):
        names = [f"c{number}-{i}" for i in range(len(kinds))]
        found += [pending(name, kind) for name, kind in zip(names, kinds, strict=True)]
        found.append(claiming(f"p{number}", *names, group="gang" if gang else None))
    return found


async def stranger(store: Store, after: float, number: int) -> None:
    """Somebody else takes a free volume for a claim of theirs."""
    await asyncio.sleep(after)
    volumes = [each for each in store.of(VOLUME) if not each["spec"].get("claimRef")]
    theirs = store.get(CLAIM, "theirs")
    if volumes and theirs is not None:
        chosen, uid = volumes[number % len(volumes)], theirs["metadata"]["uid"]
        chosen["spec"]["claimRef"] = {"namespace": "ns", "name": "theirs", "uid": uid}
        store.put(chosen)


def all_bound(store: Store) -> bool:
    return all(each["spec"].get("nodeName") for each in store.of(POD))


async def lives(store: Store, ends: list[tuple[int, bool]], lag: float) -> Life:
    """One scheduler after the other, each killed in a call, the last one not."""
    for last, done in ends:
        life = Life(store, last, done, lag)
        async with asyncio.timeout(3600):
            while not (life.dead.is_set() or all_bound(store)):  # it may have less to do than that
                await asyncio.sleep(1)
        await life.end()
    life = Life(store, lag=lag)
    async with asyncio.timeout(3600):
        while not all_bound(store):
            await asyncio.sleep(1)
    await asyncio.sleep(2)
    return life


@settings(max_examples=scaled(25, least=10), deadline=None)
@given(
    pods=st.lists(st.lists(st.sampled_from([STATIC, MADE]), min_size=1, max_size=2), min_size=1, max_size=3),
    gang=st.booleans(),
    ends=st.lists(st.tuples(st.integers(1, 12), st.booleans()), max_size=3),
    lag=st.sampled_from([0.0, 0.2]),
    pace=st.sampled_from([0.001, 0.05, 1.0]),
    refusals=st.integers(0, 2),
    race=st.none() | st.tuples(st.sampled_from([0.0, 0.01, 0.5]), st.integers(0, 2)),
)
def test_whatever_call_is_the_last_nothing_is_bound_twice_and_nothing_stays_reserved(
    pods: Kinds, gang: bool, ends: Any, lag: float, pace: float, refusals: int, race: Any
) -> None:
    async def story() -> None:
        store = Store(objects(pods, gang))
        tasks = [asyncio.create_task(VolumeController(store, pace, refusals).run())]
        if race is not None:
            tasks.append(asyncio.create_task(stranger(store, *race)))
        try:
            life = await lives(store, ends, lag)
            assert store.complaints == []
            assert life.reserved == {}
            await life.end()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    run_virtually(story())
