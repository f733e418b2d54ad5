"""What reaches a log: no token of a stranger, no escape sequence, no flood."""

import asyncio
import logging

import pytest
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage
from hypothesis import given
from hypothesis import strategies as st

from reprieve.listening import EVERY_SECONDS, StrangersFilter
from reprieve.objects import harmless
from reprieve.runtime import endpoints
from reprieve.runtime.logs import PlainFormatter
from reprieve.server import EmbeddedServer
from tests.waiting import PATIENCE

SECRET = "c2VjcmV0LXRva2VuLW9mLXNvbWVib2R5"
UNREADABLE = f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {SECRET}\x01\r\n\r\n".encode()


async def send(port: int, raw: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(raw)
    try:
        return await asyncio.wait_for(reader.readline(), PATIENCE)
    finally:
        writer.close()


async def test_a_token_in_an_unreadable_request_to_the_page_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = web.Application()
    endpoints.add_health(app, lambda: "", lambda: "")
    runner = await endpoints.serve(app, "127.0.0.1", 0)
    with caplog.at_level(logging.DEBUG):
        assert b" 400 " in await send(runner.addresses[0][1], UNREADABLE)
        await runner.cleanup()
    assert SECRET not in caplog.text


async def test_a_token_in_an_unreadable_request_to_the_api_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with EmbeddedServer(tls=False, controllers=False) as server:
        with caplog.at_level(logging.DEBUG):
            assert b" 400 " in await send(server.port, UNREADABLE)
    assert SECRET not in caplog.text


def test_a_flood_of_unreadable_requests_is_a_line_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    log = logging.getLogger("reprieve.test.strangers")
    log.addFilter(StrangersFilter(lambda: now))
    for _ in range(1280):
        try:
            raise BadHttpMessage(f"Authorization: {SECRET}")
        except BadHttpMessage:
            log.exception("Error handling request from %s", "10.0.0.1")
        now += EVERY_SECONDS / 128  # a power of two: the sum is exact
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 10
    assert "128 since the last such line (BadHttpMessage, the last from 10.0.0.1)" in lines[-1]
    assert not any(record.exc_info for record in caplog.records)
    assert SECRET not in caplog.text


def test_an_error_of_our_own_is_logged_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("reprieve.test.own")
    log.addFilter(StrangersFilter())
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        log.exception("a request broke the server")
    assert "ZeroDivisionError" in caplog.text


@given(st.text())
def test_nothing_that_is_printed_steers_a_terminal(text: str) -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "pod %s", (text,), None)
    for printed in (harmless(text), PlainFormatter("%(message)s").format(record)):
        assert all(c.isprintable() or c in "\n\t" for c in printed)
    assert harmless(harmless(text)) == harmless(text)


def test_an_escape_sequence_is_shown_and_ordinary_text_stays() -> None:
    assert harmless("\x1b[2Jgone\r\x9b") == "\\x1b[2Jgone\\r\\x9b"
    assert harmless("Grüße, 世界\n\tend") == "Grüße, 世界\n\tend"
