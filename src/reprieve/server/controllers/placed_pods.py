"""What StatefulSets and DaemonSets share: each pod has a place of its own, and versions of the template.

A subclass says which pods should be where (`place`) and what the status tells (`status`); a new template
takes the pods of the older ones one by one, within what may be unavailable.
"""

from collections.abc import Sequence
from datetime import datetime

from reprieve.objects import Document, parse_time
from reprieve.server.controllers.controller import Key
from reprieve.server.controllers.pod_owners import PodOwners
from reprieve.server.controllers.pods import Pod
from reprieve.server.controllers.revisions import REVISION_LABEL, History, current_history, forget_old
from reprieve.server.documents import shifted


class PlacedPods(PodOwners):
    async def place(self, owner: Document, pods: list[Pod], history: History) -> list[datetime]:
        """As far as it goes without waiting; returns when to look again."""
        raise NotImplementedError

    def status(self, owner: Document, pods: list[Pod], history: History) -> tuple[Document, list[datetime]]:
        raise NotImplementedError

    async def reconcile(self, key: Key) -> datetime | None:
        owner = self.api.peek(self.resource, key[1], key[0])
        if owner is None:
            return None
        uid, due = owner["metadata"]["uid"], []
        history = await current_history(self.api, owner, self.manager)
        if not owner["metadata"].get("deletionTimestamp"):
            due = await self.place(owner, self.pods.of_controller(uid), history)
        pods = self.pods.of_controller(uid)
        status, later = self.status(owner, pods, history)
        if status != owner.get("status"):
            await self.api.update_status(self.resource, {**owner, "status": status}, manager=self.manager)
        used = {p.labels.get(REVISION_LABEL, "") for p in pods}
        await forget_old(self.api, owner, history, {*used, status.get("currentRevision", "")})
        return min([*due, *later], default=None)

    async def roll(self, owner: Document, pods: Sequence[Pod], most: int, mark: str, lacking: int) -> None:
        """Delete those of older revisions in this order, the unavailable ones first, as long as no more than
        `most` are unavailable. `lacking` places have no pod at all."""
        if (owner["spec"].get("updateStrategy") or {}).get("type", "RollingUpdate") != "RollingUpdate":
            return
        down = [p for p in pods if self.is_unavailable(owner, p)]
        old = [p for p in pods if p.labels.get(REVISION_LABEL) != mark and not p.deleting]
        dead = [p for p in old if p in down]
        rest = [p for p in old if p not in down]
        await self.delete_pods(dead + rest[: max(0, most - len(down) - lacking)])

    def is_unavailable(self, owner: Document, pod: Pod) -> bool:
        if pod.deleting or pod.phase != "Running" or not pod.ready:
            return True
        wait = int(owner["spec"].get("minReadySeconds") or 0)
        return bool(wait and pod.ready_since and shifted(parse_time(pod.ready_since), wait) > self.api.now())
