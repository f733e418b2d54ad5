"""Who gets in, how far, and what never gets out."""

import asyncio
import gzip
import json
import ssl
import stat
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from reprieve.server import EmbeddedServer
from reprieve.server.http.negotiation import Limits
from reprieve.server.http.rest import Rest
from tests.server.wire import CONFIG_MAPS, PODS, Wire, config_map, connected, pod
from tests.steps import LONGEST_SECONDS, counted_steps
from tests.waiting import PATIENCE


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


@pytest.fixture
async def secure() -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(controllers=False) as server:
        yield server


def trusting(server: EmbeddedServer, certificate: Path | None = None) -> ssl.SSLContext:
    assert server.ca is not None
    context = ssl.create_default_context(cadata=server.ca.decode())
    if certificate is not None:
        context.load_cert_chain(certificate)
    return context


async def ask(
    server: EmbeddedServer,
    method: str = "GET",
    path: str = "/api/v1/nodes",
    context: ssl.SSLContext | None = None,
    **headers: str,
) -> tuple[int, dict[str, object]]:
    connector = aiohttp.TCPConnector(ssl=context or trusting(server))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.request(
            method, server.url + path, headers=headers, json={} if method != "GET" else None
        ) as answer,
    ):
        return answer.status, await answer.json()


async def test_anonymous_is_unauthorized(secure: EmbeddedServer) -> None:
    given: list[dict[str, Any]] = [
        {},
        *({"Authorization": each} for each in ("Bearer wrong", "Basic YTpi", "x")),
    ]
    for headers in given:
        status, body = await ask(secure, **headers)
        assert (status, body["reason"], body["message"]) == (401, "Unauthorized", "Unauthorized")
    assert (await ask(secure, path="/version"))[0] == 401


async def test_the_admin_token_may_do_everything(secure: EmbeddedServer) -> None:
    assert (await ask(secure, Authorization=f"Bearer {secure.token}"))[0] == 200


async def test_the_reader_may_read_and_not_write(secure: EmbeddedServer) -> None:
    bearer = f"Bearer {secure.reader_token}"
    assert (await ask(secure, Authorization=bearer))[0] == 200
    for method, path in (
        ("POST", "/api/v1/nodes"),
        ("DELETE", "/api/v1/nodes/a"),
        ("PATCH", "/api/v1/nodes/a"),
        ("PUT", "/api/v1/nodes/a/status"),
        ("POST", f"{PODS}/a/eviction"),
        ("DELETE", "/api/v1/nodes"),
    ):
        status, body = await ask(secure, method, path, Authorization=bearer)
        assert (status, body["reason"]) == (403, "Forbidden"), (method, path)
        assert 'User "reprieve-reader" cannot' in str(body["message"])


async def test_a_client_certificate_says_who_somebody_is(secure: EmbeddedServer, tmp_path: Path) -> None:
    async def as_(user: str, *groups: str, method: str = "GET") -> int:
        certificate, key = secure.authority.client(user, groups)
        path = tmp_path / f"{user}.pem"
        path.write_bytes(certificate + key)
        return (await ask(secure, method, context=trusting(secure, path)))[0]

    assert await as_("alice", "system:masters") == 200
    assert await as_("bob", "reprieve:readers") == 200
    assert await as_("bob", "reprieve:readers", method="POST") == 403
    assert await as_("carol", "somebody") == 403


async def test_a_certificate_of_another_authority_is_refused(secure: EmbeddedServer, tmp_path: Path) -> None:
    async with EmbeddedServer(controllers=False) as other:
        certificate, key = other.authority.client("mallory", ("system:masters",))
        path = tmp_path / "mallory.pem"
        path.write_bytes(certificate + key)
        with pytest.raises(aiohttp.ClientError):
            await ask(secure, context=trusting(secure, path))
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await ask(secure, context=trusting(other))


async def test_who_am_i_and_may_i_are_answered(wire: Wire) -> None:
    review = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "pods"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert (await wire.post(path, review)).body["status"]["allowed"] is True
    wire.session.headers["Authorization"] = f"Bearer {wire.server.reader_token}"
    assert (await wire.post(path, review)).body["status"]["allowed"] is False
    myself = await wire.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert myself.body["status"]["userInfo"]["username"] == "reprieve-reader"
    assert (await wire.post(path, {"spec": "x"})).status == 400


async def test_secrets_on_disk_are_for_the_owner_only(tmp_path: Path) -> None:
    async with EmbeddedServer(data_dir=tmp_path / "data", controllers=False) as server:
        for path in (tmp_path / "data").iterdir():
            if path.suffix not in (".db-wal", ".db-shm") and path.name != "lock":
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert stat.S_IMODE(server.kubeconfig.stat().st_mode) == 0o600
        config = yaml.safe_load(server.kubeconfig.read_text())
        assert config["clusters"][0]["cluster"]["server"] == server.url
        assert config["users"][0]["user"]["token"] == server.token


async def test_tokens_and_authority_survive_a_restart(tmp_path: Path) -> None:
    seen = []
    for _ in range(2):
        async with EmbeddedServer(data_dir=tmp_path, controllers=False) as server:
            seen.append((server.token, server.ca))
            assert (await ask(server, Authorization=f"Bearer {server.token}"))[0] == 200
    assert seen[0] == seen[1]


def test_the_server_listens_on_loopback_unless_told_otherwise() -> None:
    assert EmbeddedServer()._host == "127.0.0.1"


async def test_an_error_of_ours_tells_the_client_nothing(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Rest, "handle", broken)
    answer = await wire.get(PODS)
    assert (answer.status, answer.reason) == (500, "InternalError")
    assert "secret" not in json.dumps(answer.body)
    assert "Traceback" not in json.dumps(answer.body)


# -- limits --------------------------------------------------------------------------------------------------


async def test_large_bodies_are_refused(wire: Wire) -> None:
    huge = json.dumps(config_map("a", big="x" * (3 * 1024 * 1024))).encode()
    assert (await wire.post(CONFIG_MAPS, huge)).status == 413

    async def drip() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 100_000

    async with wire.session.post(wire.server.url + CONFIG_MAPS, data=drip()) as answer:
        assert answer.status == 413


async def test_deep_bodies_are_refused(wire: Wire) -> None:
    for depth in (101, 500, 5_000, 100_000):
        body = b'{"metadata":{"name":"a"},"x":' + b"[" * depth + b"]" * depth + b"}"
        refused = await wire.post(CONFIG_MAPS, body)
        assert (refused.status, "nested deeper" in refused.message) == (400, True), depth
        text = "metadata: {name: a}\nx: " + "[" * depth + "]" * depth
        answer = await wire("POST", CONFIG_MAPS, text, {"Content-Type": "application/yaml"})
        assert answer.status == 400


async def test_bodies_of_very_many_values_are_refused(wire: Wire) -> None:
    body = b'{"metadata":{"name":"a"},"x":[' + b"0," * 250_000 + b"0]}"
    assert (await wire.post(CONFIG_MAPS, body)).status == 413


async def test_yaml_that_grows_is_refused(wire: Wire) -> None:
    bomb = "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n"
    assert (await wire("POST", CONFIG_MAPS, bomb, {"Content-Type": "application/yaml"})).status == 400


async def test_the_number_of_objects_is_limited() -> None:
    async with connected(limits=Limits(objects=20)) as wire:
        answers = [await wire.post(CONFIG_MAPS, config_map(f"c-{i}")) for i in range(20)]
        assert {a.status for a in answers} == {201, 507}


async def test_long_headers_and_lines_are_refused(wire: Wire) -> None:
    assert (await wire("GET", PODS, headers={"X-Long": "x" * 50_000})).status == 400
    async with wire.session.get(f"{wire.server.url}{PODS}?labelSelector={'x' * 50_000}") as answer:
        assert answer.status in (400, 414)


async def test_media_types_that_are_not_spoken_are_refused(wire: Wire) -> None:
    wrong = {"Content-Type": "application/vnd.kubernetes.protobuf"}
    assert (await wire("POST", CONFIG_MAPS, b"k8s\x00", wrong)).status == 415
    assert (await wire.get(PODS, Accept="application/vnd.kubernetes.protobuf")).status == 406
    assert (await wire.get(PODS, Accept="application/cbor")).status == 406
    assert (await wire.get(PODS, Accept="application/vnd.kubernetes.protobuf,application/json")).status == 200
    await wire.post(CONFIG_MAPS, config_map("a"))
    assert (await wire.patch(f"{CONFIG_MAPS}/a", {}, "application/json")).status == 415


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"metadata":{"name":"\xff"}}', b"{}{}"]
)
async def test_bodies_that_are_not_an_object_are_a_bad_request(wire: Wire, body: bytes) -> None:
    assert (await wire.post(PODS, body)).status == 400


async def test_null_is_an_object_without_a_name(wire: Wire) -> None:
    """As Go decodes it, and so as recorded from kube-apiserver."""
    refused = await wire.post(PODS, b"null")
    assert (refused.status, "metadata.name" in refused.message) == (422, True)


async def test_a_client_that_sends_its_body_too_slowly_is_given_up() -> None:
    async with connected(limits=Limits(body_seconds=0.2)) as wire:
        reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port)
        head = (
            f"POST {PODS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {wire.server.token}\r\n"
            "Content-Length: "
            "99\r\n\r\n{"
        )
        writer.write(head.encode())
        assert (await asyncio.wait_for(reader.readline(), PATIENCE)).split()[1] == b"408"
        writer.close()
        assert (await wire.post(PODS, pod("a"))).status == 201


async def test_a_client_that_never_ends_its_request_is_dropped() -> None:
    async with connected(limits=Limits(idle_seconds=1)) as wire:
        for beginning in (b"", b"GET /api HTTP/1.1\r\nHost: a\r\nX-Slow: "):
            reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port)
            writer.write(beginning)
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            writer.close()


async def test_a_compressed_body_counts_with_its_real_size(wire: Wire) -> None:
    bomb = gzip.compress(json.dumps(config_map("a", big="x" * 50_000_000)).encode())
    assert len(bomb) < 100_000
    headers = {"Content-Encoding": "gzip"}
    assert (await wire("POST", CONFIG_MAPS, bomb, headers)).status == 413
    small = gzip.compress(json.dumps(config_map("a", n="1")).encode())
    assert (await wire("POST", CONFIG_MAPS, small, headers)).status == 201
    assert (await wire("POST", CONFIG_MAPS, b"not gzip", headers)).status == 400
    assert (await wire("POST", CONFIG_MAPS, small[:-9], headers)).status == 400
    assert (await wire("POST", CONFIG_MAPS, small, {"Content-Encoding": "br"})).status == 400
    flat = zlib.compress(json.dumps(config_map("b", n="1")).encode())
    assert (await wire("POST", CONFIG_MAPS, flat, {"Content-Encoding": "deflate"})).status == 201


async def test_nothing_is_unpacked_for_strangers(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was refused was still unpacked, to be thrown away: half a second in the loop for 300 kB."""
    bomb = gzip.compress(b"x" * 300_000_000)
    headers = {"Content-Encoding": "gzip", "Authorization": "Bearer wrong"}
    async with aiohttp.ClientSession() as stranger:
        with counted_steps(monkeypatch) as steps:
            async with stranger.post(wire.server.url + CONFIG_MAPS, data=bomb, headers=headers) as answer:
                assert answer.status == 401
            for _ in range(20):  # until it would have been unpacked
                assert (await wire.get("/healthz")).status == 200
    assert steps.longest < LONGEST_SECONDS, steps.what


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /api HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /api HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00",
    ],
)
async def test_what_is_not_http_is_answered_or_dropped_without_a_word_about_us(
    wire: Wire, request_bytes: bytes
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port)
    writer.write(request_bytes)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    assert not answer or answer.split()[1][:1] == b"4"
    assert b"Traceback" not in answer
    assert b".py" not in answer
    assert (await wire.get("/version")).status == 200


async def test_a_user_agent_that_is_no_text_is_an_unknown_manager(wire: Wire) -> None:
    applied = config_map("a", n="1")
    await wire.patch(f"{CONFIG_MAPS}/a?fieldManager=m", applied, "application/apply-patch+yaml")
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port)
    body = b'{"data":{"n":"2"}}'
    writer.write(
        f"PATCH {CONFIG_MAPS}/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {wire.server.token}\r\n".encode()
        + b"User-Agent: \xff\xfe\r\nContent-Type: application/merge-patch+json\r\n"
        + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    assert b" 200 " in await asyncio.wait_for(reader.readline(), PATIENCE)
    writer.close()
    fields = (await wire.get(f"{CONFIG_MAPS}/a")).body["metadata"]["managedFields"]
    assert [entry["manager"] for entry in fields] == ["unknown"]


async def test_a_number_of_thousands_of_digits_is_a_bad_request(wire: Wire) -> None:
    assert (
        await wire.post(CONFIG_MAPS, b'{"metadata":{"name":"a"},"x":' + b"1" * 10_000 + b"}")
    ).status == 400


async def test_a_body_that_breaks_off_in_its_encoding_is_given_up() -> None:
    async with connected(limits=Limits(body_seconds=0.3)) as wire:
        reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port)
        head = f"POST {PODS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {wire.server.token}\r\n"
        writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        await writer.drain()
        writer.write(b"zz\r\n")
        answer = await asyncio.wait_for(reader.readline(), PATIENCE)
        assert answer.split()[1] in (b"400", b"408")
        writer.close()


async def test_clients_of_http_1_0_can_watch_too(wire: Wire) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port)
    path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1"
    writer.write(f"GET {path} HTTP/1.0\r\nAuthorization: Bearer {wire.server.token}\r\n\r\n".encode())
    assert b" 200 " in await asyncio.wait_for(reader.readline(), PATIENCE)
    await wire.post(CONFIG_MAPS, config_map("a"))
    assert b'"type":"ADDED"' in await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
