"""Between a client and an API server, on loopback: for whoever wants to see, or to disturb, what they say.

Plain HTTP towards the client (kubectl sends no token over it), the token of the kubeconfig towards the
server. Derive from `Proxy` and change `answer`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from reprieve.kube import kubeconfig
from reprieve.kube.credentials import Credential
from reprieve.kube.http_transport import tls_context
from reprieve.server.security import kubeconfig as written
from reprieve.server.security import write_private

KEPT = ("Accept", "Content-Type", "User-Agent", "Impersonate-User")
"""Headers that reach the server."""
RETURNED = ("Content-Type", "Warning", "Retry-After", "Audit-Id")


class Proxy:
    """`async with proxy.running(directory) as kubeconfig:` gives the file with which to come through it."""

    def __init__(self, upstream: Path) -> None:
        self._access = kubeconfig.load(upstream)

    @asynccontextmanager
    async def running(self, home: Path) -> AsyncIterator[Path]:
        context = tls_context(self._access, Credential()) if self._access.server.startswith("https") else True
        connector = aiohttp.TCPConnector(ssl=context, limit=0)
        async with aiohttp.ClientSession(
            connector=connector, timeout=aiohttp.ClientTimeout(None)
        ) as self._session:
            runner = web.ServerRunner(
                web.Server(self.answer, handler_cancellation=True, access_log=None), shutdown_timeout=0.5
            )
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            path = home / "proxy.kubeconfig"
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            write_private(path, written(url, self._access.token, None).encode())
            try:
                yield path
            finally:
                await runner.cleanup()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """What the client gets. Here: what the server says."""
        async with self.ask(request) as answer:
            return await self.relay(request, answer)

    def passed_on(self, request: web.BaseRequest) -> dict[str, str]:
        """The headers that reach the server."""
        return {name: request.headers[name] for name in KEPT if name in request.headers}

    @asynccontextmanager
    async def ask(self, request: web.BaseRequest) -> AsyncIterator[aiohttp.ClientResponse]:
        """The server's answer; its body is still to be read."""
        headers = self.passed_on(request) | {
            "Authorization": f"Bearer {self._access.token}",
            "Accept-Encoding": "identity",
        }
        url = self._access.server.rstrip("/") + request.raw_path
        body = await request.read()
        # What the client leaves unsaid stays unsaid: aiohttp would call the body a stream of octets.
        async with self._session.request(
            request.method, url, data=body or None, headers=headers, skip_auto_headers=["Content-Type"]
        ) as answer:
            yield answer

    async def relay(self, request: web.BaseRequest, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        """Passed on as it comes, so that watches stay alive."""
        response = web.StreamResponse(status=answer.status)
        for name in RETURNED:
            for value in answer.headers.getall(name, ()):
                response.headers.add(name, value)
        await response.prepare(request)
        async for chunk in self.chunks(answer):
            await response.write(chunk)
        await response.write_eof()
        return response

    async def chunks(self, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        async for chunk in answer.content.iter_any():
            yield chunk
