"""A scripted API server for the client's tests: answers from memory, no socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from reprieve.kube import Client, MemoryTransport, Request, Response, Stream
from tests.builders import pod


def ok(body: Any, code: int = 200, **headers: str) -> Response:
    return Response(code, json.dumps(body).encode(), headers)


def status(code: int, reason: str, message: str = "", **headers: str) -> Response:
    body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
    return ok(body, code, **headers)


def stored(name: str, revision: int = 1, uid: str = "", **spec: Any) -> dict[str, Any]:
    """A pod as the server has it."""
    metadata = {"uid": uid or f"uid-{name}", "resourceVersion": str(revision)}
    return pod(name, None, namespace="ns", metadata=metadata, **spec)


def listing(*items: dict[str, Any], revision: int = 1, token: str = "") -> Response:
    return ok({"metadata": {"resourceVersion": str(revision), "continue": token}, "items": list(items)})


def event(type: str, object: dict[str, Any]) -> bytes:
    return json.dumps({"type": type, "object": object}).encode() + b"\n"


def bookmark(revision: int, end: bool = False) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return event("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})


def stream(*chunks: bytes, hold: bool = False) -> Stream:
    """A watch that sends these chunks and then ends, or stays open."""

    async def body() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk
        if hold:
            await asyncio.Event().wait()

    return Stream(200, body())


class Script:
    """Answers request after request from a list; the last answer repeats."""

    def __init__(self, *answers: Response | Stream | Callable[[Request], Response | Stream]) -> None:
        self._answers = list(answers)
        self.transport = MemoryTransport(self._answer)

    @property
    def requests(self) -> list[Request]:
        return self.transport.requests

    async def _answer(self, request: Request) -> Response | Stream:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return answer(request) if callable(answer) else answer

    def client(self, **options: Any) -> Client:
        self.slept: list[float] = []

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            await asyncio.sleep(0)

        return Client(self.transport, sleep=sleep, jitter=lambda: 0.0, **options)
