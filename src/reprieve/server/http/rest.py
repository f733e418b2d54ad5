"""Requests for resources: which operation, with which options, and the answer's status.

Order of a request: authenticated and authorized before it comes here; the resource and the verb must exist (404, 405);
then the body is read (413, 400, 415); then the operation decides.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web

from reprieve.server import deletion, pods, reads, scale, writes
from reprieve.server.backend import Backend, DeleteOptions, WriteOptions
from reprieve.server.errors import (
    ApiError,
    bad_request,
    conflict,
    invalid,
    method_not_allowed,
    not_supported,
    too_large,
    unknown_resource,
)
from reprieve.server.http.fields import check_fields
from reprieve.server.http.negotiation import (
    JSON,
    Limits,
    Output,
    read_document,
    read_json,
    read_yaml,
    wanted_output,
)
from reprieve.server.http.paths import Target, truth
from reprieve.server.http.rendering import Renderer, encode, success_status
from reprieve.server.http.reviews import REVIEWS
from reprieve.server.http.stream import WatchRequest, WatchStream
from reprieve.server.registry import Document, ResourceInfo
from reprieve.server.security.identity import Identity
from reprieve.server.storage import Record

_PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    writes.APPLY_PATCH,
)
_RETURNS_DELETED = {
    "pods",
    "serviceaccounts",
    "persistentvolumeclaims",
    "persistentvolumes",
    "podtemplates",
    "resourcequotas",
}
_SUBRESOURCE_VERBS = {
    "status": ("get", "update", "patch"),
    "scale": ("get", "update", "patch"),
    "finalize": ("update",),
    "binding": ("create",),
    "eviction": ("create",),
}


class Call:
    """One request for a resource."""

    def __init__(
        self,
        rest: "Rest",
        request: web.BaseRequest,
        target: Target,
        resource: ResourceInfo,
        query: dict[str, str],
        identity: Identity,
    ) -> None:
        self.rest = rest
        self.backend = rest.backend
        self.request = request
        self.target = target
        self.resource = resource
        self.query = query
        self.identity = identity
        self.output = wanted_output(request.headers.get("Accept", ""))
        self.warnings: list[str] = []

    @property
    def scope(self) -> str | None:
        """The namespace to look at; None for all of them."""
        return self.target.namespace or (None if self.resource.namespaced else "")

    def renderer(self, output: Output | None = None) -> Renderer:
        include = self.query.get("includeObject", "")
        return Renderer(self.resource, output or self.output, include, self.backend.clock())

    def answer(self, body: bytes, status: int = 200, content_type: str = JSON) -> web.Response:
        response = web.Response(body=body, status=status, content_type=content_type)
        response.headers["Cache-Control"] = "no-cache, private"
        for warning in self.warnings:
            text = warning.replace("\\", "\\\\").replace('"', '\\"')
            response.headers.add("Warning", f'299 - "{text}"')
        return response

    def answer_record(self, record: Record, status: int = 200) -> web.Response:
        renderer = self.renderer()
        return self.answer(renderer.object(record), status, renderer.content_type)

    async def body(self) -> bytes:
        limit = self.rest.limits.body
        if (self.request.content_length or 0) > limit:
            raise too_large(f"the body is larger than {limit} bytes")
        try:
            if self.request.content.is_eof():
                return await self.request.read()
            async with asyncio.timeout(self.rest.limits.body_seconds):
                return await self.request.read()
        except web.HTTPRequestEntityTooLarge:
            raise too_large(f"the body is larger than {limit} bytes") from None
        except TimeoutError:
            raise ApiError(408, "Timeout", "the request body did not arrive in time") from None

    async def document(self) -> Document:
        document = read_document(
            self.request.headers.get("Content-Type", ""), await self.body(), self.rest.limits
        )
        if not isinstance(document, dict):
            raise bad_request("the body of the request must be a JSON object")
        return document

    def options(self, force: bool = False) -> WriteOptions:
        manager = self.query.get("fieldManager", "")
        if len(manager) > 128 or not manager.isprintable():
            raise invalid(
                "meta.k8s.io",
                "CreateOptions",
                "",
                [not_supported("fieldManager", manager[:40], ("at most 128 printable characters",))],
            )
        agent = self.request.headers.get("User-Agent", "unknown").partition("/")[0][:128]
        return WriteOptions(dry_run=self.dry_run(), manager=manager or agent, force=force)

    def dry_run(self) -> bool:
        value = self.query.get("dryRun", "")
        if value not in ("", "All"):
            raise invalid("meta.k8s.io", "CreateOptions", "", [not_supported("dryRun", value, ("All",))])
        return value == "All"

    def check_kind(self, document: Document, api_version: str, kind: str) -> None:
        """The body must be what the path says; silence counts as agreement for the resource's own kind."""
        for field, expected in (("apiVersion", api_version), ("kind", kind)):
            found = document.get(field)
            if found is None or found == "":
                document[field] = expected
            elif found != expected:
                raise bad_request(
                    f"the API version in the data ({document.get('apiVersion')}) or its kind ({document.get('kind')}) "
                    f"does not match the expected API version ({api_version}) and kind ({kind})"
                )


Handler = Callable[[Call], Awaitable[web.StreamResponse]]


class Rest:
    def __init__(self, backend: Backend, limits: Limits, bookmark_every: float = 60.0) -> None:
        self.backend = backend
        self.limits = limits
        self.bookmark_every = bookmark_every
        self._verbs: dict[str, Handler] = {
            "get": _get,
            "list": _list,
            "watch": _watch,
            "create": _create,
            "update": _update,
            "patch": _patch,
            "delete": _delete,
            "deletecollection": _delete_collection,
        }

    async def handle(
        self, request: web.BaseRequest, target: Target, query: dict[str, str], identity: Identity
    ) -> web.StreamResponse:
        resource = self.backend.registry.find(target.group, target.version, target.resource)
        if resource is None:
            raise unknown_resource()
        _check_target(resource, target)
        call = Call(self, request, target, resource, query, identity)
        special = _SPECIAL.get((target.subresource, target.verb))
        return await (special or self._verbs[target.verb])(call)


def _check_target(resource: ResourceInfo, target: Target) -> None:
    """404 for what does not exist, 405 for what cannot be done to it."""
    if target.subresource and not _has_subresource(resource, target.subresource):
        raise unknown_resource()
    if target.namespace and not resource.namespaced:
        raise unknown_resource()
    allowed = _SUBRESOURCE_VERBS[target.subresource] if target.subresource else resource.verbs
    names_one = bool(target.name)
    wrong_place = {
        "create": names_one and not target.subresource,
        "update": not names_one,
        "patch": not names_one,
    }
    if target.verb not in allowed or wrong_place.get(target.verb, False):
        raise method_not_allowed()
    if resource.namespaced and not target.namespace and (names_one or target.verb == "create"):
        raise (
            unknown_resource()
            if names_one
            else bad_request("an empty namespace may not be set during creation")
        )


def _has_subresource(resource: ResourceInfo, name: str) -> bool:
    return name in resource.subresources or (name == "finalize" and resource.storage_key == "namespaces")


async def _get(call: Call) -> web.StreamResponse:
    target = call.target
    version = call.query.get("resourceVersion", "")
    return call.answer_record(reads.get(call.backend, call.resource, target.namespace, target.name, version))


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
    page = reads.list_page(call.backend, call.resource, call.scope, _list_options(call.query))
    renderer = call.renderer()
    return call.answer(renderer.page(page), content_type=renderer.content_type)


async def _watch(call: Call) -> web.StreamResponse:
    watch = WatchRequest.read(call.resource, call.target, call.query)
    rest = call.rest
    stream = WatchStream(call.backend, call.resource, call.renderer(), rest.limits, rest.bookmark_every)
    return await stream.serve(call.request, call.scope, watch)


async def _create(call: Call) -> web.StreamResponse:
    document = await call.document()
    resource = call.resource
    call.check_kind(document, resource.api_version, resource.kind)
    review = REVIEWS.get(resource.plural)
    if review is not None:
        return call.answer(encode(review(document, call.identity)), 201)
    if resource.plural == "bindings":
        return await _bind_document(call, document)
    if call.backend.store.count >= call.rest.limits.objects:
        raise ApiError(
            507, "InsufficientStorage", f"the server holds {call.rest.limits.objects} objects already"
        )
    call.warnings += check_fields(resource, document, call.query.get("fieldValidation", ""))
    record = writes.create(call.backend, resource, document, call.target.namespace, call.options())
    await call.backend.store.settled()
    return call.answer_record(record, 201)


async def _update(call: Call) -> web.StreamResponse:
    document = await call.document()
    resource, target = call.resource, call.target
    call.check_kind(document, resource.api_version, resource.kind)
    call.warnings += check_fields(resource, document, call.query.get("fieldValidation", ""))
    record, created = writes.update(
        call.backend, resource, document, target.namespace, target.name, call.options(), target.subresource
    )
    await call.backend.store.settled()
    return call.answer_record(record, 201 if created else 200)


async def _read_patch(call: Call) -> tuple[str, Any]:
    media = call.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media not in _PATCHES:
        raise ApiError(
            415,
            "UnsupportedMediaType",
            f"the body of the request was in an unknown format - accepted media types include: {', '.join(_PATCHES)}",
        )
    body = await call.body()
    if media != writes.APPLY_PATCH:
        patch = read_json(body, call.rest.limits)
        wanted = list if media == _PATCHES[0] else dict
        if not isinstance(patch, wanted):
            raise bad_request(
                f"a patch of type {media} must be a JSON {'array' if wanted is list else 'object'}"
            )
        return media, patch
    patch = (
        read_json(body, call.rest.limits) if body.lstrip()[:1] == b"{" else read_yaml(body, call.rest.limits)
    )
    if not isinstance(patch, dict):
        raise bad_request("an applied configuration must be an object")
    call.check_kind(patch, call.resource.api_version, call.resource.kind)
    if not call.query.get("fieldManager"):
        cause = not_supported(
            "fieldManager", "", ("the name of the manager; it is required for apply patch",)
        )
        raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
    return media, patch


async def _patch(call: Call) -> web.StreamResponse:
    media, patch = await _read_patch(call)
    resource, target = call.resource, call.target
    if media != _PATCHES[0]:
        call.warnings += check_fields(resource, patch, call.query.get("fieldValidation", ""))
    record, created = writes.patch(
        call.backend,
        resource,
        target.namespace,
        target.name,
        media,
        patch,
        call.options(truth(call.query, "force")),
        target.subresource,
    )
    await call.backend.store.settled()
    return call.answer_record(record, 201 if created else 200)


async def _delete_options(call: Call) -> tuple[DeleteOptions, bool]:
    body = await call.body()
    raw = (
        read_document(call.request.headers.get("Content-Type", ""), body, call.rest.limits)
        if body.strip()
        else {}
    )
    try:
        options = msgspec.convert(raw or {}, DeleteOptions)
    except msgspec.ValidationError as error:
        raise bad_request(f"DeleteOptions: {error}") from None
    query = call.query
    grace = query.get("gracePeriodSeconds", "")
    if grace and options.grace_period_seconds is None:
        if not grace.lstrip("-").isdecimal() or not grace.isascii() or len(grace) > 12:
            raise bad_request(f'gracePeriodSeconds: "{grace[:32]}" is not a number')
        options = msgspec.structs.replace(options, grace_period_seconds=int(grace))
    if query.get("propagationPolicy") and options.propagation_policy is None:
        options = msgspec.structs.replace(options, propagation_policy=query["propagationPolicy"])
    return options, call.dry_run() or bool(options.dry_run)


async def _delete(call: Call) -> web.StreamResponse:
    options, dry_run = await _delete_options(call)
    resource, target = call.resource, call.target
    record, gone = deletion.delete(call.backend, resource, target.namespace, target.name, options, dry_run)
    await call.backend.store.settled()
    if not gone or resource.storage_key in _RETURNS_DELETED:
        held = not gone and options.propagation_policy in ("Foreground", "Orphan")
        return call.answer_record(record, 202 if held else 200)
    uid = record.object["metadata"]["uid"]
    return call.answer(
        success_status(200, name=target.name, group=resource.group, kind=resource.plural, uid=uid)
    )


async def _delete_collection(call: Call) -> web.StreamResponse:
    options, dry_run = await _delete_options(call)
    page = reads.list_page(call.backend, call.resource, call.scope, _list_options(call.query))
    deleted = []
    for record in page.records:
        try:
            gone, _ = deletion.delete(
                call.backend, call.resource, record.namespace, record.name, options, dry_run
            )
        except ApiError as error:
            if error.code != 404:
                raise
            continue
        deleted.append(gone)
    await call.backend.store.settled()
    renderer = call.renderer()
    result = reads.Page(deleted, call.backend.store.revision)
    return call.answer(renderer.page(result), content_type=renderer.content_type)


async def _bind(call: Call) -> web.StreamResponse:
    return await _bind_document(call, await call.document(), call.target.name)


async def _bind_document(call: Call, binding: Document, name: str = "") -> web.StreamResponse:
    meta = binding.get("metadata") or {}
    if not isinstance(meta, dict):
        raise bad_request("Binding: metadata: expected an object")
    name = name or meta.get("name", "")
    if not isinstance(name, str) or not name:
        raise bad_request("Binding: metadata.name: the name of the pod is required")
    pods.bind(call.backend, call.target.namespace, name, binding, call.dry_run())
    await call.backend.store.settled()
    return call.answer(success_status(201), 201)


async def _evict(call: Call) -> web.StreamResponse:
    pods.evict(call.backend, call.target.namespace, call.target.name, await call.document(), call.dry_run())
    await call.backend.store.settled()
    return call.answer(success_status(201), 201)


async def _get_scale(call: Call) -> web.StreamResponse:
    record = reads.get(call.backend, call.resource, call.target.namespace, call.target.name)
    return call.answer(encode(scale.read_scale(call.resource, record.object)))


async def _change_scale(call: Call) -> web.StreamResponse:
    """PUT and PATCH of a Scale: change it, then write the number back into the workload."""
    resource, target = call.resource, call.target
    patch = await _read_patch(call) if target.verb == "patch" else None
    wanted = await call.document() if patch is None else None
    current = call.backend.existing(resource, target.namespace, target.name)
    document = current.object
    before = scale.read_scale(resource, document)
    if wanted is None:
        from reprieve.server.patch import apply_patch

        assert patch is not None
        media = _PATCHES[1] if patch[0] in _PATCHES[2:] else patch[0]
        wanted = apply_patch(media, before, patch[1], resource)
    meta = wanted.get("metadata")
    version = meta.get("resourceVersion", "") if isinstance(meta, dict) else ""
    if version not in ("", before["metadata"]["resourceVersion"]):
        raise conflict(resource.group, resource.plural, target.name)
    scale.write_scale(resource, document, wanted)
    record = writes.replace(call.backend, resource, document, current, call.options(), "")
    await call.backend.store.settled()
    return call.answer(encode(scale.read_scale(resource, record.object)))


_SPECIAL: dict[tuple[str, str], Handler] = {
    ("binding", "create"): _bind,
    ("eviction", "create"): _evict,
    ("scale", "get"): _get_scale,
    ("scale", "update"): _change_scale,
    ("scale", "patch"): _change_scale,
}
