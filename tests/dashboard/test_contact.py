"""Whether the page knows that it knows nothing."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from reprieve.dashboard import feed
from reprieve.dashboard.feed import Contact, feeding, keep_pinging
from reprieve.dashboard.inventory import Inventory
from reprieve.kube import PODS, ApiError, Resource
from reprieve.kube.errors import TransportError
from tests.waiting import eventually

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)


class Server:
    """Answers as the test says."""

    def __init__(self, answer: Exception | bytes) -> None:
        self.answer = answer
        self.asked = 0

    async def request(self, *_: Any, **__: Any) -> bytes:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def served(self, resource: Resource) -> Resource | None:
        return resource if resource is PODS else None


async def pinged_a_few_times(server: Server, contact: Contact) -> None:
    client: Any = server
    before, task = server.asked, asyncio.create_task(keep_pinging(client, contact))
    await eventually(lambda: server.asked > before + 2, "it asks again and again")
    task.cancel()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (TransportError("connection refused"), "connection refused"),
        (TimeoutError(), "no answer within 4 s"),
        (ApiError(503, "ServiceUnavailable"), "503 ServiceUnavailable"),
        (ApiError(401, "Unauthorized"), "401 Unauthorized"),
        (ApiError(403, "Forbidden"), ""),  # it answers, and that is what was asked
        (b"{}", ""),
    ],
)
async def test_a_server_that_does_not_answer_is_noticed(
    answer: Exception | bytes, problem: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(feed, "PING_SECONDS", 0)
    contact = Contact(lambda: NOW)
    server = Server(answer)
    await pinged_a_few_times(server, contact)
    assert contact.to_dict()["problem"] == problem
    assert contact.to_dict()["since"] == ("2026-11-15T21:00:00Z" if problem else None)
    server.answer = b"{}"
    before = contact.revision
    await pinged_a_few_times(server, contact)
    assert contact.to_dict()["problem"] == ""
    assert (contact.revision > before) == bool(problem)


async def test_a_kind_that_may_not_be_read_is_named():
    contact = Contact(lambda: NOW)
    client: Any = Server(ApiError(403, "Forbidden", "no"))
    async with feeding(client, Inventory(), contact):
        await eventually(lambda: contact.to_dict()["unseen"], "it is named")
        assert contact.to_dict()["unseen"] == ["pods: 403 Forbidden: no"]
