"""Lists: order, selectors, pages that show one revision, what resourceVersion means."""

from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest

from tests.server.wire import CONFIG_MAPS, PODS, Wire, config_map, connected, pod


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected(history=300) as wire:
        yield wire


async def _fill(wire: Wire, count: int) -> None:
    for i in range(count):
        labels = {"parity": "even" if i % 2 == 0 else "odd", "n": str(i)}
        await wire.post(CONFIG_MAPS, config_map(f"c-{i:03d}", labels))


async def test_lists_are_ordered_by_namespace_and_name(wire: Wire) -> None:
    await wire.post("/api/v1/namespaces", {"metadata": {"name": "alpha"}})
    for path in (CONFIG_MAPS, "/api/v1/namespaces/alpha/configmaps"):
        for name in ("b", "a", "c"):
            await wire.post(path, config_map(name))
    await wire.delete(f"{CONFIG_MAPS}/b")
    everywhere = await wire.get("/api/v1/configmaps")
    found = [(i["metadata"]["namespace"], i["metadata"]["name"]) for i in everywhere.body["items"]]
    assert found == [("alpha", "a"), ("alpha", "b"), ("alpha", "c"), ("default", "a"), ("default", "c")]
    assert everywhere.body["kind"] == "ConfigMapList"
    assert (await wire.get("/api/v1/namespaces/nowhere/configmaps")).body["items"] == []


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("parity=even,n!=0", ["c-002", "c-004"]),
        ("n in (1, 2)", ["c-001", "c-002"]),
        ("n notin (0,1,2,3)", ["c-004", "kube-root"]),
        ("!n", ["kube-root"]),
        ("n,parity==odd", ["c-001", "c-003"]),
        ("n>2", ["c-003", "c-004"]),
        ("parity", ["c-000", "c-001", "c-002", "c-003", "c-004"]),
        ("parity=", []),
    ],
)
async def test_label_selectors_choose(wire: Wire, selector: str, expected: list[str]) -> None:
    await _fill(wire, 5)
    await wire.post(CONFIG_MAPS, config_map("kube-root"))
    assert (await wire.get(f"{CONFIG_MAPS}?labelSelector={quote(selector)}")).names == expected


@pytest.mark.parametrize("selector", ["a=b=c", "a in", "(", "bad key=x", "a in (x", "=x", "a=" + "x" * 64])
async def test_a_selector_that_cannot_be_read_is_a_bad_request(wire: Wire, selector: str) -> None:
    refused = await wire.get(f"{CONFIG_MAPS}?labelSelector={quote(selector)}")
    assert (refused.status, refused.reason) == (400, "BadRequest")


async def test_field_selectors_choose(wire: Wire) -> None:
    await wire.post(PODS, pod("a", nodeName="n1"))
    await wire.post(PODS, pod("b"))
    await wire.post(PODS, pod("c", nodeName="n2", schedulerName="mine"))

    async def names(selector: str) -> list[str]:
        return (await wire.get(f"/api/v1/pods?fieldSelector={quote(selector)}")).names

    assert await names("spec.nodeName=n1") == ["a"]
    assert await names("spec.nodeName=") == ["b"]
    assert await names("spec.nodeName!=") == ["a", "c"]
    assert await names("status.phase=Pending,spec.schedulerName==mine") == ["c"]
    assert await names("metadata.name=b,metadata.namespace=default") == ["b"]
    assert await names("metadata.namespace!=default") == []
    assert await names("spec.hostNetwork=false") == ["a", "b", "c"]
    refused = await wire.get("/api/v1/pods?fieldSelector=spec.colour%3Dred")
    assert (refused.status, refused.message) == (400, "field label not supported: spec.colour")


async def test_pages_together_are_the_list_at_the_revision_of_the_first(wire: Wire) -> None:
    await _fill(wire, 25)
    seen: list[str] = []
    token, versions = "", set()
    while True:
        page = await wire.get(f"{CONFIG_MAPS}?limit=7&continue={token}")
        seen += page.names
        versions.add(page.version)
        token = page.body["metadata"].get("continue", "")
        if not token:
            break
        assert page.body["metadata"]["remainingItemCount"] > 0
        # What happens between the pages must not show.
        await wire.delete(f"{CONFIG_MAPS}/c-{len(seen) + 1:03d}")
        await wire.post(CONFIG_MAPS, config_map(f"c-{len(seen):03d}-new"))
        await wire.patch(f"{CONFIG_MAPS}/c-024", {"data": {"changed": str(len(seen))}})
    assert seen == [f"c-{i:03d}" for i in range(25)]
    assert len(versions) == 1


async def test_a_page_after_compaction_is_gone_and_offers_an_inconsistent_rest(wire: Wire) -> None:
    await _fill(wire, 10)
    first = await wire.get(f"{CONFIG_MAPS}?limit=4")
    wire.server.backend.store.compact(wire.server.backend.store.revision)
    await wire.post(CONFIG_MAPS, config_map("d"))
    wire.server.backend.store.compact(wire.server.backend.store.revision)
    gone = await wire.get(f"{CONFIG_MAPS}?limit=4&continue={first.body['metadata']['continue']}")
    assert (gone.status, gone.reason) == (410, "Expired")
    rest = await wire.get(f"{CONFIG_MAPS}?continue={gone.body['metadata']['continue']}")
    assert rest.names == [f"c-{i:03d}" for i in range(4, 10)] + ["d"]


async def test_exact_shows_the_past_and_not_older_than_shows_the_present(wire: Wire) -> None:
    await _fill(wire, 3)
    before = await wire.get(CONFIG_MAPS)
    await wire.delete(f"{CONFIG_MAPS}/c-001")
    await wire.post(CONFIG_MAPS, config_map("d"))
    exact = await wire.get(f"{CONFIG_MAPS}?resourceVersion={before.version}&resourceVersionMatch=Exact")
    assert exact.body == before.body
    newer = await wire.get(
        f"{CONFIG_MAPS}?resourceVersion={before.version}&resourceVersionMatch=NotOlderThan"
    )
    assert newer.names == ["c-000", "c-002", "d"]
    assert (await wire.get(f"{CONFIG_MAPS}?resourceVersion=0")).names == newer.names


async def test_a_version_that_has_not_happened_is_a_timeout(wire: Wire) -> None:
    future = await wire.get(f"{CONFIG_MAPS}?resourceVersion=999999")
    assert (future.status, future.reason) == (504, "Timeout")
    assert future.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("resourceVersionMatch=Exact", 422),
        ("resourceVersion=0&resourceVersionMatch=Exact", 422),
        ("resourceVersion=1&resourceVersionMatch=Roughly", 422),
        ("resourceVersion=abc", 400),
        ("limit=many", 400),
        ("continue=rubbish!", 400),
        ("resourceVersion=1&resourceVersionMatch=Exact", 200),
    ],
)
async def test_list_options_are_checked(wire: Wire, query: str, status: int) -> None:
    assert (await wire.get(f"{CONFIG_MAPS}?{query}")).status == status


async def test_the_cost_of_a_page_does_not_depend_on_how_much_there_is(wire: Wire) -> None:
    """Counted, not timed: how many records a page of five looks at, among 20 and among 400."""
    looked_at = []
    collection = wire.server.backend.store.collection("configmaps")
    for count in (20, 400):
        for i in range(collection.count, count):
            await wire.server.api.create("configmaps", config_map(f"c-{i:03d}"), "default")
        scan = collection.scan
        counter: list[int] = []

        def counting(*args, scan=scan, counter=counter):  # type: ignore[no-untyped-def]
            for record in scan(*args):
                counter.append(record)
                yield record

        collection.scan = counting  # type: ignore[method-assign]
        assert len((await wire.get(f"{CONFIG_MAPS}?limit=5")).names) == 5
        collection.scan = scan  # type: ignore[method-assign]
        looked_at.append(len(counter))
    assert looked_at == [6, 6]
