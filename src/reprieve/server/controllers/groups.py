"""PodGroups: a deleted group stays, by its finalizer, while one of its pods has not ended."""

from datetime import datetime

from reprieve.objects import well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.controllers.podindex import Pod, PodIndex


class PodGroups(Controller):
    place = "podgroups.scheduling.k8s.io"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        super().__init__(api)
        pods.listen(self._pod_changed)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        """Only a pod that ends or goes can free its group."""
        if before is not None and before.group and not before.finished and (after is None or after.finished):
            self.agenda.add((before.namespace, before.group))

    async def reconcile(self, key: Key) -> datetime | None:
        group = self.api.peek(self.place, key[1], key[0])
        if group is None or not group["metadata"].get("deletionTimestamp"):
            return None
        finalizers = group["metadata"].get("finalizers") or ()
        if well_known.POD_GROUP_PROTECTION not in finalizers or any(
            not p.finished for p in self._pods.in_group(*key)
        ):
            return None
        kept = [f for f in finalizers if f != well_known.POD_GROUP_PROTECTION] or None
        await self.api.patch(
            self.place, key[1], {"metadata": {"finalizers": kept}}, key[0], manager="podgroup-protection"
        )
        return None
