"""What belongs to a queue is stopped when it is created, as Kueue's webhooks do it: nothing races the quota.

Only where a quota controller runs beside the server. Without one nobody would start what is stopped here, and
the scheduler holds the pods by itself.
"""

from reprieve.objects import Document, group_key, must_name_queue, split_key, well_known
from reprieve.server.storage import Store

_GROUPS = "podgroups.scheduling.k8s.io"


class StopsAtCreation:
    def __init__(self, store: Store, all_jobs: bool) -> None:
        self._store = store
        self._all_jobs = all_jobs

    def __call__(self, storage_key: str, document: Document) -> None:
        """Suspend a Job that needs quota, gate a pod whose PodGroup does; its types are checked later."""
        spec = document.get("spec")
        if not isinstance(spec, dict):
            return
        if storage_key == "jobs.batch" and self._is_queued(document["metadata"]):
            spec["suspend"] = True
        elif storage_key == "pods" and self._waits(document) and not spec.get("nodeName"):
            gates = spec.get("schedulingGates") or []
            gate = {"name": well_known.ADMISSION_GATE}
            if isinstance(gates, list) and gate not in gates:
                spec["schedulingGates"] = [*gates, gate]

    def _is_queued(self, meta: Document) -> bool:
        if well_known.QUEUE_LABEL in (meta.get("labels") or {}):
            return True
        owners = meta.get("ownerReferences") or []
        kind = next((each.get("kind", "") for each in owners if each.get("controller")), "")
        return self._all_jobs and must_name_queue(meta.get("namespace", ""), kind)

    def _waits(self, pod: Document) -> bool:
        key = group_key(pod)
        group = self._store.head(_GROUPS, *split_key(key)) if key else None
        return group is not None and well_known.QUEUE_LABEL in (group.labels or {})
