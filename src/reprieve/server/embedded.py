"""A whole server in one object: start, use, stop. From asynchronous code it runs in the caller's loop, from
synchronous code in a thread with a loop of its own.
"""

import asyncio
import logging
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader

from reprieve.config import Configuration
from reprieve.listening import strangers_log
from reprieve.server import controllers
from reprieve.server.api import Api
from reprieve.server.backend import Backend, Clock, utc_now
from reprieve.server.bootstrap import bootstrap, publish_address
from reprieve.server.http.app import Application
from reprieve.server.http.negotiation import Limits
from reprieve.server.root_certificates import RootCertificates
from reprieve.server.security import Authenticator, Authority, kubeconfig, write_private

log = logging.getLogger(__name__)

Background = Callable[[Api], Coroutine[Any, Any, None]]


class EmbeddedServer:
    """The API server of this process.

    `data_dir` None keeps everything in memory. `background` are coroutines that run beside the server and
    get its `Api`; `controllers` adds the built-in ones. `port` 0 picks a free one. `quota` says that a quota
    controller runs beside it: Jobs and pods that belong to a queue are stopped when they are created.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        data_dir: Path | str | None = None,
        tls: bool = True,
        controllers: bool = True,
        background: tuple[Background, ...] = (),
        limits: Limits | None = None,
        history: int = 20_000,
        bookmark_every: float = 60.0,
        clock: Clock = utc_now,
        configuration: Configuration | None = None,
        quota: bool = False,
    ) -> None:
        self._host = host
        self._port = port
        self._data_dir = Path(data_dir) if data_dir is not None else None
        self._tls = tls
        self._controllers = controllers
        self._background = background
        self._limits = limits or Limits()
        self._history = history
        self._bookmark_every = bookmark_every
        self._clock = clock
        self._configuration = configuration
        self._quota = quota
        self._tasks: list[asyncio.Task[None]] = []
        self._thread: _LoopThread | None = None
        self._ready = False

    # -- what it offers --------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def token(self) -> str:
        """May do everything."""
        return self._authenticator.admin_token

    @property
    def reader_token(self) -> str:
        """May get, list and watch."""
        return self._authenticator.reader_token

    @property
    def ca(self) -> bytes | None:
        """PEM of the authority to trust; None without TLS."""
        return self.authority.pem if self._tls else None

    # -- life ------------------------------------------------------------------------------------------------

    async def start(self) -> "EmbeddedServer":
        self.backend = Backend(
            self._data_dir,
            history=self._history,
            clock=self._clock,
            configuration=self._configuration,
            quota=self._quota,
        )
        try:
            self._prepare_files()
            bootstrap(self.backend)
            await self.backend.store.settled()
            self.api = Api(self.backend)
            await self._listen()
            publish_address(self.backend, self.port)
            await self.backend.store.settled()
        except BaseException:
            await self.backend.store.close()
            raise
        self.kubeconfig = self._secrets / "kubeconfig"
        write_private(self.kubeconfig, kubeconfig(self.url, self.token, self.ca).encode())
        self._start_background()
        self._ready = True
        return self

    def _prepare_files(self) -> None:
        """Keys and tokens live with the data, or in a temporary directory."""
        if self._data_dir is not None:
            self._secrets = self._data_dir
        else:
            self._temporary = tempfile.TemporaryDirectory(prefix="reprieve-")
            self._secrets = Path(self._temporary.name)
        self._authenticator = Authenticator(self._secrets, self.backend)
        if self._tls:
            self.authority = Authority(self._secrets, utc_now())

    async def _listen(self) -> None:
        limits = self._limits
        application = Application(
            self.backend, self._authenticator, limits, self._bookmark_every, lambda: self._ready
        )
        server = web.Server(
            application,
            request_factory=_request_factory(limits.body),
            handler_cancellation=True,
            keepalive_timeout=limits.idle_seconds,
            max_line_size=limits.header,
            max_field_size=limits.header,
            access_log=None,
            logger=strangers_log(),
            auto_decompress=False,  # else it goes on unpacking what was refused; see `Call.body`
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=1.0)
        await self._runner.setup()
        context = self.authority.server_context(self._host) if self._tls else None
        site = web.TCPSite(self._runner, self._host, self._port, ssl_context=context, backlog=1024)
        await site.start()
        self.port: int = self._runner.addresses[0][1]

    def _start_background(self) -> None:
        jobs = list(self._background)
        if self._controllers:
            jobs.insert(0, controllers.run)
            if self._tls:
                jobs.insert(1, self._publish_certificate)
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(job(self.api)) for job in jobs]
        for task in self._tasks:
            task.add_done_callback(_report)

    async def _publish_certificate(self, api: Api) -> None:
        publisher = RootCertificates(api, self.authority.pem.decode())
        await controllers.keep_running(publisher.run, "RootCertificates")

    async def stop(self) -> None:
        self._ready = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.backend.hub.close_all()
        await self._runner.cleanup()
        await self.backend.store.close()
        if self._data_dir is None:
            self._temporary.cleanup()

    async def __aenter__(self) -> "EmbeddedServer":
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def __enter__(self) -> "EmbeddedServer":
        self._thread = _LoopThread()
        try:
            self._thread.run(self.start())
        except BaseException:
            self._thread.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._thread is not None
        try:
            self._thread.run(self.stop())
        finally:
            self._thread.close()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """From synchronous code: run something, for instance a call of `api`, in the server's loop."""
        assert self._thread is not None
        return self._thread.run(coroutine)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed: it serves about 1.5 times as many requests."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


class _LoopThread:
    def __init__(self) -> None:
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="reprieve-server", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _request_factory(client_max_size: int) -> Any:
    def make(
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: Any,
        writer: Any,
        task: "asyncio.Task[None]",
    ) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(
            message, payload, protocol, writer, task, loop, client_max_size=client_max_size
        )

    return make


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("a background task of the server ended", exc_info=task.exception())
