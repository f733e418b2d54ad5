"""What happens to a document on its way in. Everything is synchronous: no other write can slip in between.

A new object:                                  An update:
 1. shape: metadata, spec and status are what    1. shape, as for a new object
    they should be, typed parts have the right   2. server-owned metadata kept, status or spec kept from the old
    types (400)                                     object, depending on the subresource
 2. server-owned metadata (uid, times)           3. defaults
 3. defaults, custom resource defaults, pruning  4. generation grows if anything but metadata and status changed
 4. status wiped where it is a subresource       5. validation, with what may not change
 5. rules of `reprieve.objects.admission`
 6. validation (422)
"""

from typing import Any, Protocol

import msgspec

from reprieve.objects.kinds import TABLE
from reprieve.objects.normalise import normalise
from reprieve.objects.structure import misfits
from reprieve.server import defaults, metadata, validation
from reprieve.server.errors import Cause, bad_request, forbidden, invalid, not_found
from reprieve.server.registry import Document, ResourceInfo
from reprieve.server.storage import Store

_UNTYPED_STATUS_ON_CREATE = {"nodes", "pods", "namespaces", "jobs.batch"}
"""Kinds whose status on create is decided elsewhere: kept for nodes, written by `defaults` for the others."""


class ObjectRules(Protocol):
    """`reprieve.objects.admission` bound to this server's state."""

    def create(self, resource: ResourceInfo, document: Document) -> list[Cause]: ...

    def update(self, resource: ResourceInfo, document: Document, old: Document) -> list[Cause]: ...


class Admission:
    def __init__(self, store: Store, rules: ObjectRules | None = None) -> None:
        self._store = store
        self._rules = rules

    def create(self, resource: ResourceInfo, document: Document, timestamp: str) -> Document:
        """The document to store; a document of another served version comes back in the storage version."""
        document, meta = self._shape(resource, document)
        self._require_namespace(resource, meta)
        metadata.fill_new(meta, timestamp)
        if resource.has_generation or resource.custom:
            meta["generation"] = 1
        if resource.has_status and resource.storage_key not in _UNTYPED_STATUS_ON_CREATE:
            document.pop("status", None)
        place = resource.storage_key
        defaults.on_write(place, document, timestamp)
        defaults.on_create(place, document, timestamp)
        causes = self._custom(resource, document, None)
        if self._rules is not None:
            causes += self._rules.create(resource, document)
        causes += metadata.validate(resource, meta) + validation.validate(place, document, None)
        self._refuse(resource, meta, causes)
        return document

    def update(
        self, resource: ResourceInfo, document: Document, old: Document, subresource: str, timestamp: str
    ) -> Document:
        """`old` is the stored state. The result equals it when nothing changes."""
        document, meta = self._shape(resource, document)
        document = _merge_subresource(resource, document, old, subresource)
        meta = document["metadata"]
        was = old["metadata"]
        metadata.keep_old(meta, was)
        if "managedFields" not in meta and "managedFields" in was and subresource:
            meta["managedFields"] = was["managedFields"]
        place = resource.storage_key
        defaults.on_write(place, document, timestamp)
        causes = self._custom(resource, document, old)
        if "generation" in was and _intent(document) != _intent(old):
            meta["generation"] = was["generation"] + 1
        if self._rules is not None:
            causes += self._rules.update(resource, document, old)
        causes += metadata.validate_change(resource, meta, was)
        causes += validation.validate(place, document, old)
        self._refuse(resource, meta, causes)
        return document

    def _shape(self, resource: ResourceInfo, document: Document) -> tuple[Document, Document]:
        meta = metadata.check_shape(resource, document)
        if not resource.custom:
            document["apiVersion"], document["kind"] = resource.api_version, resource.kind
            document = normalise(document)
            meta = document["metadata"]
            check_types(resource, document)
        spec_first = {"apiVersion": resource.storage_api_version, "kind": resource.kind, "metadata": meta}
        for key, value in document.items():
            if key not in spec_first:
                spec_first[key] = value
        return spec_first, meta

    def _require_namespace(self, resource: ResourceInfo, meta: Document) -> None:
        if not resource.namespaced:
            return
        name = meta.get("namespace", "")
        record = self._store.head("namespaces", "", name)
        if record is None:
            raise not_found("", "namespaces", name)
        if b'"deletionTimestamp"' in record.raw and "deletionTimestamp" in record.object["metadata"]:
            message = f"unable to create new content in namespace {name} because it is being terminated"
            cause = Cause(
                "NamespaceTerminating", f"namespace {name} is being terminated", "metadata.namespace"
            )
            raise forbidden(resource.group, resource.plural, meta.get("name", ""), message, [cause])

    def _custom(self, resource: ResourceInfo, document: Document, old: Document | None) -> list[Cause]:
        """The hooks that come with a custom resource."""
        if resource.prune is not None:
            resource.prune(document)
        if resource.default is not None:
            resource.default(document)
        return resource.validate(document, old) if resource.validate is not None else []

    def _refuse(self, resource: ResourceInfo, meta: Document, causes: list[Cause]) -> None:
        if causes:
            raise invalid(resource.group, resource.kind, meta.get("name", ""), causes)


def check_types(resource: ResourceInfo, document: Document) -> None:
    """Typed views name the fields that we read; those must have the type of the wire."""
    for field in ("spec", "status"):
        if document.get(field) is not None and not isinstance(document[field], dict):
            raise metadata.cannot_handle(resource, field, "expected an object")
    kind = TABLE.get((resource.group, resource.kind))
    if kind is None:
        return
    try:
        msgspec.convert(document, kind.view)
    except (msgspec.ValidationError, ValueError) as error:
        problems = misfits(document, kind.view)
        text = "; ".join(str(p) for p in problems[:10]) if problems else str(error)
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {text}'
        ) from None


def _merge_subresource(
    resource: ResourceInfo, document: Document, old: Document, subresource: str
) -> Document:
    """Through `status` only the status changes; through the main door everything else does."""
    if subresource == "status":
        result = dict(old)
        result["metadata"] = dict(old["metadata"])
        if not resource.custom:
            for key in ("labels", "annotations"):
                _copy_member(document["metadata"], result["metadata"], key)
        _copy_member(document["metadata"], result["metadata"], "managedFields")
        _copy_member(document, result, "status")
        return result
    if resource.has_status:
        _copy_member(old, document, "status")
    return document


def _copy_member(source: Document, target: Document, key: str) -> None:
    if key in source:
        target[key] = source[key]
    else:
        target.pop(key, None)


def _intent(document: Document) -> dict[str, Any]:
    return {k: v for k, v in document.items() if k not in ("metadata", "status", "apiVersion", "kind")}
