"""NoExecute taints: pods that do not tolerate them leave their node, at once or when their toleration ends.

All such taints of the node must be tolerated. The shortest `tolerationSeconds` of the tolerations that are
used counts from the moment the taint was noticed; a toleration without seconds lasts for ever.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from reprieve.objects import Document, Taint, Toleration, put_condition, tolerates, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.documents import shifted
from reprieve.server.storage import Record

MANAGER = "taint-eviction-controller"


class TaintEviction(Controller):
    """Its keys are those of pods on tainted nodes; pods elsewhere cost nothing."""

    resource = "nodes"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        self._tainted: dict[str, tuple[Taint, ...]] = {}
        """The NoExecute taints of each node that has any."""
        self._since: dict[Key, datetime] = {}
        """When the toleration of a pod began to run out."""
        super().__init__(api)
        for record in api.backend.store.collection("nodes").scan(None):
            self.queue.drop((record.namespace, record.name))
            self.changed(record, gone=False)
        pods.listen(self._pod_changed)

    def changed(self, record: Record, gone: bool) -> None:
        taints = () if gone or b'"NoExecute"' not in record.raw else _no_execute(record.object)
        if self._tainted.get(record.name, ()) == taints:
            return
        if taints:
            self._tainted[record.name] = taints
        else:
            del self._tainted[record.name]
        for pod in self._pods.on_node(record.name):
            self.queue.add(pod.key)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        if after is not None and after.node in self._tainted:
            self.queue.add(after.key)
        elif before is not None and before.key in self._since and after is None:
            self._forget(before.key)

    def _forget(self, key: Key) -> None:
        self._since.pop(key, None)
        self.queue.drop(key)

    async def reconcile(self, key: Key) -> datetime | None:
        pod, document = self._pods.get(key), self.api.peek("pods", key[1], key[0])
        if pod is None or document is None or pod.deleting or pod.finished:
            self._forget(key)
            return None
        patience = _patience(document, self._tainted.get(pod.node, ()))
        if patience is None:
            if self._since.pop(key, None) is not None:
                await self._tell(document, f"Cancelling deletion of Pod {key[0]}/{key[1]}")
            return None
        now = self.api.now()
        due = shifted(self._since.setdefault(key, now), patience)
        if due > now:
            return due
        await self._evict(document)
        return None

    async def _evict(self, pod: Document) -> None:
        meta = pod["metadata"]
        await self._tell(pod, f"Marking for deletion Pod {meta['namespace']}/{meta['name']}")
        new = put_condition(
            pod.setdefault("status", {}),
            self.api.backend.timestamp(),
            type=well_known.DISRUPTION_TARGET,
            status="True",
            reason="DeletionByTaintManager",
            message="Taint manager: deleting due to NoExecute taint",
        )
        if new:
            await self.api.update_status("pods", pod, manager=MANAGER)
        await self.api.delete("pods", meta["name"], meta["namespace"], uid=meta["uid"])
        self._forget((meta["namespace"], meta["name"]))

    async def _tell(self, pod: Document, message: str) -> None:
        await record_event(self.api, pod, "TaintManagerEviction", message, component=MANAGER)


def _no_execute(node: Document) -> tuple[Taint, ...]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return tuple(msgspec.convert(t, Taint) for t in taints if t.get("effect") == "NoExecute")


def _patience(pod: Document, taints: Iterable[Taint]) -> int | None:
    """How many seconds the pod may stay; None: for ever."""
    raw = (pod.get("spec") or {}).get("tolerations") or ()
    tolerations = [msgspec.convert(t, Toleration) for t in raw]
    limits: list[int] = []
    for taint in taints:
        used = next((t for t in tolerations if tolerates([t], taint)), None)
        if used is None:
            return 0
        if used.toleration_seconds is not None:
            limits.append(max(0, used.toleration_seconds))
    return min(limits, default=None)
