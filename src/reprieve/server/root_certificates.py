"""The ConfigMap `kube-root-ca.crt` of every namespace: by it pods and other clients trust this server.

Whoever deletes or changes it finds it restored.
"""

from datetime import datetime

from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.documents import at
from reprieve.server.storage import Change

NAME = "kube-root-ca.crt"
_CONFIG_MAPS = "configmaps"


class RootCertificates(Controller):
    resource = "namespaces"

    def __init__(self, api: Api, certificate: str) -> None:
        self._data = {"ca.crt": certificate}
        super().__init__(api)
        api.backend.store.listen(self._restore)

    def _restore(self, changes: list[Change]) -> None:
        for change in changes:
            record = change.record
            if record.storage_key == _CONFIG_MAPS and record.name == NAME:
                self.queue.add(("", record.namespace))

    async def reconcile(self, key: Key) -> datetime | None:
        name = key[1]
        namespace = self.api.peek(self.resource, name)
        if namespace is None or at(namespace, "metadata", "deletionTimestamp") is not None:
            return None
        found = self.api.peek(_CONFIG_MAPS, NAME, name)
        if found is None:
            annotation = {"kubernetes.io/description": "The authority that signed this server's certificate."}
            metadata = {"name": NAME, "annotations": annotation}
            document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": self._data}
            await self.api.create(_CONFIG_MAPS, document, name)
        elif found.get("data") != self._data:
            await self.api.update(_CONFIG_MAPS, {**found, "data": self._data})
        return None
