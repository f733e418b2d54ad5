"""The subresources that are more than a part of their object: binding, eviction, scale, resize."""

from collections.abc import Callable
from functools import partial

from aiohttp import web

from reprieve.objects import Document
from reprieve.server.errors import bad_request, conflict
from reprieve.server.http.aside import LARGE_BYTES, aside
from reprieve.server.http.call import PATCH_ATTEMPTS, Call, Handler
from reprieve.server.http.rendering import encode, success_status
from reprieve.server.operations import reads, subresources, writes
from reprieve.server.operations.resize import resize
from reprieve.server.patch import JSON_PATCH, MERGE_PATCH, apply_patch
from reprieve.server.storage import Record


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
    resource = call.resource
    current, wanted = await _wanted(call, lambda record: subresources.read_scale(resource, record.object))
    document = current.object
    meta = wanted.get("metadata")
    if isinstance(meta, dict) and meta.get("resourceVersion"):
        writes.check_version(resource, meta, current)
    subresources.write_scale(resource, document, wanted)
    record = writes.replace(call.backend, resource, document, current, call.options(), "")
    return call.answer(encode(subresources.read_scale(resource, record.object)))


async def _wanted(call: Call, shown: Callable[[Record], Document]) -> tuple[Record, Document]:
    """The state to build on, and the document that was sent or that a patch makes of what is shown of it.

    A patch that is much work is carried out beside the loop, again if somebody else writes meanwhile.
    """
    resource, target = call.resource, call.target
    if target.verb != "patch":
        sent = await call.document()
        return call.backend.existing(resource, target.namespace, target.name), sent
    media, patch = await call.patch()
    effort = LARGE_BYTES if await call.is_much(media, patch) else 0
    if target.subresource == "scale" and media != JSON_PATCH:
        media = MERGE_PATCH  # a Scale has no lists
    for _ in range(PATCH_ATTEMPTS):
        current = call.backend.existing(resource, target.namespace, target.name)
        wanted = await aside(effort, partial(apply_patch, media, shown(current), patch, resource))
        if call.backend.existing(resource, target.namespace, target.name) is current:
            return current, wanted
    raise conflict(resource.group, resource.plural, target.name)


async def _resize(call: Call) -> web.StreamResponse:
    current, wanted = await _wanted(call, lambda record: record.object)
    return await call.answer_record(resize(call.backend, call.resource, current, wanted, call.options()))


SUBRESOURCE_HANDLERS: dict[tuple[str, str], Handler] = {
    ("binding", "create"): _bind,
    ("eviction", "create"): _evict,
    ("resize", "patch"): _resize,
    ("resize", "update"): _resize,
    ("scale", "get"): _get_scale,
    ("scale", "update"): _change_scale,
    ("scale", "patch"): _change_scale,
}
