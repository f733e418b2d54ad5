"""Pods with claims on a real kube-apiserver: kube-controller-manager binds, a small provisioner of ours plays
the CSI driver, the scheduler is killed in between. Nothing is bound twice, every pod gets what it claims."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import CLAIMS, PODS, STORAGE_KINDS, VOLUMES, ApiError, Client, Informer
from reprieve.objects import well_known
from tests.builders import Document
from tests.real.cluster import Place, Run, place
from tests.scale import scaled
from tests.scheduler.test_volumes_killed import VolumeJudge

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]

STORAGE_CLASSES = next(each for each in STORAGE_KINDS if each.kind == "StorageClass")
DRIVER = "csi.reprieve.test"
HOSTS, COUNT = 2, 6
KILLS = scaled(4, least=2)


def volume(name: str, host: str, storage_class: str, **spec: Any) -> Document:
    hosts = [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "persistentVolumeReclaimPolicy": "Retain",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}},
            **spec,
        },
    }


def claim(here: Place, name: str, storage_class: str) -> Document:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {"metadata": {"name": name, "namespace": here.name}, "spec": spec}


class Provisioner:
    """What the external provisioner of a CSI driver does: a volume for every claim with a selected node.

    `refusals`: how many claims it gives up on first, as one does that has no space on that node."""

    def __init__(self, client: Client, here: Place, storage_class: str, refusals: int = 0) -> None:
        self._client, self._here, self._class = client, here, storage_class
        self._refusals = refusals
        self.refused = 0
        self._seen: asyncio.Queue[Document] = asyncio.Queue()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Provisioner"]:
        def note(change: Any) -> None:
            self._seen.put_nowait(change.new)

        async with Informer(self._client, CLAIMS.raw(), note, namespace=self._here.name):
            task = asyncio.create_task(self._work())
            try:
                yield self
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            found = await self._seen.get()
            node = (found["metadata"].get("annotations") or {}).get(well_known.SELECTED_NODE)
            if (
                not node
                or found["spec"].get("volumeName")
                or found["spec"]["storageClassName"] != self._class
            ):
                continue
            try:
                await self._provision(found, node)
            except ApiError as error:
                if not (error.already_exists or error.conflict):
                    raise

    async def _provision(self, found: Document, node: str) -> None:
        meta = found["metadata"]
        if self.refused < self._refusals:
            self.refused += 1
            notes = {
                "resourceVersion": meta["resourceVersion"],
                "annotations": {well_known.SELECTED_NODE: None},
            }
            await self._client.patch(CLAIMS, meta["name"], {"metadata": notes}, self._here.name)
            return
        kept = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": self._here.name}
        kept |= {"name": meta["name"], "uid": meta["uid"]}
        name = f"pvc-{meta['uid']}"
        csi = {"driver": DRIVER, "volumeHandle": name}
        await self._client.create(VOLUMES, volume(name, node, self._class, claimRef=kept, csi=csi))


@asynccontextmanager
async def classes(here: Place) -> AsyncIterator[tuple[str, str]]:
    """One that is provisioned and one that is not, and free local volumes of it on every node."""
    made, local = f"{here.name}-made", f"{here.name}-local"
    late = {"volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Retain"}
    await here.create(
        STORAGE_CLASSES,
        {"metadata": {"name": made}, "provisioner": DRIVER, **late},
        {"metadata": {"name": local}, "provisioner": "kubernetes.io/no-provisioner", **late},
    )
    hosts = [f"{here.name}-{index}" for index in range(HOSTS)]
    disk = {"local": {"path": "/x"}}
    free = [volume(f"{host}-{i}", host, local, **disk) for host in hosts for i in range(COUNT)]
    await here.create(VOLUMES, *free)
    try:
        yield made, local
    finally:
        await here.client.request("DELETE", CLAIMS.path(here.name))
        for each in (await here.client.listing(VOLUMES.raw())).items:
            if each["spec"].get("storageClassName") in (made, local):
                await here.client.delete(VOLUMES, each["metadata"]["name"])
        for name in (made, local):
            await here.client.delete(STORAGE_CLASSES, name)


@asynccontextmanager
async def judged(here: Place) -> AsyncIterator[None]:
    judge = VolumeJudge()
    async with (
        Informer(here.client, VOLUMES.raw(), lambda change: judge.see_volume(change.new)),
        Informer(here.client, CLAIMS.raw(), lambda change: judge.see_claim(change.new), namespace=here.name),
    ):
        yield
    assert judge.complaints == []


async def submit(here: Place, made: str, local: str) -> None:
    names = [str(index) for index in range(COUNT)]
    await here.create(CLAIMS, *(claim(here, f"made-{name}", made) for name in names))
    await here.create(CLAIMS, *(claim(here, f"local-{name}", local) for name in names))
    for name in names:
        volumes = [
            {"name": each, "persistentVolumeClaim": {"claimName": f"{each}-{name}"}}
            for each in ("made", "local")
        ]
        await here.create(PODS, here.own_pod(f"p{name}", volumes=volumes))


async def check(here: Place) -> None:
    """Every claim has a volume of its own, and the pod's node reaches it."""
    claims = {
        each["metadata"]["name"]: each for each in (await here.client.listing(CLAIMS.raw(), here.name)).items
    }
    volumes = {each["metadata"]["name"]: each for each in (await here.client.listing(VOLUMES.raw())).items}
    given = [each["spec"]["volumeName"] for each in claims.values()]
    assert len(set(given)) == len(given) == 2 * COUNT
    for pod in await here.pods():
        for each in pod["spec"]["volumes"]:
            if "persistentVolumeClaim" not in each:
                continue
            found = volumes[claims[each["persistentVolumeClaim"]["claimName"]]["spec"]["volumeName"]]
            terms = found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
            assert terms[0]["matchExpressions"][0]["values"] == [pod["spec"]["nodeName"]]


async def test_volumes_are_bound_and_provisioned_once_although_the_scheduler_is_killed(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    # Real processes are killed at real moments: a run cannot be replayed, so its dice are not drawn.
    dice = random.Random(int(os.environ.get("REPRIEVE_TEST_SEED", random.randrange(10**6))))
    async with (
        place(plane, "volumes-killed", HOSTS, 8) as here,
        classes(here) as (made, local),
        judged(here),
        Provisioner(here.client, here, made).running(),
    ):
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            await submit(here, made, local)
            for _ in range(KILLS):
                await asyncio.sleep(dice.random() * 4)  # the moment of the kill is what is tried out
                run.kill()
                run = Run(account, tmp_path / "log", "--no-leader-elect")
            await here.until_bound("p", COUNT)
        finally:
            run.stop()
        await check(here)


async def test_a_provisioner_that_gives_up_on_a_volume_is_asked_again(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    async with (
        place(plane, "volumes-refused", HOSTS, 8) as here,
        classes(here) as (made, local),
        judged(here),
        Provisioner(here.client, here, made, refusals=2).running() as provisioner,
    ):
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            await submit(here, made, local)
            await here.until_bound("p", COUNT)
        finally:
            run.stop()
        assert provisioner.refused == 2
        await check(here)
