"""Claims in use by pods and volumes bound to claims are not removed before they are free.

New ones carry a finalizer from the start (`objects.defaults.storage`); older ones get it here. One that is
deleted while it is in use is Terminating until nobody uses it:

- a claim: until no pod on a node has a volume of it, finished or not. Of a pod whose node is done with it
  only a claim that it names counts, not one of its generic ephemeral volumes: that may hold the pod up.
- a volume: until it is not Bound.
"""

from datetime import datetime

from reprieve.objects import Document, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.controllers.volume_index import CLAIMS, VOLUMES
from reprieve.server.documents import at, items
from reprieve.server.storage import Record


class _Protection(Controller):
    finalizer = ""
    manager = ""

    def changed(self, record: Record, gone: bool) -> None:
        """Nearly all changes are of protected objects that stay."""
        if gone or b'"deletionTimestamp"' in record.raw or self.finalizer.encode() not in record.raw:
            super().changed(record, gone)

    async def reconcile(self, key: Key) -> datetime | None:
        found = self.api.peek(self.resource, key[1], key[0])
        if found is None:
            return None
        meta = found["metadata"]
        finalizers = list(meta.get("finalizers") or ())
        leaving, protected = bool(meta.get("deletionTimestamp")), self.finalizer in finalizers
        if leaving and protected and not self.in_use(found):
            finalizers.remove(self.finalizer)
        elif not leaving and not protected:
            finalizers.append(self.finalizer)
        else:
            return None
        body = {"resourceVersion": meta["resourceVersion"], "finalizers": finalizers}
        await self.api.patch(self.resource, key[1], {"metadata": body}, key[0], manager=self.manager)
        return None

    def in_use(self, found: Document) -> bool:
        raise NotImplementedError


class ClaimProtection(_Protection):
    resource = CLAIMS
    finalizer = well_known.CLAIM_PROTECTION
    manager = "pvc-protection-controller"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        super().__init__(api)
        pods.listen(self._pod_changed)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        if before is None or (after is not None and not after.shut_down and after.uid == before.uid):
            return
        for name in (*before.claims, *before.own_claims):
            self.queue.add((before.namespace, name))

    def in_use(self, found: Document) -> bool:
        meta = found["metadata"]
        name, namespace = meta["name"], meta["namespace"]
        owners = [each.get("uid") for each in items(meta, "ownerReferences") if each.get("controller")]
        return any(
            pod.node and (name in pod.claims or (not pod.shut_down and pod.uid in owners))
            for pod in self._pods.of_claim(namespace, name)
        )


class VolumeProtection(_Protection):
    resource = VOLUMES
    finalizer = well_known.VOLUME_PROTECTION
    manager = "pv-protection-controller"

    def in_use(self, found: Document) -> bool:
        return bool(at(found, "status", "phase") == "Bound")
