"""The transport that speaks HTTP: aiohttp, keep-alive connections, TLS as in the kubeconfig.

A proxy comes from `proxy-url` or from the environment; a server on this machine is always reached directly.
"""

import asyncio
import ipaddress
import os
import socket
import ssl
import tempfile
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import aiohttp
from aiohttp.connector import AddrInfoType

from reprieve.kube.credentials import Credential, Credentials, credentials_of
from reprieve.kube.errors import ConfigError, TransportError
from reprieve.kube.kubeconfig import ClusterAccess
from reprieve.kube.transport import Request, Response, Stream

USER_AGENT = f"reprieve/{version('reprieve')}"
CALL_TIMEOUT = 35.0
CONNECT_TIMEOUT = 10.0
IDLE_TIMEOUT = 60.0
"""How long a connection that nobody uses is kept: less than API servers keep it (90 seconds), so that it is
not closed under a request; and long, since a new one costs a TLS handshake."""
CHUNK = 1 << 18


class HttpTransport:
    def __init__(
        self, access: ClusterAccess, credentials: Credentials | None = None, connections: int = 64
    ) -> None:
        self._access = access
        self._credentials = credentials or credentials_of(access)
        self._slots = asyncio.Semaphore(connections)
        """Calls at once. Waiting for a slot is not part of a call's time limit; watches need none."""
        self._session: aiohttp.ClientSession | None = None
        self._presented: tuple[bytes | None, bytes | None] = (None, None)
        self._proxy = proxy_for(access)

    async def call(self, request: Request) -> Response:
        async with self._slots, self.stream(request) as stream:
            return Response(stream.code, b"".join([chunk async for chunk in stream.chunks]), stream.headers)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        try:
            reply = await self._send(request)
            if reply.status == 401 and self._credentials.refused():
                reply.release()
                reply = await self._send(request)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            where = f"{request.method} {self._access.server}{request.path}"
            raise TransportError(f"{where}: {str(error) or type(error).__name__}") from error
        try:
            yield Stream(reply.status, _chunks(reply, request), reply.headers)
        finally:
            # A half-read watch must not go back into the pool.
            reply.release() if reply.content.at_eof() else reply.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _send(self, request: Request) -> aiohttp.ClientResponse:
        credential = await self._credentials.current()
        session = await self._session_for(credential)
        headers = dict(credential.headers)
        if request.content_type:
            headers["Content-Type"] = request.content_type
        total = request.timeout if request.timeout is not None else CALL_TIMEOUT
        options: dict[str, Any] = (
            {"server_hostname": self._access.tls_server_name} if self._access.tls_server_name else {}
        )
        return await session.request(
            request.method, self._access.server + request.path, params=request.query or None,
            data=request.body or None, headers=headers, proxy=self._proxy, allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=total or None, sock_connect=CONNECT_TIMEOUT), **options,
        )  # fmt: skip

    async def _session_for(self, credential: Credential) -> aiohttp.ClientSession:
        """The session; a new one when the client certificate was renewed."""
        presented = (credential.certificate, credential.key)
        if self._session is not None and presented != self._presented:
            await self.close()
        if self._session is None:
            self._presented = presented
            secure = self._access.server.startswith("https")
            connector = aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=IDLE_TIMEOUT,
                ssl=tls_context(self._access, credential) if secure else True,
                socket_factory=_keepalive_socket,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                headers={"User-Agent": USER_AGENT, "Accept": "application/json"},
                auto_decompress=True,
                read_bufsize=CHUNK,
            )
        return self._session


async def _chunks(reply: aiohttp.ClientResponse, request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in reply.content.iter_any():
            yield chunk
    except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, OSError) as error:
        raise TransportError(
            f"{request.method} {request.path}: cut off: {error or type(error).__name__}"
        ) from error


def _keepalive_socket(address: AddrInfoType) -> socket.socket:
    """Keep-alive probes detect a peer that vanished; a watch would otherwise wait for hours."""
    family, kind, protocol, _, _ = address
    connection = socket.socket(family=family, type=kind, proto=protocol)
    connection.setblocking(False)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return connection


def tls_context(access: ClusterAccess, credential: Credential) -> ssl.SSLContext:
    """Verify the server against the given authority, else the system's; present our certificate, if any."""
    # Never both: to read the system's authorities takes tens of milliseconds in the loop.
    context = ssl.create_default_context(cadata=_pem(access.ca_data) if access.ca_data else None)
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if credential.certificate and credential.key:
        _load_pair(context, credential.certificate, credential.key)
    return context


def _pem(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as error:
        raise ConfigError("kubeconfig: certificate-authority is not PEM") from error


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """The ssl module reads certificates only from files: a private one, for a moment."""
    descriptor, name = tempfile.mkstemp(prefix="reprieve-", suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(certificate + b"\n" + key)
        context.load_cert_chain(name, password=_no_password)
    except ssl.SSLError as error:
        raise ConfigError(f"kubeconfig: client certificate and key do not fit together: {error}") from error
    finally:
        os.unlink(name)


def _no_password() -> str:
    """Asked for only if the key is encrypted; else OpenSSL asks at the terminal, and everything waits."""
    raise ConfigError("kubeconfig: the client key is encrypted, and nobody is there to give its password")


def proxy_for(access: ClusterAccess) -> str | None:
    """`proxy-url`, else the environment's; none for a server on this machine or in NO_PROXY."""
    if is_loopback(access.host):
        return None
    if access.proxy_url:
        return access.proxy_url
    if urllib.request.proxy_bypass(access.host):
        return None
    return urllib.request.getproxies().get(access.server.split(":", 1)[0])


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
