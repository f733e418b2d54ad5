"""A cluster on this machine: an API server with fake nodes, and Reprieve's controllers and page beside it.

    async with local_cluster(nodes=[NodeTemplate.parse("h100=8:cpu=96,memory=1Ti")]) as server:
        server.url, server.kubeconfig, server.api

Several of them can run in one process, each with its own port, data and kubeconfig.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reprieve.config import Configuration
from reprieve.controllers import load
from reprieve.dashboard import attach
from reprieve.kube import Client
from reprieve.objects import NodeTemplate
from reprieve.runtime import Process
from reprieve.server import Background, EmbeddedServer, FakeKubelet, Habits, JobKindControllers, kinds_of


def local_cluster(
    *,
    nodes: Sequence[NodeTemplate] = (),
    habits: Habits | None = None,
    data_dir: Path | str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    config: Configuration | None = None,
    quota: bool = False,
    kinds: Sequence[str] = (),
) -> EmbeddedServer:
    """An API server with fake nodes. Not started yet: use it as a context manager.

    `quota`: a quota controller is going to run beside it. `kinds`: projects whose jobs it is to know and run,
    such as `ray`.
    """
    background: list[Background] = [FakeKubelet.starting(nodes, habits)]
    if kinds:
        background.append(JobKindControllers(kinds_of(kinds)))
    return EmbeddedServer(
        host=host,
        port=port,
        data_dir=data_dir,
        background=tuple(background),
        configuration=config,
        quota=quota,
    )


@dataclass(frozen=True)
class Controlled:
    """A cluster with its controllers running."""

    server: EmbeddedServer
    client: Client
    page: str
    """The dashboard's address; `/metrics` and `/api/decisions` are there too."""


@asynccontextmanager
async def controllers_of(
    server: EmbeddedServer, names: Sequence[str], config: Configuration, port: int = 0
) -> AsyncIterator[Controlled]:
    """Runs these controllers against a started server, once their page is served; one that dies ends
    everything with its reason."""
    runs = {name: load(name) for name in names}
    async with Client.from_kubeconfig(server.kubeconfig) as client, asyncio.TaskGroup() as tasks:
        served: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        process = Process(
            client,
            config,
            runs,
            port=port,
            leader_election=False,
            page=attach,
            listening=served.set_result,
        )
        running = tasks.create_task(process.run(), name="controllers")
        try:
            yield Controlled(server, client, f"http://127.0.0.1:{await served}")
        finally:
            running.cancel()


async def nodes_ready(server: EmbeddedServer, templates: Sequence[NodeTemplate]) -> None:
    """Returns once every fake node of the templates is registered."""
    wanted = {name for template in templates for name in template.names()}
    while not wanted <= {node["metadata"]["name"] for node in server.api.select("nodes")}:
        await asyncio.sleep(0.01)


def stop_signal() -> asyncio.Event:
    """Set on Ctrl-C or SIGTERM, also when the shell had them ignored, as it does for background jobs."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
