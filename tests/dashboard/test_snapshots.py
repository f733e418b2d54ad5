"""The state on its way to the pages: what is new since the one that a page has leads to the whole."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.dashboard import snapshots
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.snapshots import MOST_MADE, NODES_AT_ONCE, Snapshots, View, Written
from reprieve.dashboard.views import ClusterViews
from tests.builders import views
from tests.dashboard.manifests import node, pod, put
from tests.scale import examples

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)


class Cluster:
    """Snapshots of an inventory, and how often one was made."""

    def __init__(self) -> None:
        self.shown, self.made = Inventory(), 0
        self._views = ClusterViews(self.shown)
        self.snapshots = Snapshots(lambda: (self.shown.revision,), self._parts)

    async def _parts(self) -> AsyncIterator[View]:
        self.made += 1
        for part in self._views.parts(0, NOW):
            yield part

    async def state(self, has: str = "") -> dict[str, Any]:
        answer: dict[str, Any] = json.loads((await self.snapshots.body(has)).plain)
        return answer


def renewed(old: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
    """As the page does it (`live.js`)."""
    changed = {each["name"]: each for each in news.pop("changedNodes", [])}
    known = old if news.pop("since", None) else {}
    nodes = [changed.get(each["name"], each) for each in old["nodes"]]
    return {**known, "nodes": nodes, **news}


@examples(40)
@given(st.lists(st.tuples(st.sampled_from(["node", "pod", "waits", "gone", "look"]), st.integers(0, 4))))
def test_what_is_new_since_any_state_leads_to_the_whole(steps: list[tuple[str, int]]):
    async def run() -> None:
        cluster = Cluster()
        pages = [await cluster.state()]
        for step, number in steps:
            on = f"n-{number}"
            if step == "look":
                cluster.snapshots.tell()
                page = pages[number % len(pages)]
                pages.append(renewed(page, await cluster.state(page["version"])))
                assert pages[-1] == await cluster.state()
            elif step == "gone":
                cluster.shown.remove(next(iter(views(node(on)))))
            else:
                put(
                    cluster.shown,
                    node(on) if step == "node" else pod(f"{step}-{number}", on=on * (step == "pod")),
                )

    asyncio.run(run())


async def test_pages_that_are_told_at_the_same_moment_share_one_state():
    """Each of ten pages had one made for itself: in a storm there is always something new."""
    cluster = Cluster()
    put(cluster.shown, node("n-1"))
    has = (await cluster.state())["version"]
    put(cluster.shown, node("n-2"))
    told = cluster.snapshots.tell()
    for number in range(10):
        news = await cluster.state(has)
        assert news["version"] == told
        put(cluster.shown, pod(f"p-{number}", on="n-1"))
    assert cluster.made == 2
    assert (await cluster.state())["version"] != told, "who has no state gets the present one"


async def test_a_first_visit_gives_others_their_turn_while_thousands_of_nodes_are_written(
    monkeypatch: pytest.MonkeyPatch,
):
    """The controller shares the loop."""
    cluster, written, seen = Cluster(), 0, [0]
    put(cluster.shown, *(node(f"n-{number}") for number in range(4 * NODES_AT_ONCE)))

    def counted(*fields: Any) -> Written:
        nonlocal written
        written += 1
        return Written(*fields)

    async def somebody_else() -> None:
        while True:
            await asyncio.sleep(0)
            seen.append(written)

    monkeypatch.setattr(snapshots, "Written", counted)
    other = asyncio.create_task(somebody_else())
    state = await cluster.state()
    other.cancel()
    assert len(state["nodes"]) == 4 * NODES_AT_ONCE
    assert max(after - before for before, after in pairwise(seen)) <= NODES_AT_ONCE + len(state)


async def test_a_page_of_another_process_or_of_long_ago_gets_the_whole():
    cluster, other = Cluster(), Cluster()
    put(cluster.shown, node("n-1"))
    first = (await cluster.state())["version"]
    assert "since" not in await cluster.state((await other.state())["version"])
    assert (await cluster.state(first))["changedNodes"] == []
    for number in range(MOST_MADE):
        put(cluster.shown, pod(f"p-{number}", on="n-1"))
        await cluster.state()
    assert "since" not in await cluster.state(first)
