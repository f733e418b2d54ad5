"""The HTTP side of a running controller: is it alive, is it ready, what does it measure, what did it decide."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from reprieve.records import DecisionLog

Probe = Callable[[], str]
"""Empty when all is well, else what is missing."""

LIMIT = 1000


def add_health(app: web.Application, alive: Probe, ready: Probe) -> None:
    for path, probe in (("/healthz", alive), ("/livez", alive), ("/readyz", ready)):
        app.router.add_get(path, partial(_answer, probe))


def add_metrics(app: web.Application, registry: CollectorRegistry) -> None:
    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app.router.add_get("/metrics", metrics)


def add_decisions(app: web.Application, records: DecisionLog) -> None:
    """`/api/decisions?limit=&for=&outcome=&victim=&controller=` and `/api/decisions/{id}`."""

    async def several(request: web.Request) -> web.Response:
        text = request.query.get("limit", "100")
        if not (text.isascii() and text.isdigit()):
            return _json({"message": f"limit must be a whole number, not {text!r}"}, 400)
        asked = request.query.get
        found = records.find(
            for_=asked("for", ""),
            outcome=asked("outcome", ""),
            victim=asked("victim", ""),
            controller=asked("controller", ""),
        )
        items = [decision.summary() for decision, _ in zip(found, range(min(int(text), LIMIT)), strict=False)]
        return _json({"items": items})

    async def one(request: web.Request) -> web.Response:
        decision = records.get(request.match_info["id"])
        if decision is None:
            return _json({"message": f"decision {request.match_info['id']!r} is not kept any more"}, 404)
        return _json(decision)

    app.router.add_get("/api/decisions", several)
    app.router.add_get("/api/decisions/{id}", one)


async def serve(app: web.Application, host: str, port: int) -> web.AppRunner:
    """Listen; the caller cleans the runner up."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner


async def _answer(probe: Probe, _: web.Request) -> web.Response:
    problem = probe()
    return web.Response(text=f"{problem}\n" if problem else "ok\n", status=503 if problem else 200)


def _json(value: Any, code: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json", status=code)
