"""Namespaces: a new one gets its default service account, a deleted one is emptied and removed.

Pods go first, so that nothing runs without the objects it relies on; the rest follows when the last pod is
gone. Conditions of the namespace say what is left and which finalizers hold it.
"""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial

from reprieve.objects import Document, counted, put_condition
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.errors import ApiError
from reprieve.server.storage import DELETED, Change, Record

FINALIZER = "kubernetes"
LOOK_AGAIN = timedelta(milliseconds=250)
MANAGER = "namespace-controller"
_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


class Namespaces(Controller):
    resource = "namespaces"

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.changes.of("serviceaccounts", self._account_changed)

    def _account_changed(self, change: Change) -> None:
        if change.type == DELETED:
            self.queue.add(("", change.record.namespace))

    async def reconcile(self, key: Key) -> datetime | None:
        namespace = self.api.peek(self.resource, key[1])
        if namespace is None:
            return None
        if not namespace["metadata"].get("deletionTimestamp"):
            await self._ensure_account(key[1])
            return None
        left, refusals = await self._empty(key[1])
        await self._tell(namespace, left, refusals)
        if left:
            return self.api.now() + LOOK_AGAIN
        current = self.api.peek(self.resource, key[1])
        if current is not None:
            await self._release(current)
        return None

    async def _ensure_account(self, namespace: str) -> None:
        if self.api.peek("serviceaccounts", "default", namespace) is not None:
            return
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        try:
            await self.api.create("serviceaccounts", account, namespace)
        except ApiError as refusal:
            if refusal.reason != "AlreadyExists":
                raise

    async def _empty(self, namespace: str) -> tuple[list[Record], list[ApiError]]:
        """Delete what is not being deleted already; returns what is left. Pods first."""
        store = self.api.backend.store
        keys = ["pods"] if store.collection("pods").buckets.get(namespace) else store.storage_keys
        records = [
            r for key in keys for r in store.collection(key).scan(namespace) if r.namespace == namespace
        ]
        staying = [r for r in records if "deletionTimestamp" not in r.object["metadata"]]
        refusals = await in_parallel(
            partial(self.api.delete, r.storage_key, r.name, namespace, propagation="Background")
            for r in staying
        )
        left = [
            record
            for key in store.storage_keys
            for record in store.collection(key).scan(namespace)
            if record.namespace == namespace
        ]
        return left, [refusal for refusal in refusals if refusal.code not in (404, 409)]

    async def _tell(self, namespace: Document, left: list[Record], refusals: list[ApiError]) -> None:
        said = dict(_FINE)
        if left:
            kinds = Counter(record.storage_key for record in left)
            parts = [f"{key} has {counted(number, 'resource instance')}" for key, number in kinds.items()]
            text = f"Some resources are remaining: {', '.join(sorted(parts))}"
            said["NamespaceContentRemaining"] = ("SomeResourcesRemain", text)
        holding = Counter(f for record in left for f in record.object["metadata"].get("finalizers") or ())
        if holding:
            parts = [f"{name} in {counted(number, 'resource instance')}" for name, number in holding.items()]
            text = f"Some content in the namespace has finalizers remaining: {', '.join(sorted(parts))}"
            said["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", text)
        if refusals:
            text = ", ".join(sorted({str(refusal) for refusal in refusals}))
            text = f"Failed to delete all resource types, {len(refusals)} remaining: {text}"
            said["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", text)
        status = dict(namespace.get("status") or {})
        status["conditions"] = [dict(c) for c in status.get("conditions") or ()]
        for type, (reason, message) in said.items():
            state = "False" if (reason, message) == _FINE[type] else "True"
            put_condition(
                status, self.api.backend.timestamp(), type=type, status=state, reason=reason, message=message
            )
        if status != namespace.get("status"):
            await self.api.update_status(self.resource, {**namespace, "status": status}, manager=MANAGER)

    async def _release(self, namespace: Document) -> None:
        finalizers = [f for f in (namespace.get("spec") or {}).get("finalizers") or () if f != FINALIZER]
        document = {**namespace, "spec": {**(namespace.get("spec") or {}), "finalizers": finalizers}}
        await self.api.update(self.resource, document, subresource="finalize", manager=MANAGER)
