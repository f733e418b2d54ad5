"""A process that stops does not wait for those who still look at its page."""

import asyncio
import time

import aiohttp
from aiohttp import web

from reprieve.runtime.endpoints import serve


async def test_an_open_stream_does_not_hold_up_the_stop() -> None:
    opened = asyncio.Event()

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        opened.set()
        await asyncio.Event().wait()  # until somebody ends it
        return response

    app = web.Application()
    app.router.add_get("/stream", stream)
    runner = await serve(app, "127.0.0.1", 0)
    host, port = runner.addresses[0]
    async with aiohttp.ClientSession() as session, session.get(f"http://{host}:{port}/stream"):
        await opened.wait()
        begin = time.monotonic()
        await runner.cleanup()
    assert time.monotonic() - begin < 20  # aiohttp itself waits for a minute
