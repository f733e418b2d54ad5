"""kill -9 at any moment: nothing acknowledged is lost, no watcher sees a revision twice or misses one.

Writers create, change and delete config maps as fast as they can while the server is killed again and again.
What was acknowledged must be there afterwards; what was in flight may have happened or not. A watcher resumes
after every crash with the last revision it saw. At the end its story is compared, revision by revision, with
what the journal holds.

    REPRIEVE_TEST_SCALE=20 pytest tests/server/test_crash.py       # 200 kills
"""

import asyncio
import json
import random
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from reprieve.server.storage.journal import Journal
from tests.scale import scaled
from tests.server.wire import CONFIG_MAPS, config_map
from tests.waiting import PATIENCE, eventually

CHILD = Path(__file__).with_name("crash_child.py")
KILLS = scaled(10, least=2)
WRITERS = 6
PAUSE = 0.01
"""Of a client before it tries again: the process may have died and not be up yet."""
BROKEN = (aiohttp.ClientError, ConnectionError, asyncio.TimeoutError, asyncio.IncompleteReadError)

Value = str | None
"""What a config map holds; None: it does not exist."""


class Child:
    """One life of the server."""

    def __init__(self, directory: Path, history: int = 1_000_000) -> None:
        self.directory = directory
        self.history = history
        self.port = 0
        self.up = asyncio.Event()

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(CHILD),
            str(self.directory),
            str(self.port),
            str(self.history),
            stdout=asyncio.subprocess.PIPE,
        )
        assert self.process.stdout is not None
        port, token = (await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)).split()
        self.port, self.headers = int(port), {"Authorization": f"Bearer {token.decode()}"}
        self.url = f"http://127.0.0.1:{self.port}"
        self.up.set()

    async def kill(self) -> None:
        self.up.clear()
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


class Writer:
    """Owns its names, so that it alone knows what they must hold."""

    def __init__(self, child: Child, number: int, rng: random.Random) -> None:
        self.child = child
        self.rng = rng
        self.names = [f"w{number}-{i}" for i in range(5)]
        self.certain: dict[str, Value] = dict.fromkeys(self.names)
        self.possible: dict[str, Value] = {}
        self.acknowledged = 0
        self.stopping = False

    async def run(self, session: aiohttp.ClientSession) -> None:
        while not self.stopping:
            await self.child.up.wait()
            name = self.rng.choice(self.names)
            if name in self.possible:
                await self._settle(session, name)
                continue
            await self._write(session, name)

    async def _write(self, session: aiohttp.ClientSession, name: str) -> None:
        before = self.certain[name]
        after = None if before is not None and self.rng.random() < 0.3 else f"v{self.rng.getrandbits(48)}"
        self.possible[name] = after
        method = "DELETE" if after is None else "POST" if before is None else "PUT"
        path = CONFIG_MAPS if method == "POST" else f"{CONFIG_MAPS}/{name}"
        body = None if after is None else config_map(name, v=after)
        try:
            async with session.request(
                method, self.child.url + path, json=body, headers=self.child.headers
            ) as answer:
                await answer.read()
                assert answer.status in (200, 201), (method, name, answer.status, await answer.text())
        except BROKEN:
            await asyncio.sleep(PAUSE)
            return
        self.acknowledged += 1
        self.certain[name] = self.possible.pop(name)

    async def _settle(self, session: aiohttp.ClientSession, name: str) -> None:
        """After a crash: look what became of a write whose answer never came."""
        try:
            found = await read(session, self.child, name)
        except BROKEN:
            await asyncio.sleep(PAUSE)
            return
        assert found in (self.certain[name], self.possible[name]), name
        self.certain[name] = found
        del self.possible[name]


async def read(session: aiohttp.ClientSession, child: Child, name: str) -> Value:
    async with session.get(f"{child.url}{CONFIG_MAPS}/{name}", headers=child.headers) as answer:
        document = await answer.json()
        return None if answer.status == 404 else document["data"]["v"]


async def newest(session: aiohttp.ClientSession, child: Child) -> int:
    async with session.get(child.url + CONFIG_MAPS, headers=child.headers) as answer:
        return int((await answer.json())["metadata"]["resourceVersion"])


class Watcher:
    def __init__(self, child: Child, version: int) -> None:
        self.child = child
        self.version = version
        self.seen: dict[int, tuple[str, str, Any]] = {}

    async def run(self, session: aiohttp.ClientSession) -> None:
        while True:
            await self.child.up.wait()
            url = f"{self.child.url}{CONFIG_MAPS}?watch=1&resourceVersion={self.version}"
            try:
                async with session.get(url, headers=self.child.headers) as answer:
                    async for line in answer.content:
                        if line.endswith(b"\n") and not self._note(json.loads(line)):
                            self.version = await newest(session, self.child)
            except BROKEN:
                pass
            await asyncio.sleep(PAUSE)

    def _note(self, event: dict[str, Any]) -> bool:
        """False: history does not reach back that far any more."""
        if event["type"] == "ERROR":
            assert event["object"]["code"] == 410, event
            assert self.child.history < 1000, "history was lost"
            return False
        metadata = event["object"]["metadata"]
        revision = int(metadata["resourceVersion"])
        assert revision > self.version, "a revision came twice or out of order"
        self.version = revision
        self.seen[revision] = (event["type"], metadata["name"], event["object"]["data"]["v"])
        return True


@pytest.mark.slow
@pytest.mark.timeout(60 + KILLS * 15)
async def test_nothing_acknowledged_is_lost_and_no_revision_is_seen_twice_or_missed(tmp_path: Path) -> None:
    watcher, acknowledged = await _run(Child(tmp_path), KILLS, KILLS)
    journal = Journal(tmp_path)
    committed = {
        revision: (name, json.loads(value)["data"]["v"], deleted)
        for revision, storage_key, _, name, deleted, value in journal.rows()
        if storage_key == "configmaps"
    }
    journal.close()
    assert list(watcher.seen) == sorted(committed)
    for revision, (type_, name, value) in watcher.seen.items():
        assert committed[revision] == (name, value, type_ == "DELETED")
    assert len(committed) >= acknowledged > KILLS
    print(f"{KILLS} kills, {acknowledged} acknowledged writes, {len(committed)} revisions watched")


@pytest.mark.slow
@pytest.mark.timeout(60 + KILLS * 15)
async def test_killed_in_the_middle_of_compaction_the_state_is_whole(tmp_path: Path) -> None:
    """History of 30 revisions: nearly every transaction deletes rows too. The watcher may be told that it is
    too late.
    """
    watcher, acknowledged = await _run(Child(tmp_path, history=30), max(2, KILLS // 3), 100)
    journal = Journal(tmp_path)
    rows = list(journal.rows())
    compacted = journal.compacted
    journal.close()
    assert acknowledged > 100
    assert compacted > 50
    assert len(rows) < 250
    assert list(watcher.seen) == sorted(watcher.seen)


async def _run(child: Child, kills: int, least: int) -> tuple["Watcher", int]:
    """Write, watch and kill, and go on until more than `least` writes are acknowledged, however long that
    takes; every name must then hold what its writer knows.
    """
    # Real processes are killed at real moments: nothing here could be replayed, so nothing is drawn.
    rng = random.Random(5710)
    await child.start()
    timeout = aiohttp.ClientTimeout(total=None, sock_read=PATIENCE)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
        watcher = Watcher(child, await newest(session, child))
        writers = [Writer(child, i, random.Random(rng.random())) for i in range(WRITERS)]
        working = [*(each.run(session) for each in writers), watcher.run(session)]
        tasks = [asyncio.create_task(each) for each in working]

        def acknowledged() -> int:
            return sum(writer.acknowledged for writer in writers)

        for _ in range(kills):
            before = acknowledged()
            await eventually(lambda before=before: acknowledged() > before, "writers go on")  # type: ignore[misc]
            await asyncio.sleep(rng.uniform(0.02, 0.5))  # the moment of the kill is what is tried out
            await child.kill()
            await child.start()
            for task in tasks:
                assert not task.done(), task.exception()
        await eventually(lambda: acknowledged() > least, "writers go on")
        await _come_to_rest(session, child, tasks, writers, watcher)
    await child.kill()
    return watcher, acknowledged()


async def _come_to_rest(
    session: aiohttp.ClientSession,
    child: Child,
    tasks: list[asyncio.Task[None]],
    writers: list[Writer],
    watcher: Watcher,
) -> None:
    """Let the writers finish what is under way (a request cut off here may still be committed), check every
    name, and let the watcher catch up."""
    before = sum(writer.acknowledged for writer in writers)
    await eventually(lambda: sum(writer.acknowledged for writer in writers) > before, "writers go on")
    for writer in writers:
        writer.stopping = True
    await asyncio.gather(*tasks[:-1])
    for writer in writers:
        for name in writer.names:
            found = await read(session, child, name)
            assert found == writer.certain[name] or (
                name in writer.possible and found == writer.possible[name]
            )
    last = await newest(session, child)
    await eventually(lambda: watcher.version >= last, "the watcher catches up")
    tasks[-1].cancel()
    await asyncio.gather(tasks[-1], return_exceptions=True)
