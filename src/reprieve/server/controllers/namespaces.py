"""Namespaces: a new one gets its default service account, a deleted one goes when everything in it is gone."""

from datetime import datetime, timedelta
from functools import partial

from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.errors import ApiError
from reprieve.server.registry import Document

FINALIZER = "kubernetes"
LOOK_AGAIN = timedelta(milliseconds=250)


class Namespaces(Controller):
    place = "namespaces"

    async def reconcile(self, key: Key) -> datetime | None:
        namespace = self.api.peek(self.place, key[1])
        if namespace is None:
            return None
        if not namespace["metadata"].get("deletionTimestamp"):
            await self._ensure_account(key[1])
            return None
        left = await self._empty(key[1])
        if left:
            return self.api.now() + LOOK_AGAIN
        await self._release(namespace)
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

    async def _empty(self, namespace: str) -> int:
        """Delete what is there and not already leaving; how much is left."""
        store = self.api.backend.store
        records = [record for place in store.places for record in store.shelf(place).scan(namespace)]
        records = [record for record in records if record.namespace == namespace and namespace]
        leaving = [r for r in records if "deletionTimestamp" not in r.object["metadata"]]
        await in_parallel(
            partial(self.api.delete, r.place, r.name, namespace, propagation="Background") for r in leaving
        )
        return sum(1 for r in records if store.get(r.place, namespace, r.name) is not None)

    async def _release(self, namespace: Document) -> None:
        finalizers = [f for f in (namespace.get("spec") or {}).get("finalizers") or () if f != FINALIZER]
        document = {**namespace, "spec": {**(namespace.get("spec") or {}), "finalizers": finalizers}}
        await self.api.update(self.place, document, subresource="finalize", manager="namespace-controller")
