"""Whether the page knows that it knows nothing."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from reprieve.dashboard import feed
from reprieve.dashboard.feed import Contact, feeding, keep_pinging
from reprieve.dashboard.inventory import Inventory
from reprieve.kube import PODS, ApiError, Resource
from reprieve.kube.errors import ConfigError, TransportError
from tests.builders import pod, views
from tests.controllers.virtual_time import run_virtually
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


def test_nothing_unforeseen_ends_what_the_page_follows(caplog: pytest.LogCaptureFixture) -> None:
    """A page whose tasks had died went on showing an old state as if it were the present one."""
    contact, server = Contact(lambda: NOW), Server(ZeroDivisionError("oops"))
    client: Any = server

    async def main() -> None:
        async with feeding(client, Inventory(), contact):
            await asyncio.sleep(1)
            assert "the page: pings failed" in caplog.text
            assert "the page: pods failed" in caplog.text
            server.answer = ApiError(503, "ServiceUnavailable")
            await asyncio.sleep(60)
            assert contact.to_dict()["problem"] == "503 ServiceUnavailable"
            assert contact.to_dict()["unseen"] == ["pods: 503 ServiceUnavailable"]

    run_virtually(main())


def test_credentials_that_cannot_be_had_are_told_and_tried_again() -> None:
    """A plugin that fails today may work tomorrow."""
    contact, server = Contact(lambda: NOW), Server(ConfigError("the plugin failed"))
    client: Any = server

    async def main() -> None:
        async with feeding(client, Inventory(), contact):
            await asyncio.sleep(60)
            assert contact.to_dict()["problem"] == "the plugin failed"
            server.answer = b"{}"
            await asyncio.sleep(60)
            assert contact.to_dict()["problem"] == ""

    run_virtually(main())


async def test_an_object_that_cannot_be_shown_hides_no_other(caplog: pytest.LogCaptureFixture) -> None:
    shown: list[str] = []

    class Picky(Inventory):
        def put(self, object: Any) -> None:
            if object.name == "poison":
                raise ZeroDivisionError("oops")
            shown.append(object.name)

    sink = feed._IntoInventory(Picky())
    sink.replace(views(*(pod(name, 1) for name in ("a", "poison", "z"))))
    sink.apply("ADDED", views(pod("poison", 1))[0])
    assert shown == ["a", "z"]
    assert "Pod default/poison cannot be shown" in caplog.text


def test_an_object_that_went_unread_is_shown_no_more() -> None:
    removed: list[str] = []

    class Told(Inventory):
        def remove(self, object: Any) -> None:
            removed.append(object.key)

    sink = feed._IntoInventory(Told())
    sink.replace(views(pod("a", 1), pod("b", 1)))
    sink.vanished("default", "a")
    sink.vanished("default", "never-known")
    assert removed == ["default/a"]
