"""Volumes on a real kube-apiserver: kube-controller-manager binds them, a small provisioner of ours plays the
CSI driver.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reprieve.kube import CLAIMS, STORAGE_KINDS, VOLUMES, ApiError, Client, Informer
from reprieve.objects import well_known
from tests.builders import Document
from tests.real.cluster import Place

STORAGE_CLASSES = next(each for each in STORAGE_KINDS if each.kind == "StorageClass")
DRIVER = "csi.reprieve.test"


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
async def classes(here: Place, nodes: int, each: int) -> AsyncIterator[tuple[str, str]]:
    """One that is provisioned and one that is not, and free local volumes of it on so many nodes."""
    made, local = f"{here.name}-made", f"{here.name}-local"
    late = {"volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Retain"}
    await here.create(
        STORAGE_CLASSES,
        {"metadata": {"name": made}, "provisioner": DRIVER, **late},
        {"metadata": {"name": local}, "provisioner": "kubernetes.io/no-provisioner", **late},
    )
    hosts = [f"{here.name}-{index}" for index in range(nodes)]
    disk = {"local": {"path": "/x"}}
    free = [volume(f"{host}-{i}", host, local, **disk) for host in hosts for i in range(each)]
    await here.create(VOLUMES, *free)
    try:
        yield made, local
    finally:
        await here.client.request("DELETE", CLAIMS.path(here.name))
        for found in (await here.client.listing(VOLUMES.raw())).items:
            if found["spec"].get("storageClassName") in (made, local):
                await here.client.delete(VOLUMES, found["metadata"]["name"])
        for name in (made, local):
            await here.client.delete(STORAGE_CLASSES, name)


def with_claims(here: Place, name: str, *claims: str) -> Document:
    """A pod with a volume for each of these claims."""
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return here.own_pod(name, volumes=volumes)
