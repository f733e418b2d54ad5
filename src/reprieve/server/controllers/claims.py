"""PersistentVolumeClaims get a PersistentVolume: one that exists and fits, or a fake one of a fake class.

A claim without a class gets the default class. What happens to it, the first that applies:

1. it names a volume, or one that is available fits (class, size, access modes, selector): the smallest one;
2. it wants no class (`storageClassName: ""`): an event says that no volume fits;
3. its class does not exist, or belongs to a provisioner that is not here: an event says so;
4. its class waits for the first consumer, no scheduler has chosen a node (the claim's annotation) or a volume
   (the volume's `claimRef`) for it, and no pod with the claim is on a node yet: an event says so;
5. else a volume is made for it.

A claim whose volume is gone is Lost. A volume whose claim is deleted goes too, or is Released, by its reclaim
policy. There is no data behind a fake volume. What is in use is kept by `protection`.
"""

import asyncio
from datetime import datetime
from fractions import Fraction
from typing import Any

import msgspec

from reprieve.admission import default_class, needs_class
from reprieve.objects import Document, LabelSelector, exact, matches, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import WRITES_AT_ONCE, Controller, Key
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.controllers.volume_index import CLAIMS, VOLUMES, VolumeIndex, place_of
from reprieve.server.documents import at
from reprieve.server.storage import DELETED, Change, Record

CLASSES = "storageclasses.storage.k8s.io"
PROVISIONER = "reprieve.dev/fake"
MANAGER = "persistentvolume-controller"
_BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


class Claims(Controller):
    resource = CLAIMS

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        self._volumes = VolumeIndex(api)
        self._promised: set[str] = set()
        """Volumes that are being bound: claims are dealt with at the same time, and share commits."""
        self._told: dict[Key, tuple[str, str]] = {}
        """What a claim was told last, so that it is not told again at every look."""
        super().__init__(api)
        pods.listen(self._pod_changed)
        self.changes.of(VOLUMES, self._volume_changed)
        self.changes.of(CLASSES, self._class_changed)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        """A pod that got its node is the first consumer of its claims."""
        if after is None or not after.node or (before is not None and before.node):
            return
        for name in (*after.claims, *after.own_claims):
            if self._volumes.is_unbound((after.namespace, name)):
                self.queue.add((after.namespace, name))

    def _volume_changed(self, change: Change) -> None:
        """A free volume may be what claims of its class waited for; one kept for a claim, what that did."""
        place = place_of(change.record.object)
        if not isinstance(place, str):
            self.queue.add(place)
        elif change.type != DELETED:
            self._look_at(place)

    def _class_changed(self, change: Change) -> None:
        """It may be what its claims waited for, and the default of those without a class."""
        if change.type != DELETED:
            self._look_at(change.record.name)
            self._look_at("")

    def _look_at(self, storage_class: str) -> None:
        for key in self._volumes.unbound(storage_class):
            self.queue.add(key)

    def changed(self, record: Record, gone: bool) -> None:
        if gone:
            self._told.pop((record.namespace, record.name), None)
        super().changed(record, gone)

    async def run(self) -> None:
        while True:
            keys = list(await self.queue.take())
            for start in range(0, len(keys), WRITES_AT_ONCE):
                await asyncio.gather(*(self._attempt(key) for key in keys[start : start + WRITES_AT_ONCE]))
            await asyncio.sleep(0)

    async def reconcile(self, key: Key) -> datetime | None:
        claim = self.api.peek(CLAIMS, key[1], key[0])
        if claim is None or claim["metadata"].get("deletionTimestamp"):
            return None
        if at(claim, "status", "phase") == "Bound":
            await self._check_volume(claim)
            return None
        if needs_class(claim):
            name = default_class(self.api.select(CLASSES))
            if name:
                patch = {"spec": {"storageClassName": name}}
                claim = await self.api.patch(CLAIMS, key[1], patch, key[0], manager=MANAGER)
        volume = self._fitting(claim, self._waits_for_consumer(claim))
        if volume is None and not claim["spec"].get("volumeName"):
            volume = await self._provision(claim)
        if volume is not None:
            name = volume["metadata"]["name"]
            self._promised.add(name)
            try:
                await self._bind(claim, volume)
            finally:
                self._promised.discard(name)
            self._told.pop(key, None)
        return None

    async def _check_volume(self, claim: Document) -> None:
        if self.api.peek(VOLUMES, claim["spec"].get("volumeName", "")) is None:
            status = {**claim["status"], "phase": "Lost"}
            await self.api.update_status(CLAIMS, {**claim, "status": status}, manager=MANAGER)
            message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            await self._tell(claim, "ClaimLost", message, warning=True)

    # -- volumes that exist ----------------------------------------------------------------------------------

    def _waits_for_consumer(self, claim: Document) -> bool:
        """A scheduler chooses its volume, unless nobody does and a pod with the claim is on a node."""
        found = self.api.peek(CLASSES, claim["spec"].get("storageClassName") or "")
        delayed = found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"
        return delayed and not claim["spec"].get("volumeName") and not self._has_consumer(claim)

    def _fitting(self, claim: Document, only_kept: bool) -> Document | None:
        """The smallest of those that are kept for the claim, else of those that are free."""
        spec, meta = claim["spec"], claim["metadata"]
        wanted = spec.get("volumeName")
        free = [] if only_kept else self._volumes.free(spec.get("storageClassName") or "")
        for volumes in (self._volumes.kept_for((meta["namespace"], meta["name"])), free):
            found = [v for v in volumes if wanted in (None, "", v["metadata"]["name"])]
            fitting = [v for v in found if v["metadata"]["name"] not in self._promised and _fits(v, claim)]
            if fitting:
                return min(fitting, key=lambda v: (_size(v), v["metadata"]["name"]))
        return None

    async def _bind(self, claim: Document, volume: Document) -> None:
        """The volume first: a claim never names one that is not kept for it."""
        meta, name = claim["metadata"], volume["metadata"]["name"]
        patch: dict[str, Any] = {}
        if at(volume, "status", "phase") != "Bound":
            patch["status"] = {"phase": "Bound"}
        if at(volume, "spec", "claimRef", "uid") != meta["uid"]:
            patch["spec"] = {"claimRef": _reference(claim)}
            patch["metadata"] = {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}}
        if patch:
            patch.setdefault("metadata", {})["resourceVersion"] = volume["metadata"]["resourceVersion"]
            volume = await self.api.patch(VOLUMES, name, patch, manager=MANAGER, with_status=True)
        status = {
            "phase": "Bound",
            "accessModes": volume["spec"].get("accessModes") or [],
            "capacity": volume["spec"].get("capacity") or {},
        }
        bound = {"uid": meta["uid"], "annotations": _BOUND}
        patch = {"metadata": bound, "spec": {"volumeName": name}, "status": status}
        await self.api.patch(
            CLAIMS, meta["name"], patch, meta["namespace"], manager=MANAGER, with_status=True
        )

    # -- volumes that are made -------------------------------------------------------------------------------

    async def _provision(self, claim: Document) -> Document | None:
        name = claim["spec"].get("storageClassName", "")
        found = self.api.peek(CLASSES, name) if name else None
        if not name:
            await self._tell(
                claim,
                "FailedBinding",
                "no persistent volumes available for this claim and no storage class is set",
            )
        elif found is None:
            message = f'storageclass.storage.k8s.io "{name}" not found'
            await self._tell(claim, "ProvisioningFailed", message, warning=True)
        elif found.get("provisioner") != PROVISIONER:
            message = (
                f"Waiting for a volume to be created by the provisioner '{found.get('provisioner')}', which "
            )
            message += f"does not run here, or by hand; claims of the class 'fake' ({PROVISIONER}) get one"
            await self._tell(claim, "ExternalProvisioning", message)
        elif found.get("volumeBindingMode") == "WaitForFirstConsumer" and not self._has_consumer(claim):
            message = "waiting for first consumer to be created before binding"
            await self._tell(claim, "WaitForFirstConsumer", message)
        else:
            volume = _fake_volume(claim, found)
            existing = self.api.peek(VOLUMES, volume["metadata"]["name"])
            return existing or await self.api.create(VOLUMES, volume, manager=MANAGER, with_status=True)
        return None

    def _has_consumer(self, claim: Document) -> bool:
        """A scheduler has chosen the node, or a pod with the claim is on one."""
        meta = claim["metadata"]
        if (meta.get("annotations") or {}).get(well_known.SELECTED_NODE):
            return True
        users = self._pods.of_claim(meta["namespace"], meta["name"])
        return any(pod.node and pod.active for pod in users)

    async def _tell(self, claim: Document, reason: str, message: str, *, warning: bool = False) -> None:
        meta, told = claim["metadata"], (reason, message)
        key = (meta["namespace"], meta["name"])
        if self._told.get(key) != told:
            self._told[key] = told
            await record_event(self.api, claim, reason, message, component=MANAGER, warning=warning)


class Volumes(Controller):
    """A volume is Available, Bound, or, when its claim is gone, Released or deleted."""

    resource = VOLUMES

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.changes.of(CLAIMS, self._claim_changed)

    def _claim_changed(self, change: Change) -> None:
        name = at(change.record.object, "spec", "volumeName") if change.type == DELETED else None
        if name:
            self.queue.add(("", name))

    async def reconcile(self, key: Key) -> datetime | None:
        volume = self.api.peek(VOLUMES, key[1])
        if volume is None:
            return None
        reference = at(volume, "spec", "claimRef", default={})
        if not reference.get("uid"):
            await _set_phase(self.api, volume, "Available")
            return None
        claim = self.api.peek(CLAIMS, reference.get("name", ""), reference.get("namespace", ""))
        if claim is not None and claim["metadata"]["uid"] == reference["uid"]:
            return None
        await _set_phase(self.api, volume, "Released")
        fake = at(volume, "spec", "csi", "driver") == PROVISIONER
        if fake and at(volume, "spec", "persistentVolumeReclaimPolicy") == "Delete":
            await self.api.delete(VOLUMES, key[1])
        return None


async def _set_phase(api: Api, volume: Document, phase: str) -> None:
    if at(volume, "status", "phase") != phase:
        status = {**(volume.get("status") or {}), "phase": phase}
        await api.update_status(VOLUMES, {**volume, "status": status}, manager=MANAGER)


def _fits(volume: Document, claim: Document) -> bool:
    spec, wanted = volume["spec"], claim["spec"]
    reference, meta = spec.get("claimRef") or {}, claim["metadata"]
    if reference:
        mine = (reference.get("namespace"), reference.get("name")) == (meta["namespace"], meta["name"])
        if not mine or reference.get("uid") not in (None, "", meta["uid"]):
            return False
    if volume["metadata"].get("deletionTimestamp") or at(volume, "status", "phase") in ("Released", "Failed"):
        return False
    if not set(wanted.get("accessModes") or ()) <= set(spec.get("accessModes") or ()):
        return False
    if _size(volume) < exact(at(wanted, "resources", "requests", "storage", default=0)):
        return False
    same_class = (spec.get("storageClassName") or "") == (wanted.get("storageClassName") or "")
    same_mode = (spec.get("volumeMode") or "Filesystem") == (wanted.get("volumeMode") or "Filesystem")
    selector = msgspec.convert(wanted.get("selector") or {}, LabelSelector)
    return same_class and same_mode and matches(selector, volume["metadata"].get("labels") or {})


def _size(volume: Document) -> Fraction:
    return exact(at(volume, "spec", "capacity", "storage", default=0))


def _reference(claim: Document) -> Document:
    meta = claim["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion")
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim"} | {key: meta[key] for key in kept}


def _fake_volume(claim: Document, storage_class: Document) -> Document:
    spec, name = claim["spec"], f"pvc-{claim['metadata']['uid']}"
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER}},
        "spec": {
            "capacity": {"storage": at(spec, "resources", "requests", "storage", default="0")},
            "accessModes": list(spec.get("accessModes") or ()),
            "claimRef": _reference(claim),
            "csi": {"driver": PROVISIONER, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
        "status": {"phase": "Bound"},
    }
