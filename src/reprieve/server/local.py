"""A cluster on this machine: the API server, its controllers and fake nodes, ready to be used.

    async with local_cluster(nodes=[NodeTemplate.parse("h100=8:cpu=96,memory=1Ti")]) as server:
        server.url, server.kubeconfig, server.api

Several of them can run in one process, each with its own port, data and kubeconfig.
"""

from collections.abc import Sequence
from pathlib import Path

from reprieve.server.embedded import Background, EmbeddedServer
from reprieve.server.fake_nodes import FakeKubelet, Habits, NodeTemplate


def local_cluster(
    *,
    nodes: Sequence[NodeTemplate] = (),
    habits: Habits | None = None,
    data_dir: Path | str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    background: Sequence[Background] = (),
) -> EmbeddedServer:
    """Not started yet: use it as a context manager. `background` runs beside the fake kubelet."""
    kubelet = FakeKubelet.starting(nodes, habits)
    return EmbeddedServer(host=host, port=port, data_dir=data_dir, background=(kubelet, *background))
