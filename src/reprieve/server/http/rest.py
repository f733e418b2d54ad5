"""Requests for resources: which operation, with which options, and the answer's status.

Order of a request: it is authenticated and authorized before it comes here; the resource and the verb must
exist (404, 405); then the body is read (413, 400, 415); then the operation decides. What it wrote, and what
its refusal rests on, is committed before the answer leaves.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

from reprieve.objects import Document
from reprieve.server.backend import Backend, WriteOptions
from reprieve.server.errors import (
    ApiError,
    as_patch_problems,
    bad_request,
    method_not_allowed,
    not_acceptable,
    unknown_resource,
)
from reprieve.server.http.aside import LARGE_BYTES, aside
from reprieve.server.http.call import PATCH_ATTEMPTS, Call, Handler
from reprieve.server.http.missing import missing_resource, missing_subresource
from reprieve.server.http.negotiation import Limits
from reprieve.server.http.paths import Target, is_true
from reprieve.server.http.rendering import encode, success_status
from reprieve.server.http.stream import WatchRequest, WatchStream
from reprieve.server.http.subresources import SUBRESOURCE_HANDLERS, bind_document
from reprieve.server.http.warnings import warnings_about
from reprieve.server.operations import deletion, reads, writes
from reprieve.server.patch import APPLY_PATCH, JSON_PATCH, apply_patch
from reprieve.server.registry import SUBRESOURCES, ResourceInfo
from reprieve.server.security.identity import Identity
from reprieve.server.security.reviews import Reviews
from reprieve.server.security.tokens import ServiceAccountTokens
from reprieve.server.storage import Record

_PODS_STAY = (
    "the pods of %s stay when nothing else is asked for; set propagationPolicy=Background to delete "
    "them, too, or propagationPolicy=Orphan to say that this is meant"
)
_READS = ("get", "list", "watch")
_BYTES_OF_A_FIELD = 4
"""At least, in JSON."""
_DELETED_AT_ONCE = 100


class Rest:
    def __init__(
        self,
        backend: Backend,
        limits: Limits,
        reviews: Reviews,
        tokens: ServiceAccountTokens,
        bookmark_every: float = 60.0,
    ) -> None:
        self._backend = backend
        self._limits = limits
        self._reviews = reviews
        self._tokens = tokens
        self._bookmark_every = bookmark_every

    async def handle(
        self, request: web.BaseRequest, target: Target, query: dict[str, str], identity: Identity
    ) -> web.StreamResponse:
        resource = self._backend.registry.find(target.group, target.version, target.resource)
        if resource is None:
            raise missing_resource(target)
        if target.subresource and target.subresource not in resource.subresources:
            raise missing_subresource(self._backend, resource, target)
        _check_target(resource, target)
        call = Call(
            self._backend, self._limits, self._bookmark_every, request, target, resource, query, identity
        )
        if target.verb == "create" and resource.plural in self._reviews:
            return await self._review(call)
        if target.subresource == "token":
            return await self._token(call)
        handler = SUBRESOURCE_HANDLERS.get((target.subresource, target.verb)) or _VERBS[target.verb]
        if target.verb in _READS:
            return await handler(call)
        async with self._backend.store.committed():
            return await handler(call)

    async def _review(self, call: Call) -> web.StreamResponse:
        if call.output.form in ("table", "partial"):
            raise not_acceptable("application/json, application/yaml")
        document, resource = await call.document(), call.resource
        call.check_kind(document, resource.api_version, resource.kind)
        answer = self._reviews.answer(resource.plural, document, call.identity, call.target.namespace)
        return call.answer(encode(answer), 201)

    async def _token(self, call: Call) -> web.StreamResponse:
        request = await call.document()
        call.check_kind(request, "authentication.k8s.io/v1", "TokenRequest")
        return call.answer(encode(self._tokens.issue(call.target.namespace, call.target.name, request)), 201)


def _check_target(resource: ResourceInfo, target: Target) -> None:
    """404 for what does not exist, 405 for what cannot be done to it."""
    if target.namespace and not resource.namespaced:
        raise unknown_resource()
    allowed = SUBRESOURCES[target.subresource].verbs if target.subresource else resource.verbs
    names_one = bool(target.name)
    wrong_place = {
        "create": names_one and not target.subresource,
        "update": not names_one,
        "patch": not names_one,
    }
    if target.verb not in allowed or wrong_place.get(target.verb, False):
        raise method_not_allowed(resource.inert)
    if resource.namespaced and not target.namespace and (names_one or target.verb == "create"):
        raise unknown_resource() if names_one else method_not_allowed("name the namespace in the path")


async def _get(call: Call) -> web.StreamResponse:
    target = call.target
    version = call.query.get("resourceVersion", "")
    return await call.answer_record(
        reads.get(call.backend, call.resource, target.namespace, target.name, version)
    )


def _list_options(query: dict[str, str]) -> reads.ListOptions:
    limit = query.get("limit", "")
    if limit and (not (limit.isascii() and limit.isdigit()) or len(limit) > 18):
        raise bad_request(f'limit: "{limit[:32]}" is not a number')
    return reads.ListOptions(
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
        limit=int(limit or 0),
        continue_=query.get("continue", ""),
        resource_version=query.get("resourceVersion", ""),
        resource_version_match=query.get("resourceVersionMatch", ""),
    )


async def _list(call: Call) -> web.StreamResponse:
    return await call.answer_page(
        reads.list_page(call.backend, call.resource, call.scope, _list_options(call.query))
    )


async def _watch(call: Call) -> web.StreamResponse:
    watch = WatchRequest.read(call.resource, call.target, call.query)
    stream = WatchStream(call.backend, call.resource, call.renderer(), call.limits, call.bookmark_every)
    return await stream.serve(call.request, call.scope, watch)


async def _create(call: Call) -> web.StreamResponse:
    document = await call.document()
    resource = call.resource
    call.check_kind(document, resource.api_version, resource.kind)
    if resource.plural == "bindings":
        return await bind_document(call, document)
    if call.backend.store.count >= call.limits.objects:
        raise ApiError(507, "InsufficientStorage", f"the server holds {call.limits.objects} objects already")
    await call.validate(document)
    record = writes.create(call.backend, resource, document, call.target.namespace, call.options())
    call.warnings += warnings_about(resource, record, created=True)
    return await call.answer_record(record, 201)


async def _update(call: Call) -> web.StreamResponse:
    document = await call.document()
    resource, target = call.resource, call.target
    call.check_kind(document, resource.api_version, resource.kind)
    await call.validate(document)
    record, created = writes.update(
        call.backend, resource, document, target.namespace, target.name, call.options(), target.subresource
    )
    call.warnings += warnings_about(resource, record, created)
    return await call.answer_record(record, 201 if created else 200)


async def _patch(call: Call) -> web.StreamResponse:
    media, patch = await call.patch()
    resource, target = call.resource, call.target
    if media == APPLY_PATCH:
        await call.validate(patch)
    elif media != JSON_PATCH:
        with as_patch_problems():
            await call.validate(patch)
    options = call.options(is_true(call.query, "force"))
    record = await _patched_aside(call, media, patch, options) if media != APPLY_PATCH else None
    created = False
    if record is None:
        record, created = writes.patch(
            call.backend,
            resource,
            target.namespace,
            target.name,
            media,
            patch,
            options,
            target.subresource,
            _review(call, media),
        )
    call.warnings += warnings_about(resource, record, created)
    return await call.answer_record(record, 201 if created else 200)


def _review(call: Call, media: str) -> Callable[[Document], None] | None:
    """What looks at the result of a patch: at its size if it has so many bytes that it may have too many
    fields, and at all fields of what a JSON patch leaves behind."""
    if media == JSON_PATCH:
        return call.check_fields
    target, applied = call.target, media == APPLY_PATCH
    current = call.backend.store.head(call.resource.storage_key, target.namespace, target.name)
    if current is None or len(current.raw) < _BYTES_OF_A_FIELD * call.most_fields(applied):
        return None
    return partial(call.check_size, applied=applied)


async def _patched_aside(call: Call, media: str, patch: Any, options: WriteOptions) -> Record | None:
    """A patch that is much work is carried out beside the loop, and the result is written if nobody else has
    written meanwhile. None when it is little, or when somebody always has.
    """
    resource, target, store = call.resource, call.target, call.backend.store
    if not await call.is_much(media, patch):
        return None
    for _ in range(PATCH_ATTEMPTS):
        current = store.head(resource.storage_key, target.namespace, target.name)
        if current is None:
            return None
        before = writes.served(resource, current)
        after = await aside(LARGE_BYTES, partial(apply_patch, media, before, patch, resource))
        if store.head(resource.storage_key, target.namespace, target.name) is current:
            review = _review(call, media)
            return writes.write_patched(
                call.backend,
                resource,
                current,
                before,
                after,
                options,
                target.subresource,
                review,
            )
    return None


async def _delete(call: Call) -> web.StreamResponse:
    options, dry_run = await call.delete_options()
    resource, target = call.resource, call.target
    record, gone = deletion.delete(call.backend, resource, target.namespace, target.name, options, dry_run)
    if resource.storage_key == "jobs.batch" and deletion.leaves_pods(resource, options):
        call.warnings.append(_PODS_STAY % resource.plural)
    if not gone or resource.returns_deleted:
        return await call.answer_record(
            record, 202 if not gone and options.orphan_dependents is False else 200
        )
    uid = record.object["metadata"]["uid"]
    return call.answer(
        success_status(200, name=target.name, group=resource.group, kind=resource.plural, uid=uid)
    )


async def _delete_collection(call: Call) -> web.StreamResponse:
    options, dry_run = await call.delete_options()
    page = reads.list_page(call.backend, call.resource, call.scope, _list_options(call.query))
    deleted = []
    for number, record in enumerate(page.records):
        if number % _DELETED_AT_ONCE == 0:
            await asyncio.sleep(0)  # others have their turn
        try:
            deletion.delete(call.backend, call.resource, record.namespace, record.name, options, dry_run)
        except ApiError as error:
            if error.code != 404:
                raise
            continue
        deleted.append(record)
    await call.backend.store.settled()
    return await call.answer_page(reads.Page(deleted, call.backend.store.revision))


_VERBS: dict[str, Handler] = {
    "get": _get,
    "list": _list,
    "watch": _watch,
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}
