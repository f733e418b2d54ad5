"""The page's port sends away who is slow and who comes in crowds; everybody else is answered meanwhile."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from reprieve.runtime import endpoints
from tests.waiting import PATIENCE


@asynccontextmanager
async def port(monkeypatch: pytest.MonkeyPatch, **limits: float) -> AsyncIterator[int]:
    for name, value in limits.items():
        monkeypatch.setattr(endpoints, name, value)
    app = web.Application()
    endpoints.add_health(app, lambda: "", lambda: "")

    async def echo(request: web.Request) -> web.Response:
        return web.Response(body=await request.read())

    app.router.add_post("/echo", echo)
    runner = await endpoints.serve(app, "127.0.0.1", 0)
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def answer(number: int, sent: bytes) -> bytes:
    """Everything the server says until it hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", number)
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE)
    finally:
        writer.close()


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "])
async def test_a_head_that_never_ends_is_hung_up(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    async with port(monkeypatch, IDLE_SECONDS=0.2) as number:
        assert await answer(number, sent) == b""


async def test_a_body_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async with port(monkeypatch, BODY_SECONDS=0.2, IDLE_SECONDS=0.5) as number:
        head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"
        assert b" 408 " in (await answer(number, head)).splitlines()[0]


async def test_a_body_that_comes_in_time_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        port(monkeypatch) as number,
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{number}/echo", data=b"x" * 100_000) as response,
    ):
        assert await response.read() == b"x" * 100_000


async def test_a_crowd_is_refused_and_those_inside_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    async with port(monkeypatch, MOST_CONNECTIONS=5) as number:
        inside = [await asyncio.open_connection("127.0.0.1", number) for _ in range(5)]
        assert b"503 Service Unavailable" in await answer(number, b"")
        reader, writer = inside[0]
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in await reader.readline()
        for _, each in inside:
            each.close()
            await each.wait_closed()


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("body", [b"no such thing", zlib.compress(b"a" * 100_000)])
async def test_nothing_is_unpacked(
    encoding: str, body: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A small body that unpacks to a large one held up the loop; one that cannot be unpacked was a 500 with a
    traceback in the log."""
    async with port(monkeypatch) as number:
        head = f"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: {encoding}\r\n"
        sent = await answer(number, f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    assert sent.startswith(b"HTTP/1.1 200 OK")
    assert sent.endswith(b"\r\n\r\n" + body)
    assert not caplog.records
