"""Custom resources come and go with their definitions, while the server runs and when it starts again."""

import logging

from reprieve.server.backend import Backend
from reprieve.server.custom_resources.definitions import compile
from reprieve.server.errors import ApiError
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import DELETED, Change, Record

log = logging.getLogger(__name__)

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


class Definitions:
    """Keeps the registry equal to the stored definitions."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._served: dict[str, list[ResourceInfo]] = {}
        for record in backend.store.shelf(DEFINITIONS).scan(""):
            self._serve(record)
        backend.store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.place != DEFINITIONS:
                continue
            if change.type == DELETED:
                self._withdraw(change.record.name)
            else:
                self._serve(change.record)

    def _serve(self, record: Record) -> None:
        try:
            resources = [r for r in compile(record.object) if not self._built_in(r)]
        except ApiError as error:
            log.error("custom resource definition %s cannot be served: %s", record.name, error)
            return
        for old in self._served.pop(record.name, ()):
            self._backend.registry.remove(old)
        for resource in resources:
            self._backend.registry.add(resource)
        self._served[record.name] = resources

    def _built_in(self, resource: ResourceInfo) -> bool:
        """Kinds of our own stay ours: whoever installs Kueue's definitions gets the resources that are served already."""
        served = self._backend.registry.by_storage_key(resource.storage_key)
        return served is not None and not served.custom

    def _withdraw(self, name: str) -> None:
        """The objects go with their definition."""
        store = self._backend.store
        for resource in self._served.pop(name, ()):
            for record in list(store.shelf(resource.storage_key).scan(None)):
                if store.head(record.place, record.namespace, record.name) is not None:
                    store.delete(record.place, record.namespace, record.name, record.object)
            self._backend.registry.remove(resource)


def follow_definitions(backend: Backend) -> Definitions:
    return Definitions(backend)
