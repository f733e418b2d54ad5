"""Watching over HTTP: every change once, from any revision that history holds."""

from collections.abc import AsyncIterator

import pytest

from tests.server.wire import CONFIG_MAPS, Wire, config_map, connected


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected(history=50, bookmark_every=0.05) as wire:
        yield wire


async def test_a_watch_tells_what_happens_in_order(wire: Wire) -> None:
    version = (await wire.get(CONFIG_MAPS)).version
    async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={version}") as stream:
        await wire.post(CONFIG_MAPS, config_map("a"))
        await wire.patch(f"{CONFIG_MAPS}/a", {"data": {"n": "1"}})
        await wire.delete(f"{CONFIG_MAPS}/a")
        assert await stream.take(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_the_event_of_a_deletion_carries_the_last_state_and_a_new_revision(wire: Wire) -> None:
    created = await wire.post(CONFIG_MAPS, config_map("a", n="1"))
    async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={created.version}") as stream:
        await wire.delete(f"{CONFIG_MAPS}/a")
        event = await stream.next()
    assert event is not None
    assert event["object"]["data"] == {"n": "1"}
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(created.version)


async def test_a_watch_resumes_where_it_stopped(wire: Wire) -> None:
    for i in range(5):
        await wire.post(CONFIG_MAPS, config_map(f"c-{i}"))
    version = (await wire.get(f"{CONFIG_MAPS}/c-1")).version
    async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={version}") as stream:
        assert await stream.take(3) == [("ADDED", "c-2"), ("ADDED", "c-3"), ("ADDED", "c-4")]


@pytest.mark.parametrize("start", ["", "resourceVersion=0&"])
async def test_without_a_version_what_exists_comes_first(wire: Wire, start: str) -> None:
    await wire.post(CONFIG_MAPS, config_map("b"))
    await wire.post(CONFIG_MAPS, config_map("a"))
    async with wire.watch(f"{CONFIG_MAPS}?{start}timeoutSeconds=100") as stream:
        assert await stream.take(2) == [("ADDED", "a"), ("ADDED", "b")]
        await wire.post(CONFIG_MAPS, config_map("c"))
        assert await stream.take(1) == [("ADDED", "c")]


async def test_initial_events_end_with_a_marked_bookmark(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with wire.watch(f"{CONFIG_MAPS}?{query}") as stream:
        assert await stream.take(1) == [("ADDED", "a")]
        bookmark = await stream.next()
    assert bookmark is not None
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["kind"] == "ConfigMap"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(bookmark["object"]["metadata"]["resourceVersion"]) == wire.server.backend.store.revision


async def test_initial_events_can_be_declined(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    async with wire.watch(
        f"{CONFIG_MAPS}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
    ) as stream:
        await wire.post(CONFIG_MAPS, config_map("b"))
        assert await stream.take(1) == [("ADDED", "b")]


async def test_initial_events_need_to_say_how_old_they_may_be(wire: Wire) -> None:
    assert (await wire.get(f"{CONFIG_MAPS}?watch=1&sendInitialEvents=true")).status == 422
    assert (await wire.get(f"{CONFIG_MAPS}?watch=1&resourceVersionMatch=NotOlderThan")).status == 422


async def test_bookmarks_follow_the_revision_of_everything(wire: Wire) -> None:
    version = (await wire.get(CONFIG_MAPS)).version
    async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={version}&allowWatchBookmarks=true") as stream:
        other = await wire.post("/api/v1/namespaces", {"metadata": {"name": "other"}})
        told = version
        while told == version:  # sent before the namespace was there
            bookmark = await stream.next()
            assert bookmark is not None, "the watch ended without a bookmark at the new revision"
            assert (bookmark["type"], bookmark["object"]["kind"]) == ("BOOKMARK", "ConfigMap")
            told = bookmark["object"]["metadata"]["resourceVersion"]
        assert told == other.version == str(wire.server.backend.store.revision)


async def test_a_revision_that_history_lost_is_gone(wire: Wire) -> None:
    version = (await wire.post(CONFIG_MAPS, config_map("a"))).version
    for i in range(5):
        await wire.patch(f"{CONFIG_MAPS}/a", {"data": {"n": str(i)}})
    store = wire.server.backend.store
    store.compact(store.revision - 1)
    async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={version}") as stream:
        assert stream.response.status == 200
        event = await stream.next()
        assert await stream.next() is None
    assert event is not None
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"] == f"too old resource version: {version} ({store.compacted})"


async def test_history_is_compacted_by_itself_and_recent_revisions_stay(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    store = wire.server.backend.store
    for i in range(1200):
        await wire.server.api.patch("configmaps", "a", {"data": {"n": str(i)}}, "default")
    assert store.compacted > 100
    assert len(store.collection("configmaps").changes) < 1100
    async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={store.revision - 40}") as stream:
        assert await stream.take(40) == [("MODIFIED", "a")] * 40


async def test_through_a_selector_coming_into_view_is_added_and_leaving_it_is_deleted(wire: Wire) -> None:
    version = (await wire.get(CONFIG_MAPS)).version
    path = f"{CONFIG_MAPS}?labelSelector=colour%3Dred&resourceVersion={version}"
    async with wire.watch(path) as stream:
        await wire.post(CONFIG_MAPS, config_map("plain"))
        await wire.post(CONFIG_MAPS, config_map("a", {"colour": "red"}))
        await wire.patch(f"{CONFIG_MAPS}/plain", {"metadata": {"labels": {"colour": "red"}}})
        left = await wire.patch(f"{CONFIG_MAPS}/a", {"metadata": {"labels": {"colour": "blue"}}})
        await wire.patch(f"{CONFIG_MAPS}/a", {"data": {"n": "1"}})
        await wire.delete(f"{CONFIG_MAPS}/plain")
        assert await stream.take(2) == [("ADDED", "a"), ("ADDED", "plain")]
        gone = await stream.next()
        assert gone is not None
        assert gone["type"] == "DELETED"
        assert gone["object"]["metadata"]["labels"] == {"colour": "red"}
        assert gone["object"]["metadata"]["resourceVersion"] == left.version
        assert await stream.take(1) == [("DELETED", "plain")]


async def test_one_name_can_be_watched_by_path_and_by_field(wire: Wire) -> None:
    version = (await wire.get(CONFIG_MAPS)).version
    by_field = f"{CONFIG_MAPS}?fieldSelector=metadata.name%3Db&resourceVersion={version}"
    by_path = f"{CONFIG_MAPS}/b?resourceVersion={version}"
    async with wire.watch(by_field) as one, wire.watch(by_path) as other:
        await wire.post(CONFIG_MAPS, config_map("a"))
        await wire.post(CONFIG_MAPS, config_map("b"))
        assert await one.take(1) == await other.take(1) == [("ADDED", "b")]


async def test_a_namespace_hears_nothing_of_its_neighbours(wire: Wire) -> None:
    await wire.post("/api/v1/namespaces", {"metadata": {"name": "alpha"}})
    version = (await wire.get(CONFIG_MAPS)).version
    async with wire.watch(f"{CONFIG_MAPS}?resourceVersion={version}") as stream:
        await wire.post("/api/v1/namespaces/alpha/configmaps", config_map("x"))
        await wire.post(CONFIG_MAPS, config_map("y"))
        assert await stream.take(1) == [("ADDED", "y")]


async def test_a_watch_ends_when_its_time_is_up(wire: Wire) -> None:
    async with wire.watch(f"{CONFIG_MAPS}?timeoutSeconds=1") as stream:
        assert await stream.next() is None


async def test_tables_can_be_watched(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    wire.session.headers["Accept"] = "application/json;as=Table;v=v1;g=meta.k8s.io"
    async with wire.watch(CONFIG_MAPS) as stream:
        event = await stream.next()
    assert event is not None
    assert event["object"]["kind"] == "Table"
    assert event["object"]["rows"][0]["cells"][0] == "a"
