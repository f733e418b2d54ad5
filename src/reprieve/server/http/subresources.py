"""The subresources that are more than a part of their object: binding, eviction, scale, resize."""

from aiohttp import web

from reprieve.objects import Document
from reprieve.server.errors import bad_request
from reprieve.server.http.call import Call, Handler
from reprieve.server.http.rendering import encode, success_status
from reprieve.server.operations import reads, subresources, writes
from reprieve.server.operations.resize import resize
from reprieve.server.patch import JSON_PATCH, MERGE_PATCH, apply_patch


async def _bind(call: Call) -> web.StreamResponse:
    return await bind_document(call, await call.document(), call.target.name)


async def bind_document(call: Call, binding: Document, name: str = "") -> web.StreamResponse:
    meta = binding.get("metadata") or {}
    if not isinstance(meta, dict):
        raise bad_request("Binding: metadata: expected an object")
    name = name or meta.get("name", "")
    if not isinstance(name, str) or not name:
        raise bad_request("Binding: metadata.name: the name of the pod is required")
    subresources.bind(call.backend, call.target.namespace, name, binding, call.dry_run())
    return call.answer(success_status(201), 201)


async def _evict(call: Call) -> web.StreamResponse:
    subresources.evict(
        call.backend, call.target.namespace, call.target.name, await call.document(), call.dry_run()
    )
    return call.answer(success_status(201), 201)


async def _get_scale(call: Call) -> web.StreamResponse:
    record = reads.get(call.backend, call.resource, call.target.namespace, call.target.name)
    return call.answer(encode(subresources.read_scale(call.resource, record.object)))


async def _change_scale(call: Call) -> web.StreamResponse:
    """PUT and PATCH of a Scale: change it, then write the number back into the workload."""
    resource, target = call.resource, call.target
    change = await call.patch() if target.verb == "patch" else (None, await call.document())
    current = call.backend.existing(resource, target.namespace, target.name)
    document = current.object
    before = subresources.read_scale(resource, document)
    wanted = _changed_scale(call, before, *change)
    meta = wanted.get("metadata")
    if isinstance(meta, dict) and meta.get("resourceVersion"):
        writes.check_version(resource, meta, current)
    subresources.write_scale(resource, document, wanted)
    record = writes.replace(call.backend, resource, document, current, call.options(), "")
    return call.answer(encode(subresources.read_scale(resource, record.object)))


def _changed_scale(call: Call, before: Document, media: str | None, change: Document) -> Document:
    """A Scale has no lists, so every patch but a JSON patch is a merge."""
    if media is None:
        return change
    return apply_patch(media if media == JSON_PATCH else MERGE_PATCH, before, change, call.resource)


async def _resize(call: Call) -> web.StreamResponse:
    resource, target = call.resource, call.target
    change = await call.patch() if target.verb == "patch" else (None, await call.document())
    current = call.backend.existing(resource, target.namespace, target.name)
    media, wanted = change
    if media is not None:
        wanted = apply_patch(media, current.object, wanted, resource)
    return await call.answer_record(resize(call.backend, resource, current, wanted, call.options()))


SUBRESOURCE_HANDLERS: dict[tuple[str, str], Handler] = {
    ("binding", "create"): _bind,
    ("eviction", "create"): _evict,
    ("resize", "patch"): _resize,
    ("resize", "update"): _resize,
    ("scale", "get"): _get_scale,
    ("scale", "update"): _change_scale,
    ("scale", "patch"): _change_scale,
}
