"""What belongs to a queue is stopped when it is created, as Kueue's webhooks do it: nothing races the quota.

Only where a quota controller runs beside the server. Without one nobody would start what is stopped here, and
the scheduler holds the pods by itself.
"""

from reprieve.config import Configuration
from reprieve.jobs import held, held_pod, needs_hold
from reprieve.objects import Document, group_key, split_key, well_known
from reprieve.server.storage import Store

_GROUPS = "podgroups.scheduling.k8s.io"


class StopsAtCreation:
    def __init__(self, store: Store, config: Configuration) -> None:
        self._store = store
        self._kinds = config.job_kinds()
        self._resources = {kind.resource for kind in self._kinds}
        self._all_jobs = config.quota.manage_jobs_without_queue_name
        self._selector = config.quota.managed_namespaces()

    def __call__(self, storage_key: str, document: Document) -> None:
        """Suspend a job that needs quota, or gate its pods; gate a pod whose PodGroup or queue holds it back.

        The types in the document are checked later.
        """
        if not isinstance(document.get("spec"), dict):
            return
        if storage_key == "pods":
            if self._waits(document):
                document.update(held_pod(document))
        elif storage_key in self._resources and self._is_queued(document):
            document.update(held(document, self._kinds))

    def _is_queued(self, document: Document) -> bool:
        namespace = document["metadata"].get("namespace", "")
        labels: Document = {}
        if self._selector is not None:
            known = self._store.head("namespaces", "", namespace)
            labels = (known.labels if known is not None else None) or {}
        return needs_hold(document, self._kinds, self._all_jobs, self._selector, labels)

    def _waits(self, pod: Document) -> bool:
        if needs_hold(pod, self._kinds):
            return True
        key = group_key(pod)
        group = self._store.head(_GROUPS, *split_key(key)) if key else None
        return group is not None and well_known.QUEUE_LABEL in (group.labels or {})
