"""A small client for the tests of the embedded server: one call for each request, answers decoded."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

import aiohttp

from reprieve.server import EmbeddedServer
from tests import builders
from tests.waiting import PATIENCE

MERGE = "application/merge-patch+json"
PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class Answer(NamedTuple):
    status: int
    body: Any
    headers: Any

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def version(self) -> str:
        return str(self.body["metadata"]["resourceVersion"])

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]


class Wire:
    def __init__(self, server: EmbeddedServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session

    async def __call__(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        data = body if isinstance(body, bytes | str | None) else json.dumps(body)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        async with self.session.request(
            method, self.server.url + path, data=data, headers=sent | (headers or {})
        ) as response:
            raw = await response.read()
            decoded = json.loads(raw) if "json" in response.content_type else raw
            return Answer(response.status, decoded, response.headers)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self("GET", path, headers=headers)

    async def post(self, path: str, body: Any) -> Answer:
        return await self("POST", path, body)

    async def put(self, path: str, body: Any) -> Answer:
        return await self("PUT", path, body)

    async def patch(self, path: str, body: Any, content_type: str = MERGE) -> Answer:
        return await self("PATCH", path, body, {"Content-Type": content_type})

    async def delete(self, path: str, body: Any = None) -> Answer:
        return await self("DELETE", path, body)

    @asynccontextmanager
    async def watch(self, path: str) -> AsyncIterator["Stream"]:
        joiner = "&" if "?" in path else "?"
        async with self.session.get(
            f"{self.server.url}{path}{joiner}watch=1", timeout=aiohttp.ClientTimeout(PATIENCE)
        ) as response:
            yield Stream(response)


class Stream:
    """Events of a watch, one at a time."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def next(self) -> dict[str, Any] | None:
        line = await self.response.content.readline()
        return json.loads(line) if line else None

    async def take(self, count: int) -> list[tuple[str, str]]:
        """Type and name of the next events."""
        events = [await self.next() for _ in range(count)]
        return [(e["type"], e["object"]["metadata"].get("name", "")) for e in events if e is not None]


@asynccontextmanager
async def connected(**options: Any) -> AsyncIterator[Wire]:
    """A fresh server in memory and a client that may do everything."""
    options.setdefault("tls", False)
    options.setdefault("controllers", False)
    async with EmbeddedServer(**options) as server:
        headers = {"Authorization": f"Bearer {server.token}"}
        async with aiohttp.ClientSession(headers=headers, read_bufsize=2**24) as session:
            yield Wire(server, session)


pod = partial(builders.pod, cpu=None, namespace="", labels={})


def config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
