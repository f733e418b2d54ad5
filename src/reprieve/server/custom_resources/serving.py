"""Custom resources come and go with their definitions, while the server runs and when it starts again."""

import logging

from reprieve.objects import well_known
from reprieve.server.backend import Backend
from reprieve.server.custom_resources.definitions import resources_of
from reprieve.server.errors import ApiError
from reprieve.server.registry import ResourceInfo
from reprieve.server.resources import builtin_resources
from reprieve.server.storage import DELETED, Change, Record

log = logging.getLogger(__name__)

_NATIVE = {(r.group, r.version) for r in builtin_resources() if r.group != well_known.KUEUE_API}


def is_native(resource: ResourceInfo) -> bool:
    """Whether Kubernetes itself serves this version of the group: a definition cannot add a kind to it."""
    return (resource.group, resource.version) in _NATIVE


DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


class ServedDefinitions:
    """Keeps the registry equal to the stored definitions."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._served: dict[str, list[ResourceInfo]] = {}
        for record in backend.store.collection(DEFINITIONS).scan(""):
            self._serve(record)
        backend.store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.storage_key != DEFINITIONS:
                continue
            if change.type == DELETED:
                self._withdraw(change.record.name)
            else:
                self._serve(change.record)

    def _serve(self, record: Record) -> None:
        try:
            resources = [r for r in resources_of(record.object) if not self._built_in(r) and not is_native(r)]
        except ApiError as error:
            log.error("custom resource definition %s cannot be served: %s", record.name, error)
            return
        for old in self._served.pop(record.name, ()):
            self._backend.registry.remove(old)
        for resource in resources:
            self._backend.registry.add(resource)
        self._served[record.name] = resources

    def _built_in(self, resource: ResourceInfo) -> bool:
        """A definition of a built-in kind (Kueue's, for instance) changes nothing: it is served already."""
        served = self._backend.registry.by_storage_key(resource.storage_key)
        return served is not None and not served.custom

    def _withdraw(self, name: str) -> None:
        """The objects are deleted with their definition."""
        store = self._backend.store
        for resource in self._served.pop(name, ()):
            for record in list(store.collection(resource.storage_key).scan(None)):
                if store.head(record.storage_key, record.namespace, record.name) is not None:
                    store.delete(record.storage_key, record.namespace, record.name, record.object)
            self._backend.registry.remove(resource)
