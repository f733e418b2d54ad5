"""Generic ephemeral volumes: a claim of its own for each, which ends with the pod."""

from datetime import datetime

from reprieve.objects import Document
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.controllers.events import record_event
from reprieve.server.documents import at, items
from reprieve.server.storage import Record

CLAIMS = "persistentvolumeclaims"
MANAGER = "ephemeral-volume-controller"


class EphemeralClaims(Controller):
    resource = "pods"

    def changed(self, record: Record, gone: bool) -> None:
        if gone or any(volume.get("ephemeral") for volume in items(record.object, "spec", "volumes")):
            super().changed(record, gone)

    async def reconcile(self, key: Key) -> datetime | None:
        pod = self.api.peek("pods", key[1], key[0])
        if pod is None or pod["metadata"].get("deletionTimestamp"):
            return None
        for volume in items(pod, "spec", "volumes"):
            template = at(volume, "ephemeral", "volumeClaimTemplate")
            if not template:
                continue
            name = f"{key[1]}-{volume['name']}"
            found = self.api.peek(CLAIMS, name, key[0])
            if found is None:
                await self.api.create(CLAIMS, _claim(pod, name, template), manager=MANAGER)
            elif not _owned(found, pod):
                text = f"PVC {key[0]}/{name} was not created for pod {key[0]}/{key[1]} (pod is not owner)"
                reason = "ProvisioningFailed"
                await record_event(self.api, pod, reason, text, component=MANAGER, warning=True)
        return None


def _owned(claim: Document, pod: Document) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(each.get("controller") and each.get("uid") == pod["metadata"]["uid"] for each in owners)


def _claim(pod: Document, name: str, template: Document) -> Document:
    meta, given = pod["metadata"], template.get("metadata") or {}
    owner = {
        "apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"],
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": dict(given.get("labels") or {}),
            "annotations": dict(given.get("annotations") or {}),
            "ownerReferences": [owner],
        },
        "spec": template.get("spec") or {},
    }
