"""ResourceQuotas: what is used. New objects are charged at the door (`server.quotas`); here everything is
counted again when a quota changes or something that it may count goes, ends or changes.
"""

from datetime import datetime

from reprieve.admission import resource_quotas as rules
from reprieve.objects import Document
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.documents import at
from reprieve.server.storage import ADDED, DELETED, Change, Record


class ResourceQuotas(Controller):
    resource = "resourcequotas"

    def __init__(self, api: Api) -> None:
        self._specs: dict[Key, Document] = {}
        self._quotas = api.backend.store.collection(self.resource)
        super().__init__(api)
        api.backend.store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        """Anything may be counted; without quotas nothing is."""
        for change in changes if self._quotas.count else ():
            if change.record.namespace in self._quotas.buckets and _may_free(change):
                for record in self._quotas.scan(change.record.namespace):
                    self.queue.add((record.namespace, record.name))

    def changed(self, record: Record, gone: bool) -> None:
        """A charge changes only what is used: no reason to count again. A status that somebody wrote is."""
        key, document = (record.namespace, record.name), record.object
        spec = document.get("spec") or {}
        if gone:
            self._specs.pop(key, None)
            super().changed(record, gone)
        elif self._specs.get(key) != spec or at(document, "status", "hard") != spec.get("hard"):
            self._specs[key] = spec
            super().changed(record, gone)

    async def reconcile(self, key: Key) -> datetime | None:
        quota = self.api.peek(self.resource, key[1], key[0])
        if quota is None:
            return None
        hard = dict((quota.get("spec") or {}).get("hard") or {})
        used = self._count(quota, rules.parse(hard))
        status: Document = {"hard": hard, "used": rules.show(used)}
        if status != quota.get("status"):
            document = {**quota, "status": status}
            await self.api.update_status(self.resource, document, manager="resourcequota-controller")
        return self._next(key[0])

    def _count(self, quota: Document, hard: rules.Usage) -> rules.Usage:
        used = dict.fromkeys(hard, 0)
        store, namespace, now = self.api.backend.store, quota["metadata"]["namespace"], self.api.now()
        for storage_key in store.storage_keys:
            names = rules.concerns(storage_key, hard, pod_like=storage_key == "pods")
            if not names:
                continue
            for record in store.collection(storage_key).scan(namespace):
                document = record.object
                if rules.in_scope(quota, storage_key, document):
                    usage = rules.usage_of(storage_key, document, now)
                    for name in names:
                        used[name] += usage.get(name, 0)
        return used

    def _next(self, namespace: str) -> datetime | None:
        """When the next pod that should have stopped is not counted any more."""
        times = []
        for record in self.api.backend.store.collection("pods").scan(namespace):
            if b'"deletionTimestamp"' in record.raw and rules.occupies(record.object, self.api.now()):
                due = rules.overdue(record.object)
                times += [due] if due is not None else []
        return min(times, default=None)


def _may_free(change: Change) -> bool:
    """Whether a change can make the usage smaller; what makes it larger is charged at the door."""
    if change.record.storage_key == "resourcequotas" and change.type != DELETED:
        return False
    if change.type == DELETED:
        return True
    return change.type != ADDED and change.record.storage_key in (
        "pods",
        "services",
        "persistentvolumeclaims",
    )
