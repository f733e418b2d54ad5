"""The proxy that misbehaves: each fault looks to a client as it does in life."""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reprieve.kube import ApiError, Client, Informer, Resource, TransportError
from reprieve.server import EmbeddedServer
from tests.builders import document
from tests.fault_proxy import FaultProxy
from tests.waiting import eventually

CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps")


@asynccontextmanager
async def through(tmp_path: Path, way: str) -> AsyncIterator[tuple[Client, Client, FaultProxy]]:
    """A client that meets this fault at every request, one that meets none, and the proxy."""
    async with EmbeddedServer(tls=True) as server:
        proxy = FaultProxy(server.kubeconfig, random.Random(1), one_in=1, delay=0, ways=(way,))
        async with (
            proxy.running(tmp_path) as kubeconfig,
            Client.from_kubeconfig(kubeconfig) as faulty,
            Client.from_kubeconfig(server.kubeconfig) as direct,
        ):
            yield faulty, direct, proxy


async def names(client: Client) -> list[str]:
    return [each["metadata"]["name"] for each in (await client.listing(CONFIG_MAPS.raw(), "default")).items]


@pytest.mark.parametrize(
    ("way", "expected", "acted"),
    [
        ("error", lambda error: isinstance(error, ApiError) and error.code == 500, False),
        ("overload", lambda error: isinstance(error, ApiError) and error.code == 429, False),
        ("refused", lambda error: isinstance(error, TransportError), False),
        ("lost", lambda error: isinstance(error, TransportError), True),
    ],
)
async def test_a_request_fails_before_or_after_the_server_acted(
    way: str, expected: Callable[[Exception], bool], acted: bool, tmp_path: Path
) -> None:
    async with through(tmp_path, way) as (faulty, direct, proxy):
        with pytest.raises((ApiError, TransportError)) as caught:
            await faulty.create(CONFIG_MAPS, document("ConfigMap", "made", "default"))
        assert expected(caught.value), caught.value
        assert ("made" in await names(direct)) is acted
        assert proxy.faults[way] > 0


async def test_a_watch_passes_when_it_is_quiet_and_is_cut_when_it_is_not(tmp_path: Path) -> None:
    seen: set[str] = set()

    async def tell(client: Client, name: str) -> None:
        await client.create(CONFIG_MAPS, document("ConfigMap", name, "default"))
        await eventually(lambda: name in seen, name)

    async with through(tmp_path, "error") as (faulty, direct, proxy):
        proxy.quiet = True
        names_seen = Informer(
            faulty,
            CONFIG_MAPS.raw(),
            lambda change: seen.add(change.new["metadata"]["name"]),
            namespace="default",
        )
        async with names_seen:
            await tell(direct, "through-a-watch")
            proxy.quiet = False
            await direct.create(CONFIG_MAPS, document("ConfigMap", "cut-off", "default"))
            await eventually(lambda: proxy.faults["watch cut"] > 0)
            proxy.quiet = True
            await eventually(lambda: "cut-off" in seen)
