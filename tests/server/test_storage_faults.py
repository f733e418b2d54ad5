"""Storage on a disk that fails at any write: what was acknowledged stays, what was refused never happened."""

import asyncio
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.api import Api
from reprieve.server.backend import Backend
from reprieve.server.errors import ApiError
from reprieve.server.storage import DataDirectoryUnusable, Store
from tests.scale import examples
from tests.server.faulty_disk import FaultyDisk, faulty_disk

State = dict[str, int]


def document(name: str, value: int) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": name}, "value": value}


def state(store: Store) -> State:
    return {r.name: r.object["value"] for r in store.collection("things").scan(None)}


async def reopened(directory: Path) -> State:
    store = Store(directory)
    found = state(store)
    await store.close()
    return found


def refuse_commits(store: Store, *, times: int) -> None:
    assert store._journal is not None
    commit = store._journal.commit
    left = times

    def failing(*given: Any) -> None:
        nonlocal left
        if left:
            left -= 1
            raise sqlite3.OperationalError("database or disk is full")
        commit(*given)

    store._journal.commit = failing  # type: ignore[assignment, method-assign]


async def test_a_delete_does_not_come_back_whichever_commit_the_disk_refused(tmp_path: Path) -> None:
    for refused in range(12):
        directory = tmp_path / str(refused)
        store = Store(directory, history=4)
        for value in range(3):
            store.put("things", "", "gone", document("gone", value))
            await store.settled()
        store.delete("things", "", "gone", document("gone", 3))
        await store.settled()
        for value in range(30):
            store.put("things", "", "other", document("other", value))
            if value == refused:
                refuse_commits(store, times=1)
                with pytest.raises(ApiError, match="disk is full"):
                    await store.settled()
            await store.settled()
        await store.close()
        assert await reopened(directory) == {"other": 29}


steps = st.lists(st.tuples(st.sampled_from("PPD"), st.sampled_from("abc")), min_size=1, max_size=40)


@examples(60)
@given(
    plan=steps,
    history=st.integers(1, 6),
    failing=st.frozensets(st.integers(1, 200), max_size=12),
    torn=st.booleans(),
)
def test_whatever_write_of_the_disk_fails_the_state_is_what_was_acknowledged(
    tmp_path_factory: pytest.TempPathFactory,
    plan: list[tuple[str, str]],
    history: int,
    failing: frozenset[int],
    torn: bool,
) -> None:
    disk = faulty_disk()
    if disk is None:
        pytest.skip("Python's SQLite is not a shared library here")
    disk.torn = torn
    directory = tmp_path_factory.mktemp("data")
    asyncio.run(_acknowledged_stays(disk, directory, plan, history, failing))


async def _acknowledged_stays(
    disk: FaultyDisk, directory: Path, plan: list[tuple[str, str]], history: int, failing: frozenset[int]
) -> None:
    expected: State = {}
    refused: State | None = None
    with disk.in_use():
        store = Store(directory, history=history)
        disk.operations, disk.failing = 0, failing
        for number, (action, name) in enumerate(plan):
            if action == "D" and name not in expected:
                continue
            change = store.put if action == "P" else store.delete
            change("things", "", name, document(name, number))
            after = {**expected, name: number}
            if action == "D":
                del after[name]
            try:
                await store.settled()
            except ApiError:
                refused = after
            else:
                expected, refused = after, None
            assert state(store) == expected
        disk.failing = frozenset()
        # Killed now, the last transaction may be on disk although it was refused (its sync failed): whole.
        killed = directory.with_name(directory.name + "-killed")
        shutil.copytree(directory, killed)
        # With the next one that is acknowledged there is no doubt.
        store.put("things", "", "last", document("last", -1))
        await store.settled()
        await store.close()
    assert await reopened(killed) in (expected, refused)
    assert await reopened(directory) == {**expected, "last": -1}


async def test_rows_that_an_earlier_version_forgot_to_remove_are_removed(tmp_path: Path) -> None:
    store = Store(tmp_path, history=2)
    for value in range(2):
        store.put("things", "", "x", document("x", value))
        await store.settled()
    assert store._journal is not None
    store._journal.commit([], [], store.revision)  # history forgotten, what it replaced left behind
    await store.close()
    again = Store(tmp_path, history=2)
    for value in range(9):
        again.put("things", "", "y", document("y", value))
        await again.settled()
    assert again._journal is not None
    assert [row[3] for row in again._journal.rows()].count("x") == 1
    await again.close()


async def test_a_refusal_does_not_tell_of_a_write_that_was_not_committed(tmp_path: Path) -> None:
    backend = Backend(tmp_path)
    api = Api(backend)
    refuse_commits(backend.store, times=1)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
    answers = await asyncio.gather(
        api.create("namespaces", namespace), api.create("namespaces", namespace), return_exceptions=True
    )
    assert [getattr(answer, "code", None) for answer in answers] == [503, 503]
    await api.create("namespaces", namespace)
    refuse_commits(backend.store, times=1)
    answers = await asyncio.gather(
        api.delete("namespaces", "x"), api.delete("namespaces", "y"), return_exceptions=True
    )
    assert [getattr(answer, "code", None) for answer in answers] == [503, 503]
    with pytest.raises(ApiError, match="already exists"):
        await api.create("namespaces", namespace)
    await backend.store.close()


@pytest.mark.parametrize("damage", ["cut", "page", "value"])
async def test_damaged_data_is_a_sentence(tmp_path: Path, damage: str) -> None:
    store = Store(tmp_path)
    for number in range(200):
        store.put("things", "", f"x-{number}", document(f"x-{number}", number))
    await store.settled()
    await store.close()
    path = tmp_path / "state.db"
    if damage == "value":
        with sqlite3.connect(path) as db:
            db.execute("UPDATE log SET value = X'7B' WHERE name = 'x-7'")
        db.close()
    else:
        raw = bytearray(path.read_bytes())
        if damage == "cut":
            del raw[len(raw) // 2 :]
        else:
            raw[8192:12288] = b"\xff" * 4096
        path.write_bytes(raw)
    with pytest.raises(DataDirectoryUnusable, match=r"cannot open .*state\.db.*another --data-dir"):
        Store(tmp_path)
    with pytest.raises(DataDirectoryUnusable):  # and the lock was let go
        Store(tmp_path)
