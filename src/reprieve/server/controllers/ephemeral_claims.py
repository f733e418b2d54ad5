"""Generic ephemeral volumes: a claim of its own for each, which ends with the pod."""

from datetime import datetime

from reprieve.admission import ephemeral_claim
from reprieve.objects import Document
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.controllers.events import record_event
from reprieve.server.documents import items
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
            claim = ephemeral_claim(pod, volume)
            if claim is None:
                continue
            name = claim["metadata"]["name"]
            found = self.api.peek(CLAIMS, name, key[0])
            if found is None:
                await self.api.create(CLAIMS, claim, manager=MANAGER)
            elif not _owned(found, pod):
                text = f"PVC {key[0]}/{name} was not created for pod {key[0]}/{key[1]} (pod is not owner)"
                reason = "ProvisioningFailed"
                await record_event(self.api, pod, reason, text, component=MANAGER, warning=True)
        return None


def _owned(claim: Document, pod: Document) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(each.get("controller") and each.get("uid") == pod["metadata"]["uid"] for each in owners)
