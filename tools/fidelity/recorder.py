"""Takes down a session of kubectl or a client library as a scene that can be played again.

Values that the server chose (uids, versions, tokens of pages, generated names) and that the client sends
back are written as names: `$(uid3)` is the uid that the third answer gave.
"""

import asyncio
import json
import re
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import aiohttp
import msgspec
from aiohttp import web
from tools.fidelity.talk import FORMS, TYPES, Exchange, Scene
from tools.proxy import Proxy

from reprieve.server.http import protobuf

PROTOBUF = "application/vnd.kubernetes.protobuf"
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CHOSEN = ("uid", "resourceVersion", "continue")
_MEDIA = {media: name for name, media in TYPES.items()}
_FORMS = {accept: name for name, accept in FORMS.items()}


class Recorder(Proxy):
    def __init__(self, upstream: Path) -> None:
        super().__init__(upstream)
        self._exchanges: list[Exchange] = []
        self._named: dict[tuple[str, str], str] = {}
        """Field and value to the name under which the value was kept."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if not _about_objects(request.path):
            return await super().answer(request)
        number = len(self._exchanges) + 1
        text = await _text(request)
        watching = request.query.get("watch") in ("1", "true")
        if not watching:  # how many events a watch had is known when it ends: write those by hand
            self._exchanges.append(self._asked(number, request, text))
        async with self.ask(request) as answer:
            if not watching and "json" in answer.headers.get("Content-Type", ""):
                self._heard(number, json.loads(await answer.read()))
            return await self.relay(request, answer)

    def passed_on(self, request: web.BaseRequest) -> dict[str, str]:
        """Asks for JSON where the client would rather have protobuf: every client takes that as well."""
        headers = super().passed_on(request)
        return headers | {"Accept": _without_protobuf(headers.get("Accept", "*/*"))}

    async def chunks(self, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        if "watch" not in answer.url.query:
            yield await answer.read()  # it was read before it is passed on
            return
        async for chunk in super().chunks(answer):
            yield chunk

    def scene(self, about: str) -> Scene:
        """With the names that somebody uses, and no others."""
        sent = " ".join(f"{exchange.send} {json.dumps(exchange.body)}" for exchange in self._exchanges)
        exchanges = [
            msgspec.structs.replace(each, keep={n: p for n, p in each.keep.items() if f"$({n})" in sent})
            for each in self._exchanges
        ]
        return Scene(about=about, exchanges=exchanges)

    def _asked(self, number: int, request: web.BaseRequest, text: str) -> Exchange:
        media = request.headers.get("Content-Type", "").partition(";")[0]
        media = TYPES["json"] if media == PROTOBUF else media
        accept = _without_protobuf(request.headers.get("Accept", ""))
        path, _, query = request.raw_path.partition("?")
        pairs = [
            f"{key}={quote(self._name(key, value), safe='$()')}" for key, value in parse_qsl(query, True)
        ]
        return Exchange(
            say=f"{number} {request.method.lower()} {path.rpartition('/')[2]}",
            send=f"{request.method} {path}{'?' if pairs else ''}{'&'.join(pairs)}",
            type=_MEDIA.get(media, media) if text else "",
            accept=_FORMS.get(accept, "" if accept in ("", "*/*", TYPES["json"]) else accept),
            body=self._known(_parsed(text)) if text else None,
        )

    def _known(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            where = str(value.get("path", "")).rpartition("/")[2]  # of a step of a JSON patch
            return {k: self._known(v, where if k == "value" and where in CHOSEN else k)
                    for k, v in value.items()}  # fmt: skip
        if isinstance(value, list):
            return [self._known(each, key) for each in value]
        return self._name(key, value) if isinstance(value, str) else value

    def _name(self, key: str, value: str) -> str:
        name = self._named.get((key, value))
        if name is not None:
            return f"$({name})"
        return _UID.sub(self._uid, value) if key == "fieldSelector" else value

    def _uid(self, match: re.Match[str]) -> str:
        name = self._named.get(("uid", match[0]))
        return match[0] if name is None else f"$({name})"

    def _heard(self, number: int, body: Any) -> None:
        """Remember under a name what the server chose."""
        keep = {}
        for field in CHOSEN:
            value = (body.get("metadata") or {}).get(field) if isinstance(body, dict) else None
            if value and (field, value) not in self._named:
                name = self._named[field, value] = f"{field}{number}"
                keep[name] = f"metadata.{field}"
        exchange = self._exchanges[number - 1]
        self._exchanges[number - 1] = msgspec.structs.replace(exchange, keep=keep)


def _without_protobuf(accept: str) -> str:
    return ",".join(each for each in accept.split(",") if "protobuf" not in each) or TYPES["json"]


async def _text(request: web.BaseRequest) -> str:
    """The body as JSON: Go clients send protobuf, and a scene is for people to read."""
    if PROTOBUF in request.headers.get("Content-Type", ""):
        return json.dumps(protobuf.decode(await request.read()))
    return await request.text()


def _about_objects(path: str) -> bool:
    """Not discovery, schemas or health: for those there is a scene by hand."""
    parts = path.strip("/").split("/")
    return (parts[0] == "api" and len(parts) > 2) or (parts[0] == "apis" and len(parts) > 3)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


async def listen(upstream: Path, about: str) -> Scene:
    """Until Ctrl-C."""
    recorder = Recorder(upstream)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    with tempfile.TemporaryDirectory(prefix="reprieve-recorder-") as home:
        async with recorder.running(Path(home)) as kubeconfig:
            print(f"export KUBECONFIG={kubeconfig}", flush=True)
            await stopped.wait()
    return recorder.scene(about)
