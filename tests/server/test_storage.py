"""Storage: one revision for everything, state that equals its history, and what survives."""

import asyncio
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.errors import ApiError
from reprieve.server.storage import (
    ADDED,
    DELETED,
    MODIFIED,
    Change,
    DataDirectoryInUse,
    DataDirectoryUnusable,
    Store,
)
from reprieve.server.storage.collection import Bucket
from tests.scale import examples
from tests.waiting import PATIENCE


def document(name: str, value: int, labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata, "value": value}


def state(store: Store, storage_key: str = "things") -> dict[tuple[str, str], bytes]:
    return {(r.namespace, r.name): r.raw for r in store.collection(storage_key).scan(None)}


def story(store: Store, storage_key: str = "things") -> list[tuple[int, str, str]]:
    return [(c.revision, c.type, c.record.name) for c in store.collection(storage_key).changes]


steps = st.lists(
    st.tuples(st.sampled_from(["put", "put", "delete"]), st.sampled_from("ab"), st.sampled_from("wxyz")),
    max_size=60,
)


async def run(store: Store, plan: list[tuple[str, str, str]]) -> list[dict[tuple[str, str], bytes]]:
    """Carry out writes and return the state after each."""
    states = []
    for number, (action, namespace, name) in enumerate(plan):
        if action == "put":
            store.put("things", namespace, name, document(name, number, {"n": str(number)}))
        elif store.head("things", namespace, name) is not None:
            store.delete("things", namespace, name, document(name, number))
        await store.settled()
        states.append(state(store))
    return states


@examples(40)
@given(plan=steps)
def test_every_past_state_can_be_seen_again(plan: list[tuple[str, str, str]]) -> None:
    async def main() -> None:
        store = Store()
        revisions = [store.revision]
        states: list[dict[Any, Any]] = [{}]
        for step in plan:
            states += await run(store, [step])
            revisions.append(store.revision)
        collection = store.collection("things")
        for revision, expected in zip(revisions, states, strict=True):
            past = collection.past(revision)
            seen = list(collection.scan(None, past=past))
            assert {(r.namespace, r.name): r.raw for r in seen} == expected
            assert [(r.namespace, r.name) for r in seen] == sorted(expected)
            for cut in range(len(seen)):
                after = (seen[cut].namespace, seen[cut].name)
                assert list(collection.scan(None, after, past)) == seen[cut + 1 :]

    asyncio.run(main())


@examples(15)
@given(plan=steps, history=st.integers(0, 30))
def test_a_reopened_journal_tells_the_same_story(
    tmp_path_factory: pytest.TempPathFactory, plan: list[tuple[str, str, str]], history: int
) -> None:
    directory = tmp_path_factory.mktemp("data")

    async def main() -> None:
        store = Store(directory)
        await run(store, plan)
        assert store._journal is not None
        horizon = max(0, store.revision - history)
        store._journal.commit([], store.replaced(horizon), horizon)
        store.compact(horizon)
        before = (store.revision, store.compacted, state(store), story(store))
        labels = {r.name: r.labels for r in store.collection("things").scan(None)}
        await store.close()
        again = Store(directory)
        assert (again.revision, again.compacted, state(again), story(again)) == before
        assert {r.name: r.labels for r in again.collection("things").scan(None)} == labels
        rows = len(list(again._journal.rows())) if again._journal else 0
        superseded = {
            c.previous.revision for c in again.collection("things").changes if c.previous is not None
        }
        assert rows <= len(state(again)) + len(story(again)) + len(superseded)
        again.put("things", "a", "w", document("w", 1))
        await again.settled()
        assert again.revision == before[0] + 1
        await again.close()

    asyncio.run(main())


async def test_one_revision_counts_the_writes_of_all_resources() -> None:
    store = Store()
    first = store.put("pods", "a", "x", document("x", 1))
    second = store.put("nodes", "", "y", document("y", 1))
    third = store.put("pods", "a", "x", document("x", 2))
    assert (first.revision + 1, first.revision + 2) == (second.revision, third.revision)
    assert third.object["metadata"]["resourceVersion"] == str(third.revision)


async def test_changes_are_typed_and_carry_what_was_before() -> None:
    store = Store()
    heard: list[Change] = []
    store.listen(heard.extend)
    store.put("things", "a", "x", document("x", 1))
    store.put("things", "a", "x", document("x", 2))
    store.delete("things", "a", "x", document("x", 2))
    assert [c.type for c in heard] == [ADDED, MODIFIED, DELETED]
    assert [c.previous and c.previous.object["value"] for c in heard] == [None, 1, 2]


async def test_a_write_is_visible_when_it_is_on_disk_and_not_before(tmp_path: Path) -> None:
    store = Store(tmp_path)
    heard: list[Change] = []
    store.listen(heard.extend)
    record = store.put("things", "a", "x", document("x", 1))
    assert store.get("things", "a", "x") is None
    assert store.head("things", "a", "x") is record
    assert heard == []
    await store.settled()
    assert store.get("things", "a", "x") is record
    assert [c.record for c in heard] == [record]
    await store.close()


async def test_writes_that_wait_together_share_one_transaction(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store._journal is not None
    batches: list[int] = []
    commit = store._journal.commit

    def counting(rows: list[Any], *rest: Any) -> None:
        batches.append(len(rows))
        commit(rows, *rest)

    store._journal.commit = counting  # type: ignore[assignment,method-assign]

    async def write(i: int) -> None:
        store.put("things", "a", f"x-{i}", document(f"x-{i}", i))
        await store.settled()

    await asyncio.gather(*(write(i) for i in range(200)))
    assert sum(batches) == 200
    assert len(batches) <= 5
    await store.close()


async def test_a_write_that_the_disk_refuses_never_happened(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("things", "a", "kept", document("kept", 1))
    await store.settled()
    assert store._journal is not None
    commit = store._journal.commit

    def failing(*_: Any) -> None:
        raise OSError("disk full")

    store._journal.commit = failing  # type: ignore[assignment,method-assign]
    revision = store.revision
    store.put("things", "a", "lost", document("lost", 1))
    with pytest.raises(ApiError, match="disk full") as refused:
        await store.settled()
    assert refused.value.code == 503
    assert store.head("things", "a", "lost") is None
    store._journal.commit = commit  # type: ignore[method-assign]
    record = store.put("things", "a", "next", document("next", 1))
    await store.settled()
    assert record.revision == revision + 1
    await store.close()


async def test_a_listener_that_fails_stops_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path)
    heard: list[Change] = []

    def broken(_: list[Change]) -> None:
        raise ZeroDivisionError

    store.listen(broken)
    store.listen(heard.extend)
    for i in range(3):
        store.put("things", "a", f"x-{i}", document(f"x-{i}", 1))
        await asyncio.wait_for(store.settled(), PATIENCE)
    assert len(heard) == 3
    assert "a listener failed on revision" in caplog.text
    await store.close()


async def test_a_caller_that_gives_up_waiting_does_not_take_the_others_along(tmp_path: Path) -> None:
    store = Store(tmp_path)

    async def write(name: str) -> None:
        store.put("things", "a", name, document(name, 1))
        await store.settled()

    tasks = [asyncio.create_task(write(f"x-{i}")) for i in range(10)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [None] * 9
    assert len(state(store)) == 10
    await store.close()


def _hold(path: str, pipe: Any) -> None:
    async def main() -> None:
        store = Store(Path(path))
        pipe.send("ready")
        pipe.recv()
        await store.close()

    asyncio.run(main())


def test_a_second_process_on_the_same_data_is_refused_with_a_sentence(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_hold, args=(str(tmp_path), theirs))
    process.start()
    try:
        assert ours.recv() == "ready"
        with pytest.raises(DataDirectoryInUse) as refused:
            Store(tmp_path)
        assert f"{tmp_path} is in use by another Reprieve process (pid {process.pid})" in str(refused.value)
    finally:
        ours.send("go")
        process.join(10)
    Store(tmp_path)


def test_data_that_cannot_be_used_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataDirectoryUnusable, match="cannot use data directory"):
        Store(tmp_path / "file")
    (tmp_path / "state.db").write_bytes(b"this is not a database, not at all" * 100)
    with pytest.raises(DataDirectoryUnusable, match=r"cannot open .*state\.db"):
        Store(tmp_path)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcdef"), st.booleans()), max_size=50))
def test_names_stay_sorted_however_things_come_and_go(plan: list[tuple[bool, str, bool]]) -> None:
    bucket = Bucket()
    expected: set[str] = set()
    store = Store()
    for add, name, look in plan:
        if add:
            bucket.put(store._stamp("things", "", name, document(name, 1)))
            expected.add(name)
        else:
            bucket.remove(name)
            expected.discard(name)
        if look:
            assert bucket.names() == sorted(expected)
    assert bucket.names() == sorted(expected)
