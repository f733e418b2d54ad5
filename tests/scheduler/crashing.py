"""A scheduler in a process of its own, to be killed; and a judge that watches every change of every pod."""

import asyncio
import multiprocessing
import random
import time
from collections import Counter
from typing import Any

from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import Client
from reprieve.objects.quantity import milli_value
from tests.scheduler.live import Live
from tests.waiting import eventually

_spawner = multiprocessing.get_context("forkserver")
_spawner.set_forkserver_preload([__name__])


def run_scheduler(kubeconfig: str) -> None:
    async def main() -> None:
        async with Client.from_kubeconfig(kubeconfig) as client:
            scheduler = LiveScheduler(client, Configuration.load(None))
            async with scheduler.following():
                await scheduler.schedule()

    asyncio.run(main())


class Victim:
    """The scheduler that gets killed."""

    def __init__(self, kubeconfig: str) -> None:
        self._kubeconfig = kubeconfig
        self._process: Any = None
        self.kills = 0

    def start(self) -> None:
        self._process = _spawner.Process(target=run_scheduler, args=(self._kubeconfig,), daemon=True)
        self._process.start()

    async def kill(self) -> None:
        """SIGKILL: no handler, no goodbye."""
        if self._process is None:
            return
        self._process.kill()
        await eventually(lambda: not self._process.is_alive(), "the process is dead")
        self._process.join()
        self._process = None
        self.kills += 1

    async def live_a_little(self, live: Live, dice: random.Random) -> None:
        """Until it has begun to act, and then a random moment."""
        store, latest = live.server.backend.store, time.monotonic() + 5  # it may have nothing left to do
        revision = store.revision
        await eventually(lambda: store.revision != revision or time.monotonic() > latest)
        await asyncio.sleep(dice.random() ** 2 * 0.8)  # the moment of the kill is what is tried out


class Judge:
    """Checks after every change: a pod never moves, a node never holds more than it has."""

    def __init__(self, capacity: dict[str, int]) -> None:
        self._capacity = capacity
        self._where: dict[str, tuple[str, int]] = {}
        self._used: Counter[str] = Counter()
        self.complaints: list[str] = []
        self.seen = 0

    async def watch(self, api: Any) -> None:
        async for event in api.watch("pods"):
            self.hear(event.type, event.object)

    def hear(self, type: str, pod: dict[str, Any]) -> None:
        self.seen += 1
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName", "")
        cpu = sum(milli_value(c["resources"]["requests"]["cpu"]) for c in pod["spec"]["containers"])
        before = self._where.get(uid)
        if before and node != before[0]:
            self.complaints.append(f"{pod['metadata']['name']} moved from {before[0]} to {node}")
        if type == "DELETED":
            if before:
                self._used[before[0]] -= before[1]
                del self._where[uid]
        elif node and not before:
            self._where[uid] = (node, cpu)
            self._used[node] += cpu
            if self._used[node] > self._capacity[node]:
                self.complaints.append(
                    f"{node} holds {self._used[node]} of {self._capacity[node]} after"
                    f" {pod['metadata']['name']}"
                )
