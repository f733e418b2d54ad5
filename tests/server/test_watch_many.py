"""Many watchers, slow ones, ones that vanish: the server stays responsive and forgets nobody it should not
forget.
"""

import asyncio

import pytest

from reprieve.server.errors import ApiError
from reprieve.server.http.negotiation import Limits
from reprieve.server.storage import Change
from reprieve.server.watch import Watcher
from tests.scale import SCALE
from tests.server.wire import CONFIG_MAPS, Wire, config_map, connected
from tests.waiting import eventually

IDLE = max(100, round(1000 * min(1.0, SCALE)))


async def open_watch(wire: Wire, query: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port)
    head = (
        f"GET {CONFIG_MAPS}?watch=1&{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        f"{wire.server.token}\r\n\r\n"
    )
    writer.write(head.encode())
    assert b"200" in await reader.readline()
    return reader, writer


async def test_a_thousand_idle_watchers_all_hear_of_the_one_thing_that_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offer = Watcher.offer
    async with connected() as wire:
        version = (await wire.get(CONFIG_MAPS)).version
        streams = [await open_watch(wire, f"resourceVersion={version}") for _ in range(IDLE)]
        assert wire.server.backend.hub.count == IDLE
        offered: list[Watcher] = []

        def counted(watcher: Watcher, change: Change) -> None:
            offered.append(watcher)
            offer(watcher, change)

        monkeypatch.setattr(Watcher, "offer", counted)
        assert (await wire.get(CONFIG_MAPS)).status == 200
        assert (await wire.post("/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})).status == 201
        assert not offered, "those whom it does not concern cost nothing"
        await wire.post(CONFIG_MAPS, config_map("news"))
        assert len(offered) == IDLE
        for reader, _ in streams:
            while b'"news"' not in await reader.readline():
                pass
        for _, writer in streams:
            writer.close()
        await eventually(lambda: wire.server.backend.hub.count == 0)


async def test_clients_that_vanish_are_forgotten() -> None:
    async with connected() as wire:
        streams = [await open_watch(wire, "resourceVersion=0") for _ in range(50)]
        for _, writer in streams:
            writer.transport.abort()
        await eventually(lambda: wire.server.backend.hub.count == 0)
        assert (await wire.post(CONFIG_MAPS, config_map("a"))).status == 201


async def test_a_client_that_does_not_read_is_dropped_and_the_others_are_not() -> None:
    async with connected(limits=Limits(body_seconds=0.5)) as wire:
        version = (await wire.get(CONFIG_MAPS)).version
        slow_reader, slow = await open_watch(wire, f"resourceVersion={version}")
        slow.transport.pause_reading()  # type: ignore[attr-defined]
        async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={version}") as quick:
            for i in range(60):
                await wire.post(CONFIG_MAPS, config_map(f"big-{i:02d}", payload="x" * 500_000))
                assert await quick.take(1) == [("ADDED", f"big-{i:02d}")]
        await eventually(lambda: wire.server.backend.hub.count == 0)
        slow.transport.abort()
        del slow_reader


def connections(wire: Wire) -> int:
    server = wire.server._runner.server
    assert server is not None
    return len(server.connections)


async def test_a_client_that_does_not_take_its_list_is_dropped() -> None:
    async with connected(limits=Limits(body_seconds=0.5)) as wire:
        for i in range(20):
            await wire.post(CONFIG_MAPS, config_map(f"big-{i:02d}", payload="x" * 1_000_000))
        assert len((await wire.get(CONFIG_MAPS)).names) == 20
        before = connections(wire)
        reader, writer = await asyncio.open_connection("127.0.0.1", wire.server.port, limit=1024)
        head = f"GET {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {wire.server.token}\r\n\r\n"
        writer.write(head.encode())
        await eventually(lambda: connections(wire) > before, "it is connected")
        await eventually(lambda: connections(wire) == before, "it is dropped")
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(20_000_000)
        assert (await wire.get("/api/v1/nodes")).status == 200


async def test_a_backlog_that_overflows_cuts_the_watcher_off() -> None:
    async with connected() as wire:
        hub, registry = wire.server.backend.hub, wire.server.backend.registry
        resource = registry.find("", "v1", "configmaps")
        assert resource is not None
        bounded = hub.watch(resource, "default", wire.server.backend.store.revision, backlog=5)
        patient = hub.watch(resource, "default", wire.server.backend.store.revision, backlog=0)
        for i in range(20):
            await wire.server.api.create("configmaps", config_map(f"c-{i}"), "default")
        assert bounded.overflowed
        assert len(await patient.take()) == 20
        patient.close()
        with pytest.raises(ApiError):
            hub.watch(resource, None, 10**9)


async def test_the_api_of_this_process_watches_too() -> None:
    async with connected() as wire:
        api = wire.server.api
        await api.create("configmaps", config_map("a"), "default")
        seen = []
        async for event in api.watch("configmaps", "default"):
            seen.append((event.type, event.object["metadata"]["name"], event.revision))
            if len(seen) == 1:
                await api.create("configmaps", config_map("b"), "default")
                await api.delete("configmaps", "a", "default")
            if len(seen) == 3:
                break
        assert [(type_, name) for type_, name, _ in seen] == [
            ("ADDED", "a"),
            ("ADDED", "b"),
            ("DELETED", "a"),
        ]
        assert seen[0][2] < seen[1][2] < seen[2][2]
