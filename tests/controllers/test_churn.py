"""What came and went leaves nothing behind in the controllers: objects are counted, not memory."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from reprieve.cluster import classes
from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import Client, events
from reprieve.quota import state
from reprieve.records import DecisionLog, log
from tests.builders import START, cluster_queue, flavor, local_queue, node, owned_by, pod
from tests.controllers.pods_in_memory import NAMESPACE, Actors, Link, PodApi
from tests.controllers.test_quota_given import Work
from tests.controllers.virtual_time import START as EPOCH
from tests.controllers.virtual_time import run_virtually
from tests.server.test_churn import kept

ROOT = Path(__file__).parents[2]
SINGLE = 60
WORK = {
    f"{kind}-{'queued' if queued else 'free'}-{number}": Work(kind, 3, 1, 0, queued, queued, 0.0)
    for kind in ("job", "group")
    for queued in (True, False)
    for number in range(8)
}
ROUND = SINGLE + sum(each.count for each in WORK.values())
"""Pods of a round."""
ROUNDS = 16


def lower_limits() -> None:
    """What is kept on purpose, up to a number or for a time, is kept less: what is left is a leak."""
    classes.MAX_IDLE = 0
    state.MOST_SPECS = 0
    log.MOST_RUNS = 1
    events.SERIES_WINDOW = 0.0


class World:
    def __init__(self) -> None:
        self.api = PodApi()
        self.actors = Actors(self.api, gated=False)
        self.records = DecisionLog(1)
        self.api.put("namespaces", {"metadata": {"name": NAMESPACE}})
        self.api.put("resourceflavors", flavor())
        self.api.put("clusterqueues", cluster_queue("cq", 24))
        self.api.put("localqueues", local_queue("main", "cq", namespace=NAMESPACE))
        self.api.put("nodes", node("n", 100, pods=500))

    def run(self) -> list[asyncio.Task[None]]:
        loop, config = asyncio.get_running_loop(), Configuration.load(None)
        links = [Client(Link(self.api, (0.0,), (0.0,)), jitter=lambda: 0.0) for _ in range(2)]
        live = LiveScheduler(
            links[0], config, records=self.records, clock=lambda: EPOCH.timestamp() + loop.time()
        )

        async def schedule() -> None:
            async with live.following():
                await live.schedule()

        running = (schedule(), quota.run(links[1], config), self.actors.run())
        return [asyncio.create_task(each) for each in running]

    async def come_and_go(self, round_: int) -> None:
        """Pods, groups and Jobs, half of them in a queue, get nodes in turn, run, end and are removed."""
        for number in range(SINGLE):
            waits = pod(f"single-{round_}-{number}", 1, namespace=NAMESPACE, schedulerName="reprieve")
            waits["metadata"] |= {"ownerReferences": [owned_by("Node", "n")], "creationTimestamp": START}
            self.api.put("pods", waits)
        for name, work in WORK.items():
            for plural, document in work.documents(f"{name}-{round_}"):
                self.api.put(plural, document)
        await asyncio.sleep(150)
        pods = {each["metadata"]["name"]: each["status"]["phase"] for each in self.api.all("pods")}
        assert list(pods.values()) == ["Succeeded"] * ROUND, pods
        for plural in ("pods", "jobs", "podgroups", "workloads", "events"):
            for each in list(self.api.all(plural)):
                self.api.remove(plural, NAMESPACE, each["metadata"]["name"])
        self.actors.forget()
        await asyncio.sleep(150)


async def grown() -> int:
    """Blocks that further rounds leave behind, after three that fill what is kept once for all."""
    lower_limits()
    world = World()
    tasks = world.run()
    for number in range(3):
        await world.come_and_go(number)
    before = kept()
    for number in range(3, 3 + ROUNDS):
        await world.come_and_go(number)
    found = kept() - before
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return found


def main() -> None:
    print(run_virtually(grown()))


@pytest.mark.slow
def test_pods_groups_and_jobs_that_came_and_went_leave_nothing() -> None:
    """In a process of its own: what pytest keeps of the log, and other tests of theirs, is not counted."""
    command = [sys.executable, "-c", "from tests.controllers.test_churn import main; main()"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False)
    assert ran.returncode == 0, ran.stderr
    # A few hundred come and go with watches that are just being opened.
    assert int(ran.stdout) < ROUNDS * ROUND / 2
