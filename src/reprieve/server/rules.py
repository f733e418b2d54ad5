"""The rules of `reprieve.objects.admission`, with the priority classes that this server stores."""

from collections.abc import Sequence

from reprieve.config import Configuration
from reprieve.objects import (
    KINDS,
    REFUSED,
    Context,
    Document,
    PriorityClasses,
    Problem,
    admit,
    priority_class_of,
    well_known,
)
from reprieve.server.errors import cause_of, forbidden, invalid
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Change, Store

_CLASSES, _WORKLOADS = "priorityclasses.scheduling.k8s.io", "workloads.scheduling.k8s.io"


class ObjectRules:
    def __init__(self, store: Store, configuration: Configuration) -> None:
        self._store = store
        self._configuration = configuration
        self._context: Context | None = None
        self.generation = 0
        """Grows when an equal document could get another answer than before."""
        store.listen(self._follow)

    def applies(self, resource: ResourceInfo) -> bool:
        return not resource.custom and (resource.group, resource.kind) in KINDS

    def admit(self, resource: ResourceInfo, document: Document, old: Document | None) -> Document:
        """The document with defaults and priorities; 403 or 422 with everything that speaks against it."""
        own = document["metadata"].get("finalizers", ())
        admitted, problems = admit(document, self._current(), old)
        if problems:
            self._refuse(resource, document["metadata"].get("name", ""), problems)
        _without_unlifted(admitted["metadata"], own)
        return admitted

    def _refuse(self, resource: ResourceInfo, name: str, problems: list[Problem]) -> None:
        refused = [p for p in problems if p.reason == REFUSED]
        if refused:
            raise forbidden(resource.group, resource.plural, name, "; ".join(map(str, refused)))
        raise invalid(resource.group, resource.kind, name, [cause_of(p) for p in problems])

    def _current(self) -> Context:
        if self._context is None:
            classes = [priority_class_of(r.object) for r in self._store.collection(_CLASSES).scan("")]
            context = self._configuration.admission_context(PriorityClasses(classes))
            self._context = context._replace(drops_disabled=True, workload=self._workload)
        return self._context

    def _workload(self, namespace: str, name: str) -> Document | None:
        record = self._store.head(_WORKLOADS, namespace, name)
        return None if record is None else record.object

    def _follow(self, changes: list[Change]) -> None:
        if any(change.record.storage_key == _CLASSES for change in changes):
            self._context = None
            self.generation += 1


def _without_unlifted(meta: Document, own: Sequence[str]) -> None:
    """Without Kueue's finalizer, unless the document came with it: only Kueue's controllers remove it, and
    without them nothing could be deleted. Those controllers add it. Finalizers that this server's own
    controllers remove stay."""
    kept = [f for f in meta.get("finalizers", ()) if f != well_known.RESOURCE_IN_USE or f in own]
    if kept:
        meta["finalizers"] = kept
    else:
        meta.pop("finalizers", None)
