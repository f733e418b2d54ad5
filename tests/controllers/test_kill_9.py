"""Every kind of the table through quota, with `kill -9` for the controller at random moments.

`reprieve up` and `reprieve run --controllers quota` are processes of their own. The controller dies by
SIGKILL when the server has seen a number of changes that is drawn, several times in each chapter of a job's
life, and is started again.
"""

import asyncio
import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reprieve.kube import KUEUE_WORKLOADS, PODS, Client, Informer, Resource
from tests.controllers.any_kind import CONFIG, EXAMPLES, NODES, Case, Document, World
from tests.kinds_table import show
from tests.scale import examples
from tests.server.test_up import up
from tests.waiting import eventually

KILLS = 2
"""In each chapter."""
SURE = 20
"""Changes of workloads that each chapter has at the least: there are more of them than that."""


class Watched:
    """What the server tells about pods, workloads and jobs."""

    def __init__(self) -> None:
        self.changes = 0
        """Of workloads."""
        self._informers: dict[str, Informer] = {}

    @asynccontextmanager
    async def following(self, client: Client, cases: list[Case]) -> AsyncIterator["Watched"]:
        def workload_changed(_: Any) -> None:
            self.changes += 1

        wanted: dict[str, Resource] = {"pods": PODS, "workloads.kueue.x-k8s.io": KUEUE_WORKLOADS}
        wanted |= {case.kind.resource: case.resource(case.job) for case in cases}
        async with AsyncExitStack() as stack:
            for name, resource in wanted.items():
                await eventually(partial(client.served, resource), f"{name} is served")
                handlers = [workload_changed] if resource is KUEUE_WORKLOADS else []
                informer = Informer(client, resource.raw(), *handlers)
                self._informers[name] = await stack.enter_async_context(informer)
            yield self

    def select(self, resource: str, namespace: str) -> list[Document]:
        return [each for each in self._informers[resource] if each["metadata"]["namespace"] == namespace]

    def peek(self, resource: str, name: str, namespace: str) -> Document | None:
        found: Document | None = self._informers[resource].get(name, namespace)
        return found


class Victim:
    """`reprieve run --controllers quota`, to be killed."""

    def __init__(self, kubeconfig: Path, config: Path, log: Path) -> None:
        command = [sys.executable, "-c", "from reprieve.cli import main; main()", "run"]
        flags = ["--controllers", "quota", "--no-leader-elect", "--listen", ""]
        self._command = [*command, *flags, "--kubeconfig", str(kubeconfig), "--config", str(config)]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.kills = 0

    def start(self) -> None:
        with self._log.open("a") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def kill(self) -> None:
        """SIGKILL: no handler, no goodbye."""
        assert self._process is not None
        assert self._process.poll() is None, f"it ended by itself: {self._log.read_text()}"
        self._process.kill()
        self._process.wait()
        self.kills += 1


class Killer:
    """Kills while a chapter is under way."""

    def __init__(self, watched: Watched, victim: Victim, dice: random.Random) -> None:
        self._watched = watched
        self._victim = victim
        self._dice = dice
        self.hit: dict[str, set[str]] = defaultdict(set)
        """By kind, the chapters in which the controller was killed before the kind was through."""

    async def kill(self, chapter: str, under_way: Callable[[], list[Case]]) -> None:
        first = self._watched.changes
        for moment in sorted(self._dice.randint(1, SURE) for _ in range(KILLS)):
            await eventually(partial(self._has_seen, first + moment), f"{chapter}: {moment} changes")
            self._victim.kill()
            for case in under_way():
                self.hit[case.kind.kind].add(chapter)
            self._victim.start()

    def _has_seen(self, changes: int) -> bool:
        return self._watched.changes >= changes


async def through_quota(folder: Path, dice: random.Random) -> dict[str, set[str]]:
    config, cases = folder / "config.json", [Case(name) for name in EXAMPLES]
    config.write_text(json.dumps(CONFIG))
    options = ("--kinds", "all", "--controllers", "scheduler", "--run-for", "0", "--terminate-after", "50ms")
    with up(folder, *options, "--nodes", NODES, "--config", str(config)) as server:
        victim = Victim(server.kubeconfig, config, folder / "quota.log")
        async with (
            Client.from_kubeconfig(server.kubeconfig) as client,
            Watched().following(client, cases) as watched,
        ):
            killer = Killer(watched, victim, dice)
            victim.start()
            try:
                await World(client, watched, cases).live(killer.kill)
            finally:
                victim.kill()
    return killer.hit


@pytest.mark.slow
@settings(examples(1), phases=[Phase.generate])  # each example is a minute
@given(st.integers(0, 10**6))
def test_each_kind_lives_on_when_the_controller_is_killed(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    hit = asyncio.run(through_quota(tmp_path_factory.mktemp("kill-9"), random.Random(seed)))
    for case in map(Case, EXAMPLES):
        met = hit[case.kind.kind]
        assert len(met) >= 2, f"of {case.kind.kind} the controller was killed while it was {met} only"
        show(case.kind, "resumed after kill -9", "yes")
