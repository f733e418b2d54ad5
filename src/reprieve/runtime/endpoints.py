"""The HTTP side of a process: health, readiness, metrics, decisions, and the token for visitors."""

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from reprieve.listening import strangers_log
from reprieve.objects import ReprieveError, shown, whole_number
from reprieve.records import DecisionLog

Probe = Callable[[], str]
"""Empty when all is well, else what is missing."""

LIMIT = 1000
TOKEN_VARIABLE = "REPRIEVE_TOKEN"
SHORTEST_TOKEN = 16
IDLE_SECONDS = 30.0
"""How long a connection may be silent, or in the middle of a request's head."""
BODY_SECONDS = 15.0
MOST_CONNECTIONS = 512
STOP_SECONDS = 1.0
"""How long answers under way may take once the process stops. A page's stream never ends by itself."""


def add_health(app: web.Application, alive: Probe, ready: Probe) -> None:
    for path, probe in (("/healthz", alive), ("/livez", alive), ("/readyz", ready)):
        app.router.add_get(path, partial(_answer, probe))


def add_metrics(app: web.Application, registry: CollectorRegistry) -> None:
    async def metrics(request: web.Request) -> web.Response:
        # As OpenMetrics for those who ask for it: only there samples can name their trace.
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(registry), headers={"Content-Type": content_type})

    app.router.add_get("/metrics", metrics)


def add_decisions(app: web.Application, records: DecisionLog) -> None:
    """`/api/decisions?limit=&for=&outcome=&victim=&controller=`, `/api/decisions/{id}` and `/api/runs`."""

    async def several(request: web.Request) -> web.Response:
        text = request.query.get("limit", "100")
        limit = whole_number(text)
        if limit is None:
            return _json({"message": f"limit must be a whole number, not {shown(text)}"}, 400)
        query = request.query.get
        found = records.find(
            for_=query("for", ""),
            outcome=query("outcome", ""),
            victim=query("victim", ""),
            controller=query("controller", ""),
        )
        items = [decision.summary() for decision, _ in zip(found, range(min(limit, LIMIT)), strict=False)]
        return _json({"items": items})

    async def one(request: web.Request) -> web.Response:
        decision = records.get(request.match_info["id"])
        if decision is None:
            return _json({"message": f"decision {request.match_info['id']!r} is not kept any more"}, 404)
        return _json(decision)

    async def runs(_: web.Request) -> web.Response:
        return _json({"items": [msgspec.to_builtins(each) for each in records.runs]})

    app.router.add_get("/api/runs", runs)
    app.router.add_get("/api/decisions", several)
    app.router.add_get("/api/decisions/{id}", one)


async def serve(
    app: web.Application, host: str, port: int, context: ssl.SSLContext | None = None
) -> web.AppRunner:
    """Listen; the caller cleans the runner up. Whoever is slow or comes in crowds is sent away."""
    if port:
        await _try(host, port)
    app.middlewares.insert(0, _body_in_time)
    runner = _Runner(
        app,
        access_log=None,
        logger=strangers_log(),
        keepalive_timeout=IDLE_SECONDS,
        shutdown_timeout=STOP_SECONDS,
        auto_decompress=False,  # nobody has a reason to, and a small body may unpack to a large one
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=context).start()
    except BaseException:
        await runner.cleanup()
        raise
    return runner


async def _try(host: str, port: int) -> None:
    """Whether it is free is asked before the application starts whatever it keeps running."""
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, port)
    server.close()
    await server.wait_closed()


@web.middleware
async def _body_in_time(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    if request.can_read_body:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await request.read()  # which keeps it for the handler
        except TimeoutError:
            raise web.HTTPRequestTimeout(text="the body took too long to arrive\n") from None
        except web.RequestPayloadError:
            raise web.HTTPBadRequest(text="the body cannot be read as its head describes it\n") from None
    return await handler(request)


class _Runner(web.AppRunner):
    """Answers so many connections at once: each takes memory and a file, of which a process has few."""

    @property
    def server(self) -> web.Server | None:
        """What a listener calls for each new connection."""
        server = super().server
        return None if server is None else cast(web.Server, partial(_accept, server))


def _accept(server: web.Server) -> asyncio.Protocol:
    return server() if len(server.connections) < MOST_CONNECTIONS else _Crowded()


class _Crowded(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(
            b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 21\r\n\r\n"
            b"too many connections\n"
        )
        transport.close()


def read_token(path: str | Path | None) -> str:
    """The file's content, else that of the environment variable; empty when there is neither."""
    if path is None:
        return _checked_token(os.environ.get(TOKEN_VARIABLE, ""), f"${TOKEN_VARIABLE}")
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ReprieveError(f"--token-file {path}: cannot be read: {reason}") from error
    if not text.strip():
        raise ReprieveError(
            f"--token-file {path}: it is empty; put a random secret there: openssl rand -hex 24"
        )
    return _checked_token(text, f"--token-file {path}")


def _checked_token(text: str, where: str) -> str:
    token = text.strip()
    if token and (len(token) < SHORTEST_TOKEN or not token.isascii() or any(c.isspace() for c in token)):
        raise ReprieveError(
            f"{where}: a token is one word of at least {SHORTEST_TOKEN} ASCII characters; "
            "make one: openssl rand -hex 24"
        )
    return token


async def _answer(probe: Probe, _: web.Request) -> web.Response:
    problem = probe()
    return web.Response(text=f"{problem}\n" if problem else "ok\n", status=503 if problem else 200)


def _json(value: Any, code: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json", status=code)
