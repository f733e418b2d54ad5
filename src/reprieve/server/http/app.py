"""Everything between a socket and an operation: authentication, routing, errors.

No exception escapes: an `ApiError` becomes its `Status`, anything else a 500 `Status` that tells the client
nothing and the log everything.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from aiohttp import web

from reprieve.server.backend import Backend
from reprieve.server.errors import ApiError, bad_request, internal, method_not_allowed, unknown_resource
from reprieve.server.http.discovery import PublishedDocuments
from reprieve.server.http.negotiation import JSON, Limits
from reprieve.server.http.paths import read_query, read_target, segments
from reprieve.server.http.rendering import encode
from reprieve.server.http.rest import Rest
from reprieve.server.security import Authenticator, Reviews, Rights, impersonated

log = logging.getLogger(__name__)

_LARGE = 256 * 1024
_HEALTH = {"healthz", "livez", "readyz"}
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}


class Application:
    def __init__(
        self,
        backend: Backend,
        authenticator: Authenticator,
        limits: Limits,
        bookmark_every: float = 60.0,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._authenticator = authenticator
        self._limits = limits
        self._rights = Rights(backend)
        reviews = Reviews(self._rights, authenticator)
        self._rest = Rest(backend, limits, reviews, authenticator.service_accounts, bookmark_every)
        self._documents = PublishedDocuments(backend.registry)
        self._ready = ready

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            response = await self._route(request)
            if isinstance(response, web.Response) and (response.content_length or 0) > _LARGE:
                return await self._send_in_parts(request, response)
            return response
        except ApiError as error:
            return _refusal(error)
        except (ConnectionError, TimeoutError):
            return _refusal(ApiError(408, "Timeout", "the client went away or was too slow"))
        except web.HTTPException as error:
            return _refusal(ApiError(error.status, "", error.reason or "bad request"))
        except Exception:
            log.exception("a request broke the server: %s %s", request.method, request.raw_path[:200])
            return _refusal(internal())

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        path, _, query_text = request.raw_path.partition("?")
        parts = segments(path)
        if parts and parts[0] in _HEALTH:
            return self._health()
        identity = self._authenticator.identify(
            request.headers.get("Authorization", ""), request.get_extra_info("peercert")
        )
        identity = impersonated(request.headers, identity, self._rights)
        if request.method not in _METHODS:
            raise method_not_allowed()
        query = self._query(query_text) if query_text else {}
        target = read_target(request.method, parts, query)
        if target is not None:
            self._rights.authorize(identity, target)
            return await self._rest.handle(request, target, query, identity)
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        found = self._documents.find(parts, request.headers.get("Accept", ""), request.host)
        if found is None and parts[:1] == ["apis"] and len(parts) == 3:
            raise unknown_resource()  # a group version, whether or not the group has others
        if found is None:
            return web.Response(status=404, text="404 page not found\n", content_type="text/plain")
        body, content_type = found
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def _send_in_parts(self, request: web.BaseRequest, response: web.Response) -> web.StreamResponse:
        """A large answer, at the pace of the client; a client that stops reading is dropped."""
        body = memoryview(response.body if isinstance(response.body, bytes) else b"")
        stream = web.StreamResponse(status=response.status, headers=response.headers)
        stream.content_length = len(body)
        await stream.prepare(request)
        try:
            for start in range(0, len(body), _LARGE):
                async with asyncio.timeout(self._limits.body_seconds):
                    await stream.write(body[start : start + _LARGE])
        except (ConnectionError, TimeoutError):
            if request.transport is not None:
                request.transport.abort()
        return stream

    def _query(self, text: str) -> dict[str, str]:
        try:
            return read_query(text)
        except ValueError as error:
            raise bad_request(f"the query cannot be read: {error}") from None

    def _health(self) -> web.Response:
        if self._ready():
            return web.Response(text="ok", content_type="text/plain")
        return web.Response(status=500, text="not ready", content_type="text/plain")


def _refusal(error: ApiError) -> web.Response:
    headers: dict[str, Any] = {"Cache-Control": "no-cache, private", **error.headers}
    return web.Response(body=encode(error.to_status()), status=error.code, content_type=JSON, headers=headers)
