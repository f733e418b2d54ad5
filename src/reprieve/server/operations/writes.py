"""Create, update and patch. Each is one synchronous step: read the head, decide, write.

The returned record may not be committed yet: the caller awaits `Store.settled()` before it answers.
"""

from collections.abc import Callable
from typing import Any

from reprieve.objects import Document, shown
from reprieve.server import metadata
from reprieve.server.apply import server_side_apply, track_update
from reprieve.server.backend import Backend, WriteOptions
from reprieve.server.errors import (
    already_exists,
    as_patch_problems,
    bad_request,
    conflict,
    invalid,
    invalid_value,
    not_found,
    wrong_uid,
)
from reprieve.server.operations.deletion import finish_if_finalized
from reprieve.server.patch import APPLY_PATCH, apply_patch
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Record
from reprieve.server.storage.records import encode

_NAME_ATTEMPTS = 8


def create(
    backend: Backend, resource: ResourceInfo, document: Document, namespace: str, options: WriteOptions
) -> Record:
    meta = metadata.check_shape(resource, document)
    _settle_namespace(resource, meta, namespace)
    storage_key = resource.storage_key
    if _version(meta):
        raise bad_request("resourceVersion should not be set on objects to be created")
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = _free_name(backend, storage_key, namespace, meta["generateName"])
    name = meta.get("name", "")
    if name and backend.store.head(storage_key, namespace, name) is not None:
        raise already_exists(resource.group, resource.plural, name)
    status = document.get("status") if options.with_status else None
    document = backend.admission.create(resource, document, backend.timestamp())
    if status is not None:
        document["status"] = status
    backend.quotas.charge(resource, document, None, backend.clock(), options.dry_run)
    if options.dry_run:
        return _unsaved(resource, namespace, name, document)
    return backend.store.put(storage_key, namespace, name, document)


def _free_name(backend: Backend, storage_key: str, namespace: str, base: str) -> str:
    for _ in range(_NAME_ATTEMPTS):
        name = metadata.generated_name(base)
        if backend.store.head(storage_key, namespace, name) is None:
            break
    return name


def _settle_namespace(resource: ResourceInfo, meta: Document, namespace: str) -> None:
    if not resource.namespaced:
        meta.pop("namespace", None)
        return
    given = meta.setdefault("namespace", namespace)
    if given != namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _settle_name(meta: Document, name: str) -> None:
    if meta.setdefault("name", name) != name:
        raise bad_request(
            f"the name of the object ({meta['name']}) does not match the name on the URL ({name})"
        )


def update(
    backend: Backend,
    resource: ResourceInfo,
    document: Document,
    namespace: str,
    name: str,
    options: WriteOptions,
    subresource: str = "",
) -> tuple[Record, bool]:
    """The new record, and whether it was created."""
    meta = metadata.check_shape(resource, document)
    _settle_namespace(resource, meta, namespace)
    _settle_name(meta, name)
    storage_key = resource.storage_key
    current = backend.store.head(storage_key, namespace, name)
    if current is None:
        if not resource.create_on_update or subresource or _version(meta):
            raise not_found(resource.group, resource.plural, name)
        return create(backend, resource, document, namespace, options), True
    check_version(resource, meta, current)
    _check_uid(resource, meta, current)
    return replace(backend, resource, document, current, options, subresource), False


def _version(meta: Document) -> str:
    """The version that a write builds on; "" and "0" both say that it does not care."""
    version = str(meta.get("resourceVersion") or "")
    return "" if version == "0" else version


def check_version(resource: ResourceInfo, meta: Document, current: Record) -> None:
    """409 when somebody else wrote in between; 422 without a version where one is needed."""
    version = _version(meta)
    if not version and not resource.unconditional_update:
        cause = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid(resource.group, resource.kind, current.name, [cause])
    if version and version != str(current.revision):
        raise conflict(resource.group, resource.plural, current.name)


def _check_uid(resource: ResourceInfo, meta: Document, current: Record) -> None:
    uid = meta.get("uid")
    found = current.object["metadata"]["uid"] if uid else ""
    if uid and uid != found:
        raise wrong_uid(resource.group, resource.plural, current.name, uid, found)


def replace(
    backend: Backend,
    resource: ResourceInfo,
    document: Document,
    current: Record,
    options: WriteOptions,
    subresource: str,
    applied: bool = False,
) -> Record:
    """Write a new state over the current one, unless they are the same."""
    old = current.object
    if subresource == "finalize":
        document = _finalized(old, document)
    status = document.get("status") if options.with_status else None
    document = backend.admission.update(resource, document, old, subresource)
    if status is not None:
        document["status"] = status
    document["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    if document == old:
        return current
    if not applied and "managedFields" in old["metadata"]:
        document = track_update(
            old, document, options.manager or "unknown", subresource, backend.clock(), resource
        )
    storage_key, namespace, name = current.storage_key, current.namespace, current.name
    if not subresource:
        backend.quotas.charge(resource, document, old, backend.clock(), options.dry_run)
    if options.dry_run:
        return _unsaved(resource, namespace, name, document)
    finished = finish_if_finalized(backend, current, document)
    return finished if finished is not None else backend.store.put(storage_key, namespace, name, document)


def _finalized(old: Document, document: Document) -> Document:
    """The `finalize` subresource of namespaces changes `spec.finalizers` and nothing else."""
    spec = {key: value for key, value in old.get("spec", {}).items() if key != "finalizers"}
    if kept := (document.get("spec") or {}).get("finalizers"):
        spec["finalizers"] = kept
    return {**old, "metadata": dict(old["metadata"]), "spec": spec}


def patch(
    backend: Backend,
    resource: ResourceInfo,
    namespace: str,
    name: str,
    content_type: str,
    body: Any,
    options: WriteOptions,
    subresource: str = "",
    review: Callable[[Document], None] | None = None,
) -> tuple[Record, bool]:
    """The new record, and whether it was created (only server-side apply does that). `review` sees, and may
    change or refuse, what the patch leaves behind.
    """
    current = backend.store.head(resource.storage_key, namespace, name)
    if content_type == APPLY_PATCH:
        return _apply(backend, resource, namespace, name, current, body, options, subresource, review)
    if current is None:
        raise not_found(resource.group, resource.plural, name)
    before = served(resource, current)
    after = apply_patch(content_type, before, body, resource)
    return write_patched(backend, resource, current, before, after, options, subresource, review), False


def write_patched(
    backend: Backend,
    resource: ResourceInfo,
    current: Record,
    before: Document,
    after: Document,
    options: WriteOptions,
    subresource: str,
    review: Callable[[Document], None] | None = None,
) -> Record:
    """Write what a patch made of the current state, as it is served before and after."""
    with as_patch_problems():
        for field in ("apiVersion", "kind"):
            if after.get(field) != before.get(field):
                raise bad_request(
                    f"{field}: {shown(after.get(field))}, but this is {shown(before.get(field))}"
                )
        meta = metadata.check_shape(resource, after)
        if review is not None:
            review(after)
    _check_patched(resource, meta, before["metadata"], current)
    with as_patch_problems():
        return replace(backend, resource, after, current, options, subresource)


def _check_patched(resource: ResourceInfo, meta: Document, before: Document, current: Record) -> None:
    check_version(resource, meta, current)
    for field in ("name", "namespace"):
        if meta.get(field) != before.get(field):
            raise bad_request(
                f"the {field} of the object ({meta.get(field)}) does not match the one on the URL "
                f"({before.get(field)})"
            )
    if meta.get("uid") != before.get("uid"):
        cause = invalid_value("metadata.uid", meta.get("uid"), "field is immutable")
        raise invalid(resource.group, resource.kind, current.name, [cause])


def _apply(
    backend: Backend,
    resource: ResourceInfo,
    namespace: str,
    name: str,
    current: Record | None,
    body: Document,
    options: WriteOptions,
    subresource: str,
    review: Callable[[Document], None] | None,
) -> tuple[Record, bool]:
    meta = metadata.check_shape(resource, body)
    _settle_namespace(resource, meta, namespace)
    _settle_name(meta, name)
    if meta.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    before = served(resource, current) if current is not None else None
    if current is None and (subresource or _version(meta) or meta.get("uid")):
        raise not_found(resource.group, resource.plural, name)
    if current is not None and _version(meta) not in ("", str(current.revision)):
        raise conflict(resource.group, resource.plural, name)
    after = server_side_apply(
        before, body, options.manager, options.force, resource, backend.clock(), subresource
    )
    if current is None:
        return create(backend, resource, after, namespace, options), True
    if review is not None:
        review(after)
    return replace(backend, resource, after, current, options, subresource, applied=True), False


def served(resource: ResourceInfo, record: Record) -> Document:
    """The stored document in the requested version."""
    return resource.from_storage(record.object)


def _unsaved(resource: ResourceInfo, namespace: str, name: str, document: Document) -> Record:
    """What a dry run answers with: the object as it would be stored."""
    labels = document["metadata"].get("labels")
    return Record(resource.storage_key, namespace, name, 0, encode(document), labels)
