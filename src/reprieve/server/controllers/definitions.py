"""CustomResourceDefinitions: the conditions that clients wait for once a definition is served."""

from datetime import datetime

from reprieve.objects import Document, put_condition
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.custom_resources.definitions import resources_of
from reprieve.server.custom_resources.serving import is_native
from reprieve.server.errors import ApiError


class Definitions(Controller):
    resource = "customresourcedefinitions.apiextensions.k8s.io"

    async def reconcile(self, key: Key) -> datetime | None:
        definition = self.api.peek(self.resource, key[1])
        if definition is None:
            return None
        status = self._status(definition)
        if status != definition.get("status"):
            await self.api.update_status(
                self.resource, {**definition, "status": status}, manager="apiextensions"
            )
        return None

    def _status(self, definition: Document) -> Document:
        old = definition.get("status") or {}
        spec = definition["spec"]
        problem = self._problem(definition)
        stored = [v["name"] for v in spec["versions"] if v.get("storage")]
        status = {
            "acceptedNames": {} if problem else {**old.get("acceptedNames", {}), **spec["names"]},
            "conditions": [dict(c) for c in old.get("conditions") or ()],
            "storedVersions": list(dict.fromkeys([*(old.get("storedVersions") or ()), *stored])),
        }
        now = self.api.backend.timestamp()
        names = (
            ("False", "NotAccepted", problem) if problem else ("True", "NoConflicts", "no conflicts found")
        )
        served = (
            ("False", "NotAccepted", "not all names are accepted")
            if problem
            else ("True", "InitialNamesAccepted", "the initial names have been accepted")
        )
        native = "" if problem else _native_version(definition)
        if native:
            text = f"Kubernetes itself serves {native}: no definition can add a kind to it"
            served = ("False", "BuiltInGroupVersion", text)
        for type, (state, reason, message) in (("NamesAccepted", names), ("Established", served)):
            put_condition(status, now, type=type, status=state, reason=reason, message=message)
        return status

    def _problem(self, definition: Document) -> str:
        try:
            resources_of(definition)
        except ApiError as refusal:
            return str(refusal)
        return ""


def _native_version(definition: Document) -> str:
    return next((r.api_version for r in resources_of(definition) if is_native(r)), "")
