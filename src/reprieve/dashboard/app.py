"""The page's HTTP side: static files, JSON, server-sent events, the what-if form.

Everything is read-only. The stream only tells that something changed (at most once a second); the page then fetches the
state, which is made once for all viewers and compressed. No request leaves the origin: the policy below forbids it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
from aiohttp import web

from reprieve.dashboard.history import EVERY_SECONDS, History
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.views import View, cluster_view, fleet_view, node_detail
from reprieve.objects.errors import ReprieveError

STATIC = Path(__file__).parent / "static"
TICK_SECONDS = 1.0
KEEP_ALIVE_TICKS = 15
MANIFEST_BYTES = 1 << 20

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Decisions(Protocol):
    """What the page counts. The records themselves are served by the process (`/api/decisions`)."""

    @property
    def preemptions(self) -> int: ...

    @property
    def victims(self) -> int: ...


Planner = Callable[[str, str], Awaitable[dict[str, Any]]]
"""Manifests as text and the unit to plan for (empty: the only one) -> the plan as JSON."""


class Dashboard:
    """One cluster's page. `quota` gives the quota tree's view; `planner` answers the what-if form."""

    def __init__(
        self,
        inventory: Inventory,
        decisions: Decisions,
        planner: Planner,
        quota: Callable[[Inventory, datetime], View],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._inventory = inventory
        self._decisions = decisions
        self._planner = planner
        self._quota = quota
        self._now = now
        self._history = History()
        self._cached: tuple[tuple[int, int], bytes] | None = None

    def add_routes(self, app: web.Application) -> None:
        """Serve the page at `/` of this application."""
        app.middlewares.append(_safe)
        app.router.add_get("/", self._index)
        app.router.add_static("/static", STATIC)
        app.router.add_get("/api/state", self._state)
        app.router.add_get("/api/stream", self._stream)
        app.router.add_get("/api/nodes/{name}", self._node)
        app.router.add_get("/api/history", self._recent)
        app.router.add_post("/api/plan", self._plan)
        app.cleanup_ctx.append(self._sampling)

    async def _sampling(self, _: web.Application) -> Any:
        task = asyncio.create_task(self._sample_for_ever())
        yield
        task.cancel()

    async def _sample_for_ever(self) -> None:
        while True:
            pending = sum(1 for pod in self._inventory.pods.values() if not pod.node and not pod.terminating)
            self._history.sample(self._now(), pending, self._decisions.victims)
            await asyncio.sleep(EVERY_SECONDS)

    def _version(self) -> tuple[int, int]:
        return self._inventory.revision, self._decisions.preemptions

    async def _index(self, _: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html")

    async def _state(self, _: web.Request) -> web.Response:
        version = self._version()
        if self._cached is None or self._cached[0] != version:
            view = cluster_view(self._inventory, self._decisions.preemptions, self._now())
            view["quota"] = self._quota(self._inventory, self._now())
            view["fleet"] = fleet_view(self._inventory)
            self._cached = (version, msgspec.json.encode(view))
        response = web.Response(body=self._cached[1], content_type="application/json")
        response.enable_compression()
        return response

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **HEADERS})
        await response.prepare(request)
        with suppress(ConnectionResetError):  # the viewer left
            await self._tell_changes(response)
        return response

    async def _tell_changes(self, response: web.StreamResponse) -> None:
        seen: tuple[int, int] | None = None
        quiet = 0
        while True:
            version = self._version()
            if version != seen:
                await response.write(b"event: changed\ndata: %d\n\n" % version[0])
                seen, quiet = version, 0
            elif quiet >= KEEP_ALIVE_TICKS:
                await response.write(b": still here\n\n")
                quiet = 0
            quiet += 1
            await asyncio.sleep(TICK_SECONDS)

    async def _node(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        detail = node_detail(self._inventory, name)
        return _json(detail) if detail else _refuse(404, f"there is no node {name!r}")

    async def _recent(self, _: web.Request) -> web.Response:
        return _json(self._history.to_dict())

    async def _plan(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":  # which a form on somebody else's page cannot send
            return _refuse(415, f"send application/json, not {request.content_type}")
        if request.content_length is not None and request.content_length > MANIFEST_BYTES:
            return _refuse(413, f"the manifests are larger than {MANIFEST_BYTES} bytes")
        try:
            body = msgspec.json.decode(await request.read(), type=dict[str, str])
        except msgspec.DecodeError as error:
            return _refuse(400, f'expected {{"manifest": "...", "for": "KIND/NAMESPACE/NAME"}}: {error}')
        try:
            return _json(await self._planner(body.get("manifest", ""), body.get("for", "")))
        except ReprieveError as error:
            return _refuse(422, str(error))


def _json(value: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


def _refuse(status: int, message: str) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode({"message": message}), content_type="application/json"
    )


@web.middleware
async def _safe(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    response = await handler(request)
    if not response.prepared:
        response.headers.update(HEADERS)
    return response
