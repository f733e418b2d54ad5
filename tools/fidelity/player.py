"""Sends the requests of a scene to a server, one after the other, and takes down what it answers."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
import yaml
from tools.fidelity.talk import FORMS, TYPES, Exchange, Scene

PATIENCE, INTERVAL = 10.0, 0.1
_NAMED = re.compile(r"\$\((\w+)\)")


class Answer(msgspec.Struct, omit_defaults=True):
    code: int
    body: Any = None
    """A document, the events of a watch as a list, or text."""
    warnings: list[str] = []


class Player:
    """A connection to one server as somebody who may do everything there."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url = url.rstrip("/")
        self._session = session

    async def play(self, name: str, scene: Scene) -> list[Answer]:
        namespace = f"fidelity-{name}"
        await self.prepare(namespace)
        known = {"ns": namespace}
        answers = []
        for exchange in scene.all():
            answer = await self._ask(exchange, known)
            for key, path in exchange.keep.items():
                known[key] = _found_or(answer.body, path, f"no-{key}")
            answers.append(answer)
        return answers

    async def _ask(self, exchange: Exchange, known: dict[str, str]) -> Answer:
        """What is answered in the end; if what is waited for never comes, that will be seen as well."""
        tries = int(PATIENCE / INTERVAL) if exchange.until else 1
        for _ in range(tries):
            async with asyncio.timeout(PATIENCE):
                answer = await self._send(exchange, known)
            if all(_found_or(answer.body, path, "") == value for path, value in exchange.until.items()):
                break
            await asyncio.sleep(INTERVAL)
        return answer

    async def prepare(self, namespace: str) -> None:
        """A namespace in which pods may be created, whether or not controllers run."""
        account = {"metadata": {"name": "default"}}
        for path, document in (
            ("/api/v1/namespaces", {"metadata": {"name": namespace}}),
            (f"/api/v1/namespaces/{namespace}/serviceaccounts", account),
        ):
            async with self._session.post(self._url + path, json=document) as response:
                if response.status not in (201, 409):
                    raise RuntimeError(f"{path}: {response.status} {await response.text()}")

    async def _send(self, exchange: Exchange, known: dict[str, str]) -> Answer:
        method, _, path = filled(exchange.send, known).partition(" ")
        headers = {"Accept": FORMS.get(exchange.accept, exchange.accept) or TYPES["json"]}
        data: str | None = None
        if exchange.body is not None:
            headers["Content-Type"] = TYPES.get(exchange.type, exchange.type) or TYPES["json"]
            body = filled(exchange.body, known)
            data = body if isinstance(body, str) else json.dumps(body)
        url = self._url + path
        async with self._session.request(method, url, data=data, headers=headers) as response:
            if exchange.events and response.status == 200:
                return Answer(response.status, [e async for e in _events(response, exchange.events)])
            text = await response.text()
            warnings = [_warning(each) for each in response.headers.getall("Warning", [])]
            return Answer(response.status, _read(text, response.content_type), warnings)


@asynccontextmanager
async def connected(url: str, token: str, trust: str = "") -> AsyncIterator[Player]:
    """`trust` is the PEM of the server's authority."""
    context: Any = ssl.create_default_context(cadata=trust) if trust else True
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "fidelity/1"}
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(headers=headers, connector=connector, read_bufsize=2**22) as session:
        yield Player(url, session)


def filled(value: Any, known: dict[str, str]) -> Any:
    """With the values that are known in the place of their names."""
    if isinstance(value, str):
        return _NAMED.sub(lambda match: known[match[1]], value)
    if isinstance(value, dict):
        return {filled(key, known): filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known) for each in value]
    return value


def _found_or(body: Any, path: str, otherwise: str) -> str:
    """The value at `metadata.uid` or `items.0.metadata.name`."""
    try:
        for part in path.split("."):
            body = body[int(part)] if isinstance(body, list) else body[part]
    except (KeyError, IndexError, TypeError):
        return otherwise
    return str(body)


async def _events(response: aiohttp.ClientResponse, wanted: int) -> AsyncIterator[Any]:
    """As many as wanted, or as many as come before the server ends the watch."""
    while wanted and (line := await response.content.readline()):
        yield json.loads(line)
        wanted -= 1


def _warning(header: str) -> str:
    """The text of `299 - "text"`."""
    return header.partition('"')[2].rpartition('"')[0].replace('\\"', '"').replace("\\\\", "\\")


def _read(text: str, media: str) -> Any:
    if media.endswith("json"):
        documents = list(_documents(text))
        return documents[0] if len(documents) == 1 else documents
    return yaml.safe_load(text) if media.endswith("yaml") else text


def _documents(text: str) -> Iterator[Any]:
    """One, or the events of a watch that ended by itself."""
    decoder, text = json.JSONDecoder(), text.strip()
    while text:
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:].lstrip()
