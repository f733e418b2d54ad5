"""Over real sockets: connections, tokens, refusals, streams, servers that are not there."""

import asyncio
import os
import pty
import ssl
import subprocess
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import aiohttp
import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization

from reprieve.kube import PODS, ApiError, Client, TransportError, read_cluster
from reprieve.kube.credentials import Credential, Static
from reprieve.kube.http_transport import HttpTransport, tls_context
from reprieve.kube.kubeconfig import ClusterAccess
from reprieve.kube.transport import Request
from reprieve.server import EmbeddedServer
from reprieve.server.security.certificates import Authority
from tests.waiting import PATIENCE


@asynccontextmanager
async def serving(handler):
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def transport(url, **options):
    made = HttpTransport(ClusterAccess(url), **options)
    try:
        yield made
    finally:
        await made.close()


async def test_waiting_for_a_free_connection_does_not_count_as_a_timeout():
    running, most = 0, 0

    async def slow(request):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.1)  # real: all calls together take longer than the timeout of one
        running -= 1
        return web.Response()

    async with serving(slow) as url, transport(url, connections=2) as http:
        answers = await asyncio.gather(*(http.call(Request("GET", "/x", timeout=2)) for _ in range(42)))
    assert {answer.code for answer in answers} == {200}
    assert most == 2


async def test_a_server_that_is_not_there_is_a_transport_error():
    async with transport("http://127.0.0.1:1") as http:
        with pytest.raises(TransportError, match=r"GET http://127\.0\.0\.1:1/x"):
            await http.call(Request("GET", "/x"))


async def test_a_server_that_does_not_answer_in_time_is_a_transport_error():
    over = asyncio.Event()

    async def late(request):
        await over.wait()
        return web.Response()

    async with serving(late) as url, transport(url) as http:
        with pytest.raises(TransportError):
            await http.call(Request("GET", "/x", timeout=0.05))
        over.set()  # else the server waits a minute for it when it is stopped


async def test_idle_connections_are_kept_but_not_as_long_as_an_api_server_keeps_them(monkeypatch):
    given = []

    class Noted(aiohttp.TCPConnector):
        def __init__(self, **options):
            given.append(options["keepalive_timeout"])
            super().__init__(**options)

    async def fine(request):
        return web.Response()

    monkeypatch.setattr(aiohttp, "TCPConnector", Noted)
    async with serving(fine) as url, transport(url) as http:
        await http.call(Request("GET", "/x"))
    [seconds] = given
    assert 15 < seconds < 90


async def test_an_answer_cut_in_the_middle_is_a_transport_error():
    async def cut(request):
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"half")
        request.transport.close()
        return response

    async with serving(cut) as url, transport(url) as http:
        with pytest.raises(TransportError, match="cut off"):
            await http.call(Request("GET", "/x"))


async def test_a_refused_credential_is_renewed_once():
    class Renewed(Static):
        token = "old"

        async def current(self):
            return Credential((("Authorization", f"Bearer {self.token}"),))

        def refused(self):
            self.token = "new"
            return True

    async def check(request):
        return web.Response(status=200 if request.headers["Authorization"] == "Bearer new" else 401)

    async with serving(check) as url, transport(url, credentials=Renewed(Credential())) as http:
        assert (await http.call(Request("GET", "/x"))).code == 200


async def test_query_and_body_arrive_as_they_were_sent():
    async def echo(request):
        return web.json_response({"query": dict(request.query), "body": (await request.read()).decode()})

    async with serving(echo) as url, transport(url) as http:
        answer = await http.call(
            Request("POST", "/x", {"labelSelector": "a in (b,c)"}, b'{"x":1}', "application/json")
        )
    assert answer.code == 200
    assert b"a in (b,c)" in answer.body


class TestTls:
    async def test_the_servers_certificate_is_verified_and_the_token_sent(self):
        async with (
            EmbeddedServer(controllers=False) as server,
            Client.from_kubeconfig(server.kubeconfig) as client,
        ):
            assert (await client.listing(PODS)).items == []

    async def test_an_unknown_authority_is_refused_unless_told_otherwise(self):
        async with EmbeddedServer(controllers=False) as server:
            for access, works in (
                (ClusterAccess(server.url, token=server.token), False),
                (ClusterAccess(server.url, token=server.token, insecure=True), True),
            ):
                async with Client.from_access(access) as client:
                    if works:
                        assert (await client.listing(PODS)).items == []
                    else:
                        with pytest.raises(TransportError):
                            await client.create(PODS, {"metadata": {"name": "a"}}, "ns")

    async def test_a_wrong_token_is_unauthorized(self):
        async with (
            EmbeddedServer(controllers=False) as server,
            Client.from_access(ClusterAccess(server.url, ca_data=server.ca, token="wrong")) as client,
        ):
            with pytest.raises(ApiError) as raised:
                await client.listing(PODS)
            assert raised.value.code == 401


def test_a_cluster_is_read_without_an_event_loop_of_ones_own():
    with EmbeddedServer(controllers=False) as server:
        documents = read_cluster(server.kubeconfig)
    kinds = {document["kind"] for document in documents}
    assert "Namespace" in kinds
    assert "PriorityClass" in kinds


def test_with_an_authority_of_its_own_the_systems_are_not_read(tmp_path, monkeypatch):
    """Reading them took 25 ms in the event loop, for nothing: they were thrown away."""
    read = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: read.append(1))
    access = ClusterAccess("https://127.0.0.1:1", ca_data=Authority(tmp_path, datetime.now(UTC)).pem)
    assert tls_context(access, Credential()).verify_mode is ssl.CERT_REQUIRED
    assert not read
    tls_context(ClusterAccess("https://127.0.0.1:1"), Credential())
    assert read


def test_nobody_is_asked_for_the_password_of_a_key(tmp_path):
    """OpenSSL would ask at the terminal and hold everything up until somebody answers there."""
    certificate, plain = Authority(tmp_path, datetime.now(UTC)).client("somebody")
    secret = serialization.BestAvailableEncryption(b"a password")
    key = serialization.load_pem_private_key(plain, None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret
    )
    code = (
        "import sys; from reprieve.kube.credentials import Credential\n"
        "from reprieve.kube.http_transport import tls_context, ClusterAccess\n"
        "from reprieve.kube import ConfigError\n"
        "certificate, key = sys.stdin.buffer.read().split(b'|')\n"
        "try: tls_context(ClusterAccess('https://h'), Credential(certificate=certificate, key=key))\n"
        "except ConfigError as error: print(error)\n"
    )
    terminal, own = pty.openpty()
    take_it = f"import fcntl, termios; fcntl.ioctl({own}, termios.TIOCSCTTY, 0)\n"
    try:
        ended = subprocess.run(
            [sys.executable, "-c", take_it + code],
            input=certificate + b"|" + key, capture_output=True, timeout=PATIENCE, check=False,
            start_new_session=True, pass_fds=[own],
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(own)
    assert ended.stdout.startswith(b"kubeconfig: the client key is encrypted")
