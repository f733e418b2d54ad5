"""PersistentVolumeClaims get a PersistentVolume: one that exists and fits, or a fake one of a fake class.

A claim without a class gets the default class. What happens to it, the first that applies:

1. it names a volume, or one that is available fits (class, size, access modes, selector): the smallest one;
2. it wants no class (`storageClassName: ""`): an event says that no volume fits;
3. its class does not exist, or belongs to a provisioner that is not here: an event says so;
4. its class waits for the first consumer, no scheduler has chosen a node (the claim's annotation) or a volume
   (the volume's `claimRef`) for it, and no pod with the claim is on a node yet: an event says so;
5. else a volume is made for it.

A volume whose claim is deleted goes too, or is Released, by its reclaim policy. There is no data behind a
fake volume, pods do not wait for their claims, and a claim that is in use can be deleted.
"""

import asyncio
from datetime import datetime
from fractions import Fraction
from typing import Any

import msgspec

from reprieve.objects import Document, LabelSelector, exact, matches, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import WRITES_AT_ONCE, Controller, Key
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.documents import at, items
from reprieve.server.storage import DELETED, Change, Record

CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"
CLASSES = "storageclasses.storage.k8s.io"
PROVISIONER = "reprieve.dev/fake"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
MANAGER = "persistentvolume-controller"
_BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


class Claims(Controller):
    resource = CLAIMS

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        self._waiting: dict[str, set[Key]] = {}
        """Claims that wait for a pod on a node, by namespace."""
        self._promised: set[str] = set()
        """Volumes that are being bound: claims are dealt with at the same time, and share commits."""
        super().__init__(api)
        pods.listen(self._pod_changed)
        for offer in (VOLUMES, CLASSES):
            self.changes.of(offer, self._offer_changed)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        if after is not None and after.node and (before is None or not before.node):
            for key in self._waiting.get(after.namespace, ()):
                self.queue.add(key)

    def _offer_changed(self, change: Change) -> None:
        """A new volume or class may be what claims waited for; a volume that is kept for one, that one."""
        kept = at(change.record.object, "spec", "claimRef")
        if kept:
            self.queue.add((kept.get("namespace", ""), kept.get("name", "")))
        elif change.type != DELETED:
            for record in self.api.backend.store.collection(CLAIMS).scan(None):
                if not at(record.object, "spec", "volumeName"):
                    self.queue.add((record.namespace, record.name))

    def changed(self, record: Record, gone: bool) -> None:
        if gone:
            self._waiting.get(record.namespace, set()).discard((record.namespace, record.name))
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
            return None
        if "storageClassName" not in claim["spec"] and not claim["spec"].get("volumeName"):
            name = self._default_class()
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
        elif at(claim, "status", "phase") != "Pending":
            status = {**(claim.get("status") or {}), "phase": "Pending"}
            await self.api.update_status(CLAIMS, {**claim, "status": status}, manager=MANAGER)
        return None

    def _default_class(self) -> str:
        marked = [
            c["metadata"]
            for c in self.api.select(CLASSES)
            if (c["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true"
        ]
        newest = max(marked, key=lambda meta: (meta["creationTimestamp"], meta["name"]), default=None)
        return str(newest["name"]) if newest is not None else ""

    # -- volumes that exist ----------------------------------------------------------------------------------

    def _waits_for_consumer(self, claim: Document) -> bool:
        """A scheduler chooses its volume, unless nobody does and a pod with the claim is on a node."""
        found = self.api.peek(CLASSES, claim["spec"].get("storageClassName") or "")
        delayed = found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"
        return delayed and not claim["spec"].get("volumeName") and not self._has_consumer(claim)

    def _fitting(self, claim: Document, only_kept: bool) -> Document | None:
        wanted = claim["spec"].get("volumeName")
        candidates = [
            v
            for v in self.api.select(VOLUMES)
            if v["metadata"]["name"] not in self._promised and _fits(v, claim)
        ]
        if only_kept:
            candidates = [v for v in candidates if at(v, "spec", "claimRef")]
        if wanted:
            candidates = [v for v in candidates if v["metadata"]["name"] == wanted]
        meant = [v for v in candidates if at(v, "spec", "claimRef")]
        return min(meant or candidates, key=_size, default=None)

    async def _bind(self, claim: Document, volume: Document) -> None:
        meta, name = claim["metadata"], volume["metadata"]["name"]
        patch: dict[str, Any] = {"spec": {"claimRef": _reference(claim)}}
        if at(volume, "spec", "claimRef", "uid") != meta["uid"]:
            patch["metadata"] = {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}}
            volume = await self.api.patch(VOLUMES, name, patch, manager=MANAGER)
        await _set_phase(self.api, volume, "Bound")
        patch = {"metadata": {"annotations": _BOUND}, "spec": {"volumeName": name}}
        claim = await self.api.patch(CLAIMS, meta["name"], patch, meta["namespace"], manager=MANAGER)
        status = {
            "phase": "Bound",
            "accessModes": volume["spec"].get("accessModes") or [],
            "capacity": volume["spec"].get("capacity") or {},
        }
        await self.api.update_status(CLAIMS, {**claim, "status": status}, manager=MANAGER)
        self._waiting.get(meta["namespace"], set()).discard((meta["namespace"], meta["name"]))

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
            meta = claim["metadata"]
            self._waiting.setdefault(meta["namespace"], set()).add((meta["namespace"], meta["name"]))
            message = "waiting for first consumer to be created before binding"
            await self._tell(claim, "WaitForFirstConsumer", message)
        else:
            volume = _fake_volume(claim, found)
            existing = self.api.peek(VOLUMES, volume["metadata"]["name"])
            return existing or await self.api.create(VOLUMES, volume, manager=MANAGER)
        return None

    def _has_consumer(self, claim: Document) -> bool:
        """A scheduler has chosen the node, or a pod with the claim is on one."""
        meta = claim["metadata"]
        if (meta.get("annotations") or {}).get(well_known.SELECTED_NODE):
            return True
        for pod in self._pods.in_namespace(meta["namespace"]):
            document = self.api.peek("pods", pod.name, pod.namespace) if pod.node and pod.active else None
            for volume in items(document, "spec", "volumes"):
                if at(volume, "persistentVolumeClaim", "claimName") == meta["name"]:
                    return True
        return False

    async def _tell(self, claim: Document, reason: str, message: str, *, warning: bool = False) -> None:
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
        if volume is None or volume["metadata"].get("deletionTimestamp"):
            return None
        reference = at(volume, "spec", "claimRef", default={})
        if not reference.get("uid"):
            await _set_phase(self.api, volume, "Available")
            return None
        claim = self.api.peek(CLAIMS, reference.get("name", ""), reference.get("namespace", ""))
        if claim is not None and claim["metadata"]["uid"] == reference["uid"]:
            return None
        fake = at(volume, "spec", "csi", "driver") == PROVISIONER
        if fake and at(volume, "spec", "persistentVolumeReclaimPolicy") == "Delete":
            await self.api.delete(VOLUMES, key[1])
        else:
            await _set_phase(self.api, volume, "Released")
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
    }
