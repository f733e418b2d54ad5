"""What clients expect to find in every cluster."""

import ssl
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from reprieve.server import EmbeddedServer
from tests.server.wire import MERGE, Wire, connected
from tests.waiting import eventually

SERVICE = "/api/v1/namespaces/default/services/kubernetes"
CONFIG_MAP = "configmaps/kube-root-ca.crt"


async def test_the_service_kubernetes_leads_to_this_server(tmp_path: Path) -> None:
    for _ in range(2):  # on a restart the port is another
        async with connected(data_dir=tmp_path) as wire:
            service = (await wire.get(SERVICE)).body
            assert service["spec"]["ports"][0]["port"] == 443
            assert service["spec"]["ports"][0]["targetPort"] == wire.server.port


@pytest.fixture
async def secure() -> AsyncIterator[Wire]:
    async with EmbeddedServer() as server:
        assert server.ca is not None
        context = ssl.create_default_context(cadata=server.ca.decode())
        headers = {"Authorization": f"Bearer {server.token}"}
        connector = aiohttp.TCPConnector(ssl=context)
        async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
            yield Wire(server, session)


async def test_every_namespace_has_the_certificate_of_the_authority_and_keeps_it(secure: Wire) -> None:
    assert secure.server.ca is not None
    wanted = {"ca.crt": secure.server.ca.decode()}
    await secure.post("/api/v1/namespaces", {"metadata": {"name": "team"}})

    async def published(namespace: str) -> bool:
        answer = await secure.get(f"/api/v1/namespaces/{namespace}/{CONFIG_MAP}")
        return answer.status == 200 and answer.body["data"] == wanted

    for namespace in ("default", "kube-system", "team"):
        await eventually(partial(published, namespace))
    path = f"/api/v1/namespaces/team/{CONFIG_MAP}"
    uid = (await secure.get(path)).body["metadata"]["uid"]
    assert (await secure.delete(path)).status == 200
    await eventually(lambda: published("team"))
    assert (await secure.get(path)).body["metadata"]["uid"] != uid
    await secure("PATCH", path, {"data": {"ca.crt": "x", "more": "y"}}, {"Content-Type": MERGE})
    await eventually(lambda: published("team"))


async def test_a_namespace_that_goes_takes_the_certificate_along(secure: Wire) -> None:
    await secure.post("/api/v1/namespaces", {"metadata": {"name": "team"}})
    await secure.delete("/api/v1/namespaces/team")

    async def gone() -> bool:
        return (await secure.get("/api/v1/namespaces/team")).status == 404

    await eventually(gone)
