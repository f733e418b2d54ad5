"""ResourceQuotas at the door: a write that uses more than a quota allows is refused, others are charged.

The usage is in the quota's own status, written in the same step as the object it is charged for, so that no
two writes can share what is left. `controllers.resource_quotas` counts again when something goes.
"""

from datetime import datetime

from reprieve.admission import charge, has_deadline
from reprieve.objects import Document
from reprieve.server.errors import forbidden
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Store

QUOTAS = "resourcequotas"


class Quotas:
    def __init__(self, store: Store) -> None:
        self._store = store

    def apply_to(self, namespace: str) -> bool:
        return namespace in self._store.collection(QUOTAS).buckets

    def charge(
        self, resource: ResourceInfo, document: Document, old: Document | None, now: datetime, dry_run: bool
    ) -> None:
        """Charge every quota that the write concerns, or refuse it with 403."""
        namespace = document["metadata"].get("namespace", "")
        if not self.apply_to(namespace) or not _is_charged(resource, document, old):
            return
        charged = []
        for known in self._store.collection(QUOTAS).scan(namespace):
            record = self._store.head(QUOTAS, namespace, known.name)
            if record is None:
                continue
            problem, used = charge(record.object, resource.storage_key, document, old, now)
            if problem:
                raise forbidden(
                    resource.group, resource.plural, document["metadata"].get("name", ""), problem
                )
            if used is not None:
                charged.append({**record.object, "status": {**record.object["status"], "used": used}})
        for quota in charged if not dry_run else ():
            self._store.put(QUOTAS, namespace, quota["metadata"]["name"], quota)


def _is_charged(resource: ResourceInfo, document: Document, old: Document | None) -> bool:
    """Every new object; of changes only those that can change what is used."""
    if old is None:
        return True
    if resource.storage_key == "pods":
        return has_deadline(document) != has_deadline(old)
    return resource.storage_key in ("services", "persistentvolumeclaims")
