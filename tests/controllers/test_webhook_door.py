"""The webhook's port: the API server asks there, and whoever else reaches it may send anything."""

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import aiohttp
import pytest

from reprieve.config import Configuration
from reprieve.controllers.quota import webhook as door
from reprieve.kube import Client
from reprieve.runtime import endpoints
from tests import builders
from tests.controllers.test_quota_webhook import _free_port, asked
from tests.waiting import eventually

HOST = "reprieve.reprieve-system.svc"


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[int, ssl.SSLContext]]:
    port = _free_port()
    config = Configuration.load({"quota": {"webhook": {"port": port, "host": "127.0.0.1"}}})
    hook = door.Webhook(Client.__new__(Client), config, {})
    pair = door.self_signed(HOST, datetime.now(UTC))

    async def certificate(_: datetime) -> tuple[bytes, bytes]:
        return pair

    async def published(_: bytes) -> None:
        return None

    monkeypatch.setattr(hook, "_certificate", certificate)
    monkeypatch.setattr(hook, "_publish", published)
    running = asyncio.create_task(hook.run(datetime.now(UTC)))
    trust = ssl.create_default_context(cadata=pair[1].decode())

    async def open_() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname=HOST)
        except OSError:
            return False
        writer.close()
        return True

    try:
        await eventually(open_, "it listens")
        yield port, trust
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def post(port: int, trust: ssl.SSLContext, body: bytes) -> int:
    url = f"https://127.0.0.1:{port}/hold"
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, ssl=trust, server_hostname=HOST) as response,
    ):
        return response.status


STRANGE = [
    b"",
    b"\xff\xfe",
    b"[1]",
    b'{"request": [1]}',
    b'{"request": {"operation": "CREATE", "object": {"kind": "Job", "metadata": 5}}}',
    b'{"request": {"operation": "CREATE", "object": {"kind": "Pod", "apiVersion": "v1", "metadata": null}}}',
    b'{"request": ' + b"[" * 100_000,
]


async def test_what_is_no_review_is_refused_in_one_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with served(monkeypatch) as (port, trust):
        for body in STRANGE * 3:
            assert await post(port, trust, body) in (200, 400)
        assert await post(port, trust, b"x" * 9_000_000) == 413
        assert await post(port, trust, json.dumps(asked(builders.pod("p", 1))).encode()) == 200
    said = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(said) == 1
    assert not said[0].exc_info


async def test_whoever_is_slow_or_comes_in_crowds_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "BODY_SECONDS", 0.2)
    async with served(monkeypatch) as (port, trust):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname=HOST)
        writer.write(b"POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        assert b" 408 " in await reader.readline()
        writer.close()
        monkeypatch.setattr(endpoints, "MOST_CONNECTIONS", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname=HOST)
        assert b" 503 " in await reader.readline()
        writer.close()
