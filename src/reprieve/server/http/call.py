"""One request for a resource: its body and options, and how its answer is put together."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
from aiohttp import web

from reprieve.objects import Document, Problem, contradictions, definitions, modernise
from reprieve.server.backend import Backend, DeleteOptions, WriteOptions
from reprieve.server.custom_resources.serving import DEFINITIONS
from reprieve.server.errors import (
    ApiError,
    bad_request,
    cause_of,
    invalid,
    invalid_value,
    not_supported,
    required,
    too_large,
    too_long,
    unsupported_media_type,
)
from reprieve.server.field_validation import check_applied, validate_fields
from reprieve.server.http.aside import LARGE_BYTES, aside
from reprieve.server.http.duplicates import duplicate_fields
from reprieve.server.http.negotiation import (
    JSON,
    Limits,
    check_fields,
    read_document,
    read_json,
    read_yaml,
    unpacked,
    wanted_output,
)
from reprieve.server.http.paths import Target
from reprieve.server.http.rendering import Renderer
from reprieve.server.operations.groups import GROUPS
from reprieve.server.operations.reads import Page
from reprieve.server.patch import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from reprieve.server.registry import ResourceInfo
from reprieve.server.security.identity import Identity
from reprieve.server.storage import Record

_LONGEST_WARNING = 256
_PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH)

PATCH_ATTEMPTS = 5
"""How often a patch is tried beside which others write: as often as kube-apiserver does."""
_MANY_OPERATIONS = 200
_GROWN = 4
"""How many times as many fields as may be sent an object may have that patches made larger."""


class Call:
    """One request for a resource."""

    def __init__(
        self,
        backend: Backend,
        limits: Limits,
        bookmark_every: float,
        request: web.BaseRequest,
        target: Target,
        resource: ResourceInfo,
        query: dict[str, str],
        identity: Identity,
    ) -> None:
        self.backend = backend
        self.limits = limits
        self.bookmark_every = bookmark_every
        self.request = request
        self.target = target
        self.resource = resource
        self.query = query
        self.identity = identity
        self.output = wanted_output(request.headers.get("Accept", ""))
        self.warnings: list[str] = []
        self._body: bytes | None = None

    @property
    def scope(self) -> str | None:
        """The namespace to look at; None for all of them."""
        return self.target.namespace or (None if self.resource.namespaced else "")

    def renderer(self) -> Renderer:
        is_group = self.resource.storage_key == GROUPS
        pods = partial(self.backend.store.collection("pods").scan, self.scope) if is_group else None
        include, now = self.query.get("includeObject", ""), self.backend.clock()
        if self.output.form == "table" and include not in ("", "None", "Metadata", "Object"):
            raise bad_request(f'unrecognized includeObject value: "{include[:64]}"')
        return Renderer(self.resource, self.output, include, now, pods)

    def answer(self, body: bytes, status: int = 200, content_type: str = JSON) -> web.Response:
        response = web.Response(body=body, status=status, content_type=content_type)
        response.headers["Cache-Control"] = "no-cache, private"
        for warning in self.warnings:
            response.headers.add("Warning", f'299 - "{_quotable(warning)}"')
        return response

    async def answer_record(self, record: Record, status: int = 200) -> web.Response:
        renderer = self.renderer()
        body = await aside(renderer.begin((record,)), lambda: renderer.object(record))
        return self.answer(body, status, renderer.content_type)

    async def answer_page(self, page: Page) -> web.Response:
        renderer = self.renderer()
        body = await aside(renderer.begin(page.records), lambda: renderer.page(page))
        return self.answer(body, content_type=renderer.content_type)

    async def body(self) -> bytes:
        if self._body is None:
            sent = await self._sent()
            encoding = self.request.headers.get("Content-Encoding", "").strip().lower()
            self._body = unpacked(sent, encoding, self.limits.body)
        return self._body

    async def _sent(self) -> bytes:
        limit = self.limits.body
        if (self.request.content_length or 0) > limit:
            raise too_large(f"the body is larger than {limit} bytes")
        try:
            if self.request.content.is_eof():
                return await self.request.read()
            async with asyncio.timeout(self.limits.body_seconds):
                return await self.request.read()
        except web.HTTPRequestEntityTooLarge:
            raise too_large(f"the body is larger than {limit} bytes") from None
        except web.RequestPayloadError:
            raise bad_request("the body of the request cannot be read as its headers describe it") from None
        except TimeoutError:
            raise ApiError(408, "Timeout", "the request body did not arrive in time") from None

    async def document(self) -> Document:
        body, media = await self.body(), self.request.headers.get("Content-Type", "")
        document = await aside(len(body), lambda: self._read(partial(read_document, media), body))
        document = {} if document is None else document
        if not isinstance(document, dict):
            raise bad_request("the body of the request must be a JSON object")
        return document

    def _read(self, read: Callable[[bytes, Limits], Any], body: bytes, applied: bool = False) -> Any:
        """An object, or a patch that is like one; a list of operations has a limit of its own."""
        document, most = read(body, self.limits), self.most_fields(applied)
        if len(body) > most and isinstance(document, dict):
            check_fields(document, most)
        return document

    def most_fields(self, applied: bool = False) -> int:
        """How many fields an object of this kind may have."""
        if self.resource.storage_key == DEFINITIONS:
            return self.limits.values
        intricate = applied or self.resource.has_pods
        return self.limits.intricate if intricate else self.limits.fields

    async def validate(self, document: Document) -> None:
        """Warnings about fields that the kind does not have, or the body has twice; 400 in strict mode."""
        mode = self.query.get("fieldValidation", "")
        media = self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        body = await self.body()

        def validated() -> list[str]:
            duplicates = duplicate_fields(body) if mode in ("Warn", "Strict") else ()
            if not self.resource.custom:
                self._modernise(document)
            if media == APPLY_PATCH:
                check_applied(self.resource, document)
            if self.resource.storage_key == DEFINITIONS:
                definitions.learn_schemas(document)
            return validate_fields(self.resource, document, mode, duplicates)

        self.warnings += await aside(len(body), validated)

    def _modernise(self, document: Document) -> None:
        """Today's spelling, before fields that no schema knows are taken out."""
        key = self.resource.group, self.resource.kind
        modernise(document, key)
        if problems := [Problem(*each) for each in contradictions(document, key)]:
            name = str((document.get("metadata") or {}).get("name", ""))
            raise invalid(*key, name, [cause_of(each) for each in problems])

    def check_size(self, patched: Document, applied: bool = False) -> None:
        """What a patch leaves behind. Defaults and statuses came to what was sent: it may have more."""
        check_fields(patched, _GROWN * self.most_fields(applied))

    def check_fields(self, patched: Document) -> None:
        """The same for what a JSON patch leaves behind: its steps alone do not tell."""
        self.check_size(patched)
        self.warnings += validate_fields(self.resource, patched, self.query.get("fieldValidation", ""))

    def options(self, force: bool = False) -> WriteOptions:
        manager = self.query.get("fieldManager", "")
        if len(manager) > 128 or not manager.isprintable():
            long = len(manager) > 128
            problem = "must consist of printable characters"
            cause = (
                too_long("fieldManager", 128, "bytes")
                if long
                else invalid_value("fieldManager", manager, problem)
            )
            raise invalid("meta.k8s.io", "CreateOptions", "", [cause])
        agent = self.request.headers.get("User-Agent", "unknown").partition("/")[0][:128]
        if not agent.isprintable():
            agent = "unknown"
        return WriteOptions(dry_run=self.dry_run(), manager=manager or agent, force=force)

    def dry_run(self) -> bool:
        value = self.query.get("dryRun", "")
        if value not in ("", "All"):
            raise invalid("meta.k8s.io", "CreateOptions", "", [not_supported("dryRun", value, ("All",))])
        return value == "All"

    def check_kind(self, document: Document, api_version: str, kind: str) -> None:
        """The body must be of the kind that the path names; what it leaves out is filled in."""
        for field, expected in (("apiVersion", api_version), ("kind", kind)):
            found = document.get(field)
            if found is None or found == "":
                if self.resource.custom:
                    raise bad_request(f"a custom resource must state its {field}: {expected}")
                document[field] = expected
            elif found != expected:
                raise bad_request(
                    f"the API version in the data ({document.get('apiVersion')}) or its kind "
                    f"({document.get('kind')}) does not match the expected API version ({api_version}) "
                    f"and kind ({kind})"
                )

    async def patch(self) -> tuple[str, Any]:
        media = self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if media not in _PATCHES:
            raise unsupported_media_type(", ".join(_PATCHES))
        body = await self.body()
        if media != APPLY_PATCH:
            patch = await aside(len(body), lambda: self._read(read_json, body))
            wanted = list if media == JSON_PATCH else dict
            if not isinstance(patch, wanted):
                raise bad_request(
                    f"a patch of type {media} must be a JSON {'array' if wanted is list else 'object'}"
                )
            return media, patch
        read = read_json if body.lstrip()[:1] == b"{" else read_yaml
        patch = await aside(len(body), lambda: self._read(read, body, applied=True))
        if not isinstance(patch, dict):
            raise bad_request("an applied configuration must be an object")
        if not patch.get("apiVersion") or not patch.get("kind"):
            raise bad_request("an applied configuration must name its apiVersion and its kind")
        self.check_kind(patch, self.resource.api_version, self.resource.kind)
        if not self.query.get("fieldManager"):
            cause = required("fieldManager", "is required for apply patch")
            raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
        return media, patch

    async def is_much(self, media: str, patch: Any) -> bool:
        """Many operations, copies, of which each may be large, or lists that may be merged with long ones."""
        if media != JSON_PATCH:
            return len(await self.body()) >= LARGE_BYTES
        copies = any(isinstance(each, dict) and each.get("op") == "copy" for each in patch)
        return copies or len(patch) >= _MANY_OPERATIONS

    async def delete_options(self) -> tuple[DeleteOptions, bool]:
        body = await self.body()
        options = await aside(len(body), lambda: self._read_options(body))
        query = self.query
        grace = query.get("gracePeriodSeconds", "")
        if grace and options.grace_period_seconds is None:
            if not grace.lstrip("-").isdecimal() or not grace.isascii() or len(grace) > 12:
                raise bad_request(f'gracePeriodSeconds: "{grace[:32]}" is not a number')
            options = msgspec.structs.replace(options, grace_period_seconds=int(grace))
        if query.get("propagationPolicy") and options.propagation_policy is None:
            options = msgspec.structs.replace(options, propagation_policy=query["propagationPolicy"])
        return options, self.dry_run() or bool(options.dry_run)

    def _read_options(self, body: bytes) -> DeleteOptions:
        media = self.request.headers.get("Content-Type", "")
        raw = read_document(media, body, self.limits) if body.strip() else {}
        try:
            return msgspec.convert(raw or {}, DeleteOptions)
        except msgspec.ValidationError as error:
            raise bad_request(f"DeleteOptions: {error}") from None


def _quotable(text: str) -> str:
    """Fit for a quoted string in a header: one line of plain text, not too long."""
    if len(text) > _LONGEST_WARNING:
        text = text[:_LONGEST_WARNING] + "..."
    if not (text.isascii() and text.isprintable()):
        text = ascii(text)[1:-1]
    return text.replace("\\", "\\\\").replace('"', '\\"')


Handler = Callable[[Call], Awaitable[web.StreamResponse]]
